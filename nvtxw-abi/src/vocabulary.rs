//! The macro behind the enums of the vocabulary.

/// Defines an enum over constants of the ABI, with `ALL`, `to_raw` and `from_raw`.
///
/// `in MASK` is for a number in a bit-field: `from_raw` takes all flags and looks at those bits
/// only.
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        $name:ident: $raw:ident in $mask:expr;
        $( $(#[$variant_meta:meta])* $variant:ident = $value:path, )+
    ) => {
        vocabulary! { @define
            $(#[$meta])*
            $name: $raw;
            $( $(#[$variant_meta])* $variant = $value, )+
        }

        impl $name {
            /// The bits that hold the value.
            pub const MASK: $raw = $mask;

            /// The flags that say so.
            pub const fn to_raw(self) -> $raw {
                self as $raw
            }

            /// Reads the bits of [`MASK`](Self::MASK) in `flags` as one number; `None` if the ABI
            /// doesn't define it.
            pub const fn from_raw(flags: $raw) -> Option<Self> {
                match flags & Self::MASK {
                    $( $value => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $name:ident: $raw:ident;
        $( $(#[$variant_meta:meta])* $variant:ident = $value:path, )+
    ) => {
        vocabulary! { @define
            $(#[$meta])*
            $name: $raw;
            $( $(#[$variant_meta])* $variant = $value, )+
        }

        impl $name {
            /// The ABI's number.
            pub const fn to_raw(self) -> $raw {
                self as $raw
            }

            /// From the ABI's number; `None` if the ABI doesn't define it.
            pub const fn from_raw(raw: $raw) -> Option<Self> {
                match raw {
                    $( $value => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }
    };
    (@define
        $(#[$meta:meta])*
        $name:ident: $raw:ident;
        $( $(#[$variant_meta:meta])* $variant:ident = $value:path, )+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr($raw)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant = $value, )+
        }

        impl $name {
            /// All values, in the order of their definition.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];
        }
    };
}

pub(crate) use vocabulary;

#[cfg(test)]
mod tests {
    use crate::*;

    /// Every value comes back from its number, and no other number in `0..1024` is accepted.
    macro_rules! numbers {
        ($($name:ident),+) => { $(
            for &value in $name::ALL {
                assert_eq!($name::from_raw(value.to_raw()), Some(value));
            }
            let accepted = (0..1024).filter(|&raw| {
                <_>::try_from(raw).is_ok_and(|raw| $name::from_raw(raw).is_some())
            });
            assert_eq!(accepted.count(), $name::ALL.len(), stringify!($name));
        )+ };
    }

    /// Every value comes back from its bits whatever the other bits are, and no other number in the
    /// field is accepted.
    macro_rules! fields {
        ($($name:ident),+) => { $(
            for &value in $name::ALL {
                assert_eq!(value.to_raw() & !$name::MASK, 0);
                assert_eq!($name::from_raw(value.to_raw()), Some(value));
                assert_eq!($name::from_raw(value.to_raw() | !$name::MASK), Some(value));
            }
            let shift = $name::MASK.trailing_zeros();
            let accepted = (0..=$name::MASK >> shift)
                .filter(|number| $name::from_raw(number << shift).is_some());
            assert_eq!(accepted.count(), $name::ALL.len(), stringify!($name));
        )+ };
    }

    #[test]
    fn numbers_round_trip() {
        numbers!(
            EntryType,
            PredefinedScope,
            TimestampType,
            TimerStart,
            NoValueReason,
            StreamInterleaving,
            StreamOrdering,
            Skid
        );
        for &resource in ResourceType::ALL {
            assert_eq!(ResourceType::from_raw(resource.to_raw()), Some(resource));
        }
        assert_eq!(ResourceType::from_raw(1), None);
        assert_eq!(StreamOrdering::from_raw(-1), None);
        assert_eq!(EntryType::from_raw(u64::MAX), None);
    }

    #[test]
    fn fields_round_trip() {
        fields!(
            EventKind,
            EntryPurpose,
            ArrayStyle,
            BatchOrdering,
            IntervalPlacement,
            Interpolation,
            ValueType
        );
    }
}
