//! Exact multiplication by a quotient.

/// A positive factor: `num / den * 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    num: u64,
    den: u64,
    shift: i32,
}

/// Which whole number a product that lies between two of them becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Down,
    Up,
}

impl Ratio {
    /// Neither may be 0.
    pub(super) const fn new(num: u64, den: u64) -> Self {
        Self { num, den, shift: 0 }
    }

    /// The very number that a positive and finite float is.
    pub(super) fn of(factor: f64) -> Self {
        const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
        let (exponent, fraction) = (factor.to_bits() >> FRACTION, factor.to_bits() << 12 >> 12);
        let (num, exponent) = match exponent as i32 {
            0 => (fraction, 1),
            exponent => (fraction | 1 << FRACTION, exponent),
        };
        let even = num.trailing_zeros();
        Self {
            num: num >> even,
            den: 1,
            shift: exponent - (f64::MAX_EXP - 1 + FRACTION as i32) + even as i32,
        }
    }

    pub(super) fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64 * f64::from(self.shift).exp2()
    }

    pub(super) fn inverse(self) -> Self {
        Self {
            num: self.den,
            den: self.num,
            shift: -self.shift,
        }
    }

    /// Whether both are one number.
    pub(super) fn is(self, other: Self) -> bool {
        let odd = |ratio: Self| {
            let [num, den] = [ratio.num, ratio.den].map(u64::trailing_zeros);
            let shift = ratio.shift + num as i32 - den as i32;
            (
                u128::from(ratio.num >> num),
                u128::from(ratio.den >> den),
                shift,
            )
        };
        let (one, other) = (odd(self), odd(other));
        one.0 * other.1 == other.0 * one.1 && one.2 == other.2
    }

    /// `None` if the product doesn't fit.
    #[inline]
    pub(super) fn times(self, value: i128, round: Round) -> Option<i128> {
        let up = (round == Round::Up) == (value >= 0);
        let product = match u64::try_from(value.unsigned_abs()) {
            Ok(value) if self.shift == 0 => self.short_product(value, up),
            _ => self.product(value.unsigned_abs(), up)?,
        };
        let product = i128::try_from(product).ok()?;
        Some(if value < 0 { -product } else { product })
    }

    /// The same as [`product`](Self::product) without a shift.
    #[inline]
    fn short_product(self, value: u64, up: bool) -> u128 {
        let product = u128::from(value) * u128::from(self.num);
        match u64::try_from(product) {
            _ if self.den == 1 => product,
            Ok(product) => {
                let up = up && product % self.den != 0;
                u128::from(product / self.den) + u128::from(up)
            }
            Err(_) => {
                let den = u128::from(self.den);
                let up = up && product % den != 0;
                product / den + u128::from(up)
            }
        }
    }

    #[inline(never)]
    fn product(self, value: u128, up: bool) -> Option<u128> {
        // What the denominator takes can't make the product overflow on its way.
        let taken = (-self.shift).clamp(0, self.den.leading_zeros() as i32);
        let (den, shift) = (u128::from(self.den << taken), self.shift + taken);
        let rest = (value % den) * u128::from(self.num);
        let mut whole = (value / den).checked_mul(self.num.into())?;
        whole = whole.checked_add(rest / den)?;
        let mut rest = rest % den;
        for _ in 0..shift.max(0) {
            if whole == 0 && rest == 0 {
                break;
            }
            whole = whole.checked_mul(2)?.checked_add(rest * 2 / den)?;
            rest = rest * 2 % den;
        }
        let down = (-shift).max(0) as u32;
        let shifted = whole.checked_shr(down).unwrap_or(0);
        let exact = rest == 0 && shifted.checked_shl(down).unwrap_or(0) == whole;
        shifted.checked_add((up && !exact).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(ratio: Ratio, value: i128) -> Option<i128> {
        ratio.times(value, Round::Down)
    }

    #[test]
    fn short_products_are_as_others() {
        let numbers = [
            1,
            2,
            3,
            7,
            1000,
            1 << 31,
            u64::MAX / 3,
            u64::MAX - 1,
            u64::MAX,
        ];
        for num in numbers {
            for den in numbers {
                let ratio = Ratio::new(num, den);
                for value in [0, 1, 5, 999_999_999_999, u64::MAX / 2, u64::MAX] {
                    for up in [false, true] {
                        let short = ratio.short_product(value, up);
                        assert_eq!(Some(short), ratio.product(value.into(), up));
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_rounded_as_asked_on_both_sides_of_zero() {
        let third = Ratio::new(1, 3);
        for (value, floor, ceiling) in [(0, 0, 0), (1, 0, 1), (3, 1, 1), (-1, -1, 0), (-3, -1, -1)]
        {
            assert_eq!(third.times(value, Round::Down), Some(floor), "{value}");
            assert_eq!(third.times(value, Round::Up), Some(ceiling), "{value}");
        }
        assert_eq!(down(third.inverse(), 7), Some(21));
    }

    #[test]
    fn products_are_exact_where_floats_are_not() {
        let ticks = i128::from(i64::MAX) << 32;
        let ratio = Ratio::new(1_000_000_000, 1_755_000_000);
        assert_eq!(
            down(ratio, ticks),
            Some(ticks * 1_000_000_000 / 1_755_000_000)
        );
        let ratio = Ratio::new(u64::MAX, u64::MAX - 1);
        assert_eq!(down(ratio, u64::MAX as i128 - 1), Some(u64::MAX as i128));
        assert_eq!(down(Ratio::new(u64::MAX, 1), 1 << 64), None);
        assert_eq!(down(Ratio::new(u64::MAX, 1), -1 << 64), None);
    }

    #[test]
    fn a_float_is_the_number_that_it_is() {
        for (factor, value, product) in [
            (1.0, 12345, 12345),
            (0.5, 7, 3),
            (1e9, 1_700_000_000, 1_700_000_000_000_000_000),
            (32.0, -3, -96),
            (1.0 / 1024.0, 1 << 40, 1 << 30),
            (f64::from_bits(1), i128::MAX >> 1, 0),
        ] {
            assert_eq!(down(Ratio::of(factor), value), Some(product), "{factor}");
        }
        // 0.1 is a little more than a tenth, and 1e-9 than a billionth.
        assert_eq!(down(Ratio::of(0.1), 10), Some(1));
        assert_eq!(Ratio::of(0.1).times(10, Round::Up), Some(2));
        assert_eq!(
            down(Ratio::of(1e-9), 1_700_000_000_000_000_000),
            Some(1_700_000_000)
        );
        assert_eq!(down(Ratio::of(f64::MAX), 1), None);
        assert_eq!(down(Ratio::of(f64::MAX), 0), Some(0));
    }

    #[test]
    fn one_number_may_be_written_in_several_ways() {
        let thousand = Ratio::new(1_000_000_000, 1_000_000);
        for (other, is_it) in [
            (Ratio::of(1000.0), true),
            (Ratio::new(3000, 3), true),
            (thousand.inverse().inverse(), true),
            (Ratio::of(1_000.000_000_000_000_1), false),
            (Ratio::of(2000.0), false),
            (Ratio::new(1, 1000), false),
        ] {
            assert_eq!(thousand.is(other), is_it, "{other:?}");
        }
        let largest = Ratio::new(u64::MAX, u64::MAX - 2);
        assert!(largest.is(largest) && !largest.is(thousand));
    }

    #[test]
    fn an_inverse_undoes() {
        for factor in [1.0, 0.57, 1e-9, 1e9, 3e-30, 7e25] {
            let (there, back) = (Ratio::of(factor), Ratio::of(factor).inverse());
            for value in [1_i128 << 90, 1_234_567_890_123_456_789] {
                let Some(product) = down(there, value).filter(|product| *product != 0) else {
                    continue;
                };
                let lower = down(back, product).unwrap();
                let upper = down(back, product + 1).unwrap();
                assert!((lower..=upper).contains(&value), "{factor}: {value}");
            }
        }
    }
}
