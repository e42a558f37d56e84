//! What the numbers of a counter mean.

use std::fmt;

use nvtxw_backend::{CounterSemantics, EntryType, Interpolation, Limit, ValueType};

use crate::format::Number;
use crate::track::{Label, Scale};

/// How the values of a counter become those of its track.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Meaning {
    /// The value that stands for 1, if values are fractions.
    one: Option<f64>,
    /// Numerator and denominator of what values are multiplied by.
    scale: Option<(u64, u64)>,
    /// Whether each value is added to the one before.
    pub(crate) is_delta: bool,
}

impl Meaning {
    /// Of values of the type `ty`, if they are plain numbers.
    pub(super) fn new(semantics: Option<&CounterSemantics>, ty: Option<EntryType>) -> Self {
        let Some(semantics) = semantics else {
            return Self::default();
        };
        let one = semantics
            .normalize()
            .then(|| ty.and_then(greatest))
            .flatten();
        Self {
            one,
            // A whole factor is the track's, so that integers stay what they are.
            scale: Some(semantics.scale()).filter(|scale| multiplier(*scale).is_none()),
            is_delta: semantics.value_type() == Some(ValueType::Delta),
        }
    }

    #[inline]
    pub(crate) fn apply(&self, value: Number) -> Number {
        match (self.one, self.scale) {
            (None, None) => value,
            (one, scale) => {
                let value = one.map_or(value, |one| normalized(value, one));
                scale.map_or(value, |scale| scaled(value, scale))
            }
        }
    }
}

/// The factor of the track, if a scale is such a one.
fn multiplier(scale: (u64, u64)) -> Option<u64> {
    match scale {
        (factor, 1) => i64::try_from(factor).is_ok().then_some(factor),
        _ => None,
    }
}

/// What stands for 1 in a normalised integer.
fn greatest(ty: EntryType) -> Option<f64> {
    let (size, _) = ty.layout().filter(|_| ty.is_integer())?;
    let bits = 8 * size as i32 - i32::from(ty.is_signed());
    Some(f64::from(bits).exp2() - 1.0)
}

fn normalized(value: Number, one: f64) -> Number {
    // The least signed value is a step farther from 0 than the greatest one.
    Number::Float((value.as_f64() / one).max(-1.0))
}

fn scaled(value: Number, (by, divided): (u64, u64)) -> Number {
    let (is_negative, magnitude) = match value {
        Number::Int(value) => (value < 0, value.unsigned_abs()),
        Number::Great(value) => (false, value),
        Number::Float(value) => return Number::Float(value * by as f64 / divided as f64),
    };
    let (product, divided) = (u128::from(magnitude) * u128::from(by), u128::from(divided));
    let exact = match u64::try_from(product / divided) {
        _ if product % divided != 0 => None,
        Ok(exact) if is_negative => 0_i64.checked_sub_unsigned(exact).map(Number::Int),
        exact => exact.ok().map(Number::from),
    };
    exact.unwrap_or_else(|| {
        let magnitude = product as f64 / divided as f64;
        Number::Float(if is_negative { -magnitude } else { magnitude })
    })
}

/// How a counter's track is shown.
pub(super) fn label(
    name: String,
    description: Option<&str>,
    semantics: Option<&CounterSemantics>,
) -> Label {
    let mut facts: Vec<String> = description.map(str::to_owned).into_iter().collect();
    let mut scale = Scale {
        unit: None,
        multiplier: 1,
        is_delta: false,
        group: None,
    };
    if let Some(semantics) = semantics {
        scale.unit = semantics.unit().map(str::to_owned);
        scale.multiplier = multiplier(semantics.scale()).unwrap_or(1);
        let value_type = semantics.value_type();
        scale.is_delta = value_type == Some(ValueType::Delta);
        let mut tell = |fact: &str| facts.push(fact.to_owned());
        match value_type {
            Some(ValueType::DeltaSinceStart) => tell("Differences to the start."),
            // Differences to the sample before: what is shown of them is the format's matter.
            Some(ValueType::Delta | ValueType::Absolute) | None => {}
        }
        match semantics.interpolation() {
            Some(Interpolation::Point) => tell("Nothing is known between the samples."),
            Some(Interpolation::SinceLast) => tell("A value holds since the sample before."),
            Some(Interpolation::UntilNext) => tell("A value holds until the next sample."),
            Some(Interpolation::Linear) => tell("Values run straight from sample to sample."),
            None => {}
        }
        let limit = |limit| Shown(scaled_limit(limit, semantics.scale()));
        if let Some(min) = semantics.min() {
            facts.push(format!("Least expected value: {}.", limit(min)));
        }
        if let Some(max) = semantics.max() {
            facts.push(format!("Greatest expected value: {}.", limit(max)));
        }
    }
    Label {
        description: Some(facts.join("\n")).filter(|facts| !facts.is_empty()),
        counter: Some(Box::new(scale)),
        ..Label::new(name)
    }
}

/// A limit in the unit that the track is shown in.
fn scaled_limit(limit: Limit, scale: (u64, u64)) -> Limit {
    if scale == (1, 1) {
        return limit;
    }
    let value = match limit {
        Limit::I64(limit) => Number::Int(limit),
        Limit::U64(limit) => limit.into(),
        Limit::F64(limit) => Number::Float(limit),
    };
    match scaled(value, scale) {
        Number::Int(limit) => Limit::I64(limit),
        Number::Great(limit) => Limit::U64(limit),
        Number::Float(limit) => Limit::F64(limit),
    }
}

struct Shown(Limit);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Limit::I64(limit) => limit.fmt(f),
            Limit::U64(limit) => limit.fmt(f),
            Limit::F64(limit) => limit.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Number::{Float, Great, Int};

    #[test]
    fn integers_that_come_out_even_stay_integers() {
        assert_eq!(scaled(Int(3), (1, 2)), Float(1.5));
        assert_eq!(scaled(Int(4), (1, 2)), Int(2));
        assert_eq!(scaled(Int(-6), (3, 2)), Int(-9));
        assert_eq!(scaled(Int(i64::MAX), (4, 4)), Int(i64::MAX));
        assert_eq!(scaled(Int(i64::MIN), (2, 2)), Int(i64::MIN));
        assert_eq!(scaled(Int(-3), (1, 2)), Float(-1.5));
        assert_eq!(scaled(Int(i64::MAX), (2, 1)), Great(u64::MAX - 1));
        assert_eq!(
            scaled(Great(u64::MAX), (1, 5)),
            Int(3_689_348_814_741_910_323)
        );
        assert_eq!(
            scaled(Int(i64::MAX), (u64::MAX, 1)),
            Float(i64::MAX as f64 * u64::MAX as f64)
        );
        assert_eq!(scaled(Float(0.5), (1, 2)), Float(0.25));
    }

    #[test]
    fn fractions_of_a_type_s_range() {
        let one = |ty| greatest(ty).unwrap();
        assert_eq!(normalized(Int(255), one(EntryType::UInt8)), Float(1.0));
        assert_eq!(normalized(Int(51), one(EntryType::UInt8)), Float(0.2));
        assert_eq!(normalized(Int(127), one(EntryType::Int8)), Float(1.0));
        assert_eq!(normalized(Int(-128), one(EntryType::Int8)), Float(-1.0));
        assert_eq!(normalized(Int(i64::MAX), one(EntryType::Int64)), Float(1.0));
        assert_eq!(greatest(EntryType::Float64), None);
    }
}
