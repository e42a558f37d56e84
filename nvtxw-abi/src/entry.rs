//! The numbers in a schema entry's flags.

use crate::raw;
use crate::vocabulary::vocabulary;

/// The bits that say message or timestamp.
const ATTRIBUTE: u64 = 3 << 10;
/// The bits that say what the entry belongs to.
const PURPOSE: u64 = 7 << 12;

vocabulary! {
    /// What an entry belongs to: a number in bits 12 to 14 of its flags.
    EntryPurpose: u64 in PURPOSE;
    /// The start of a range.
    RangeBegin = raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
    /// The end of a range.
    RangeEnd = raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
    /// A mark.
    Mark = raw::NVTX_PAYLOAD_ENTRY_FLAG_MARK,
    /// A counter.
    Counter = raw::NVTX_PAYLOAD_ENTRY_FLAG_COUNTER,
}

/// What a timestamp tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimestampRole {
    /// Nothing in particular: in a counter group, when the sample was taken.
    Plain,
    /// When a range starts.
    RangeBegin,
    /// When a range ends.
    RangeEnd,
    /// When a mark happens.
    Mark,
    /// When a counter was sampled.
    Counter,
}

/// The role of a schema entry: two numbers in its flags, at bits 10 and 12.
///
/// ```
/// use nvtxw_abi::{EntryPurpose, EntryRole, TimestampRole, raw};
///
/// let end = raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
/// assert_eq!(EntryRole::from_flags(end), Some(EntryRole::Timestamp(TimestampRole::RangeEnd)));
/// let value = raw::NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;
/// assert_eq!(EntryRole::from_flags(value), Some(EntryRole::Purpose(EntryPurpose::Counter)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryRole {
    /// Plain data.
    None,
    /// The event's message.
    Message,
    /// A timestamp.
    Timestamp(TimestampRole),
    /// No timestamp, but belongs to something: a counter's value, or the scope of a range's start,
    /// a range's end, a mark or a counter.
    Purpose(EntryPurpose),
}

impl EntryRole {
    /// The flags of an entry with this role.
    pub const fn flags(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Message => raw::NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            Self::Timestamp(role) => {
                raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP
                    | match role {
                        TimestampRole::Plain => 0,
                        TimestampRole::RangeBegin => raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
                        TimestampRole::RangeEnd => raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
                        TimestampRole::Mark => raw::NVTX_PAYLOAD_ENTRY_FLAG_MARK,
                        TimestampRole::Counter => raw::NVTX_PAYLOAD_ENTRY_FLAG_COUNTER,
                    }
            }
            Self::Purpose(purpose) => purpose.to_raw(),
        }
    }

    /// Reads the role out of an entry's flags; `None` if the ABI doesn't define one of its numbers,
    /// or gives a message a purpose. Other flags don't matter.
    pub const fn from_flags(flags: u64) -> Option<Self> {
        let purpose = match flags & PURPOSE {
            0 => None,
            _ => match EntryPurpose::from_raw(flags) {
                None => return None,
                purpose => purpose,
            },
        };
        match (flags & ATTRIBUTE, purpose) {
            (0, None) => Some(Self::None),
            (0, Some(purpose)) => Some(Self::Purpose(purpose)),
            (raw::NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, None) => Some(Self::Message),
            (raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, purpose) => {
                Some(Self::Timestamp(match purpose {
                    None => TimestampRole::Plain,
                    Some(EntryPurpose::RangeBegin) => TimestampRole::RangeBegin,
                    Some(EntryPurpose::RangeEnd) => TimestampRole::RangeEnd,
                    Some(EntryPurpose::Mark) => TimestampRole::Mark,
                    Some(EntryPurpose::Counter) => TimestampRole::Counter,
                }))
            }
            _ => None,
        }
    }
}

/// The style that an entry without array has: the number 0.
const NO_ARRAY: u64 = 0;

vocabulary! {
    /// Where the length of an array entry is found: a number in bits 4 to 6 of its flags.
    ArrayStyle: u64 in raw::NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY;
    /// No array.
    None = NO_ARRAY,
    /// In the schema.
    FixedSize = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
    /// An element of all zero bytes ends it.
    ZeroTerminated = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
    /// In an earlier entry of the payload.
    LengthIndex = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
    /// In another payload of the event.
    LengthPayloadIndex = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
}

#[cfg(test)]
mod tests {
    use super::{ArrayStyle, EntryPurpose, EntryRole, TimestampRole};

    #[test]
    fn roles_are_numbers() {
        let roles = [
            (0, 0, EntryRole::None),
            (1, 0, EntryRole::Message),
            (2, 0, EntryRole::Timestamp(TimestampRole::Plain)),
            (2, 1, EntryRole::Timestamp(TimestampRole::RangeBegin)),
            (2, 2, EntryRole::Timestamp(TimestampRole::RangeEnd)),
            (2, 3, EntryRole::Timestamp(TimestampRole::Mark)),
            (2, 4, EntryRole::Timestamp(TimestampRole::Counter)),
            (0, 1, EntryRole::Purpose(EntryPurpose::RangeBegin)),
            (0, 2, EntryRole::Purpose(EntryPurpose::RangeEnd)),
            (0, 3, EntryRole::Purpose(EntryPurpose::Mark)),
            (0, 4, EntryRole::Purpose(EntryPurpose::Counter)),
        ];
        for attribute in 0..4 {
            for purpose in 0..8 {
                let flags = attribute << 10 | purpose << 12;
                let role = roles
                    .iter()
                    .find(|role| (role.0, role.1) == (attribute, purpose))
                    .map(|role| role.2);
                assert_eq!(EntryRole::from_flags(flags), role, "{attribute} {purpose}");
                if let Some(role) = role {
                    assert_eq!(role.flags(), flags);
                    // All other flags, those that later versions may use included.
                    let others = !(3 << 10 | 7 << 12);
                    assert_eq!(EntryRole::from_flags(flags | others), Some(role));
                }
            }
        }
    }

    #[test]
    fn a_shared_bit_is_not_a_shared_role() {
        // A mark's number (3) has the bits of a range's start (1) and end (2).
        let both = EntryPurpose::RangeBegin.to_raw() | EntryPurpose::RangeEnd.to_raw();
        assert_eq!(EntryPurpose::from_raw(both), Some(EntryPurpose::Mark));
        // Message and timestamp together are a number that nothing has.
        let message = EntryRole::Message.flags();
        let timestamp = EntryRole::Timestamp(TimestampRole::Plain).flags();
        assert_eq!(EntryRole::from_flags(message | timestamp), None);
    }

    #[test]
    fn array_styles_are_numbers() {
        let styles = [
            (0, ArrayStyle::None),
            (1, ArrayStyle::FixedSize),
            (2, ArrayStyle::ZeroTerminated),
            (3, ArrayStyle::LengthIndex),
            (4, ArrayStyle::LengthPayloadIndex),
        ];
        for (number, style) in styles {
            assert_eq!(style.to_raw(), number << 4);
            assert_eq!(ArrayStyle::from_raw(number << 4), Some(style));
        }
        // Fixed size (1) and zero-terminated (2) together are a length index (3).
        let both = ArrayStyle::FixedSize.to_raw() | ArrayStyle::ZeroTerminated.to_raw();
        assert_eq!(ArrayStyle::from_raw(both), Some(ArrayStyle::LengthIndex));
        for number in 5..8 {
            assert_eq!(ArrayStyle::from_raw(number << 4), None);
        }
    }
}
