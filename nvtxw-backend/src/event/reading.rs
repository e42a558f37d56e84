//! How an event comes out of its payloads: its attributes, and what is wrong with it.

use std::sync::Arc;

use nvtxw_abi::EventKind;

use super::{Event, Payload, Text};
use crate::attributes::Attributes;
use crate::check;
use crate::data::{Data, Flex, Steps};
use crate::decode::Context;
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::scalar::read;
use crate::schema::{AttributesAt, MessageAt, Schema, Scopes, TimeAt, Way};
use crate::stream::StreamInfo;
use crate::text;
use crate::walk;

impl<'a> Event<'a> {
    /// An event of several payloads.
    pub(crate) fn gather(stream: &'a StreamInfo, payloads: &'a [Payload<'a>]) -> Result<Self> {
        let domain = &**stream.domain();
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let mut plans = payloads.iter().map(|payload| &payload.schema.plan);
        let reach_out = plans.any(|plan| plan.reaches_out);
        let data = Data {
            payloads,
            flex: None,
            pieces: &[],
            domain,
            steps: &Steps::for_bytes(bytes.fold(0, usize::saturating_add), reach_out),
        };
        let (mut attributes, mut scopes) = (Attributes::default(), Scopes::default());
        let mut event: Option<Self> = None;
        for payload in payloads {
            let Payload {
                schema,
                bytes,
                count,
            } = *payload;
            let mut late = None;
            if schema.plan.way != Way::Settled {
                let found = walk::check(schema, bytes, &data)?;
                attributes.message = found.message.or(attributes.message);
                late = found.at;
            }
            let at = late.as_ref().unwrap_or(&schema.plan.at);
            attributes.add(schema, at, bytes, domain)?;
            match (count, schema.fields()) {
                (Some(count), [field]) if field.has_checks => {
                    check::check_elements(field, &bytes[..count * field.size], domain)?;
                }
                _ => check::check(schema, bytes, domain)?,
            }
            if schema.plan.names_scope() {
                for (known, scope) in scopes.iter_mut().zip(schema.plan.scopes(at, bytes)) {
                    *known = if scope == 0 { *known } else { scope };
                }
            }
            if let Some(kind) = schema.event_kind() {
                if let Some(first) = &event {
                    return Err(two_events(first.schema, schema));
                }
                let mut main = Self::unread(stream, 0, schema, kind, None);
                main.bytes = bytes;
                main.read_time(at, bytes)?;
                event = Some(main);
            }
        }
        let Some(mut event) = event else {
            return Err(no_event(payloads));
        };
        event.many = Some(payloads);
        event.is_direct = false;
        event.attributes = attributes;
        if names_itself(&scopes) {
            event.attributes.forget_os_ids();
        }
        event.scope = scope_of(scopes, 0, stream);
        match scopes == Scopes::default() || domain.knows_scope(event.scope) {
            true => Ok(event),
            false => Err(unknown_scope(event.scope)),
        }
    }

    /// The kind of the event that a payload is whose fields have fixed places, with a text behind it that is the message:
    /// plain events with text are such; with the bytes of a unit of the text. `None` for other
    /// payloads.
    pub(crate) fn kind_before_text([main, text]: &[Payload<'a>; 2]) -> Option<(EventKind, usize)> {
        let kind = main.schema.event_kind()?;
        let plan = &text.schema.plan;
        let is_it = main.schema.plan.way == Way::Settled
            && main.schema.plan.whole_text.is_none()
            && !plan.names_scope();
        match plan.message {
            Some(MessageAt::Whole(ty)) if is_it => Some((kind, text::unit_size(ty))),
            _ => None,
        }
    }

    /// Becomes the event of [two such](Self::kind_before_text) payloads; no null is in the text.
    #[inline(always)]
    pub(crate) fn read_before_text(
        &mut self,
        main: &'a [u8],
        text: &'a [u8],
        unit: usize,
    ) -> Result<()> {
        self.read_at(main, 0, &self.schema.plan.at)?;
        self.has_text = true;
        self.attributes.message = Text::of(text::of_units(unit, text));
        Ok(())
    }

    /// An event of one payload, of a schema of this kind, that is yet to be [read](Self::read). `batch_scope` and `flex` are 0
    /// and `None` for a single event.
    #[inline(always)]
    pub(crate) fn unread(
        stream: &'a StreamInfo,
        batch_scope: u64,
        schema: &'a Arc<Schema>,
        kind: EventKind,
        flex: Option<Flex<'a>>,
    ) -> Self {
        let plan = &schema.plan;
        let time_domain = plan.time_domain.unwrap_or(stream.time_domain());
        let scopes = [0, plan.scopes.purpose, 0, plan.scopes.general];
        Self {
            stream,
            schema,
            kind,
            bytes: &[],
            many: None,
            is_direct: plan.way != Way::Irregular,
            has_text: false,
            flex,
            start: 0,
            end: None,
            time_domain,
            end_time_domain: match plan.at.end {
                Some(_) => plan.end_time_domain.unwrap_or(stream.time_domain()),
                None => time_domain,
            },
            attributes: Attributes::default(),
            scope: match plan.names_scope() {
                true => scope_of(scopes, batch_scope, stream),
                false if batch_scope != 0 => batch_scope,
                false => stream.scope_id(),
            },
            context: Context::new(stream.domain()),
        }
    }

    /// Becomes the single event with these bytes.
    #[inline(always)]
    pub(crate) fn read_single(&mut self, bytes: &'a [u8]) -> Result<()> {
        match self.schema.plan.way {
            Way::Settled => self.read_at(bytes, 0, &self.schema.plan.at),
            _ => {
                let steps = Steps::for_bytes(bytes.len(), self.schema.plan.reaches_out);
                self.read_loose(bytes, 0, &steps)
            }
        }
    }

    /// Becomes the event with these bytes, of a batch for which so many steps are left.
    #[inline(always)]
    pub(crate) fn read(&mut self, bytes: &'a [u8], batch_scope: u64, steps: &Steps) -> Result<()> {
        match self.schema.plan.way {
            Way::Settled => self.read_at(bytes, batch_scope, &self.schema.plan.at),
            _ => self.read_loose(bytes, batch_scope, steps),
        }
    }

    /// The same where something has no fixed place.
    #[inline(never)]
    fn read_loose(&mut self, bytes: &'a [u8], batch_scope: u64, steps: &Steps) -> Result<()> {
        if self.schema.plan.way != Way::Regular {
            return self.read_irregular(bytes, batch_scope, steps);
        }
        self.locate(bytes, steps)?;
        self.read_at(bytes, batch_scope, &self.schema.plan.at)
    }

    #[inline(never)]
    fn read_irregular(&mut self, bytes: &'a [u8], batch_scope: u64, steps: &Steps) -> Result<()> {
        let mut late = None;
        self.find(bytes, steps, &mut late)?;
        let at = late.as_ref().unwrap_or(&self.schema.plan.at);
        self.read_at(bytes, batch_scope, at)
    }

    /// Finds, and checks, what has no fixed place, and the message if it is among that. Returns where the event ends. `late`
    /// becomes where the attributes are, if not all are where the plan says.
    #[inline(never)]
    pub(crate) fn find(
        &mut self,
        bytes: &'a [u8],
        steps: &Steps,
        late: &mut Option<AttributesAt>,
    ) -> Result<usize> {
        if self.schema.plan.way == Way::Regular {
            return self.locate(bytes, steps);
        }
        let data = Data {
            payloads: &[self.payload(bytes)],
            flex: self.flex,
            pieces: &[],
            domain: self.context.domain,
            steps,
        };
        let found = walk::check(self.schema, bytes, &data)?;
        self.attributes.message = found.message;
        *late = found.at;
        Ok(found.end)
    }

    /// The one payload, of these bytes.
    pub(super) fn payload(&self, bytes: &'a [u8]) -> Payload<'a> {
        Payload {
            schema: self.schema,
            bytes,
            count: None,
        }
    }

    /// Becomes the event with these bytes, in which all that has no fixed place is found, and whose attributes are there.
    #[inline(always)]
    pub(crate) fn read_at(
        &mut self,
        bytes: &'a [u8],
        batch_scope: u64,
        at: &AttributesAt,
    ) -> Result<()> {
        self.bytes = bytes;
        self.read_time(at, bytes)?;
        let plan = &self.schema.plan;
        if !plan.has_more {
            return Ok(());
        }
        if plan.has_just_paint {
            self.attributes.paint(at, bytes);
        } else if plan.has_attributes {
            self.read_attributes(batch_scope, at)?;
        }
        check::check(self.schema, bytes, self.context.domain)
    }

    #[inline(never)]
    fn read_attributes(&mut self, batch_scope: u64, at: &AttributesAt) -> Result<()> {
        let (plan, domain) = (&self.schema.plan, self.context.domain);
        let found = self.attributes.message;
        self.attributes = Attributes::default();
        if let Some(MessageAt::Loose(_)) = plan.message {
            self.attributes.message = found;
        }
        self.attributes.add(self.schema, at, self.bytes, domain)?;
        let scopes = plan.scopes(at, self.bytes);
        if names_itself(&scopes) {
            self.attributes.forget_os_ids();
        }
        if plan.at.names_scope() {
            let scope = scope_of(scopes, batch_scope, self.stream);
            if !domain.knows_scope(scope) {
                return Err(unknown_scope(scope));
            }
            self.scope = scope;
        }
        Ok(())
    }

    /// Happens when a payload of these bytes says.
    #[inline(always)]
    fn read_time(&mut self, at: &AttributesAt, bytes: &[u8]) -> Result<()> {
        let Some(start) = at.time else {
            return Err(no_time(self.schema));
        };
        self.start = start.read(bytes)?;
        if let Some(end) = at.end {
            let end = end.read(bytes)?;
            if end < self.start && self.time_domain == self.end_time_domain {
                return Err(ends_before_start(self.start, end));
            }
            self.end = Some(end);
        }
        Ok(())
    }
}

/// Whether the event itself names a scope, with its data or by what one of its entries is.
fn names_itself([purpose_entry, purpose_semantics, entry, _]: &Scopes) -> bool {
    purpose_entry | purpose_semantics | entry != 0
}

/// The scope of an event. The batch's comes between those of the payloads.
fn scope_of(scopes: Scopes, batch: u64, stream: &StreamInfo) -> u64 {
    let [purpose_entry, purpose_semantics, entry, semantics] = scopes;
    let mut ranked = [purpose_entry, purpose_semantics, entry, batch, semantics].into_iter();
    ranked
        .find(|scope| *scope != 0)
        .unwrap_or(stream.scope_id())
}

impl TimeAt {
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> Result<i64> {
        let time: i64 = read(bytes, self.offset);
        if self.unsigned && time < 0 {
            Err(time_too_great(time as u64))
        } else {
            Ok(time)
        }
    }
}

#[cold]
fn time_too_great(time: u64) -> Refusal {
    Refusal::invalid(format!(
        "the unsigned timestamp {time} is greater than the greatest possible, 2^63 - 1"
    ))
}

#[cold]
fn ends_before_start(start: i64, end: i64) -> Refusal {
    Refusal::invalid(format!("ends before it starts: start {start}, end {end}"))
        .because(Cause::EndBeforeStart)
}

#[cold]
fn two_events(first: &Schema, second: &Schema) -> Refusal {
    Refusal::invalid(format!(
        "two payloads have an event role, of {} and {}; an event has exactly one",
        first.label(),
        second.label()
    ))
}

#[cold]
fn no_event(payloads: &[Payload<'_>]) -> Refusal {
    match payloads {
        [] => Refusal::invalid(
            "no payload has an event role: there is none; an event has exactly one",
        ),
        _ => Refusal::invalid(
            "no payload has an event role: set the kind in the flags of one schema",
        ),
    }
}

#[cold]
fn no_time(schema: &Schema) -> Refusal {
    Refusal::failed(format!(
        "{} has an event role but no timestamp",
        schema.label()
    ))
}

#[cold]
pub(crate) fn unknown_scope(scope: u64) -> Refusal {
    Refusal::invalid(format!(
        "the scope {scope} is neither predefined nor registered in the stream's domain"
    ))
    .because(Cause::Unregistered(IdKind::Scope, scope))
}
