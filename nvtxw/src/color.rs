//! Colours.

use std::fmt;

/// A colour: alpha, red, green and blue, eight bits each, as one `0xAARRGGBB` number.
///
/// The number 0 ([`Argb::NONE`]) means "no colour": the reader of the trace picks one. Opaque black is
/// `0xFF00_0000` ([`Argb::BLACK`]).
///
/// ```
/// use nvtxw::Argb;
///
/// assert_eq!(Argb::rgb(0xFF, 0xA5, 0), Argb::ORANGE);
/// assert_eq!(Argb::named("orange"), Some(Argb::ORANGE));
/// assert_eq!(Argb::ORANGE.to_u32(), 0xFFFF_A500);
/// assert!(Argb::from_u32(0).is_none());
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Argb(u32);

impl Argb {
    /// No colour: the reader of the trace picks one.
    pub const NONE: Self = Self(0);

    /// A colour from its four parts; alpha 255 is opaque.
    ///
    /// All four 0 is [`Argb::NONE`].
    #[inline]
    #[must_use]
    pub const fn new(alpha: u8, red: u8, green: u8, blue: u8) -> Self {
        Self(u32::from_be_bytes([alpha, red, green, blue]))
    }

    /// An opaque colour.
    #[inline]
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self::new(0xFF, red, green, blue)
    }

    /// A colour from its `0xAARRGGBB` number; 0 is [`Argb::NONE`].
    #[inline]
    #[must_use]
    pub const fn from_u32(argb: u32) -> Self {
        Self(argb)
    }

    /// A colour in hexadecimal, `RRGGBB` (opaque) or `AARRGGBB`, with or without a `#` before it; `None` for other text.
    ///
    /// ```
    /// # use nvtxw::Argb;
    /// const TEAL: Argb = Argb::hex("#008080").unwrap();
    /// assert_eq!(TEAL, Argb::TEAL);
    /// assert_eq!(Argb::hex("7f008080"), Some(Argb::new(0x7F, 0, 0x80, 0x80)));
    /// assert_eq!(Argb::hex("#088"), None);
    /// ```
    #[must_use]
    pub const fn hex(text: &str) -> Option<Self> {
        let digits = match text.as_bytes() {
            [b'#', digits @ ..] => digits,
            digits => digits,
        };
        let mut argb: u32 = match digits.len() {
            6 => 0xFF,
            8 => 0,
            _ => return None,
        };
        let mut at = 0;
        while at < digits.len() {
            let Some(digit) = (digits[at] as char).to_digit(16) else {
                return None;
            };
            argb = argb << 4 | digit;
            at += 1;
        }
        Some(Self(argb))
    }

    /// The `0xAARRGGBB` number.
    #[inline]
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Whether this is [`Argb::NONE`].
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// From a `0xAARRGGBB` number.
impl From<u32> for Argb {
    #[inline]
    fn from(argb: u32) -> Self {
        Self::from_u32(argb)
    }
}

/// An opaque colour from its red, green and blue.
impl From<(u8, u8, u8)> for Argb {
    #[inline]
    fn from((red, green, blue): (u8, u8, u8)) -> Self {
        Self::rgb(red, green, blue)
    }
}

/// The constants and the names they answer to, from one list.
macro_rules! named {
    (@letters $($letter:literal $letter_red:literal $letter_green:literal $letter_blue:literal;)*
        @names $($constant:ident $name:literal $red:literal $green:literal $blue:literal;)*) => {
        impl Argb {
            $(
                #[doc = concat!("Opaque `", $name, "`.")]
                pub const $constant: Self = Self::rgb($red, $green, $blue);
            )*

            /// The opaque colour of a name in lower case: one of this type's constants, or a letter that matplotlib and
            /// MATLAB know (`b`, `g`, `r`, `c`, `m`, `y`, `k`, `w`). `None` for others.
            ///
            /// ```
            /// # use nvtxw::Argb;
            /// const TEAL: Argb = Argb::named("teal").unwrap();
            /// assert_eq!(TEAL, Argb::TEAL);
            /// assert_eq!(Argb::named("Teal"), None);
            /// ```
            #[must_use]
            pub const fn named(name: &str) -> Option<Self> {
                match name.as_bytes() {
                    $(name if equal(name, $name.as_bytes()) => Some(Self::$constant),)*
                    $(name if equal(name, $letter.as_bytes()) => {
                        Some(Self::rgb($letter_red, $letter_green, $letter_blue))
                    })*
                    _ => None,
                }
            }
        }
    };
}

