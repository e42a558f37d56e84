//! Samples of counters.

use std::slice;
use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, SchemaRole};

use crate::batch::{Refusals, cut_short, split};
use crate::call::{CounterCall, Pointees, WriteCall};
use crate::check;
use crate::counter::{Counter, CounterKind};
use crate::data::{Data, Steps};
use crate::decode::{self, Context};
use crate::event::{Payload, unknown_scope};
use crate::raw::CounterBatchArg;
use crate::refusal::{Refusal, RefusalTally, Result};
use crate::scalar::read;
use crate::schema::{AttributesAt, Field, FieldRole, Schema, Shape, Way};
use crate::scope::ScopeRef;
use crate::stream::StreamInfo;
use crate::value::Visitor;
use crate::walk;

/// Samples of one counter, or of one group of counters.
#[derive(Debug)]
pub struct CounterBatch<'a> {
    stream: &'a StreamInfo,
    counter: &'a Arc<Counter>,
    bytes: &'a [u8],
    pub(crate) times: Times<'a>,
    ordering: BatchOrdering,
    /// Those of a `CounterBatchWrite`.
    pub(crate) arg: Option<&'a CounterBatchArg<'a>>,
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
    Embedded,
}

impl Times<'_> {
    /// When the sample at `index`, of these bytes, was taken; where they say it themselves, it is there.
    #[inline(always)]
    pub(crate) fn at(self, index: usize, bytes: &[u8], at: Option<&AttributesAt>) -> Result<i64> {
        match (self, at.and_then(|at| at.time)) {
            (Self::One(time), _) => Ok(time),
            (Self::Each(times), _) => Ok(read(times, index * size_of::<i64>())),
            (
                Self::Steps {
                    time,
                    interval,
                    before,
                },
                _,
            ) => step(time, interval, index as i128 - before as i128),
            (Self::Embedded, Some(time)) => time.read(bytes),
            (Self::Embedded, None) => Err(Refusal::failed("the sample has no timestamp")),
        }
    }
}

