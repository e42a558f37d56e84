//! Calls as records.

use std::ffi::CStr;

use nvtxw_backend::RefusalCounts;
use nvtxw_backend::call::{
    CounterAttributes, EntryAttributes, Memory, Message, Registration, Semantic, SemanticNode,
    StreamAttributes, WriteCall,
};
use nvtxw_backend::log::Report;

use super::frame::{HEADER, Header, Kind, padding};

/// Records that are to be written.
#[derive(Default)]
pub(super) struct Records(Vec<u8>);

/// The end of a record that has bytes behind what was encoded.
pub(super) struct Tail<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) padding: &'static [u8],
}

/// What fills records up.
const ZEROS: [u8; HEADER] = [0; HEADER];

impl Records {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Adds a record.
    fn record(&mut self, kind: Kind, owner: u32, body: impl FnOnce(&mut Self)) {
        let tail = self.begin(kind, owner, &[], body);
        self.raw(tail.padding);
    }

    /// Adds a record but for its end, which is these bytes and what fills them up. What `body` makes fills itself up.
    fn begin<'a>(
        &mut self,
        kind: Kind,
        owner: u32,
        bytes: &'a [u8],
        body: impl FnOnce(&mut Self),
    ) -> Tail<'a> {
        let start = self.0.len();
        self.raw(&ZEROS);
        body(self);
        let size = (self.0.len() - start - HEADER + bytes.len()) as u64;
        let kind = kind as u16;
        let header = Header { size, owner, kind };
        self.0[start..start + HEADER].copy_from_slice(&header.to_bytes());
        Tail {
            bytes,
            padding: &ZEROS[..padding(size)],
        }
    }

    fn u16(&mut self, number: u16) {
        self.raw(&number.to_ne_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.raw(&number.to_ne_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.raw(&number.to_ne_bytes());
    }

    fn i64(&mut self, number: i64) {
        self.raw(&number.to_ne_bytes());
    }

    /// The number of bytes, and these.
    fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Text with its null; nothing for none.
    fn text(&mut self, text: Option<&CStr>) {
        self.bytes(text.map_or(&[][..], CStr::to_bytes_with_nul));
    }

    pub(super) fn begin_session(&mut self, name: Option<&CStr>, config: Option<&CStr>) {
        self.record(Kind::Begin, 0, |out| {
            out.text(name);
            out.text(config);
            out.bytes(concat!("nvtxw-file ", env!("CARGO_PKG_VERSION")).as_bytes());
        });
    }

    pub(super) fn end(&mut self) {
        self.record(Kind::End, 0, |_| {});
    }

    pub(super) fn open(&mut self, stream: u32, attributes: &StreamAttributes<'_>) {
        self.record(Kind::Open, stream, |out| {
            out.u32(attributes.domain);
            out.u32(attributes.names_domain.into());
            out.u64(attributes.scope);
            out.u64(attributes.time_domain);
            out.u16(attributes.interleaving.cast_unsigned());
            out.u16(attributes.ordering.cast_unsigned());
            out.u32(attributes.skid.cast_unsigned());
            out.i64(attributes.skid_amount);
            out.text(attributes.name);
        });
    }

    pub(super) fn close(&mut self, stream: u32) {
        self.record(Kind::Close, stream, |_| {});
    }

    pub(super) fn refused(&mut self, report: &Report<'_>) {
        self.record(Kind::Refused, 0, |out| {
            out.i64(report.refusal.code().get().into());
            out.bytes(report.member.as_bytes());
            out.bytes(report.object.as_bytes());
            out.bytes(report.refusal.reason().as_bytes());
        });
    }

    pub(super) fn refusals(&mut self, counts: RefusalCounts) {
        self.record(Kind::Refusals, 0, |out| {
            out.u64(counts.calls);
            out.u64(counts.unsupported);
            out.u64(counts.left_out);
        });
    }

    pub(super) fn registration(&mut self, domain: u32, registration: &Registration<'_>) {
        match registration {
            Registration::Domain { name } => {
                self.record(Kind::Domain, domain, |out| out.text(*name));
            }
            Registration::Category { category, name } => {
                self.record(Kind::Category, domain, |out| {
                    out.u64((*category).into());
                    out.text(Some(name));
                });
            }
            Registration::String { text, handle } => {
                self.record(Kind::String, domain, |out| {
                    out.u64(*handle);
                    out.text(Some(text));
                });
            }
            Registration::Resource(attributes) => {
                self.record(Kind::Resource, domain, |out| {
                    out.u64(attributes.version.into());
                    out.i64(attributes.kind.into());
                    out.u64(attributes.identifier);
                    out.message(&attributes.message);
                });
            }
            Registration::Scope { attributes, id } => {
                self.record(Kind::Scope, domain, |out| {
                    out.u64(*id);
                    out.u64(attributes.id);
                    out.u64(attributes.parent);
                    out.text(attributes.path);
                });
            }
            Registration::Schema { attributes, id } => {
                let has_reserved = attributes.entries.iter().any(|entry| entry.reserved != 0);
                let kind = match has_reserved {
                    false => Kind::Schema,
                    true => Kind::ReservedSchema,
                };
                self.record(kind, domain, |out| {
                    out.u64(*id);
                    out.u64(attributes.id);
                    out.u64(attributes.mask);
                    out.u64(attributes.kind);
                    out.u64(attributes.flags);
                    out.u64(attributes.size as u64);
                    out.u64(attributes.pack as u64);
                    out.text(attributes.name);
                    out.u64(attributes.entries.len() as u64);
                    attributes.entries.iter().for_each(|entry| out.entry(entry));
                    for entry in attributes.entries.iter().filter(|_| has_reserved) {
                        out.u64(entry.reserved);
                    }
                });
            }
            Registration::Enum { attributes, id } => {
                self.record(Kind::Enum, domain, |out| {
                    out.u64(*id);
                    out.u64(attributes.id);
                    out.u64(attributes.mask);
                    out.u64(attributes.size as u64);
                    out.text(attributes.name);
                    out.u64(attributes.entries.len() as u64);
                    for entry in &attributes.entries {
                        out.u64(entry.value);
                        out.u64(entry.is_flag.into());
                        out.text(Some(entry.name));
                    }
                });
            }
            Registration::Counter { attributes, id } => {
                self.record(Kind::Counter, domain, |out| out.counter(*id, attributes));
            }
            Registration::TimeDomain { attributes, id } => {
                self.record(Kind::TimeDomain, domain, |out| {
                    out.u64(*id);
                    out.u64(attributes.id);
                    out.u64(attributes.scope);
                    out.u64(attributes.timestamp_type);
                    out.u64(attributes.flags);
                    out.i64(attributes.resolution);
                    out.u64(attributes.start);
                });
            }
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        match message {
            Message::None { kind } => {
                self.u64(0);
                self.i64((*kind).into());
            }
            Message::Text(text) => {
                self.u64(1);
                self.text(Some(text));
            }
            Message::Wide(units) => {
                self.u64(2);
                self.u64(units.len() as u64);
                units.iter().for_each(|unit| self.u32(*unit));
            }
            Message::Registered(handle) => {
                self.u64(3);
                self.u64(*handle);
            }
        }
    }

    fn entry(&mut self, entry: &EntryAttributes<'_>) {
        self.u64(entry.flags);
        self.u64(entry.ty);
        self.u64(entry.detail);
        self.u64(entry.offset);
        self.text(entry.name);
        self.text(entry.description);
        self.semantics(&entry.semantics);
    }

    fn counter(&mut self, id: u64, attributes: &CounterAttributes<'_>) {
        self.u64(id);
        self.u64(attributes.id);
        self.u64(attributes.schema);
        self.u64(attributes.scope);
        self.text(attributes.name);
        self.text(attributes.description);
        self.semantics(&attributes.semantics);
    }

    fn semantics(&mut self, nodes: &[SemanticNode<'_>]) {
        self.u64(nodes.len() as u64);
        for node in nodes {
            self.u32(node.size);
            self.u16(node.version);
            match node.semantic {
                Semantic::Scope(scope) => {
                    self.u16(1);
                    self.u64(scope);
                }
                Semantic::Time(time_domain) => {
                    self.u16(2);
                    self.u64(time_domain);
                }
                Semantic::Correlation { domain, name, role } => {
                    self.u16(3);
                    self.raw(&domain);
                    self.u64(role);
                    self.text(name);
                }
                Semantic::Counter {
                    flags,
                    unit,
                    scale,
                    limit_type,
                    min,
                    max,
                } => {
                    self.u16(5);
                    self.u64(flags);
                    self.u64(scale.0);
                    self.u64(scale.1);
                    self.i64(limit_type);
                    self.u64(min);
                    self.u64(max);
                    self.text(unit);
                }
                Semantic::Other { kind, bytes } => {
                    self.u16(0);
                    self.u64(kind.into());
                    self.bytes(bytes);
                }
            }
        }
    }

    /// What fills itself up, after what is filled up.
    fn memory(&mut self, memory: &Memory) {
        let numbers = [
            memory.addresses.len(),
            memory.pieces.len(),
            memory.pointers.len(),
            0,
        ];
        numbers.iter().for_each(|number| self.u64(*number as u64));
        memory
            .addresses
            .iter()
            .for_each(|address| self.u64(*address));
        for piece in &memory.pieces {
            self.u64(piece.address);
            self.bytes(&piece.bytes);
        }
        for pointer in &memory.pointers {
            self.u64(pointer.part as u64);
            self.u64(pointer.offset as u64);
        }
        let size = size_of::<u64>() * memory.addresses.len()
            + memory
                .pieces
                .iter()
                .map(|piece| piece.bytes.len())
                .sum::<usize>();
        self.raw(&ZEROS[..padding(size as u64)]);
    }

    /// Adds a write, but for the end of its record.
    pub(super) fn write<'a>(&mut self, stream: u32, call: &WriteCall<'a>) -> Tail<'a> {
        match *call {
            WriteCall::Event(call) => {
                let memory = call.memory();
                self.record(Kind::Event, stream, |out| {
                    out.u64(call.len() as u64);
                    out.u64(memory.is_some().into());
                    for payload in call.payloads() {
                        out.u64(payload.schema);
                        let size = payload.bytes.len() as u64;
                        out.u64(size << 1 | u64::from(payload.is_terminated));
                    }
                    for payload in call.payloads() {
                        out.raw(payload.bytes);
                        out.raw(&ZEROS[..padding(payload.bytes.len() as u64)]);
                    }
                    if let Some(memory) = &memory {
                        out.memory(memory);
                    }
                });
                Tail {
                    bytes: &[],
                    padding: &[],
                }
            }
            WriteCall::EventBatch(call) => {
                let memory = call.memory();
                self.begin(Kind::EventBatch, stream, call.bytes, |out| {
                    out.u64(call.schema);
                    out.u64(call.scope);
                    out.u64(call.flags);
                    out.u64(call.flex.is_some().into());
                    out.u64(memory.is_some().into());
                    let flex = call.flex.map_or(&[][..], |flex| flex.bytes);
                    out.u64(call.flex.map_or(0, |flex| flex.offset as u64));
                    out.u64(flex.len() as u64);
                    out.u64(0);
                    out.raw(flex);
                    out.raw(&ZEROS[..padding(flex.len() as u64)]);
                    if let Some(memory) = &memory {
                        out.memory(memory);
                    }
                })
            }
            WriteCall::Counter(call) => {
                let memory = call.memory();
                let kind = match memory {
                    None => Kind::Sample,
                    Some(_) => Kind::PointingSample,
                };
                self.begin(kind, stream, call.bytes, |out| {
                    out.i64(call.time);
                    out.u64(call.counter);
                    if let Some(memory) = &memory {
                        out.memory(memory);
                    }
                })
            }
            WriteCall::NoValue {
                time,
                counter,
                reason,
            } => self.begin(Kind::NoValue, stream, &[], |out| {
                out.i64(time);
                out.u64(counter);
                out.u64(reason.into());
            }),
            WriteCall::CounterBatch(call) => {
                let memory = call.memory();
                let kind = match memory {
                    None => Kind::CounterBatch,
                    Some(_) => Kind::PointingCounterBatch,
                };
                self.begin(kind, stream, call.bytes, |out| {
                    out.u64(call.counter);
                    out.u64(call.flags);
                    out.u64(call.timestamps.is_some().into());
                    let times = call.timestamps.unwrap_or_default();
                    out.u64(times.len() as u64);
                    out.raw(times);
                    out.raw(&ZEROS[..padding(times.len() as u64)]);
                    if let Some(memory) = &memory {
                        out.memory(memory);
                    }
                })
            }
            WriteCall::SyncPoint {
                time_domains,
                times,
            } => self.begin(Kind::SyncPoint, stream, &[], |out| {
                out.u64(time_domains.0);
                out.u64(time_domains.1);
                out.i64(times.0);
                out.i64(times.1);
            }),
            WriteCall::SyncPoints {
                time_domains,
                points,
            } => self.begin(Kind::SyncPoints, stream, points.bytes(), |out| {
                out.u64(time_domains.0);
                out.u64(time_domains.1);
            }),
            WriteCall::Conversion {
                time_domains,
                slope,
                times,
            } => self.begin(Kind::Conversion, stream, &[], |out| {
                out.u64(time_domains.0);
                out.u64(time_domains.1);
                out.u64(slope.to_bits());
                out.i64(times.0);
                out.i64(times.1);
            }),
        }
    }
}
