//! Counters: numbers that are sampled.

use std::sync::Arc;

use nvtxw_abi::EntryType;

use crate::schema::{Field, Schema, Shape, Way};
use crate::scope::ScopeRef;
use crate::semantics::CounterSemantics;
use crate::stream::StreamInfo;

/// A registered counter, or group of counters that are sampled together.
#[derive(Debug)]
pub struct Counter {
    pub(crate) id: u64,
    pub(crate) name: Box<str>,
    pub(crate) description: Option<Box<str>>,
    pub(crate) scope: ScopeRef,
    pub(crate) kind: CounterKind,
    pub(crate) semantics: Option<CounterSemantics>,
    pub(crate) time_domain: Option<u64>,
    pub(crate) sample_size: usize,
    /// The field of a scalar counter's samples.
    pub(crate) field: Option<Field>,
}

impl Counter {
    /// The counter's ID, unique among the counters of its domain.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The counter's name. Counters of one domain may share it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is counted, for people.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The scope that the counter was registered for; [`ScopeRef::None`] leaves it to the stream.
    pub fn scope(&self) -> ScopeRef {
        self.scope.clone()
    }

    /// Where samples in this stream belong that name no scope: the [scope](Self::scope) of the counter, else that of the
    /// stream.
    pub fn scope_in(&self, stream: &StreamInfo) -> ScopeRef {
        match &self.scope {
            ScopeRef::None => stream.scope(),
            scope => scope.clone(),
        }
    }

    /// What one sample holds.
    pub fn kind(&self) -> &CounterKind {
        &self.kind
    }

    /// What the values mean; in a group, those of the fields that say nothing themselves.
    pub fn semantics(&self) -> Option<&CounterSemantics> {
        self.semantics.as_ref()
    }

    /// The time domain of its timestamps, where it is not the stream's.
    pub fn time_domain(&self) -> Option<u64> {
        self.time_domain
    }

    /// Bytes of one sample; where samples differ, because their schema is dynamic, what they have at least.
    pub fn sample_size(&self) -> usize {
        self.sample_size
    }

    pub(crate) fn schema(&self) -> Option<&Arc<Schema>> {
        match &self.kind {
            CounterKind::Group(schema) => Some(schema),
            CounterKind::Scalar(_) => None,
        }
    }

    /// Whether all samples have the same layout.
    pub(crate) fn is_plain(&self) -> bool {
        self.schema().is_none_or(|schema| schema.plan.is_plain)
    }

    /// Whether samples hold nothing but values, each at a fixed place, and maybe their time: nothing that has to be found, or may
    /// be wrong.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.schema().is_none_or(|schema| {
            let plan = &schema.plan;
            plan.way == Way::Settled && plan.checked.is_empty() && !plan.names_scope()
        })
    }

    /// Whether samples differ in size.
    pub(crate) fn is_dynamic(&self) -> bool {
        let mut schema = self.schema().into_iter();
        schema.any(|schema| schema.shape == Shape::Dynamic)
    }

    /// Whether samples hold their timestamps.
    pub(crate) fn has_times(&self) -> bool {
        self.schema()
            .is_some_and(|schema| schema.plan.at.time.is_some())
    }
}

/// What one sample of a [`Counter`] holds.
#[derive(Clone, Debug)]
pub enum CounterKind {
    /// One number: of a predefined type, or of a schema that is one number and no counter group.
    Scalar(EntryType),
    /// The fields of a schema. One of them may be the sample's timestamp, and some its scope. If the schema is not
    /// [plain](Schema::is_plain), samples may differ in what they hold.
    Group(Arc<Schema>),
}
