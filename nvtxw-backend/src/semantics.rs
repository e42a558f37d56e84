//! What a value means beyond its type.

use std::mem::offset_of;

use nvtxw_abi::raw::{
    NVTX_COUNTER_FLAG_LIMIT_MAX, NVTX_COUNTER_FLAG_LIMIT_MIN, NVTX_COUNTER_FLAG_NORMALIZE,
    nvtxCounterLimit_t, nvtxSemanticsCounter_t,
};
use nvtxw_abi::{Interpolation, Limit, ValueType};

use crate::call::{Semantic, SemanticNode};
use crate::refusal::{Refusal, Result};
use crate::text::lossy;

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

impl Semantics {
    /// What these nodes say. Those of unknown kinds are skipped; of two of one kind the later one counts.
    pub(crate) fn of(nodes: &[SemanticNode<'_>]) -> Result<Self> {
        let mut semantics = Self::default();
        for SemanticNode { size, semantic, .. } in nodes {
            match *semantic {
                Semantic::Scope(scope) => semantics.scope = Some(scope),
                Semantic::Time(time_domain) => semantics.time_domain = Some(time_domain),
                Semantic::Correlation { domain, name, .. } => {
                    let name = lossy(name).as_deref().map(Into::into);
                    semantics.correlation = Some(Correlation { domain, name });
                }
                Semantic::Counter { .. } => {
                    semantics.counter = Some(CounterSemantics::of(semantic, *size as usize)?);
                }
                Semantic::Other { .. } => {}
            }
        }
        Ok(semantics)
    }
}

impl CounterSemantics {
    /// What a node of `size` bytes says, which is one of counters.
    fn of(semantic: &Semantic<'_>, size: usize) -> Result<Self> {
        let &Semantic::Counter {
            flags,
            unit,
            scale,
            limit_type,
            min,
            max,
        } = semantic
        else {
            return Err(Refusal::invalid("the semantics are not those of a counter"));
        };
        let limit = |flag: u64, bits: u64, offset: usize, name: &str| {
            if flags & flag == 0 {
                return Ok(None);
            }
            if size < offset + size_of::<nvtxCounterLimit_t>() {
                return Err(Refusal::invalid(format!(
                    "semantics.flags promise a {name}, but structSize {size} ends before it"
                )));
            }
            match Limit::from_raw(limit_type, bits) {
                None => Err(Refusal::invalid(format!(
                    "semantics.flags promise a {name}, but limitType is {limit_type}; the ABI defines 1 to 3",
                ))),
                limit => Ok(limit),
            }
        };
        Ok(Self {
            unit: lossy(unit)
                .as_deref()
                .filter(|unit| !unit.is_empty())
                .map(Into::into),
            scale: (scale.0.max(1), scale.1.max(1)),
            min: limit(
                NVTX_COUNTER_FLAG_LIMIT_MIN,
                min,
                offset_of!(nvtxSemanticsCounter_t, min),
                "minimum",
            )?,
            max: limit(
                NVTX_COUNTER_FLAG_LIMIT_MAX,
                max,
                offset_of!(nvtxSemanticsCounter_t, max),
                "maximum",
            )?,
            interpolation: Interpolation::from_raw(flags),
            value_type: ValueType::from_raw(flags),
            normalize: flags & NVTX_COUNTER_FLAG_NORMALIZE != 0,
        })
    }
}
