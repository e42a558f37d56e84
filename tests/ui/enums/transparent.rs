use nvtxw::NvtxEnum;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(transparent)]
enum Level {
    Only,
}

fn main() {}
