//! A stream of another backend.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use nvtxw_abi::EntryType;

use crate::call::{EventBatchCall, EventCall, FlexData, Memory, PayloadBytes, WriteCall};
use crate::data::{Data, Flex, Steps};
use crate::domain::Domain;
use crate::event::Payload;
use crate::raw::{Onward, StreamHandle};
use crate::refusal::{Refusal, Result};
use crate::relay::Origin;
use crate::relay::copy::{Copied, is_aligned};
use crate::relay::domain::RelayDomain;
use crate::relay::place::{Finder, Places, Reference, has_pointers};
use crate::rows::{self, too_small};
use crate::schema::{Schema, Shape, Way};
use crate::walk;

/// Where in a payload references are.
type Offsets<'s> = Cow<'s, [(usize, Reference)]>;

/// Bytes of the widest null.
const NULL: usize = 4;

/// An empty text for a backend that looks for no nulls, and for which a payload of no bytes isn't there.
pub(super) const EMPTY: &[u8] = &[0; NULL];

/// A stream of another backend. Dropped, it stays open until its session ends.
pub struct RelayStream {
    pub(super) onward: Arc<Onward>,
    pub(super) handle: StreamHandle,
    pub(super) domain: Arc<RelayDomain>,
    origin: Origin,
    /// Those of the payloads of an event, or of the parts of a batch.
    copies: Vec<Copied>,
}

impl RelayStream {
    pub(crate) fn new(
        onward: Arc<Onward>,
        handle: StreamHandle,
        domain: Arc<RelayDomain>,
        origin: Origin,
    ) -> Self {
        Self {
            onward,
            handle,
            domain,
            origin,
            copies: Vec::new(),
        }
    }

    /// Writes something.
    ///
    /// # Errors
    /// What the other backend says. `INVALID_ARGUMENT` if the call is about something that this one doesn't have, because it
    /// refused it. Of a [recording](Origin::Recorded) also calls whose bytes don't hold what their schemas say, and
    /// `NOT_SUPPORTED` for pointers of which it doesn't say where they lead.
    pub fn write(&mut self, call: &WriteCall<'_>) -> Result<()> {
        let mut copies = std::mem::take(&mut self.copies);
        let written = self.write_with(call, &mut copies);
        self.copies = copies;
        written
    }

    /// Closes the stream.
    ///
    /// # Errors
    /// What the other backend says.
    pub fn close(&mut self) -> Result<()> {
        self.onward.close(self.handle)
    }

    fn write_with(&self, call: &WriteCall<'_>, copies: &mut Vec<Copied>) -> Result<()> {
        let (onward, stream, domain) = (&*self.onward, self.handle, &*self.domain);
        let clocks = |(one, other)| Ok((domain.time_domain(one)?, domain.time_domain(other)?));
        match *call {
            WriteCall::Event(call) => self.event(&call, copies),
            WriteCall::EventBatch(call) => self.event_batch(&call, copies),
            WriteCall::Counter(call) => self.sample(&call, copies),
            WriteCall::NoValue {
                time,
                counter,
                reason,
            } => onward.no_value(stream, time, domain.counter(counter)?, reason),
            WriteCall::CounterBatch(call) => self.counter_batch(&call, copies),
            WriteCall::SyncPoint {
                time_domains,
                times,
            } => onward.sync_point(stream, clocks(time_domains)?, times),
            WriteCall::SyncPoints {
                time_domains,
                points,
            } => onward.sync_points(stream, clocks(time_domains)?, points.iter()),
            WriteCall::Conversion {
                time_domains,
                slope,
                times,
            } => onward.conversion(stream, clocks(time_domains)?, slope, times),
        }
    }

    pub(super) fn is_instance(&self) -> bool {
        self.onward.is_instance()
    }

    pub(super) fn known(&self) -> &Domain {
        &self.domain.known
    }

    pub(super) fn layout(&self, id: u64) -> Result<u64> {
        self.domain.layout(id)
    }

