use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
enum Level {}

fn main() {}
