//! Enums and flags.

use nvtxw::{EventKind, Flags, NvtxEnum, NvtxEvent};
use proptest::prelude::*;

use crate::data::{Data, Values, enumeration, field, values};
use crate::seen::{Shown, Tree, Type};
use crate::stage::{Case, round_trip_in_batches};

/// Says what an enum's values are called, and what any of them is to a backend.
macro_rules! named {
    ($ty:ident, $name:literal, $size:literal: $($variant:ident = $value:literal $shown:literal),* $(,)?) => {
        impl Data for $ty {
            fn ty() -> Type {
                enumeration($name, $size, &[$(($shown, $value)),*], false)
            }
            fn tree(self) -> Tree {
                match self {
                    $($ty::$variant => Tree::Enum($value, Some($shown.to_owned())),)*
                }
            }
        }

        impl Values for $ty {
            fn values() -> BoxedStrategy<Self> {
                proptest::sample::select(&[$($ty::$variant),*][..]).boxed()
            }
        }
    };
}

#[derive(NvtxEnum, Clone, Copy, Debug)]
#[repr(i8)]
enum Level {
    Low = -1,
    #[nvtx(name = "in between")]
    Middle,
    r#High,
}
named!(Level, "Level", 1: Low = 0xFF "Low", Middle = 0 "in between", High = 1 "High");

/// Its size is that of C's `int`.
#[derive(NvtxEnum, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(name = "mode of a switch")]
enum Mode {
    On = 1,
    Off = -2,
}
named!(Mode, "mode of a switch", 4: On = 1 "On", Off = 0xFFFF_FFFE "Off");

#[derive(NvtxEnum, Clone, Copy, Debug)]
#[repr(u64)]
enum Wide {
    First = 0,
    Last = u64::MAX,
}
named!(Wide, "Wide", 8: First = 0 "First", Last = 0xFFFF_FFFF_FFFF_FFFF "Last");

#[derive(NvtxEnum, Clone, Copy, Debug)]
#[repr(u16)]
#[nvtx(name = "access", flags)]
enum Access {
    None = 0,
    Read = 1,
    Write = 2,
    Highest = 0x8000,
}

/// Any bits may be set, those without a name too.
impl Data for Flags<Access> {
    fn ty() -> Type {
        let values = [("None", 0), ("Read", 1), ("Write", 2), ("Highest", 0x8000)];
        enumeration("access", 2, &values, true)
    }
    fn tree(self) -> Tree {
        let name = match self.bits() {
            0 => Some("None"),
            1 => Some("Read"),
            2 => Some("Write"),
            0x8000 => Some("Highest"),
            _ => None,
        };
        Tree::Enum(self.bits().into(), name.map(str::to_owned))
    }
}

#[derive(NvtxEnum, Clone, Copy, Debug)]
#[repr(i64)]
#[nvtx(flags)]
enum Sign {
    Bit = i64::MIN,
    All = -1,
}

impl Data for Flags<Sign> {
    fn ty() -> Type {
        enumeration("Sign", 8, &[("Bit", 1 << 63), ("All", u64::MAX)], true)
    }
    fn tree(self) -> Tree {
        let name = match self.bits() {
            i64::MIN => Some("Bit"),
            -1 => Some("All"),
            _ => None,
        };
        Tree::Enum(self.bits() as u64, name.map(str::to_owned))
    }
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Enums {
    #[nvtx(timestamp)]
    time: i64,
    wide: Wide,
    wides: [Wide; 1],
    sign: Flags<Sign>,
    mode: Mode,
    access: Flags<Access>,
    accesses: [Flags<Access>; 3],
    level: Level,
    levels: [[Level; 3]; 1],
}

values!(Enums: time, wide, wides, sign, mode, access, accesses, level, levels);

impl Case for Enums {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Enums";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("wide", self.wide),
            field("wides", self.wides),
            field("sign", self.sign),
            field("mode", self.mode),
            field("access", self.access),
            field("accesses", self.accesses),
            field("level", self.level),
            field("levels", self.levels),
        ]
    }
}

#[test]
fn enums_and_flags() {
    round_trip_in_batches::<Enums>();
}
