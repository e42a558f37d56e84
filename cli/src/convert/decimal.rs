//! Decimal numbers as the whole nanoseconds that they stand for.

/// `text` times 10^`power`, exactly: a time like `1712195495519689.047` has more digits than a float. What is finer than 1 is
/// rounded to the nearest, halves to the even one. `None` if it is no decimal number, or 64 bits can't hold it.
pub fn scaled(text: &str, power: u8) -> Option<i64> {
    plain(text.as_bytes(), power).or_else(|| Decimal::of(text, power)?.rounded())
}

/// A positive number with no more than `power` digits behind the point: what nearly all times are.
fn plain(text: &[u8], power: u8) -> Option<i64> {
    // More digits may not fit.
    if text.len() > 20 {
        return None;
    }
    let (number, rest) = digits(0, text);
    let whole = text.len() - rest.len();
    let (number, missing) = match rest {
        [] => (number, power),
        [b'.', fraction @ ..] => {
            let (number, rest) = digits(number, fraction);
            if fraction.is_empty() || !rest.is_empty() {
                return None;
            }
            (number, power.checked_sub(fraction.len() as u8)?)
        }
        _ => return None,
    };
    if whole == 0 || whole == 20 {
        return None;
    }
    let number = i64::try_from(number).ok()?;
    number.checked_mul(10_i64.checked_pow(missing.into())?)
}

/// `number` with the digits that `text` begins with behind it, and the rest of `text`.
fn digits(mut number: u64, mut text: &[u8]) -> (u64, &[u8]) {
    while let Some((eight, rest)) = text.split_first_chunk()
        && let Some(more) = eight_digits(*eight)
    {
        number = number.wrapping_mul(100_000_000).wrapping_add(more);
        text = rest;
    }
    while let [digit @ b'0'..=b'9', rest @ ..] = text {
        number = number.wrapping_mul(10).wrapping_add((digit - b'0').into());
        text = rest;
    }
    (number, text)
}

/// What eight digits say: all of them at once, then two pairs in a place of four, then the halves.
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let each = |byte: u8| u64::from_le_bytes([byte; 8]);
    let ones = u64::from_le_bytes(text) ^ each(b'0');
    if (ones | ones.wrapping_add(each(0x80 - 10))) & each(0x80) != 0 {
        return None;
    }
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The sum of two numbers, each times 10^its power, rounded once: the end of a range that starts at the first and lasts the second.
pub fn sum(first: (&str, u8), second: (&str, u8)) -> Option<i64> {
    let plain = |(text, power): (&str, u8)| plain(text.as_bytes(), power);
    if let (Some(first), Some(second)) = (plain(first), plain(second)) {
        return first.checked_add(second);
    }
    let decimals = [first, second].map(|(text, power)| Decimal::of(text, power));
    let [Some(first), Some(second)] = decimals else {
        return None;
    };
    match first.plus(second) {
        Some(sum) => sum.rounded(),
        // One of them is too small to be of importance.
        None => first.rounded()?.checked_add(second.rounded()?),
    }
}

/// The float that a word stands for, as C, Python, Java and JavaScript print those that are no numbers or have no end.
pub fn float_word(text: &str) -> Option<f64> {
    let word = text.strip_prefix(['-', '+']).unwrap_or(text);
    let word = word.to_ascii_lowercase();
    // Old C libraries of Windows print as many digits as are asked for.
    let old = word
        .strip_prefix("1.#")
        .map(|word| word.trim_end_matches('0'));
    let size = match (old.unwrap_or(&word), old.is_some()) {
        ("inf", _) | ("infinity", false) => f64::INFINITY,
        ("nan", false) | ("ind" | "qnan" | "snan", true) => f64::NAN,
        (word, false) if word.starts_with("nan(") && word.ends_with(')') => f64::NAN,
        _ => return None,
    };
    Some(if text.starts_with('-') { -size } else { size })
}

/// A number: its digits times 10^its exponent.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// `text` times 10^`power`.
    fn of(text: &str, power: u8) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if !whole.ends_with(|c: char| c.is_ascii_digit())
            || !fraction.bytes().all(|c| c.is_ascii_digit())
        {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            exponent: exponent
                .checked_add(power.into())?
                .checked_sub(fraction.len().try_into().ok()?)?,
        })
    }

    fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let digits = |number: Self| {
            let scale = 10_i128.checked_pow((number.exponent - exponent).unsigned_abs())?;
            number.digits.checked_mul(scale)
        };
        Some(Self {
            digits: digits(self)?.checked_add(digits(other)?)?,
            exponent,
        })
    }

    /// The nearest integer; of two, the even one.
    fn rounded(self) -> Option<i64> {
        let Self { digits, exponent } = self;
        if digits == 0 {
            return Some(0);
        }
        let Some(scale) = 10_i128.checked_pow(exponent.unsigned_abs()) else {
            return (exponent < 0).then_some(0);
        };
        if exponent >= 0 {
            return digits.checked_mul(scale)?.try_into().ok();
        }
        let (quotient, rest) = (digits.div_euclid(scale), digits.rem_euclid(scale));
        let up = rest > scale - rest || (rest == scale - rest && quotient % 2 != 0);
        (quotient + i128::from(up)).try_into().ok()
    }
}

#[cfg(test)]
mod tests;
