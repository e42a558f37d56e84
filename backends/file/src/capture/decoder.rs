//! Records as calls.

use std::cell::OnceCell;
use std::ffi::CStr;

use nvtxw_backend::call::{
    CounterAttributes, CounterBatchCall, CounterCall, EntryAttributes, EnumAttributes, EnumValue,
    EventBatchCall, EventCall, FlexData, Memory, Message, PayloadBytes, Piece, Pointees, Pointer,
    Registration, ResourceAttributes, SchemaAttributes, ScopeAttributes, Semantic, SemanticNode,
    StreamAttributes, TimeDomainAttributes, WriteCall,
};
use nvtxw_backend::{RefusalCounts, ResultCode, SyncPoints};

use super::frame::{HEADER, Header, Kind};
use super::record::Record;

/// What is wrong with a record.
type Result<T> = std::result::Result<T, &'static str>;

/// The body of a record, from where it is read on.
struct Body<'a> {
    rest: &'a [u8],
    /// How many bytes were read.
    at: usize,
}

/// Gives `take` the record of this header and body; what is wrong if it is none.
pub(super) fn decode<T>(
    header: Header,
    body: &[u8],
    take: impl FnOnce(&Record<'_>) -> T,
) -> Result<T> {
    let kind = Kind::of(header.kind).ok_or("is of a kind that this version doesn't know")?;
    let mut body = Body { rest: body, at: 0 };
    let (mut payloads, memory) = (Vec::new(), OnceCell::new());
    let stream = header.owner;
    let record = match kind {
        Kind::Event => {
            let has_memory = body.payloads(&mut payloads)?;
            let call = match has_memory {
                true => EventCall::with_memory(&payloads, body.memory(&memory)?),
                false => EventCall::new(&payloads),
            };
            let call = WriteCall::Event(call);
            Record::Write { stream, call }
        }
        Kind::EventBatch => {
            let call = WriteCall::EventBatch(body.event_batch(&memory)?);
            Record::Write { stream, call }
        }
        Kind::Sample | Kind::PointingSample => {
            let has_memory = kind == Kind::PointingSample;
            let call = WriteCall::Counter(body.sample(has_memory, &memory)?);
            Record::Write { stream, call }
        }
        Kind::CounterBatch | Kind::PointingCounterBatch => {
            let has_memory = kind == Kind::PointingCounterBatch;
            let call = WriteCall::CounterBatch(body.counter_batch(has_memory, &memory)?);
            Record::Write { stream, call }
        }
        kind => body.record(kind, header.owner)?,
    };
    match body.rest.is_empty() {
        true => Ok(take(&record)),
        false => Err("has more bytes than it says"),
    }
}

impl<'a> Body<'a> {
    fn record(&mut self, kind: Kind, owner: u32) -> Result<Record<'a>> {
        Ok(match kind {
            Kind::Begin => Record::Begin {
                name: self.text()?,
                config: self.text()?,
                writer: self.words()?,
            },
            Kind::End => Record::End,
            Kind::Open => Record::Open {
                stream: owner,
                attributes: self.stream()?,
            },
            Kind::Close => Record::Close { stream: owner },
            Kind::Refused => {
                let code = i32::try_from(self.i64()?).map_err(|_| "has a code out of range")?;
                Record::Refused {
                    code: ResultCode::new(code),
                    member: self.words()?,
                    object: self.words()?,
                    reason: self.words()?,
                }
            }
            Kind::Refusals => Record::Refusals(RefusalCounts {
                calls: self.u64()?,
                unsupported: self.u64()?,
                left_out: self.u64()?,
                // The call that reports each of them is a record of its own.
                skipped_streams: 0,
            }),
            Kind::Domain
            | Kind::Category
            | Kind::String
            | Kind::Resource
            | Kind::Scope
            | Kind::Schema
            | Kind::ReservedSchema
            | Kind::Enum
            | Kind::Counter
            | Kind::TimeDomain => Record::Registration {
                domain: owner,
                registration: self.registration(kind)?,
            },
            kind => Record::Write {
                stream: owner,
                call: self.write(kind)?,
            },
        })
    }

    fn raw(&mut self, size: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(size)
            .ok_or("has fewer bytes than it says")?;
        self.rest = rest;
        self.at += size;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.raw(N)?;
        bytes.try_into().map_err(|_| "has fewer bytes than it says")
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_ne_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_ne_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_ne_bytes(self.array()?))
    }

    fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_ne_bytes(self.array()?))
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?).map_err(|_| "has a size out of range")
    }

    fn flag(&mut self) -> Result<bool> {
        match self.u64()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("has a flag that is neither 0 nor 1"),
        }
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let size = self.size()?;
        self.raw(size)
    }

    /// Up to the next multiple of [`HEADER`].
    fn fill(&mut self) -> Result<()> {
        let size = self.at.wrapping_neg() % HEADER;
        self.raw(size).map(drop)
    }

    /// Text for people.
    fn words(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "has text that is not UTF-8")
    }

    fn text(&mut self) -> Result<Option<&'a CStr>> {
        match self.bytes()? {
            [] => Ok(None),
            bytes => CStr::from_bytes_with_nul(bytes)
                .map(Some)
                .map_err(|_| "has text that doesn't end with its null"),
        }
    }

    fn some_text(&mut self) -> Result<&'a CStr> {
        self.text()?.ok_or("lacks a text")
    }

    /// Items of at least `least` bytes each.
    fn items<T>(
        &mut self,
        least: usize,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.size()?;
        if count > self.rest.len() / least {
            return Err("has fewer items than it says");
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn stream(&mut self) -> Result<StreamAttributes<'a>> {
        Ok(StreamAttributes {
            domain: self.u32()?,
            names_domain: self.u32()? != 0,
            scope: self.u64()?,
            time_domain: self.u64()?,
            interleaving: self.u16()?.cast_signed(),
            ordering: self.u16()?.cast_signed(),
            skid: self.u32()?.cast_signed(),
            skid_amount: self.i64()?,
            name: self.text()?,
        })
    }

    fn registration(&mut self, kind: Kind) -> Result<Registration<'a>> {
        Ok(match kind {
            Kind::Category => Registration::Category {
                category: u32::try_from(self.u64()?).map_err(|_| "has a category out of range")?,
                name: self.some_text()?,
            },
            Kind::String => Registration::String {
                handle: self.u64()?,
                text: self.some_text()?,
            },
            Kind::Resource => Registration::Resource(ResourceAttributes {
                version: u16::try_from(self.u64()?).map_err(|_| "has a version out of range")?,
                kind: self.i32()?,
                identifier: self.u64()?,
                message: self.message()?,
            }),
            Kind::Scope => Registration::Scope {
                id: self.u64()?,
                attributes: ScopeAttributes {
                    id: self.u64()?,
                    parent: self.u64()?,
                    path: self.text()?,
                },
            },
            Kind::Schema => Registration::Schema {
                id: self.u64()?,
                attributes: self.schema()?,
            },
            Kind::ReservedSchema => {
                let (id, mut attributes) = (self.u64()?, self.schema()?);
                for entry in &mut attributes.entries {
                    entry.reserved = self.u64()?;
                }
                Registration::Schema { id, attributes }
            }
            Kind::Enum => Registration::Enum {
                id: self.u64()?,
                attributes: EnumAttributes {
                    id: self.u64()?,
                    mask: self.u64()?,
                    size: self.size()?,
                    name: self.text()?,
                    entries: self.items(24, |body| {
                        Ok(EnumValue {
                            value: body.u64()?,
                            is_flag: body.flag()?,
                            name: body.some_text()?,
                        })
                    })?,
                },
            },
            Kind::Counter => Registration::Counter {
                id: self.u64()?,
                attributes: CounterAttributes {
                    id: self.u64()?,
                    schema: self.u64()?,
                    scope: self.u64()?,
                    name: self.text()?,
                    description: self.text()?,
                    semantics: self.semantics()?,
                },
            },
            Kind::TimeDomain => Registration::TimeDomain {
                id: self.u64()?,
                attributes: TimeDomainAttributes {
                    id: self.u64()?,
                    scope: self.u64()?,
                    timestamp_type: self.u64()?,
                    flags: self.u64()?,
                    resolution: self.i64()?,
                    start: self.u64()?,
                },
            },
            _ => Registration::Domain { name: self.text()? },
        })
    }

    fn i32(&mut self) -> Result<i32> {
        i32::try_from(self.i64()?).map_err(|_| "has a number out of range")
    }

    fn message(&mut self) -> Result<Message<'a>> {
        Ok(match self.u64()? {
            0 => Message::None { kind: self.i32()? },
            1 => Message::Text(self.some_text()?),
            2 => Message::Wide(self.items(4, Self::u32)?),
            3 => Message::Registered(self.u64()?),
            _ => return Err("has a message of no known kind"),
        })
    }

    fn schema(&mut self) -> Result<SchemaAttributes<'a>> {
        Ok(SchemaAttributes {
            id: self.u64()?,
            mask: self.u64()?,
            kind: self.u64()?,
            flags: self.u64()?,
            size: self.size()?,
            pack: self.size()?,
            name: self.text()?,
            entries: self.items(56, Self::entry)?,
        })
    }

    fn entry(&mut self) -> Result<EntryAttributes<'a>> {
        Ok(EntryAttributes {
            flags: self.u64()?,
            ty: self.u64()?,
            detail: self.u64()?,
            offset: self.u64()?,
            name: self.text()?,
            description: self.text()?,
            semantics: self.semantics()?,
            reserved: 0,
        })
    }

    fn semantics(&mut self) -> Result<Vec<SemanticNode<'a>>> {
        self.items(16, |body| {
            Ok(SemanticNode {
                size: body.u32()?,
                version: body.u16()?,
                semantic: match body.u16()? {
                    1 => Semantic::Scope(body.u64()?),
                    2 => Semantic::Time(body.u64()?),
                    3 => Semantic::Correlation {
                        domain: body.array()?,
                        role: body.u64()?,
                        name: body.text()?,
                    },
                    5 => Semantic::Counter {
                        flags: body.u64()?,
                        scale: (body.u64()?, body.u64()?),
                        limit_type: body.i64()?,
                        min: body.u64()?,
                        max: body.u64()?,
                        unit: body.text()?,
                    },
                    0 => Semantic::Other {
                        kind: u16::try_from(body.u64()?)
                            .map_err(|_| "has semantics of a kind out of range")?,
                        bytes: body.bytes()?,
                    },
                    _ => return Err("has semantics of no known kind"),
                },
            })
        })
    }

    /// Returns whether what pointers lead to comes then.
    fn payloads(&mut self, payloads: &mut Vec<PayloadBytes<'a>>) -> Result<bool> {
        let count = self.size()?;
        let has_memory = self.flag()?;
        if count > self.rest.len() / HEADER {
            return Err("has fewer payloads than it says");
        }
        let mut sizes = Vec::with_capacity(count);
        for _ in 0..count {
            sizes.push((self.u64()?, self.size()?));
        }
        for (schema, size) in sizes {
            payloads.push(PayloadBytes {
                schema,
                bytes: self.raw(size >> 1)?,
                is_terminated: size & 1 != 0,
            });
            self.fill()?;
        }
        Ok(has_memory)
    }

    fn memory<'m>(&mut self, place: &'m OnceCell<Memory>) -> Result<&'m Memory> {
        let (addresses, pieces, pointers) = (self.size()?, self.size()?, self.size()?);
        self.u64()?;
        let words = addresses
            .checked_add(pieces)
            .and_then(|words| words.checked_add(pointers))
            .ok_or("has a size out of range")?;
        if words > self.rest.len() / size_of::<u64>() {
            return Err("has fewer pointers than it says");
        }
        let memory = Memory {
            addresses: (0..addresses).map(|_| self.u64()).collect::<Result<_>>()?,
            pieces: (0..pieces)
                .map(|_| {
                    Ok(Piece {
                        address: self.u64()?,
                        bytes: self.bytes()?.to_vec(),
                    })
                })
                .collect::<Result<_>>()?,
            pointers: (0..pointers)
                .map(|_| {
                    Ok(Pointer {
                        part: self.size()?,
                        offset: self.size()?,
                    })
                })
                .collect::<Result<_>>()?,
        };
        self.fill()?;
        Ok(place.get_or_init(|| memory))
    }

    fn event_batch<'m>(&mut self, place: &'m OnceCell<Memory>) -> Result<EventBatchCall<'m>>
    where
        'a: 'm,
    {
        let (schema, scope, flags) = (self.u64()?, self.u64()?, self.u64()?);
        let (has_flex, has_memory) = (self.flag()?, self.flag()?);
        let (offset, size) = (self.size()?, self.size()?);
        self.u64()?;
        let bytes = self.raw(size)?;
        self.fill()?;
        Ok(EventBatchCall {
            schema,
            scope,
            flags,
            flex: has_flex.then_some(FlexData { bytes, offset }),
            pointees: self.pointees(has_memory, place)?,
            bytes: self.all(),
        })
    }

    fn sample<'m>(
        &mut self,
        has_memory: bool,
        place: &'m OnceCell<Memory>,
    ) -> Result<CounterCall<'m>>
    where
        'a: 'm,
    {
        Ok(CounterCall {
            time: self.i64()?,
            counter: self.u64()?,
            pointees: self.pointees(has_memory, place)?,
            bytes: self.all(),
        })
    }

    fn counter_batch<'m>(
        &mut self,
        has_memory: bool,
        place: &'m OnceCell<Memory>,
    ) -> Result<CounterBatchCall<'m>>
    where
        'a: 'm,
    {
        let (counter, flags) = (self.u64()?, self.u64()?);
        let has_times = self.flag()?;
        let times = self.bytes()?;
        self.fill()?;
        Ok(CounterBatchCall {
            counter,
            flags,
            timestamps: has_times.then_some(times),
            pointees: self.pointees(has_memory, place)?,
            bytes: self.all(),
        })
    }

    fn pointees<'m>(
        &mut self,
        has_memory: bool,
        place: &'m OnceCell<Memory>,
    ) -> Result<Pointees<'m>> {
        match has_memory {
            true => self.memory(place).map(Pointees::kept),
            false => Ok(Pointees::UNKNOWN),
        }
    }

    fn write(&mut self, kind: Kind) -> Result<WriteCall<'a>> {
        Ok(match kind {
            Kind::NoValue => WriteCall::NoValue {
                time: self.i64()?,
                counter: self.u64()?,
                reason: u8::try_from(self.u64()?).map_err(|_| "has a reason out of range")?,
            },
            Kind::SyncPoint => WriteCall::SyncPoint {
                time_domains: (self.u64()?, self.u64()?),
                times: (self.i64()?, self.i64()?),
            },
            Kind::SyncPoints => WriteCall::SyncPoints {
                time_domains: (self.u64()?, self.u64()?),
                points: SyncPoints::from_bytes(self.all()),
            },
            _ => WriteCall::Conversion {
                time_domains: (self.u64()?, self.u64()?),
                slope: f64::from_bits(self.u64()?),
                times: (self.i64()?, self.i64()?),
            },
        })
    }

    /// All that is left.
    fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}
