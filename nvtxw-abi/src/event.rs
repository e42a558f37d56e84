//! The kinds of events, and what a schema describes.

use crate::raw;
use crate::vocabulary::vocabulary;

/// The bits of a schema's flags that hold its role.
const ROLE: u64 = 0xF << 3;

vocabulary! {
    /// What an event says.
    ///
    /// In a schema's flags this is a number, not a set of bits: a mark (4) and a push (5) share a
    /// bit.
    EventKind: u64 in ROLE;
    /// Something happened at one instant.
    Mark = raw::NVTX_PAYLOAD_SCHEMA_FLAG_MARK,
    /// A whole range that nests in others of its stream.
    RangePushPop = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP,
    /// A whole range that may overlap others.
    RangeStartEnd = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND,
    /// A nesting range starts.
    RangePush = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH,
    /// The nesting range that was pushed last ends.
    RangePop = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP,
    /// A range with an ID starts.
    RangeStart = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START,
    /// The range with the same ID ends.
    RangeEnd = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END,
}

impl EventKind {
    /// The kind's name as the derive's `kind = …` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::RangePushPop => "range_pushpop",
            Self::RangeStartEnd => "range_startend",
            Self::RangePush => "range_push",
            Self::RangePop => "range_pop",
            Self::RangeStart => "range_start",
            Self::RangeEnd => "range_end",
        }
    }

    /// Whether one event says all: a mark or a whole range. Only those can be written in batches.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Mark | Self::RangePushPop | Self::RangeStartEnd)
    }

    /// The flags of a schema of such events.
    pub const fn schema_flags(self) -> u64 {
        self.to_raw()
    }
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaRole {
    /// Data that belongs to something else: a nested struct, a further payload of an event.
    Generic,
    /// One sample of a group of counters.
    CounterGroup,
    /// An event.
    Event(EventKind),
}

impl SchemaRole {
    /// The flags of a schema with this role.
    pub const fn flags(self) -> u64 {
        match self {
            Self::Generic => 0,
            Self::CounterGroup => raw::NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
            Self::Event(kind) => kind.schema_flags(),
        }
    }

    /// Reads the role out of a schema's flags; `None` if the ABI doesn't define its number. Other
    /// flags don't matter.
    pub const fn from_flags(flags: u64) -> Option<Self> {
        match flags & ROLE {
            0 => Some(Self::Generic),
            raw::NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP => Some(Self::CounterGroup),
            _ => match EventKind::from_raw(flags) {
                Some(kind) => Some(Self::Event(kind)),
                None => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EventKind, SchemaRole};

    #[test]
    fn roles_are_numbers() {
        let roles = [
            (0, SchemaRole::Generic),
            (1, SchemaRole::CounterGroup),
            (2, SchemaRole::Event(EventKind::RangePushPop)),
            (3, SchemaRole::Event(EventKind::RangeStartEnd)),
            (4, SchemaRole::Event(EventKind::Mark)),
            (5, SchemaRole::Event(EventKind::RangePush)),
            (6, SchemaRole::Event(EventKind::RangePop)),
            (7, SchemaRole::Event(EventKind::RangeStart)),
            (8, SchemaRole::Event(EventKind::RangeEnd)),
        ];
        for (number, role) in roles {
            assert_eq!(role.flags(), number << 3);
            assert_eq!(SchemaRole::from_flags(number << 3), Some(role));
            // DEEP_COPY, REFERENCED and bits that later versions may use.
            assert_eq!(
                SchemaRole::from_flags(number << 3 | 0b110 | 1 << 7 | 1 << 63),
                Some(role)
            );
        }
        for number in 9..16 {
            assert_eq!(SchemaRole::from_flags(number << 3), None);
        }
    }

    #[test]
    fn a_shared_bit_is_not_a_shared_role() {
        // A push pop range (2) and a mark (4) together are a pop (6), not both.
        let both = EventKind::RangePushPop.schema_flags() | EventKind::Mark.schema_flags();
        assert_eq!(
            SchemaRole::from_flags(both),
            Some(SchemaRole::Event(EventKind::RangePop))
        );
        assert_eq!(EventKind::from_raw(both), Some(EventKind::RangePop));
        // A counter group is no event.
        assert_eq!(EventKind::from_raw(SchemaRole::CounterGroup.flags()), None);
    }

    #[test]
    fn three_kinds_are_complete() {
        let complete = EventKind::ALL
            .iter()
            .filter(|kind| kind.is_complete())
            .map(|kind| kind.name());
        assert!(complete.eq(["mark", "range_pushpop", "range_startend"]));
        let partial = EventKind::ALL
            .iter()
            .filter(|kind| !kind.is_complete())
            .map(|kind| kind.name());
        assert!(partial.eq(["range_push", "range_pop", "range_start", "range_end"]));
    }
}
