use nvtxw::NvtxField;

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Cycles(#[nvtx(unit = "cycles")] u64);

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Bytes {
    /// How many.
    #[nvtx(nit = "bytes")]
    count: u64,
}

fn main() {}
