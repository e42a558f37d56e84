//! What a value means beyond its type.

use nvtxw_abi::{Interpolation, Limit, ValueType};

/// What the values of a counter mean.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterSemantics {
    pub(crate) unit: Option<Box<str>>,
    pub(crate) scale: (u64, u64),
    pub(crate) min: Option<Limit>,
    pub(crate) max: Option<Limit>,
    pub(crate) interpolation: Option<Interpolation>,
    pub(crate) value_type: Option<ValueType>,
    pub(crate) normalize: bool,
}

impl CounterSemantics {
    /// The unit, as text.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// Numerator and denominator of what a value is to be multiplied by to be in that unit; neither is 0.
    pub fn scale(&self) -> (u64, u64) {
        self.scale
    }

    /// The least value that is to be expected.
    pub fn min(&self) -> Option<Limit> {
        self.min
    }

    /// The greatest value that is to be expected.
    pub fn max(&self) -> Option<Limit> {
        self.max
    }

    /// How the counter runs between its samples.
    pub fn interpolation(&self) -> Option<Interpolation> {
        self.interpolation
    }

    /// What a sample's number is.
    pub fn value_type(&self) -> Option<ValueType> {
        self.value_type
    }

    /// Whether an integer stands for a fraction of its type's range: 0 to 1, or -1 to 1 if signed.
    pub fn normalize(&self) -> bool {
        self.normalize
    }
}

/// What makes a field join events: those with the same value in the same correlation domain belong together. The value 0
/// joins nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correlation {
    pub(crate) domain: [u8; 16],
    pub(crate) name: Option<Box<str>>,
}

impl Correlation {
    /// Which correlation domain: a UUID. The domains of a session share it.
    pub fn domain(&self) -> [u8; 16] {
        self.domain
    }

    /// The correlation domain's name, for people.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The semantics of an entry or of a counter, as they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Semantics {
    pub(crate) scope: Option<u64>,
    pub(crate) time_domain: Option<u64>,
    pub(crate) correlation: Option<Correlation>,
    pub(crate) counter: Option<CounterSemantics>,
}
