use std::mem::MaybeUninit;

use nvtxw::NvtxField;
use nvtxw_swap::swap;

#[derive(NvtxField)]
#[swap(#[derive(Clone, Copy)] struct Wider(u8, MaybeUninit<[u8; 3]>);)]
#[repr(transparent)]
struct Wider(u8);

#[derive(NvtxField)]
#[swap(#[derive(Clone, Copy)] struct Other<T: Copy> { value: MaybeUninit<T> })]
#[repr(transparent)]
struct Other<T> {
    value: T,
}

fn main() {}
