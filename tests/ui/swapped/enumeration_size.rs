use nvtxw::NvtxEnum;
use nvtxw_swap::swap;

#[derive(NvtxEnum)]
#[swap(#[derive(Clone, Copy)] #[repr(u16)] enum Wider { A, B })]
#[repr(u8)]
enum Wider {
    A,
    B,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8, align(4))]
enum Aligned {
    A,
    B,
}

fn main() {}