    pub(super) fn write_payloads(&self, payloads: &[PayloadBytes<'_>]) -> Result<()> {
        self.onward.event(self.handle, payloads)
    }

    pub(super) fn write_events(&self, batch: &EventBatchCall<'_>) -> Result<()> {
        self.onward.event_batch(self.handle, batch)
    }

    /// Whether what a call says has to be checked before it gets to the other backend.
    pub(super) fn is_strict(&self) -> bool {
        self.origin == Origin::Recorded && !self.onward.is_instance()
    }

    fn event(&self, call: &EventCall<'_>, copies: &mut Vec<Copied>) -> Result<()> {
        let own: Vec<_> = call.payloads().collect();
        if let Some(memory) = call.memory() {
            return self.event_with(&own, &memory, copies);
        }
        let mut there = own.clone();
        let mut is_loose = false;
        for payload in &mut there {
            let known = self.domain.places(payload.schema);
            is_loose |= match known {
                Some((schema, places)) => {
                    matches!(places, Places::Varying)
                        || self.is_strict() && schema.plan.way != Way::Settled
                }
                None => false,
            };
            payload.schema = self.domain.layout(payload.schema)?;
            // Such a backend looks for no nulls.
            payload.is_terminated &= !self.onward.is_instance();
        }
        let found = match is_loose || self.is_strict() {
            true => self.find(&own, is_loose)?,
            false => Vec::new(),
        };
        copies.resize_with(copies.len().max(own.len()), Copied::default);
        let (mut missing, mut has_replaced) = (None, false);
        for ((payload, own), copy) in there.iter_mut().zip(&own).zip(&mut *copies) {
            let (references, align) = self.references(own, &found)?;
            let more = if payload.is_terminated { NULL } else { 0 };
            if self.is_instance() && own.is_terminated && own.bytes.is_empty() {
                payload.bytes = EMPTY;
                continue;
            }
            if references.is_empty() && more == 0 && is_aligned(own.bytes, align) {
                continue;
            }
            copy.set(own.bytes, more);
            for (at, reference) in &*references {
                copy.replace(*at, |own| self.there(*reference, own, &mut missing));
                has_replaced = true;
            }
            payload.bytes = copy.bytes();
        }
        if self.is_strict() && is_loose && has_replaced {
            // Entries may overlap, so that others have changed too.
            let replaced = own.iter().zip(&there).map(|(own, there)| PayloadBytes {
                bytes: there.bytes,
                ..*own
            });
            self.find(&replaced.collect::<Vec<_>>(), true)?;
        }
        let written = self.onward.event(self.handle, &there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// Where the references in a payload are, of those that were found and others, and how the payload is aligned.
    pub(super) fn references<'s>(
        &'s self,
        own: &PayloadBytes<'_>,
        found: &[(usize, Reference)],
    ) -> Result<(Offsets<'s>, usize)> {
        if own.bytes.is_empty() {
            return Ok((Cow::default(), 1));
        }
        let Some((schema, places)) = self.domain.places(own.schema) else {
            // A payload may be nothing but some of them.
            let reference = EntryType::from_raw(own.schema).and_then(Reference::of);
            let words = reference.map(|reference| {
                let words = own.bytes.len() / size_of::<u64>();
                (0..words).map(move |index| (index * size_of::<u64>(), reference))
            });
            return Ok((words.into_iter().flatten().collect(), 1));
        };
        let references = match places {
            Places::None => Cow::default(),
            Places::Fixed(_) if own.bytes.len() < schema.size => {
                return Err(too_small(schema, own.bytes.len()));
            }
            Places::Fixed(places) => Cow::Borrowed(&**places),
            Places::Varying => {
                let start = own.bytes.as_ptr().addr();
                let found = found
                    .iter()
                    .map(|(address, reference)| (address.wrapping_sub(start), *reference));
                found.filter(|(at, _)| *at < own.bytes.len()).collect()
            }
        };
        Ok((references, schema.align))
    }

    /// Where references are that no schema has a fixed place for, by their addresses. What is not as the schemas say is
    /// refused if that matters.
    fn find(&self, own: &[PayloadBytes<'_>], is_loose: bool) -> Result<Vec<(usize, Reference)>> {
        let mut payloads = Vec::with_capacity(own.len());
        for payload in own {
            let payload = self.payload(payload)?;
            if self.is_strict() && has_pointers(payload.schema) {
                return Err(no_memory(payload.schema));
            }
            payloads.push(payload);
        }
        let mut finder = Finder::default();
        if !is_loose {
            return Ok(finder.found());
        }
        let bytes = own.iter().map(|payload| payload.bytes.len()).sum();
        let data = Data {
            payloads: &payloads,
            flex: None,
            pieces: &[],
            domain: &self.domain.known,
            steps: &Steps::for_bytes(bytes, false),
        };
        for payload in &payloads {
            if payload.schema.plan.way != Way::Settled {
                let walked = walk::walk(payload.schema, payload.bytes, &data, &mut finder);
                // What was accepted from a producer goes on as it is.
                if self.is_strict() {
                    walked?;
                }
            }
        }
        Ok(finder.found())
    }

    /// A payload as it is walked through.
    pub(super) fn payload<'a>(&'a self, payload: &PayloadBytes<'a>) -> Result<Payload<'a>> {
        let PayloadBytes { schema, bytes, .. } = *payload;
        let predefined = &self.domain.known.predefined;
        if bytes.is_empty() && !payload.is_terminated {
            return Ok(predefined.blob(bytes));
        }
        if let Some((schema, _)) = self.domain.places(schema) {
            if bytes.len() < schema.size {
                return Err(too_small(schema, bytes.len()));
            }
            return Ok(Payload {
                schema,
                bytes,
                count: None,
            });
        }
        match EntryType::from_raw(schema) {
            Some(_) => {
                let schema = predefined.schema(schema)?;
                let count = match schema.plan.whole_text {
                    Some(_) => None,
                    None => Some(bytes.len() / schema.size().max(1)).filter(|count| *count != 1),
                };
                Ok(Payload {
                    schema,
                    bytes,
                    count,
                })
            }
            None => Ok(predefined.blob(bytes)),
        }
    }

    fn event_batch(&self, call: &EventBatchCall<'_>, copies: &mut Vec<Copied>) -> Result<()> {
        let domain = &*self.domain;
        let mut there = EventBatchCall {
            schema: domain.layout(call.schema)?,
            scope: domain.scope(call.scope)?,
            ..*call
        };
        if let Some((schema, places)) = domain.places(call.schema)
            && has_pointers(schema)
        {
            let is_walked = match places {
                Places::None => false,
                Places::Fixed(_) => schema.is_dynamic(),
                Places::Varying => true,
            };
            if let Some(memory) = self.moved(schema, is_walked, || call.memory())? {
                return self.event_batch_with(schema, &there, &memory, copies);
            }
        }
        copies.resize_with(copies.len().max(2), Copied::default);
        let [events, flex, ..] = &mut **copies else {
            return Err(Refusal::failed("copies of a batch have no place"));
        };
        let mut missing = None;
        if let Some((schema, places)) = domain.places(call.schema) {
            let is_settled = schema.plan.way == Way::Settled;
            self.check_batch(schema, call.bytes.len())?;
            match places {
                Places::Fixed(places) if schema.shape != Shape::Dynamic => {
                    if self.is_strict() && !is_settled {
                        self.find_in_batch(schema, call)?;
                    }
                    events.set(call.bytes, 0);
                    for start in
                        (0..call.bytes.len() / schema.size).map(|index| index * schema.size)
                    {
                        for (at, reference) in places {
                            events.replace(start + at, |own| {
                                self.there(*reference, own, &mut missing)
                            });
                        }
                    }
                    there.bytes = events.bytes();
                }
                Places::Fixed(_) | Places::Varying => {
                    events.set(call.bytes, 0);
                    let flex_bytes = call.flex.map_or(&[][..], |flex| flex.bytes);
                    flex.set(flex_bytes, 0);
                    for (address, reference) in self.find_in_batch(schema, call)? {
                        for (own, copy) in [(call.bytes, &mut *events), (flex_bytes, &mut *flex)] {
                            let at = address.wrapping_sub(own.as_ptr().addr());
                            if at < own.len() {
                                copy.replace(at, |own| self.there(reference, own, &mut missing));
                            }
                        }
                    }
                    there.bytes = events.bytes();
                    there.flex = call.flex.map(|own| FlexData {
                        bytes: flex.bytes(),
                        ..own
                    });
                }
                Places::None => {
                    if self.is_strict() && !is_settled {
                        self.find_in_batch(schema, call)?;
                    }
                    if !is_aligned(call.bytes, schema.align) {
                        events.set(call.bytes, 0);
                        there.bytes = events.bytes();
                    }
                }
            }
        }
        if let Some((schema, places)) = domain.places(call.schema)
            && self.is_strict()
            && schema.plan.way != Way::Settled
            && !matches!(places, Places::None)
        {
            // Entries may overlap, so that others have changed too.
            self.find_in_batch(schema, &there)?;
        }
        let written = self.onward.event_batch(self.handle, &there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// What has to be moved along with payloads of a schema with pointers; nothing if these lead on to where they did.
    /// `is_walked` says whether what pointers lead to may hold what the other backend has other names for.
    pub(super) fn moved<'m>(
        &self,
        schema: &Schema,
        is_walked: bool,
        memory: impl FnOnce() -> Option<Cow<'m, Memory>>,
    ) -> Result<Option<Cow<'m, Memory>>> {
        if !self.is_strict() && !self.is_instance() && !is_walked {
            return Ok(None);
        }
        match memory() {
            // It looks itself.
            None if self.is_instance() => Ok(None),
            None => Err(no_memory(schema)),
            memory => Ok(memory),
        }
    }

    fn check_batch(&self, schema: &Schema, size: usize) -> Result<()> {
        if self.is_strict() && !schema.is_dynamic() && !size.is_multiple_of(schema.size.max(1)) {
            return Err(too_small(schema, size % schema.size.max(1)));
        }
        Ok(())
    }

    /// Where references are in the events of a batch, by their addresses.
    fn find_in_batch(
        &self,
        schema: &Arc<Schema>,
        call: &EventBatchCall<'_>,
    ) -> Result<Vec<(usize, Reference)>> {
        let flex = call.flex.map(|flex| Flex {
            bytes: flex.bytes,
            offset: flex.offset,
        });
        let size = call.bytes.len() + flex.map_or(0, |flex| flex.bytes.len());
        let steps = Steps::for_bytes(size, false);
        let found = self.find_rows(schema, (call.bytes, false), flex, &[], &steps)?;
        Ok(found.found())
    }

    /// The same in bytes of some payloads of `schema`, one after the other, or of just one. Pointers may lead to `pieces`, too.
    pub(super) fn find_rows(
        &self,
        schema: &Arc<Schema>,
        rows: (&[u8], bool),
        flex: Option<Flex<'_>>,
        pieces: &[u8],
        steps: &Steps,
    ) -> Result<Finder> {
        let around = Data {
            payloads: &[],
            flex,
            pieces,
            domain: &self.domain.known,
            steps,
        };
        let mut finder = Finder::default();
        match rows::walk(schema, rows, around, self.is_strict(), &mut finder) {
            Err(refusal) if self.is_strict() => Err(refusal),
            Ok(()) if self.is_strict() => finder.check().map(|()| finder),
            // The other backend finds the same, and leaves out a bad one, or that and all that follow.
            _ => Ok(finder),
        }
    }

    /// The other backend's name of a reference; one that is none, where it has none. The first such is kept in `missing`, if
    /// that backend doesn't look itself.
    pub(super) fn there(
        &self,
        reference: Reference,
        own: u64,
        missing: &mut Option<Refusal>,
    ) -> u64 {
        let there = match reference {
            Reference::String => self.domain.string(own).ok_or_else(|| {
                Refusal::invalid(format!(
                    "the other backend has no string for the handle {own:#x}"
                ))
            }),
            Reference::Scope => self.domain.scope(own),
        };
        there.unwrap_or_else(|refusal| {
            if self.onward.is_instance() {
                return u64::MAX;
            }
            missing.get_or_insert(refusal);
            match reference {
                Reference::Scope => u64::MAX,
                // What is there may be followed.
                Reference::String => 0,
            }
        })
    }
}

impl fmt::Debug for RelayStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayStream").finish_non_exhaustive()
    }
}

#[cold]
pub(super) fn no_memory(schema: &Schema) -> Refusal {
    Refusal::unsupported(format!(
        "{} has pointers, and nothing says what they lead to",
        schema.label()
    ))
}
