//! Samples of counters.

use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, SchemaRole};

use crate::batch::Refusals;
use crate::counter::{Counter, CounterKind};
use crate::decode;
use crate::event::unknown_scope;
use crate::refusal::{Refusal, RefusalTally, Result};
use crate::scalar::read;
use crate::schema::{Field, FieldRole, TimeAt};
use crate::scope::ScopeRef;
use crate::stream::StreamInfo;
use crate::value::Visitor;

/// Samples of one counter, or of one group of counters.
#[derive(Debug)]
pub struct CounterBatch<'a> {
    stream: &'a StreamInfo,
    counter: &'a Arc<Counter>,
    bytes: &'a [u8],
    times: Times<'a>,
    ordering: BatchOrdering,
    refusals: Refusals,
}

/// Where the timestamps of samples are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Times<'a> {
    /// The only sample's.
    One(i64),
    /// One for each sample, 8 bytes each.
    Each(&'a [u8]),
    /// At equal distances; `before` samples come before the one at `time`.
    Steps {
        time: i64,
        interval: i64,
        before: usize,
    },
    /// In the samples.
    Embedded(TimeAt),
}

impl<'a> CounterBatch<'a> {
    /// `bytes` are a whole number of samples; `times` are as many.
    pub(crate) fn new(
        stream: &'a StreamInfo,
        counter: &'a Arc<Counter>,
        bytes: &'a [u8],
        times: Times<'a>,
        ordering: BatchOrdering,
    ) -> Self {
        Self {
            stream,
            counter,
            bytes,
            times,
            ordering,
            refusals: Refusals::default(),
        }
    }

    /// The counter.
    pub fn counter(&self) -> &Arc<Counter> {
        self.counter
    }

    /// In which order the producer says that the samples stand.
    pub fn ordering(&self) -> BatchOrdering {
        self.ordering
    }

    /// Where samples that name no scope belong: the scope of the counter, else that of the stream.
    pub fn scope(&self) -> ScopeRef {
        self.counter.scope_in(self.stream)
    }

    /// The time domain of the timestamps: that of the counter, else the stream's. A
    /// [`TimestampType`](crate::TimestampType) or a registered [time domain](crate::Domain::time_domain); 0 for a timeline of
    /// its own.
    pub fn time_domain(&self) -> u64 {
        self.counter
            .time_domain
            .unwrap_or(self.stream.time_domain())
    }

    /// Number of samples, bad ones included.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.counter.sample_size
    }

    /// Whether there is no sample. (A backend doesn't get such a batch.)
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The samples, in order. Bad ones are left out: the producer gets the code of the first of them, once the backend is
    /// through with the batch.
    #[inline]
    pub fn samples(&self) -> impl Iterator<Item = CounterSample<'a>> {
        self.bytes
            .chunks_exact(self.counter.sample_size)
            .enumerate()
            .filter_map(|(index, bytes)| match self.sample(index, bytes) {
                Ok(sample) => Some(sample),
                Err(refusal) => {
                    self.refusals.note(index, refusal);
                    None
                }
            })
    }

    /// The sample at `index`, which is these bytes, if it is good.
    #[inline]
    pub(crate) fn sample(&self, index: usize, bytes: &'a [u8]) -> Result<CounterSample<'a>> {
        let time = match self.times {
            Times::One(time) => time,
            Times::Each(times) => read(times, index * size_of::<i64>()),
            Times::Steps {
                time,
                interval,
                before,
            } => step(time, interval, index as i128 - before as i128)?,
            Times::Embedded(at) => at.read(bytes)?,
        };
        let scope = match &self.counter.kind {
            CounterKind::Group(schema) if schema.plan.names_scope() => {
                let named = schema.plan.scopes(&schema.plan.at, bytes);
                let mut named = named.into_iter();
                named.find(|scope| *scope != 0).unwrap_or_default()
            }
            _ => 0,
        };
        if scope != 0 && !self.stream.domain().knows_scope(scope) {
            return Err(unknown_scope(scope));
        }
        Ok(CounterSample {
            stream: self.stream,
            counter: self.counter,
            time,
            scope,
            bytes,
        })
    }

    /// What the producer gets for the samples that were left out.
    pub(crate) fn finish(self, tally: &RefusalTally) -> Result<()> {
        let len = self.len();
        self.refusals.finish("sample", len, tally)
    }
}

/// The timestamp that is `steps` intervals after `time`.
fn step(time: i64, interval: i64, steps: i128) -> Result<i64> {
    let at = i128::from(time) + i128::from(interval) * steps;
    i64::try_from(at).map_err(|_| {
        Refusal::invalid(format!(
            "the timestamp {time} and {steps} intervals of {interval} lead to {at}, which is no 64-bit timestamp"
        ))
    })
}

/// One sample of a counter, or of a group of counters.
#[derive(Debug)]
pub struct CounterSample<'a> {
    stream: &'a StreamInfo,
    counter: &'a Counter,
    time: i64,
    /// The scope that it names; 0 if it names none.
    scope: u64,
    bytes: &'a [u8],
}

impl CounterSample<'_> {
    /// When it was taken, in ticks of the batch's [time domain](CounterBatch::time_domain).
    pub fn time(&self) -> i64 {
        self.time
    }

    /// Where the sample belongs: the scope that it names, else that of its [batch](CounterBatch::scope).
    pub fn scope(&self) -> ScopeRef {
        match self.scope {
            0 => self.counter.scope_in(self.stream),
            scope => {
                let named = self.stream.domain().scope_ref(scope);
                named.unwrap_or(ScopeRef::None)
            }
        }
    }

    /// The ID of [`scope`](Self::scope): a key for caches.
    pub fn scope_id(&self) -> u64 {
        match (self.scope, &self.counter.scope) {
            (0, ScopeRef::None) => self.stream.scope_id(),
            (0, scope) => scope.id(),
            (scope, _) => scope,
        }
    }

    /// Shows the sample: one value for a scalar counter, under a field that is named as the counter; for a group its fields,
    /// without the timestamp and the scope.
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        let domain = self.stream.domain();
        match &self.counter.kind {
            CounterKind::Group(schema) if schema.role == SchemaRole::Generic => {
                let shown =
                    |field: &Field| !matches!(field.role, FieldRole::Time(_) | FieldRole::Scope);
                decode::visit_fields(schema, self.bytes, domain, shown, visitor);
            }
            CounterKind::Group(schema) => {
                let shown = |field: &Field| !field.is_attribute;
                decode::visit_fields(schema, self.bytes, domain, shown, visitor);
            }
            CounterKind::Scalar(_) => {
                if let Some(field) = &self.counter.field {
                    decode::visit_field(field, None, self.bytes, domain, visitor);
                }
            }
        }
    }
}
