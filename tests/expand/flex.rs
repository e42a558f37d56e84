#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Query {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
    #[nvtx(flex)]
    user: FlexStr,
    #[nvtx(string)]
    code: [u8; 8],
}
