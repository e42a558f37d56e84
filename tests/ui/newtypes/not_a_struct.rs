use nvtxw::NvtxField;

#[derive(NvtxField, Clone, Copy)]
#[repr(u8)]
enum Level {
    Low,
    High,
}

fn main() {}
