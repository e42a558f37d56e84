//! Samples of counters.

use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, SchemaRole};

use crate::batch::Refusals;
use crate::counter::{Counter, CounterKind};
use crate::decode::{self, read};
use crate::refusal::Refusal;
use crate::schema::{FieldRole, TimeAt};
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

    /// Where the samples belong: the scope of the counter, else that of the stream.
    pub fn scope(&self) -> ScopeRef {
        match &self.counter.scope {
            ScopeRef::None => self.stream.scope(),
            scope => scope.clone(),
        }
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
            .filter_map(|(index, bytes)| {
                let time = match self.times {
                    Times::One(time) => Ok(time),
                    Times::Each(times) => Ok(read(times, index * size_of::<i64>())),
                    Times::Embedded(at) => at.read(bytes),
                };
                match time {
                    Ok(time) => Some(CounterSample {
                        stream: self.stream,
                        counter: self.counter,
                        time,
                        bytes,
                    }),
                    Err(refusal) => {
                        self.refusals.note(index, refusal);
                        None
                    }
                }
            })
    }

    pub(crate) fn into_refusal(self) -> Option<Refusal> {
        let len = self.len();
        self.refusals.into_first("sample", len)
    }
}

/// One sample of a counter, or of a group of counters.
#[derive(Debug)]
pub struct CounterSample<'a> {
    stream: &'a StreamInfo,
    counter: &'a Counter,
    time: i64,
    bytes: &'a [u8],
}

impl CounterSample<'_> {
    /// When it was taken, in ticks of the batch's [time domain](CounterBatch::time_domain).
    pub fn time(&self) -> i64 {
        self.time
    }

    /// Shows the sample: one value for a scalar counter, under a field that is named as the counter; for a group its fields,
    /// without the timestamp.
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        let domain = self.stream.domain();
        match (&self.counter.kind, &self.counter.field) {
            (CounterKind::Group(schema), _) if schema.role == SchemaRole::Generic => {
                let shown = |field: &crate::Field| !matches!(field.role, FieldRole::Time(_));
                decode::visit_fields(schema, self.bytes, domain, shown, visitor);
            }
            (CounterKind::Group(schema), _) => {
                decode::visit_fields(
                    schema,
                    self.bytes,
                    domain,
                    |field| !field.is_attribute,
                    visitor,
                );
            }
            (CounterKind::Scalar(_), Some(field)) => {
                decode::visit_field(field, None, self.bytes, domain, visitor)
            }
            (CounterKind::Scalar(_), None) => {}
        }
    }
}
