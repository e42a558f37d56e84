//! Floats of half the size.

use half::{bf16, f16};
use nvtxw::{EventKind, NvtxEvent};
use proptest::prelude::*;

use crate::data::{Data, Values, field, values, widened_bf16, widened_f16};
use crate::seen::{Shown, Tree, Type};
use crate::stage::{Case, round_trip_in_batches};

impl Data for f16 {
    fn ty() -> Type {
        Type::Number(42)
    }
    fn tree(self) -> Tree {
        Tree::F32(widened_f16(self.to_bits()))
    }
}

impl Data for bf16 {
    fn ty() -> Type {
        Type::Number(50)
    }
    fn tree(self) -> Tree {
        Tree::F32(widened_bf16(self.to_bits()))
    }
}

impl Values for f16 {
    fn values() -> BoxedStrategy<Self> {
        any::<u16>().prop_map(Self::from_bits).boxed()
    }
}

impl Values for bf16 {
    fn values() -> BoxedStrategy<Self> {
        any::<u16>().prop_map(Self::from_bits).boxed()
    }
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Halves {
    #[nvtx(timestamp)]
    time: i64,
    half: f16,
    brain: bf16,
    more: [f16; 1],
    brains: [bf16; 1],
}

values!(Halves: time, half, brain, more, brains);

impl Case for Halves {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Halves";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("half", self.half),
            field("brain", self.brain),
            field("more", self.more),
            field("brains", self.brains),
        ]
    }
}

#[test]
fn floats_of_half_the_size() {
    round_trip_in_batches::<Halves>();
}
