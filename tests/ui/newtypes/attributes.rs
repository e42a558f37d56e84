use nvtxw::NvtxField;

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
#[nvtx(name = "cycles", crat = "nvtxw")]
struct Cycles(i64);

fn main() {}
