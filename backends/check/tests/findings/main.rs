//! Every finding, provoked through the table of C functions as a C program would.

#[allow(dead_code, reason = "it serves the SDK's tests too")]
#[path = "../../../../nvtxw-backend/tests/table/program.rs"]
mod program;
#[allow(dead_code, reason = "it serves the SDK's tests too")]
#[path = "../../../../nvtxw-backend/tests/table/recorder.rs"]
mod recorder;

mod behind;
mod calls;
mod clocks;
mod order;
mod ranges;
mod registrations;
mod scene;
mod values;
