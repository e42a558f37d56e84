#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
#[nvtx(flags)]
enum Access {
    #[nvtx(name = "read it")]
    Read = 1,
    Write = 2,
}

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Ticks<T>(T);
