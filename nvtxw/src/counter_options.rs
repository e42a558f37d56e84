//! What counters are registered with.

use std::ffi::{CStr, CString};
use std::hash::{Hash, Hasher};

use nvtxw_abi::{EntryType, Interpolation, Limit, ValueType};

use crate::calls;
use crate::counter::SampleType;
use crate::error::Result;
use crate::id::{DefaultScope, StaticId};
use crate::limit;
use crate::text;
use crate::time::Clock;

/// What the numbers of a counter mean: of one, through [`CounterOptions::semantics`], or of a field of a
/// [`RowLayout`](crate::RowLayout).
///
/// ```
/// use nvtxw::{CounterSemantics, Limit, ValueType};
///
/// let energy = CounterSemantics::new().unit("J").scale(1, 1_000_000).value_type(ValueType::Delta);
/// assert_eq!(energy.unit.as_deref(), Some("J"));
/// # let _ = energy.min(Limit::U64(0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct CounterSemantics {
    /// The unit's name.
    pub unit: Option<String>,
    /// A value times the first, divided by the second, is in the unit.
    pub scale: (u64, u64),
    /// The least value to expect, in a limit of the counter's class: `I64` for signed integers, `U64` for unsigned ones, `F64`
    /// for floats.
    pub min: Option<Limit>,
    /// The greatest value to expect.
    pub max: Option<Limit>,
    /// How the counter runs between its samples.
    pub interpolation: Option<Interpolation>,
    /// What a sample's number is.
    pub value_type: Option<ValueType>,
    /// Whether the range of the integer type stands for 0 to 1, or for -1 to 1 if it is signed.
    pub normalize: bool,
}

impl Default for CounterSemantics {
    fn default() -> Self {
        Self::new()
    }
}

impl CounterSemantics {
    /// Nothing known of the values.
    pub const fn new() -> Self {
        Self {
            unit: None,
            scale: (1, 1),
            min: None,
            max: None,
            interpolation: None,
            value_type: None,
            normalize: false,
        }
    }

    /// The unit's name.
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Some(unit.to_owned());
        self
    }

    /// A value times `numerator` divided by `denominator` is in the unit; neither may be 0.
    pub fn scale(mut self, numerator: u64, denominator: u64) -> Self {
        self.scale = (numerator, denominator);
        self
    }

    /// The least value to expect, in a limit of the counter's class: `I64` for signed integers, `U64` for unsigned ones, `F64`
    /// for floats.
    pub fn min(mut self, min: Limit) -> Self {
        self.min = Some(min);
        self
    }

    /// The greatest value to expect, in a limit of the same class as [`min`](CounterSemantics::min).
    pub fn max(mut self, max: Limit) -> Self {
        self.max = Some(max);
        self
    }

    /// How the counter runs between its samples.
    pub fn interpolation(mut self, interpolation: Interpolation) -> Self {
        self.interpolation = Some(interpolation);
        self
    }

    /// What a sample's number is.
    pub fn value_type(mut self, value_type: ValueType) -> Self {
        self.value_type = Some(value_type);
        self
    }

    /// The range of the integer type stands for 0 to 1, or for -1 to 1 if it is signed.
    pub fn normalize(mut self) -> Self {
        self.normalize = true;
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::new()
    }

    /// What is wrong with it, for numbers of that type.
    pub(crate) fn problem(&self, ty: EntryType) -> Option<&'static str> {
        if self.scale.0 == 0 || self.scale.1 == 0 {
            return Some("its scale has a 0; both numbers are 1 or more");
        }
        for limit in [self.min, self.max].into_iter().flatten() {
            let fits = match limit {
                Limit::I64(_) => ty.is_signed(),
                Limit::U64(_) => ty.is_integer() && !ty.is_signed(),
                Limit::F64(_) => ty.is_float(),
            };
            if !fits {
                return Some(
                    "`min` or `max` is a limit of another type than its numbers; give `Limit::I64` for signed integers, \
                     `Limit::U64` for unsigned ones and `Limit::F64` for floats",
                );
            }
            if let Limit::F64(limit) = limit
                && limit.is_nan()
            {
                return Some("`min` or `max` is NaN; give a number, or leave it out");
            }
            if !limit::is_reachable(limit, ty) {
                return Some(
                    "`min` or `max` is out of the range of its numbers' type; give a limit within that range",
                );
            }
        }
        if match (self.min, self.max) {
            (Some(Limit::I64(min)), Some(Limit::I64(max))) => max < min,
            (Some(Limit::U64(min)), Some(Limit::U64(max))) => max < min,
            (Some(Limit::F64(min)), Some(Limit::F64(max))) => max < min,
            _ => false,
        } {
            return Some("`max` is below `min`; swap them");
        }
        if self.normalize && ty.is_float() {
            return Some("`normalize` is for integers; floats are what they are");
        }
        None
    }

    /// Hashes all parts, so that equal semantics have equal hashes.
    pub(crate) fn hash(&self, state: &mut impl Hasher) {
        let Self {
            unit,
            scale,
            min,
            max,
            interpolation,
            value_type,
            normalize,
        } = self;
        (unit, scale, interpolation, value_type, normalize).hash(state);
        for limit in [min, max].into_iter().flatten() {
            match limit {
                Limit::I64(limit) => limit.hash(state),
                Limit::U64(limit) => limit.hash(state),
                // -0 equals 0, and becomes that.
                Limit::F64(limit) => (limit + 0.0).to_bits().hash(state),
            }
        }
    }

    pub(crate) fn c_unit(&self, argument: &'static str) -> Result<Option<CString>> {
        self.unit
            .as_deref()
            .map(|unit| text::c_string(unit, argument))
            .transpose()
    }

    /// The semantics as the backend gets them; `unit` is its own.
    pub(crate) fn with_unit<'a>(
        &self,
        unit: Option<&'a CStr>,
    ) -> Option<calls::CounterSemantics<'a>> {
        (!self.is_empty()).then_some(calls::CounterSemantics {
            unit,
            scale: self.scale,
            min: self.min,
            max: self.max,
            interpolation: self.interpolation,
            value_type: self.value_type,
            normalize: self.normalize,
        })
    }

    /// The parts in words.
    fn describe(&self, mut add: impl FnMut(String)) {
        if let Some(unit) = &self.unit {
            add(format!("unit `{unit}`"));
        }
        if self.scale != (1, 1) {
            add(format!("scale {}/{}", self.scale.0, self.scale.1));
        }
        if let Some(min) = self.min {
            add(format!("min {min:?}"));
        }
        if let Some(max) = self.max {
            add(format!("max {max:?}"));
        }
        if let Some(interpolation) = self.interpolation {
            add(format!("interpolation {interpolation:?}"));
        }
        if let Some(value_type) = self.value_type {
            add(format!("value type {value_type:?}"));
        }
        if self.normalize {
            add("normalized".to_owned());
        }
    }
}

