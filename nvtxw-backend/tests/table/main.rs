//! Drives the table as a C program would, with a backend that writes down what reaches it.

mod allocation;
mod arguments;
mod attributes;
mod batches;
mod calls;
mod counters;
mod decoding;
mod domains;
mod dynamic;
mod enums;
mod events;
mod exported;
mod flexible;
mod foreign;
mod handles;
mod ids;
// What passes calls on is the same in the tests of whole traces.
#[path = "../../../tests/recording/layer.rs"]
mod layer;
mod layouts;
mod lifecycle;
mod outside;
mod panics;
mod program;
mod recorder;
mod refusals;
mod registered;
mod relations;
mod relay;
mod samples;
mod scene;
mod schemas;
mod semantics;
mod threads;
mod unions;
mod varying;
