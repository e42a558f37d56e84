use nvtxw::{NvtxField, StringHandle};

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Name(StringHandle);

fn main() {
    let _ = Name(StringHandle(0x1000 as *mut _));
}