named! {
    @letters
    "b" 0 0 0xFF;
    "g" 0 0x80 0;
    "r" 0xFF 0 0;
    "c" 0 0xBF 0xBF;
    "m" 0xBF 0 0xBF;
    "y" 0xBF 0xBF 0;
    "k" 0 0 0;
    "w" 0xFF 0xFF 0xFF;
    @names
    AQUA "aqua" 0 0xFF 0xFF;
    BLACK "black" 0 0 0;
    BLUE "blue" 0 0 0xFF;
    BROWN "brown" 0xA5 0x2A 0x2A;
    CORAL "coral" 0xFF 0x7F 0x50;
    CYAN "cyan" 0 0xFF 0xFF;
    DARKGREEN "darkgreen" 0 0x64 0;
    FUCHSIA "fuchsia" 0xFF 0 0xFF;
    GOLD "gold" 0xFF 0xD7 0;
    GRAY "gray" 0x80 0x80 0x80;
    GREEN "green" 0 0x80 0;
    INDIGO "indigo" 0x4B 0 0x82;
    LIME "lime" 0 0xFF 0;
    MAGENTA "magenta" 0xFF 0 0xFF;
    MAROON "maroon" 0x80 0 0;
    NAVY "navy" 0 0 0x80;
    OLIVE "olive" 0x80 0x80 0;
    ORANGE "orange" 0xFF 0xA5 0;
    PINK "pink" 0xFF 0xC0 0xCB;
    PURPLE "purple" 0x80 0 0x80;
    RAPIDS "rapids" 0x74 0 0xFF;
    RED "red" 0xFF 0 0;
    SALMON "salmon" 0xFA 0x80 0x72;
    SILVER "silver" 0xC0 0xC0 0xC0;
    TEAL "teal" 0 0x80 0x80;
    VIOLET "violet" 0xEE 0x82 0xEE;
    WHITE "white" 0xFF 0xFF 0xFF;
    YELLOW "yellow" 0xFF 0xFF 0;
}

const fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

impl fmt::Debug for Argb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Argb({:#010X})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_opaque() {
        for name in ["black", "lime", "violet", "yellow"] {
            assert_eq!(Argb::named(name).unwrap().to_u32() >> 24, 0xFF, "{name}");
        }
        assert_eq!(Argb::named("black"), Some(Argb::from_u32(0xFF00_0000)));
        assert_eq!(Argb::named(""), None);
        assert_eq!(Argb::named("blackish"), None);
    }

    #[test]
    fn letters_are_those_of_matplotlib() {
        assert_eq!(Argb::named("g"), Some(Argb::GREEN));
        assert_eq!(Argb::named("c"), Some(Argb::from_u32(0xFF00_BFBF)));
        assert_eq!(Argb::named("k"), Some(Argb::BLACK));
        assert_eq!(Argb::named("x"), None);
        assert_eq!(Argb::named("rapids"), Argb::hex("#7400ff"));
    }

    #[test]
    fn hex_is_opaque_unless_it_says_otherwise() {
        for text in ["#FFA500", "ffa500", "#FFffA500", "ffffa500"] {
            assert_eq!(Argb::hex(text), Some(Argb::ORANGE), "{text}");
        }
        assert_eq!(Argb::hex("00000000"), Some(Argb::NONE));
        assert_eq!(Argb::hex("#12345678").unwrap().to_u32(), 0x1234_5678);
        for text in [
            "", "#", "#FFA50", "#FFA500F", "##FFA500", "#FFA50G", "+FFA500", "größe",
        ] {
            assert_eq!(Argb::hex(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_triples_are_colors() {
        assert_eq!(Argb::from(0x80FF_0000), Argb::new(0x80, 0xFF, 0, 0));
        assert_eq!(Argb::from((0xFF, 0xA5, 0)), Argb::ORANGE);
    }

    #[test]
    fn none_is_the_default_and_not_black() {
        assert_eq!(Argb::default(), Argb::NONE);
        assert!(!Argb::BLACK.is_none());
        assert_eq!(format!("{:?}", Argb::BLACK), "Argb(0xFF000000)");
    }
}
