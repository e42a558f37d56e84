use nvtxw::NvtxField;

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Name(&'static str);

fn main() {}
