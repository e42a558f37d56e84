//! Events of all kinds, with all that they may say of themselves.

use nvtxw::{Argb, CategoryId, EventKind, NvtxEvent, RangeId, ScopeId, StringHandle};
use proptest::prelude::*;

use crate::data::{Values, categories, field, registered, scopes, text_of, unsigned_times, values};
use crate::seen::Shown;
use crate::stage::{Attributes, Case, round_trip, round_trip_in_batches};

impl Values for RangeId {
    fn values() -> BoxedStrategy<Self> {
        u64::values()
            .prop_map(|id| Self::new(id.max(1)).expect("not 0"))
            .boxed()
    }
}

impl Values for Argb {
    fn values() -> BoxedStrategy<Self> {
        u32::values().prop_map(Self::from_u32).boxed()
    }
}

impl Values for CategoryId {
    fn values() -> BoxedStrategy<Self> {
        proptest::sample::select(registered().categories).boxed()
    }
}

impl Values for ScopeId {
    fn values() -> BoxedStrategy<Self> {
        proptest::sample::select(registered().scopes).boxed()
    }
}

/// All roles, in types that say what they are.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Typed {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    #[nvtx(scope)]
    place: ScopeId,
    #[nvtx(color)]
    color: Argb,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(correlation = "launch")]
    launch: u64,
    #[nvtx(correlation)]
    flow: i64,
    value: u64,
}

values!(Typed: start, end, name, place, color, category, launch, flow, value);

impl Case for Typed {
    const KIND: EventKind = EventKind::RangeStartEnd;
    const NAME: &'static str = "Typed";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start, Some(self.end))
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            message: text_of(self.name),
            color: self.color.to_u32(),
            category: self.category.to_u32(),
            range_id: None,
            scope: self.place.to_u64(),
        }
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("launch", self.launch),
            field("flow", self.flow),
            field("value", self.value),
        ]
    }
}

/// All roles, in plain numbers; each may be 0, which says nothing.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Numbers {
    #[nvtx(color)]
    color: u32,
    #[nvtx(category)]
    category: u32,
    #[nvtx(scope)]
    place: u64,
    #[nvtx(timestamp_end)]
    end: u64,
    #[nvtx(timestamp_start)]
    start: u64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(registered_string)]
    file: StringHandle,
}

values!(
    Numbers: color, category in categories(), place in scopes(), end in unsigned_times(), start in unsigned_times(), name,
    file,
);

impl Case for Numbers {
    const KIND: EventKind = EventKind::RangePushPop;
    const NAME: &'static str = "Numbers";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start as i64, Some(self.end as i64))
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            message: text_of(self.name),
            color: self.color,
            category: self.category,
            range_id: None,
            scope: self.place,
        }
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("file", self.file)]
    }
}

/// Without roles, these types are numbers.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Plain {
    #[nvtx(timestamp)]
    time: i64,
    range: RangeId,
    place: ScopeId,
    color: Argb,
    category: CategoryId,
}

values!(Plain: time, range, place, color, category);

impl Case for Plain {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Plain";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("range", self.range.get()),
            field("place", self.place.to_u64()),
            field("color", self.color.to_u32()),
            field("category", self.category.to_u32()),
        ]
    }
}

#[test]
fn attributes_in_types_of_their_own() {
    round_trip_in_batches::<Typed>();
}

#[test]
fn attributes_in_plain_numbers() {
    round_trip_in_batches::<Numbers>();
}

#[test]
fn types_of_attributes_are_numbers_without_a_role() {
    round_trip_in_batches::<Plain>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Push {
    #[nvtx(timestamp_start)]
    time: i64,
    #[nvtx(message)]
    name: StringHandle,
    value: f64,
}

values!(Push: time, name, value);

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_pop)]
struct Pop {
    #[nvtx(timestamp_end)]
    time: u64,
    value: u64,
}

values!(Pop: time in unsigned_times(), value);

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_start)]
struct Start {
    #[nvtx(range_id)]
    id: RangeId,
    #[nvtx(timestamp_start)]
    time: i64,
    value: i16,
    rest: [u8; 6],
}

values!(Start: id, time, value, rest);

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C, packed)]
#[nvtx(kind = range_end)]
struct End {
    value: u8,
    #[nvtx(timestamp_end)]
    time: i64,
    #[nvtx(range_id)]
    id: u64,
    #[nvtx(color)]
    color: u32,
}

values!(End: value, time, id in u64::values().prop_map(|id| id.max(1)), color);

impl Case for Push {
    const KIND: EventKind = EventKind::RangePush;
    const NAME: &'static str = "Push";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            message: text_of(self.name),
            ..Attributes::default()
        }
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("value", self.value)]
    }
}

impl Case for Pop {
    const KIND: EventKind = EventKind::RangePop;
    const NAME: &'static str = "Pop";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time as i64, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("value", self.value)]
    }
}

impl Case for Start {
    const KIND: EventKind = EventKind::RangeStart;
    const NAME: &'static str = "Start";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            range_id: Some(self.id.get()),
            ..Attributes::default()
        }
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("value", self.value), field("rest", self.rest)]
    }
}

impl Case for End {
    const KIND: EventKind = EventKind::RangeEnd;
    const NAME: &'static str = "End";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            range_id: Some(self.id),
            color: self.color,
            ..Attributes::default()
        }
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("value", self.value)]
    }
}

#[test]
fn starts_and_ends_of_ranges() {
    round_trip::<Push>();
    round_trip::<Pop>();
    round_trip::<Start>();
    round_trip::<End>();
}
