//! Colours, as texts by which Perfetto's viewer shows them.
//!
//! The format has no colours. The viewer makes one of an event's correlation ID: a hash of the text is the hue, another one the
//! lightness, at a saturation that is always the same. So a colour gets a text whose hash is near to it, which is found by
//! trying numbers at its end.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Number of texts that are tried for a colour.
const TRIES: u32 = 500;

/// Number of colours that get a text near to them: each takes about a tenth of a millisecond.
const MOST: usize = 256;

/// Colours that are nearer to grey than this have no hue to be shown by.
const LEAST_CHROMA: f64 = 20.0;

/// The saturation and the least lightness of the viewer's colours.
const SATURATION: f64 = 80.0;
const LEAST_LIGHTNESS: u32 = 40;

/// The texts of a session's colours.
#[derive(Default)]
pub(super) struct Colors(Mutex<HashMap<u32, String>>);

impl Colors {
    /// The correlation ID of events of this colour, `0xAARRGGBB`; `None` for one that is nearly grey, which the viewer can't
    /// show.
    pub(super) fn text(&self, color: u32) -> Option<String> {
        let wanted = Luv::of_rgb(color);
        if wanted.chroma() < LEAST_CHROMA {
            return None;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(&color) {
            return Some(text.clone());
        }
        if known.len() >= MOST {
            return Some(crate::attribute::color(color));
        }
        let text = nearest(color, wanted);
        known.insert(color, text.clone());
        Some(text)
    }
}

/// The text for a colour that is shown in the colour nearest to it.
fn nearest(color: u32, wanted: Luv) -> String {
    let mut text = crate::attribute::color(color);
    let len = text.len();
    let mut best = (shown(&text).distance(wanted), 0);
    for number in 1..=TRIES {
        text.truncate(len);
        // A string takes all.
        let _ = write!(text, " {number}");
        let distance = shown(&text).distance(wanted);
        if distance < best.0 {
            best = (distance, number);
        }
    }
    text.truncate(len);
    if best.1 > 0 {
        let _ = write!(text, " {}", best.1);
    }
    text
}

/// The colour that the viewer shows for a text.
fn shown(text: &str) -> Luv {
    let hue = hash(text.encode_utf16()) % 360;
    let lightness = hash(text.encode_utf16().chain(Some(u16::from(b'x')))) % 40;
    Luv::of_hsluv(
        f64::from(hue),
        SATURATION,
        f64::from(LEAST_LIGHTNESS + lightness),
    )
}

/// The viewer's hash: that of Fowler, Noll and Vo, multiplied as doubles.
fn hash(units: impl Iterator<Item = u16>) -> u32 {
    let mut hash = 18_652_613_i32;
    for unit in units {
        let product = 16_777_619.0 * f64::from(hash ^ i32::from(unit));
        hash = product as i64 as i32;
    }
    hash.unsigned_abs()
}

/// A colour in CIELUV, where distances are about those that people see.
#[derive(Clone, Copy, Debug)]
struct Luv {
    lightness: f64,
    u: f64,
    v: f64,
}

/// From CIE XYZ to linear sRGB, and back.
const TO_RGB: [[f64; 3]; 3] = [
    [
        3.240_969_941_904_521,
        -1.537_383_177_570_093,
        -0.498_610_760_293,
    ],
    [
        -0.969_243_636_280_87,
        1.875_967_501_507_72,
        0.041_555_057_407_175,
    ],
    [
        0.055_630_079_696_993,
        -0.203_976_958_888_97,
        1.056_971_514_242_878,
    ],
];
const FROM_RGB: [[f64; 3]; 3] = [
    [
        0.412_390_799_265_95,
        0.357_584_339_383_87,
        0.180_480_788_401_83,
    ],
    [
        0.212_639_005_871_51,
        0.715_168_678_767_75,
        0.072_192_315_360_733,
    ],
    [
        0.019_330_818_715_591,
        0.119_194_779_794_62,
        0.950_532_152_249_66,
    ],
];

/// The white point D65.
const WHITE_U: f64 = 0.197_830_006_642_83;
const WHITE_V: f64 = 0.468_319_994_938_79;

/// Where the lightness turns from a line to a cube root, and the slope of that line.
const EPSILON: f64 = 216.0 / 24_389.0;
const KAPPA: f64 = 24_389.0 / 27.0;

impl Luv {
    /// Of the lower bytes of a colour.
    fn of_rgb(color: u32) -> Self {
        let [_, rgb @ ..] = color.to_be_bytes();
        let rgb = rgb.map(|value| {
            let value = f64::from(value) / 255.0;
            match value > 0.040_45 {
                true => ((value + 0.055) / 1.055).powf(2.4),
                false => value / 12.92,
            }
        });
        let [x, y, z] = FROM_RGB.map(|[r, g, b]| r * rgb[0] + g * rgb[1] + b * rgb[2]);
        let lightness = match y > EPSILON {
            true => 116.0 * y.cbrt() - 16.0,
            false => y * KAPPA,
        };
        let sum = x + 15.0 * y + 3.0 * z;
        if sum == 0.0 {
            return Self {
                lightness,
                u: 0.0,
                v: 0.0,
            };
        }
        Self {
            lightness,
            u: 13.0 * lightness * (4.0 * x / sum - WHITE_U),
            v: 13.0 * lightness * (9.0 * y / sum - WHITE_V),
        }
    }

