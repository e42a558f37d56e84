use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Packed {
    a: u8,
    #[nvtx(timestamp)]
    t: i64,
    c: u16,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed(2))]
#[nvtx(kind = mark)]
struct Filled {
    a: u8,
    #[nvtx(skip)]
    _pad: u8,
    #[nvtx(timestamp)]
    t: i64,
    c: u16,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[repr(align(16))]
#[nvtx(kind = mark)]
struct Aligned {
    #[nvtx(timestamp)]
    t: i64,
    c: u64,
}

fn layout<E: NvtxEvent>() -> (usize, Option<usize>, Vec<usize>) {
    let table = E::SCHEMA;
    (table.size, table.pack_align, table.entries.iter().map(|entry| entry.offset).collect())
}

fn main() {
    assert_eq!(layout::<Packed>(), (11, Some(1), vec![0, 1, 9]));
    assert_eq!(layout::<Filled>(), (12, Some(2), vec![0, 2, 10]));
    assert_eq!(layout::<Aligned>(), (16, None, vec![0, 8]));
}
