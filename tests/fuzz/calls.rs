//! Any sequence of calls, on a backend made with the SDK and on the built-in one.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((0x80.., input)) => nvtxw_garbage::files(input),
        Some((_, input)) => nvtxw_garbage::calls(input),
        None => nvtxw_garbage::calls(&[]),
    };
});
