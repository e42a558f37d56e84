//! Dates and times of day as nanoseconds since 1970.

use super::decimal::scaled;

/// The time of a date such as `2026-11-29T12:00:00.123456789+01:00` (RFC 3339), or with a blank instead of `T`. Without an offset
/// it is UTC. `None` for other text.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = time.split_at_checked(8)?;
    let [year, month, day] = numbers(date, b'-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, b':', [2, 2, 2])?;
    let (fraction, offset) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.bytes().take_while(u8::is_ascii_digit).count();
            (
                rest.get(..end).filter(|digits| !digits.is_empty())?,
                &rest[end..],
            )
        }
        None => ("0", rest),
    };
    let offset = match offset.trim_start() {
        "" | "Z" | "z" => 0,
        offset => {
            let (sign, offset) = offset.split_at_checked(1)?;
            let [hours, minutes] = numbers(offset, b':', [2, 2])?;
            let sign = match sign {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            sign * (hours * 3600 + minutes * 60)
        }
    };
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    let nanoseconds = seconds.checked_mul(1_000_000_000)?;
    nanoseconds.checked_add(scaled(&format!("0.{fraction}"), 9)?)
}

/// Numbers of so many digits with a byte between them.
fn numbers<const N: usize>(text: &str, between: u8, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(char::from(between));
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is their last one.
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_nanoseconds_since_1970() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            (
                "2026-11-29 12:00:00.123456789",
                Some(1_795_953_600_123_456_789),
            ),
            (
                "2026-11-29T13:00:00.5+01:00",
                Some(1_795_953_600_500_000_000),
            ),
            ("2000-02-29t23:59:60z", Some(951_868_800_000_000_000)),
            ("1969-12-31T23:59:59.999999999-00:00", Some(-1)),
            ("2024-03-01 00:00:00 -0030", None),
            (
                "2024-03-01 00:00:00 -00:30",
                Some(1_709_253_000_000_000_000),
            ),
            ("2024-13-01 00:00:00", None),
            ("2024-3-1 00:00:00", None),
            ("2024-03-01", None),
            ("2024-03-01 12:00", None),
            ("2024-03-01 12:00:00.", None),
            ("9999-01-01 00:00:00", None),
            ("1712195495519689.047", None),
        ] {
            assert_eq!(nanoseconds(text), want, "{text}");
        }
    }
}
