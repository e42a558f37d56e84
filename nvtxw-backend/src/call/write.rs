//! What a producer writes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::call::Memory;
use crate::data::Flex;
use crate::domain::Domain;
use crate::raw::PayloadArg;
use crate::refusal::Result;
use crate::relation::SyncPoints;
use crate::relay::has_pointers;
use crate::schema::Schema;
use crate::write::{described, text_unit};

/// A write, as the producer made it. Its bytes are where the producer has them.
#[derive(Clone, Copy, Debug)]
pub enum WriteCall<'a> {
    /// `EventWrite`.
    Event(EventCall<'a>),
    /// `EventBatchWrite`.
    EventBatch(EventBatchCall<'a>),
    /// `CounterWrite`.
    Counter(CounterCall<'a>),
    /// `CounterNoValueWrite`.
    NoValue {
        /// When there was no value.
        time: i64,
        /// The counter's ID.
        counter: u64,
        /// Why: a [`NoValueReason`](crate::NoValueReason).
        reason: u8,
    },
    /// `CounterBatchWrite`.
    CounterBatch(CounterBatchCall<'a>),
    /// `TimeSyncPointWrite`.
    SyncPoint {
        /// The time domains' IDs.
        time_domains: (u64, u64),
        /// The timestamps of one instant in them.
        times: (i64, i64),
    },
    /// `TimeSyncPointTableWrite`.
    SyncPoints {
        /// The time domains' IDs.
        time_domains: (u64, u64),
        /// The timestamps of instants in them.
        points: SyncPoints<'a>,
    },
    /// `TimestampConversionFactorWrite`.
    Conversion {
        /// The time domains' IDs.
        time_domains: (u64, u64),
        /// Ticks of the second for each one of the first.
        slope: f64,
        /// The timestamps of one instant in them.
        times: (i64, i64),
    },
}

impl WriteCall<'_> {
    /// The function of the table that was called.
    pub fn member(&self) -> &'static str {
        match self {
            Self::Event(_) => "EventWrite",
            Self::EventBatch(_) => "EventBatchWrite",
            Self::Counter(_) => "CounterWrite",
            Self::NoValue { .. } => "CounterNoValueWrite",
            Self::CounterBatch(_) => "CounterBatchWrite",
            Self::SyncPoint { .. } => "TimeSyncPointWrite",
            Self::SyncPoints { .. } => "TimeSyncPointTableWrite",
            Self::Conversion { .. } => "TimestampConversionFactorWrite",
        }
    }
}

/// The payloads of one event.
#[derive(Clone, Copy)]
pub struct EventCall<'a>(Payloads<'a>);

#[derive(Clone, Copy)]
enum Payloads<'a> {
    Bytes(&'a [PayloadBytes<'a>], Option<&'a Memory>),
    /// Those of a producer that writes to a stream of this domain.
    Args(&'a [PayloadArg<'a>], &'a Domain),
}

impl<'a> EventCall<'a> {
    /// An event of these payloads.
    pub fn new(payloads: &'a [PayloadBytes<'a>]) -> Self {
        Self(Payloads::Bytes(payloads, None))
    }

    /// The same with what their pointers lead to.
    pub fn with_memory(payloads: &'a [PayloadBytes<'a>], memory: &'a Memory) -> Self {
        Self(Payloads::Bytes(payloads, Some(memory)))
    }

    /// The event that was accepted from these arguments.
    pub(crate) fn accepted(args: &'a [PayloadArg<'a>], domain: &'a Domain) -> Self {
        Self(Payloads::Args(args, domain))
    }

    /// How many payloads there are, ignored ones included.
    pub fn len(&self) -> usize {
        match self.0 {
            Payloads::Bytes(payloads, _) => payloads.len(),
            Payloads::Args(args, _) => args.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where pointers are in the payloads, and what they lead to. `None` if no entry is a pointer.
    pub fn memory(&self) -> Option<Cow<'a, Memory>> {
        match self.0 {
            Payloads::Bytes(_, memory) => memory.map(Cow::Borrowed),
            Payloads::Args(args, domain) => {
                let mut schemas = args
                    .iter()
                    .filter_map(|arg| domain.registered_schema(arg.schema_id()));
                if !schemas.any(|schema| points(schema)) {
                    return None;
                }
                // They were accepted.
                let payloads = args.iter().map(|arg| described(domain, arg));
                let payloads: Vec<_> = payloads.collect::<Result<_>>().ok()?;
                Some(Cow::Owned(Memory::of_event(&payloads, domain)))
            }
        }
    }

    /// The payloads, in order.
    pub fn payloads(&self) -> impl Iterator<Item = PayloadBytes<'a>> + use<'a> {
        let payloads = self.0;
        (0..self.len()).map(move |index| match payloads {
            Payloads::Bytes(payloads, _) => payloads[index],
            Payloads::Args(args, domain) => {
                let arg = &args[index];
                let (schema, is_terminated) = (arg.schema_id(), arg.is_terminated());
                let unit = is_terminated.then(|| text_unit(domain, schema)).flatten();
                PayloadBytes {
                    schema,
                    // They were read when the event was checked.
                    bytes: arg.bytes(unit, domain.promise).unwrap_or_default(),
                    is_terminated,
                }
            }
        })
    }
}

impl fmt::Debug for EventCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.payloads()).finish()
    }
}