/// What a counter is registered with, beside its name and its type.
///
/// ```
/// use nvtxw::{CounterOptions, Interpolation, Limit};
///
/// let temperature = CounterOptions::new()
///     .description("of the hottest sensor")
///     .unit("°C")
///     .scale(1, 1000)
///     .min(Limit::I64(-40_000))
///     .interpolation(Interpolation::Linear);
/// # let _ = temperature;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct CounterOptions {
    /// The counter's scope.
    pub scope: DefaultScope,
    /// What the counter counts, for people.
    pub description: Option<String>,
    /// What its numbers mean.
    pub semantics: CounterSemantics,
    /// The clock of its samples' times, if it isn't the stream's.
    pub time_domain: Option<Clock>,
    /// Its number, if the backend isn't to pick one.
    pub static_id: Option<StaticId>,
}

impl CounterOptions {
    /// The scope of the stream, and nothing known of the values.
    pub const fn new() -> Self {
        Self {
            scope: DefaultScope::None,
            description: None,
            semantics: CounterSemantics::new(),
            time_domain: None,
            static_id: None,
        }
    }

    /// What the counter counts, for people.
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// The counter's scope: a [`Scope`](crate::Scope) of its domain, or one of [`DefaultScope`]'s. The same name in two
    /// scopes is two counters.
    pub fn scope(mut self, scope: impl Into<DefaultScope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// The clock that the times of its samples come from, instead of the stream's: a
    /// [`TimestampType`](crate::TimestampType), or a [`TimeDomain`](crate::TimeDomain) of the counter's domain.
    pub fn time_domain(mut self, clock: impl Into<Clock>) -> Self {
        self.time_domain = Some(clock.into());
        self
    }

    /// Gives the counter a number of your own.
    pub fn static_id(mut self, id: StaticId) -> Self {
        self.static_id = Some(id);
        self
    }

    /// All that is known of the values at once.
    pub fn semantics(mut self, semantics: CounterSemantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// The unit's name.
    pub fn unit(mut self, unit: &str) -> Self {
        self.semantics = self.semantics.unit(unit);
        self
    }

    /// A value times `numerator` divided by `denominator` is in the unit; neither may be 0.
    pub fn scale(mut self, numerator: u64, denominator: u64) -> Self {
        self.semantics = self.semantics.scale(numerator, denominator);
        self
    }

    /// The least value to expect, in a limit of the counter's class: `I64` for signed integers, `U64` for unsigned ones, `F64`
    /// for floats.
    pub fn min(mut self, min: Limit) -> Self {
        self.semantics = self.semantics.min(min);
        self
    }

    /// The greatest value to expect, in a limit of the same class as [`min`](CounterOptions::min).
    pub fn max(mut self, max: Limit) -> Self {
        self.semantics = self.semantics.max(max);
        self
    }

    /// How the counter runs between its samples.
    pub fn interpolation(mut self, interpolation: Interpolation) -> Self {
        self.semantics = self.semantics.interpolation(interpolation);
        self
    }

    /// What a sample's number is.
    pub fn value_type(mut self, value_type: ValueType) -> Self {
        self.semantics = self.semantics.value_type(value_type);
        self
    }

    /// The range of the integer type stands for 0 to 1, or for -1 to 1 if it is signed.
    pub fn normalize(mut self) -> Self {
        self.semantics = self.semantics.normalize();
        self
    }

    pub(crate) fn problem(&self, sample: &SampleType) -> Option<&'static str> {
        match sample {
            SampleType::Scalar(ty) => self.semantics.problem(*ty),
            SampleType::Group { .. } if self.semantics.is_empty() => None,
            SampleType::Group { .. } => Some(
                "unit, scale, limits, interpolation and value type belong to the fields of the group's struct",
            ),
        }
    }

    /// Describes the definition, after the type of the samples in words.
    pub(crate) fn describe(&self, sample: String) -> String {
        let mut text = sample;
        let mut add = |part: String| {
            text.push_str(", ");
            text.push_str(&part);
        };
        if let Some(description) = &self.description {
            add(format!("description `{description}`"));
        }
        match self.time_domain {
            Some(Clock::Predefined(clock)) => add(format!("clock {clock:?}")),
            Some(Clock::Registered(domain)) => add(format!("time domain {}", domain.id())),
            None => {}
        }
        if let Some(id) = self.static_id {
            add(format!("number {}", id.get()));
        }
        self.semantics.describe(add);
        text
    }
}
