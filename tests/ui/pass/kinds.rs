use nvtxw::__private::{EventKind, SchemaRole};
use nvtxw::{Argb, CategoryId, NvtxEvent, RangeId, ScopeId, StringHandle};

const TIMESTAMP: u64 = 2 << 10;
const BEGIN: u64 = 1 << 12;
const END: u64 = 2 << 12;
const MARK: u64 = 3 << 12;
const MESSAGE: u64 = 1 << 10;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Mark {
    #[nvtx(timestamp)]
    time: u64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(color)]
    color: Argb,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(scope)]
    scope: ScopeId,
    #[nvtx(correlation)]
    launch: u64,
    #[nvtx(registered_string)]
    file: StringHandle,
    plain: StringHandle,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct PushPop {
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(message)]
    name: StringHandle,
    #[nvtx(color)]
    color: u32,
    #[nvtx(category)]
    category: u32,
    #[nvtx(scope)]
    scope: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct StartEnd {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Push {
    #[nvtx(timestamp_start)]
    start: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pop)]
struct Pop {
    #[nvtx(timestamp_end)]
    end: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_start)]
struct Start {
    #[nvtx(range_id)]
    id: RangeId,
    #[nvtx(timestamp_start)]
    start: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_end)]
struct End {
    #[nvtx(range_id)]
    id: u64,
    #[nvtx(timestamp_end)]
    end: i64,
}

/// Checks the kind, and each entry's role flags and type.
#[track_caller]
fn check<E: NvtxEvent>(kind: EventKind, entries: &[(u64, u64)]) {
    assert_eq!(E::KIND, kind);
    assert_eq!(E::SCHEMA.role, SchemaRole::Event(kind));
    let found: Vec<_> = E::SCHEMA.entries.iter().map(|entry| (entry.role_flags, types::code(entry))).collect();
    assert_eq!(found, entries);
}

mod types {
    use nvtxw::__private::{Entry, TypeCode};

    pub const INT64: u64 = 17;
    pub const UINT64: u64 = 18;
    pub const RANGE_ID: u64 = 67;
    pub const CATEGORY: u64 = 68;
    pub const COLOR: u64 = 69;
    pub const SCOPE: u64 = 70;
    pub const STRING: u64 = 80;

    /// The type that is registered for the entry.
    pub fn code(entry: &Entry) -> u64 {
        match (entry.entry_type, entry.ty.code) {
            (Some(code), _) | (None, TypeCode::Predefined(code)) => code.to_raw(),
            (None, TypeCode::Registered(_)) => panic!("{entry:?}"),
        }
    }
}

fn main() {
    use types::*;

    check::<Mark>(
        EventKind::Mark,
        &[
            (TIMESTAMP | MARK, UINT64),
            (MESSAGE, STRING),
            (0, COLOR),
            (0, CATEGORY),
            (0, SCOPE),
            (0, UINT64),
            (0, STRING),
            (0, STRING),
        ],
    );
    check::<PushPop>(
        EventKind::RangePushPop,
        &[
            (TIMESTAMP | END, INT64),
            (TIMESTAMP | BEGIN, INT64),
            (MESSAGE, STRING),
            (0, COLOR),
            (0, CATEGORY),
            (0, SCOPE),
        ],
    );
    check::<StartEnd>(EventKind::RangeStartEnd, &[(TIMESTAMP | BEGIN, INT64), (TIMESTAMP | END, INT64)]);
    check::<Push>(EventKind::RangePush, &[(TIMESTAMP | BEGIN, INT64)]);
    check::<Pop>(EventKind::RangePop, &[(TIMESTAMP | END, INT64)]);
    check::<Start>(EventKind::RangeStart, &[(0, RANGE_ID), (TIMESTAMP | BEGIN, INT64)]);
    check::<End>(EventKind::RangeEnd, &[(0, RANGE_ID), (TIMESTAMP | END, INT64)]);
}