/// `nvtxPayloadData_t`: a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadBytes<'a> {
    /// The ID of its schema, or a predefined type.
    pub schema: u64,
    /// Its bytes; without the null where that tells the end.
    pub bytes: &'a [u8],
    /// Whether the producer gave no size, but text that ends with a null.
    pub is_terminated: bool,
}

/// Where what the pointers of a write lead to is to be found.
#[derive(Clone, Copy, Default)]
pub struct Pointees<'a>(Source<'a>);

#[derive(Clone, Copy, Default)]
enum Source<'a> {
    #[default]
    Unknown,
    Kept(&'a Memory),
    /// Where the producer has it, which writes to a stream of this domain.
    There(&'a Domain),
}

impl<'a> Pointees<'a> {
    /// Nowhere: nothing says what the pointers lead to, if there are any.
    pub const UNKNOWN: Self = Self(Source::Unknown);

    /// In this memory.
    pub fn kept(memory: &'a Memory) -> Self {
        Self(Source::Kept(memory))
    }

    /// In the memory of a producer that writes to a stream of this domain, for as long as its call takes.
    pub(crate) fn there(domain: &'a Domain) -> Self {
        Self(Source::There(domain))
    }

    /// What the pointers lead to; what `find` makes of the schema of bytes that are there.
    fn memory(
        self,
        schema: impl FnOnce(&'a Domain) -> Option<&'a Arc<Schema>>,
        find: impl FnOnce(&'a Domain, &'a Arc<Schema>) -> Memory,
    ) -> Option<Cow<'a, Memory>> {
        match self.0 {
            Source::Unknown => None,
            Source::Kept(memory) => Some(Cow::Borrowed(memory)),
            Source::There(domain) => {
                let schema = schema(domain).filter(|schema| points(schema))?;
                Some(Cow::Owned(find(domain, schema)))
            }
        }
    }
}

impl fmt::Debug for Pointees<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Source::Unknown => f.write_str("Unknown"),
            Source::Kept(memory) => f.debug_tuple("Kept").field(memory).finish(),
            Source::There(_) => f.write_str("There"),
        }
    }
}

/// Whether payloads of this schema hold pointers.
fn points(schema: &Schema) -> bool {
    schema.plan.refers && has_pointers(schema)
}

/// `nvtxEventBatch_t`.
#[derive(Clone, Copy, Debug)]
pub struct EventBatchCall<'a> {
    /// The ID of the events' schema.
    pub schema: u64,
    /// All events.
    pub bytes: &'a [u8],
    /// What they refer to.
    pub flex: Option<FlexData<'a>>,
    /// The ID of the scope of those that name none.
    pub scope: u64,
    /// Their order, and more.
    pub flags: u64,
    /// What pointers in them lead to.
    pub pointees: Pointees<'a>,
}

impl<'a> EventBatchCall<'a> {
    /// Where pointers are in the events and the flexible data, and what they lead to. `None` if no entry is a pointer, or if
    /// nothing says it.
    pub fn memory(&self) -> Option<Cow<'a, Memory>> {
        let (bytes, id) = (self.bytes, self.schema);
        let flex = self
            .flex
            .map(|FlexData { bytes, offset }| Flex { bytes, offset });
        self.pointees.memory(
            |domain| domain.registered_schema(id),
            |domain, schema| Memory::of_batch(bytes, flex, domain, schema),
        )
    }
}

/// The flexible data of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlexData<'a> {
    /// The part that may be referred to.
    pub bytes: &'a [u8],
    /// From where offsets count to where that part starts.
    pub offset: usize,
}

/// The arguments of `CounterWrite`.
#[derive(Clone, Copy, Debug)]
pub struct CounterCall<'a> {
    /// When the sample was taken.
    pub time: i64,
    /// The counter's ID.
    pub counter: u64,
    /// The sample, and what it refers to by offsets.
    pub bytes: &'a [u8],
    /// What pointers in it lead to.
    pub pointees: Pointees<'a>,
}

impl<'a> CounterCall<'a> {
    /// Where pointers are in the sample, and what they lead to. `None` if no entry is a pointer, or if nothing says it.
    pub fn memory(&self) -> Option<Cow<'a, Memory>> {
        let (bytes, id) = (self.bytes, self.counter);
        self.pointees.memory(
            |domain| domain.counters.get(id)?.schema(),
            |domain, schema| Memory::of_samples(bytes, true, domain, schema),
        )
    }
}

/// `nvtxCounterBatch_t`.
#[derive(Clone, Copy, Debug)]
pub struct CounterBatchCall<'a> {
    /// The counter's ID.
    pub counter: u64,
    /// All samples.
    pub bytes: &'a [u8],
    /// Their order, and what `timestamps` are.
    pub flags: u64,
    /// 8 bytes for each timestamp, if they are not in the samples.
    pub timestamps: Option<&'a [u8]>,
    /// What pointers in them lead to.
    pub pointees: Pointees<'a>,
}

impl<'a> CounterBatchCall<'a> {
    /// The same as [`CounterCall::memory`], of all samples.
    pub fn memory(&self) -> Option<Cow<'a, Memory>> {
        let (bytes, id) = (self.bytes, self.counter);
        self.pointees.memory(
            |domain| domain.counters.get(id)?.schema(),
            |domain, schema| Memory::of_samples(bytes, false, domain, schema),
        )
    }
}
