use nvtxw::__private::{FlexEvent, TypeCode};
use nvtxw::{FlexPool, FlexStr, NvtxCounterGroup, NvtxEvent, NvtxPayload};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Fixed {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, string)]
    name: [u8; 12],
    #[nvtx(string)]
    unit: [u8; 4],
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Flexible<T> {
    #[nvtx(timestamp)]
    time: i64,
    value: T,
    #[nvtx(message, flex)]
    name: FlexStr,
    #[nvtx(flex, hide)]
    r#type: FlexStr,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Label {
    #[nvtx(string, description = "what it says")]
    text: [u8; 3],
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Labelled {
    #[nvtx(timestamp)]
    time: i64,
    labels: [Label; 4],
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    value: u64,
    #[nvtx(skip)]
    text: Label,
    #[nvtx(skip)]
    rest: [u8; 5],
}

fn main() {
    const MESSAGE: u64 = 1 << 10;
    const UTF8: u64 = 76;

    let found = |table: nvtxw::__private::SchemaTable| -> Vec<_> {
        table
            .entries
            .iter()
            .filter_map(|entry| match entry.ty.code {
                TypeCode::Predefined(code) if code.to_raw() == UTF8 => {
                    Some((entry.ty.count, entry.role_flags, entry.length, entry.hide))
                }
                _ => None,
            })
            .collect()
    };
    assert_eq!(found(Fixed::SCHEMA), [(Some(12), MESSAGE, None, false), (Some(4), 0, None, false)]);
    assert_eq!(
        found(<Flexible<u8> as NvtxEvent>::SCHEMA),
        [(None, MESSAGE, Some(c"name length"), false), (None, 0, Some(c"type length"), true)]
    );
    assert_eq!(found(Label::SCHEMA), [(Some(3), 0, None, false)]);
    let labels = Labelled::SCHEMA.entries[1].ty;
    assert!(matches!(labels.code, TypeCode::Registered(_)));
    assert_eq!(labels.count, Some(4));
    assert_eq!(Group::SCHEMA.entries.len(), 1);

    let mut pool = FlexPool::new();
    let (name, r#type) = (pool.push("name"), pool.push("type"));
    let event = Flexible { time: 0, value: 0_u8, name, r#type };
    assert_eq!((event.fits(8), event.fits(7), event.fits(3)), (true, false, false));
}