    /// Of a hue in degrees, and of a saturation and a lightness in percent: a saturation of 100 is the greatest chroma that
    /// sRGB has for hue and lightness.
    fn of_hsluv(hue: f64, saturation: f64, lightness: f64) -> Self {
        let (sin, cos) = hue.to_radians().sin_cos();
        let cube = (lightness + 16.0).powi(3) / 1_560_896.0;
        let scaled = match cube > EPSILON {
            true => cube,
            false => lightness / KAPPA,
        };
        // Each channel is 0 on one line of the plane of this lightness, and 1 on another.
        let lines = TO_RGB.into_iter().flat_map(|[x, y, z]| {
            [0.0, 1.0].map(|channel| {
                let slope = (284_517.0 * x - 94_839.0 * z) * scaled;
                let offset = (838_422.0 * z + 769_860.0 * y + 731_718.0 * x) * lightness * scaled
                    - 769_860.0 * channel * lightness;
                let divisor = (632_260.0 * z - 126_452.0 * y) * scaled + 126_452.0 * channel;
                (slope / divisor, offset / divisor)
            })
        });
        let lengths = lines.map(|(slope, offset)| offset / (sin - slope * cos));
        let greatest = lengths
            .filter(|length| *length >= 0.0)
            .fold(f64::INFINITY, f64::min);
        let chroma = greatest * saturation / 100.0;
        Self {
            lightness,
            u: chroma * cos,
            v: chroma * sin,
        }
    }

    fn chroma(self) -> f64 {
        self.u.hypot(self.v)
    }

    fn distance(self, other: Self) -> f64 {
        (self.u - other.u)
            .hypot(self.v - other.v)
            .hypot(self.lightness - other.lightness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    impl Luv {
        /// Red, green and blue as a screen shows them.
        fn rgb(self) -> [u8; 3] {
            let Self { lightness, u, v } = self;
            let (u, v) = (
                u / (13.0 * lightness) + WHITE_U,
                v / (13.0 * lightness) + WHITE_V,
            );
            let y = match lightness > 8.0 {
                true => ((lightness + 16.0) / 116.0).powi(3),
                false => lightness / KAPPA,
            };
            let x = 9.0 * y * u / (4.0 * v);
            let z = (9.0 * y - 15.0 * v * y - v * x) / (3.0 * v);
            TO_RGB.map(|[of_x, of_y, of_z]| {
                let value = of_x * x + of_y * y + of_z * z;
                let value = match value > 0.003_130_8 {
                    true => 1.055 * value.powf(1.0 / 2.4) - 0.055,
                    false => 12.92 * value,
                };
                (value * 255.0).round() as u8
            })
        }
    }

    #[test]
    fn common_colors_are_shown_as_such() {
        let colors = Colors::default();
        for (color, text, rgb) in [
            (0xFFFF_0000, "#FFFF0000 109", [232, 54, 55]),
            (0xFF00_8000, "#FF008000 193", [57, 153, 59]),
            (0xFF00_00FF, "#FF0000FF 167", [75, 74, 216]),
            (0xFFFF_A500, "#FFFFA500 340", [242, 158, 79]),
        ] {
            assert_eq!(colors.text(color).as_deref(), Some(text));
            assert_eq!(shown(text).rgb(), rgb);
        }
    }

    #[test]
    fn what_is_nearly_grey_has_no_text() {
        let colors = Colors::default();
        for grey in [
            0xFF00_0000,
            0xFF80_8080,
            0xFFFF_FFFF,
            0x80F0_F8FF,
            0xFF70_8090,
            0xFF01_0000,
        ] {
            assert_eq!(colors.text(grey), None, "{grey:X}");
        }
    }

    #[test]
    fn no_other_text_is_nearer() {
        let colors = Colors::default();
        let mut random = Random::new(7);
        for _ in 0..20 {
            let color = random.below(1 << 32) as u32;
            let wanted = Luv::of_rgb(color);
            let Some(text) = colors.text(color) else {
                assert!(wanted.chroma() < LEAST_CHROMA);
                continue;
            };
            let plain = format!("#{color:08X}");
            let number = match text.strip_prefix(&plain).unwrap() {
                "" => 0,
                number => number.strip_prefix(' ').unwrap().parse().unwrap(),
            };
            assert!(number <= TRIES);
            let distance = shown(&text).distance(wanted);
            for number in 1..=TRIES {
                assert!(shown(&format!("{plain} {number}")).distance(wanted) >= distance);
            }
            assert!(shown(&plain).distance(wanted) >= distance);
            // Always the same one.
            assert_eq!(colors.text(color), Some(text));
        }
    }

    #[test]
    fn after_many_colors_the_text_is_the_color() {
        let colors = Colors::default();
        let red = |shade: u32| 0xFFFF_0000 | shade;
        for shade in 0..MOST as u32 {
            colors.0.lock().unwrap().insert(red(shade), String::new());
        }
        assert_eq!(colors.text(0xFF00_8000).as_deref(), Some("#FF008000"));
        // Those that have one keep it.
        assert_eq!(colors.text(red(5)).as_deref(), Some(""));
        assert_eq!(colors.text(0xFF80_8080), None);
    }
}
