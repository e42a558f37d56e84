use nvtxw::NvtxEnum;
use nvtxw_swap::swap;

#[derive(NvtxEnum)]
#[swap(#[derive(Clone, Copy)] #[repr(u8)] enum More { A, B, C })]
#[repr(u8)]
enum More {
    A,
    B,
}

fn main() {}
