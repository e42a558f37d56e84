//! Drives the table as a C program would, with a backend that writes down what reaches it.

mod allocation;
mod attributes;
mod batches;
mod counters;
mod decoding;
mod domains;
mod enums;
mod events;
mod exported;
mod garbage;
mod handles;
mod layouts;
mod lifecycle;
mod panics;
mod program;
mod recorder;
mod registered;
mod scene;
mod schemas;
mod semantics;
mod threads;
