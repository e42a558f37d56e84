//! One set of data in every format of the built-in backend, and replays of captures.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    nvtxw_garbage::formats(input);
});
