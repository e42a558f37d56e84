//! What a producer writes.

use std::borrow::Cow;
use std::fmt;

use crate::call::Memory;
use crate::domain::Domain;
use crate::raw::PayloadArg;
use crate::refusal::Result;
use crate::relation::SyncPoints;
use crate::relay::has_pointers;
use crate::write::{described, text_unit};

/// A write, as the producer made it. Its bytes are where the producer has them.
#[derive(Clone, Copy, Debug)]
pub enum WriteCall<'a> {
    /// `EventWrite`.
    Event(EventCall<'a>),
    /// `EventBatchWrite`.
    EventBatch(EventBatchCall<'a>),
    /// `CounterWrite`.
    Counter {
        /// When the sample was taken.
        time: i64,
        /// The counter's ID.
        counter: u64,
        /// The sample.
        bytes: &'a [u8],
    },
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
            Self::Counter { .. } => "CounterWrite",
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
                if !schemas.any(|schema| schema.plan.refers && has_pointers(schema)) {
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

/// `nvtxEventBatch_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// What pointers in them lead to, if that is known: [of a recording](crate::EventBatch::memory).
    pub memory: Option<&'a Memory>,
}

/// The flexible data of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlexData<'a> {
    /// The part that may be referred to.
    pub bytes: &'a [u8],
    /// From where offsets count to where that part starts.
    pub offset: usize,
}

/// `nvtxCounterBatch_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterBatchCall<'a> {
    /// The counter's ID.
    pub counter: u64,
    /// All samples.
    pub bytes: &'a [u8],
    /// Their order, and what `timestamps` are.
    pub flags: u64,
    /// 8 bytes for each timestamp, if they are not in the samples.
    pub timestamps: Option<&'a [u8]>,
}
