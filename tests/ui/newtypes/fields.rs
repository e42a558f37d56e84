use nvtxw::NvtxField;

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Cycles(i64, ());

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Nothing;

fn main() {}
