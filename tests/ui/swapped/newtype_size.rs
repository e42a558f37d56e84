use nvtxw::NvtxField;
use nvtxw_swap::swap;

#[derive(NvtxField)]
#[swap(#[derive(Clone, Copy)] #[repr(align(4))] struct Aligned(u8);)]
#[repr(transparent)]
struct Aligned(u8);

fn main() {}
