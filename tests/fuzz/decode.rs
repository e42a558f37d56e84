//! Any bytes under any schema that the registry accepts.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    nvtxw_garbage::decode(input);
});
