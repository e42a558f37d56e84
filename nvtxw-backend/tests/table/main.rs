//! Drives the table as a C program would, with a backend that writes down what reaches it.

mod allocation;
mod attributes;
mod batches;
mod counters;
mod decoding;
mod domains;
mod dynamic;
mod enums;
mod events;
mod exported;
mod flexible;
mod garbage;
mod handles;
mod layouts;
mod lifecycle;
mod panics;
mod program;
mod recorder;
mod refusals;
mod registered;
mod relations;
mod scene;
mod schemas;
mod semantics;
mod threads;
mod unions;