impl<'a> CounterBatch<'a> {
    /// `bytes` are one sample, or a whole number of samples if all have the same size; `times` are as many.
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
            arg: None,
            refusals: Refusals::default(),
        }
    }

    /// The call that the samples came in. What is bad in them is not looked at.
    pub fn call(&self) -> WriteCall<'a> {
        let pointees = Pointees::there(self.stream.domain());
        match (self.arg, self.times) {
            (Some(arg), _) => arg.call(pointees),
            (None, Times::One(time)) => WriteCall::Counter(CounterCall {
                time,
                counter: self.counter.id(),
                bytes: self.bytes,
                pointees,
            }),
            (None, _) => unreachable!("samples come one by one or in batches"),
        }
    }

    /// Passes `write` the calls that write the good samples alone: [`call`](Self::call), or if there are bad samples, one for each
    /// good one. Reads all samples.
    ///
    /// # Errors
    /// The first error of `write`, which gets no call after it.
    pub fn write_good(&self, mut write: impl FnMut(&WriteCall<'a>) -> Result<()>) -> Result<()> {
        self.samples().for_each(drop);
        if !self.has_bad() {
            return write(&self.call());
        }
        let pointees = Pointees::there(self.stream.domain());
        self.samples().try_for_each(|sample| {
            write(&WriteCall::Counter(CounterCall {
                time: sample.time,
                counter: self.counter.id(),
                bytes: sample.bytes,
                pointees,
            }))
        })
    }

    /// Whether it is a sample that came alone, in no batch.
    #[inline]
    pub fn is_single(&self) -> bool {
        matches!(self.times, Times::One(_))
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

    /// Whether one of the samples that were read so far is bad. Then the call is refused for what is wrong with it, if not for
    /// what the backend answers.
    pub fn has_bad(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// Number of samples, bad ones included. Those of a dynamic schema are walked through to count them, up to one whose end
    /// can't be found.
    pub fn len(&self) -> usize {
        match self.times {
            Times::One(_) => 1,
            _ if self.counter.is_dynamic() => {
                let (steps, mut rest) = (self.steps(), self.bytes);
                std::iter::from_fn(|| self.next(&mut rest, &steps)).count()
            }
            _ => self.bytes.len() / self.counter.sample_size,
        }
    }

    /// Whether there is no sample. (A backend doesn't get such a batch.)
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The samples, in order. Bad ones are left out: the producer gets the code of the first of them, once the backend is
    /// through with the batch.
    #[inline]
    pub fn samples(&self) -> impl Iterator<Item = CounterSample<'a>> {
        Samples {
            batch: self,
            is_bare: self.counter.is_bare(),
            steps: self.steps(),
            rest: self.bytes,
            index: 0,
        }
    }

    /// Refuses the only sample, of these bytes, if it is bad.
    pub(crate) fn check(&self, bytes: &'a [u8]) -> Result<()> {
        match self.counter.is_bare() {
            true => Ok(()),
            false => self.sample(0, bytes, &self.steps()).map(|_| ()),
        }
    }

    /// Takes the first sample, of a [bare](Counter::is_bare) counter, off `rest`.
    #[inline(always)]
    fn next_bare(&self, index: usize, rest: &mut &'a [u8]) -> Option<Result<CounterSample<'a>>> {
        let bytes;
        (bytes, *rest) = rest.split_at_checked(self.counter.sample_size)?;
        let at = self.counter.schema().map(|schema| &schema.plan.at);
        Some(
            self.times
                .at(index, bytes, at)
                .map(|time| self.with(time, 0, bytes)),
        )
    }

    /// The same for any counter.
    #[inline(never)]
    fn next_found(
        &self,
        index: usize,
        rest: &mut &'a [u8],
        steps: &Steps,
    ) -> Option<Result<CounterSample<'a>>> {
        let bytes = self.next(rest, steps)?;
        Some(bytes.and_then(|bytes| self.sample(index, bytes, steps)))
    }

    /// Takes the bytes of the first sample off `rest`. After one whose end can't be found there are no more.
    fn next(&self, rest: &mut &'a [u8], steps: &Steps) -> Option<Result<&'a [u8]>> {
        if rest.is_empty() {
            return None;
        }
        let end = match (&self.times, &self.counter.kind) {
            (Times::One(_), _) => Ok(rest.len()),
            (_, CounterKind::Group(schema)) if schema.shape == Shape::Dynamic => {
                self.walk(schema, rest, steps).map(|found| found.end)
            }
            _ => Ok(self.counter.sample_size),
        };
        Some(split(rest, end, "sample"))
    }

    /// The sample at `index`, which is these bytes, if it is good.
    fn sample(&self, index: usize, bytes: &'a [u8], steps: &Steps) -> Result<CounterSample<'a>> {
        let schema = self.counter.schema();
        let mut late = None;
        if let Some(schema) = schema {
            if schema.plan.way != Way::Settled {
                late = self.walk(schema, bytes, steps)?.at;
            }
            check::check(schema, bytes, self.stream.domain())?;
        }
        let at = (late.as_ref()).or(schema.map(|schema| &schema.plan.at));
        let time = self.times.at(index, bytes, at)?;
        let scope = match schema.zip(at) {
            Some((schema, at)) if schema.plan.names_scope() => {
                let mut named = schema.plan.scopes(at, bytes).into_iter();
                named.find(|scope| *scope != 0).unwrap_or_default()
            }
            _ => 0,
        };
        if scope != 0 && !self.stream.domain().knows_scope(scope) {
            return Err(unknown_scope(scope));
        }
        Ok(self.with(time, scope, bytes))
    }

    /// The sample that has these.
    #[inline(always)]
    fn with(&self, time: i64, scope: u64, bytes: &'a [u8]) -> CounterSample<'a> {
        CounterSample {
            stream: self.stream,
            counter: self.counter,
            time,
            scope,
            bytes,
        }
    }

    /// Work for what all samples together refer to.
    fn steps(&self) -> Steps {
        let schema = self.counter.schema();
        let reaches_out = schema.is_some_and(|schema| schema.plan.reaches_out);
        Steps::for_bytes(self.bytes.len(), reaches_out)
    }

    /// Walks through the sample with which `bytes` start.
    fn walk(
        &self,
        schema: &'a Arc<Schema>,
        bytes: &'a [u8],
        steps: &Steps,
    ) -> Result<walk::Found<'a>> {
        if bytes.len() < schema.size {
            return Err(cut_short("a sample", schema, bytes.len()));
        }
        let sample = payload(schema, bytes);
        walk::check(schema, bytes, &data(&sample, self.stream, steps))
    }

    /// What the producer gets for the samples that were left out.
    pub(crate) fn finish(self, tally: &RefusalTally) -> Result<()> {
        if self.refusals.is_empty() {
            return Ok(());
        }
        let len = self.len();
        self.refusals.finish("sample", len, tally)
    }
}

/// The samples of a batch.
struct Samples<'b, 'a> {
    batch: &'b CounterBatch<'a>,
    is_bare: bool,
    steps: Steps,
    /// The bytes of those that are left.
    rest: &'a [u8],
    /// Of the next one.
    index: usize,
}

impl<'a> Iterator for Samples<'_, 'a> {
    type Item = CounterSample<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<CounterSample<'a>> {
        loop {
            let (batch, index) = (self.batch, self.index);
            self.index += 1;
            let sample = match self.is_bare {
                true => batch.next_bare(index, &mut self.rest),
                false => batch.next_found(index, &mut self.rest, &self.steps),
            };
            match sample? {
                Ok(sample) => return Some(sample),
                Err(refusal) => batch.refusals.note(index, refusal),
            }
        }
    }
}

fn payload<'a>(schema: &'a Arc<Schema>, bytes: &'a [u8]) -> Payload<'a> {
    Payload {
        schema,
        bytes,
        count: None,
    }
}

/// What a sample may refer to: itself.
fn data<'e, 'a>(sample: &'e Payload<'a>, stream: &'a StreamInfo, steps: &'e Steps) -> Data<'e, 'a> {
    Data {
        payloads: slice::from_ref(sample),
        flex: None,
        pieces: &[],
        domain: stream.domain(),
        steps,
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
    #[inline]
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The bytes of a sample of fixed size: each field of a group whose schema is [plain](crate::Schema::is_plain) is in its
    /// [place](crate::Field::offset), and a scalar counter's value at the start.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes
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
    #[inline]
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        let context = &Context::new(self.stream.domain());
        match &self.counter.kind {
            CounterKind::Group(schema)
                if schema.plan.way == Way::Settled && schema.role != SchemaRole::Generic =>
            {
                decode::visit_event(schema, self.bytes, context, visitor);
            }
            CounterKind::Group(schema) => self.visit_group(schema, visitor),
            CounterKind::Scalar(_) => {
                if let Some(field) = &self.counter.field {
                    decode::visit(field, field.whole, self.bytes, 0, context, visitor);
                }
            }
        }
    }

    fn visit_group<V: Visitor>(&self, schema: &Arc<Schema>, visitor: &mut V) {
        let is_generic = schema.role == SchemaRole::Generic;
        let shown = |field: &Field| match field.role {
            FieldRole::Time(_) | FieldRole::Scope if is_generic => false,
            _ => !field.is_attribute,
        };
        if schema.plan.way == Way::Settled {
            let context = &Context::new(self.stream.domain());
            decode::visit_fields(schema, self.bytes, context, shown, visitor);
        } else {
            let (sample, steps) = (payload(schema, self.bytes), Steps::unlimited());
            let data = data(&sample, self.stream, &steps);
            walk::show_some(schema, self.bytes, &data, shown, visitor);
        }
    }
}
