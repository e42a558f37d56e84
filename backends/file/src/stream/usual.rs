//! Whole ranges and marks of simple schemas, which are ready for the file as soon as they come.
//!
//! What the events of a schema and a scope share is noted when one of them has gone the long way,
//! [`StreamIn::any_event`]; those after it are written by [`Ranges`] from their payloads alone. One that turns out
//! to be unusual goes the long way too: until that is known nothing is changed.

use std::sync::Arc;

use nvtxw_backend::{Event, EventKind, PlainEvents, Schema, SchemaRole, ScopeRef, Text};

use super::StreamIn;
use crate::clock::{ClockReader, Line};
use crate::format::{Format, FormatStream, Ranges};
use crate::proto::{LONG_SLOT, SHORT_SLOT};
use crate::timeline::{Base, Chain, Content, Followed, Timeline, WholeRange};

/// What ranges or marks share that are of one schema and in one scope.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Usual {
    /// The ID of the schema.
    pub(super) schema: u64,
    /// The ID of the scope.
    pub(super) scope: u64,
    pub(super) place: u32,
    pub(super) clocks: [u8; 2],
    /// Whether the ticks of these are the file's nanoseconds.
    pub(super) are_nanoseconds: bool,
    pub(super) kind: EventKind,
}

/// So many schemas and scopes may take turns.
const USUALS: usize = 16;

impl<F: Format> StreamIn<F> {
    /// Takes an event that is of those that were usual lately; `false`, and nothing is done, for any
    /// other event.
    #[inline(always)]
    pub(super) fn usual_event(&mut self, event: &Event<'_>) -> bool {
        // An event that names a process or a thread is on the track of that.
        let names_other = event.process_id().or(event.thread_id()).is_some();
        let text = match event.message() {
            Some(Text::Inline(text)) => Some(text),
            Some(Text::Wide(_)) => return false,
            _ => None,
        };
        match event.plain_but_texts() {
            Some(payload) if !names_other => {
                let (schema, scope) = (event.schema(), event.scope_id());
                self.usual_range(schema, scope, payload, text, event.texts())
                    .is_some()
            }
            _ => false,
        }
    }

    /// Those of a schema and a scope, if they were usual lately. They are the last ones then.
    #[inline(always)]
    fn usual(&mut self, schema: u64, scope: u64) -> Option<Usual> {
        match self.usuals.first() {
            Some(usual) if (usual.schema, usual.scope) == (schema, scope) => Some(*usual),
            _ => self.other_usual(schema, scope),
        }
    }

    #[inline(never)]
    fn other_usual(&mut self, schema: u64, scope: u64) -> Option<Usual> {
        let mut usuals = self.usuals.iter();
        let at = usuals.position(|usual| (usual.schema, usual.scope) == (schema, scope))?;
        self.usuals.swap(0, at);
        // What it is of may be something else.
        self.chain = None;
        Some(self.usuals[0])
    }

    /// Notes which were usual last; `false` if that is known.
    pub(super) fn note_usual(&mut self, usual: Usual) -> bool {
        if self.usuals.first() == Some(&usual) {
            return false;
        }
        let key = (usual.schema, usual.scope);
        (self.usuals).retain(|known| (known.schema, known.scope) != key);
        self.usuals.truncate(USUALS - 1);
        self.usuals.insert(0, usual);
        true
    }

    /// As [`usual_event`](Self::usual_event) by what it is of, perhaps a text that is its message, and those of its fields that
    /// are elsewhere; `None` for any other event. What goes on a chain that others may go on leaves room in the window, and
    /// keeps to all claims.
    #[inline(always)]
    pub(super) fn usual_range(
        &mut self,
        schema: &Schema,
        scope: u64,
        payload: &[u8],
        text: Option<&[u8]>,
        texts: &[Option<&[u8]>],
    ) -> Option<Followed> {
        if let Some(usual) = self.usual(schema.id(), scope)
            && let Some(line) = line(&self.clocks, usual.clocks, usual.are_nanoseconds)
            && let Some(mut ranges) = self.out.ranges(schema, usual.place, line)
            && !ranges.are_long()
        {
            let base = ranges.base();
            if self.chain.is_none() {
                self.timeline.clocks = usual.clocks;
                self.chain = chain_to(&mut self.timeline, usual.place, usual.kind, base);
            }
            let chain = self.chain.as_ref().filter(|chain| chain.is_ready_for(base));
            let latest = chain.map(|_| self.timeline.latest());
            let buffer = self.timeline.buffer();
            let written = ranges.write::<SHORT_SLOT>(payload, text, texts, latest, buffer)?;
            let followed = match chain {
                Some(chain) => self.timeline.follow(chain, written),
                None => Followed::No,
            };
            match followed {
                Followed::Yes => {}
                Followed::Last => self.chain = None,
                Followed::No => self.chain = add_usual(&mut self.timeline, usual, written, base),
            }
            return Some(followed);
        }
        None
    }

    /// Takes ranges or marks of a batch in a scope, up to the first that is not usual, or until the window or
    /// what waits for the file has to be looked after. Tells whether any of those that are left may be usual.
    pub(super) fn usual_ranges(
        &mut self,
        schema: &Schema,
        events: &mut PlainEvents<'_, '_>,
        scope: u64,
    ) -> Usually {
        let SchemaRole::Event(
            kind @ (EventKind::RangePushPop | EventKind::RangeStartEnd | EventKind::Mark),
        ) = schema.role()
        else {
            return Usually::Never;
        };
        let start = schema.time_domain().unwrap_or(self.info.time_domain());
        let end = match kind {
            EventKind::Mark => start,
            _ => schema.end_time_domain().unwrap_or(self.info.time_domain()),
        };
        let Ok(clocks) = self.event_clocks(start, end) else {
            return Usually::Never;
        };
        let are_nanoseconds = self.are_nanoseconds(clocks);
        if !are_nanoseconds && clocks[0] != clocks[1] {
            return Usually::Never;
        }
        self.timeline.clocks = clocks;
        let domain = Arc::clone(self.info.domain());
        let place = self.place(scope, || domain.scope_ref(scope).unwrap_or(ScopeRef::None));
        // What single ranges before these could follow may be gone when others come behind these.
        self.chain = None;
        let is_behind = self.out.is_behind();
        let Some(line) = line(&self.clocks, clocks, are_nanoseconds) else {
            // The next event tells where times are.
            return Usually::Later;
        };
        let Some(ranges) = self.out.ranges(schema, place, line) else {
            return Usually::Never;
        };
        let base = ranges.base();
        let chain = chain_to(&mut self.timeline, place, kind, base);
        let timeline = &mut self.timeline;
        let are_long = ranges.are_long();
        let begin = || Taker::new(timeline, ranges, place, kind, chain, is_behind);
        // What is only for some is no part of the loop for all others.
        if are_long || events.have_texts() {
            take_texts(begin, events)
        } else if events.have_text() {
            take_text(begin, events)
        } else {
            take_plain(begin, events)
        }
    }
}

/// Takes events all of which is in their bytes. The taker begins here, so that what the loop needs is at hand there.
#[inline(never)]
fn take_plain<'t, R: Ranges>(
    begin: impl FnOnce() -> Taker<'t, R>,
    events: &mut PlainEvents<'_, '_>,
) -> Usually {
    let mut taker = begin();
    events.take_while(|event| taker.take::<SHORT_SLOT>(event.bytes(), None, &[]));
    taker.usually()
}

/// Takes events whose message is text elsewhere.
#[inline(never)]
fn take_text<'t, R: Ranges>(
    begin: impl FnOnce() -> Taker<'t, R>,
    events: &mut PlainEvents<'_, '_>,
) -> Usually {
    let mut taker = begin();
    events.take_text_while(|event| taker.take::<SHORT_SLOT>(event.bytes(), event.text(), &[]));
    taker.usually()
}

/// Takes events that have other texts, or are long.
#[inline(never)]
fn take_texts<'t, R: Ranges>(
    begin: impl FnOnce() -> Taker<'t, R>,
    events: &mut PlainEvents<'_, '_>,
) -> Usually {
    let mut taker = begin();
    match taker.ranges.are_long() {
        false => events.take_texts_while(|event| {
            taker.take::<SHORT_SLOT>(event.bytes(), event.text(), event.texts())
        }),
        true => events.take_texts_while(|event| {
            taker.take::<LONG_SLOT>(event.bytes(), event.text(), event.texts())
        }),
    }
    taker.usually()
}

/// By what times of these clocks become nanoseconds, if they aren't; `None` if that is not known for those that
/// come next.
#[inline(always)]
fn line(known: &ClockReader, clocks: [u8; 2], are_nanoseconds: bool) -> Option<Option<&Line>> {
    match are_nanoseconds {
        true => Some(None),
        false => known.line(clocks).map(Some),
    }
}

/// The chain that events of a kind may go on; no mark does.
#[inline]
fn chain_to(timeline: &mut Timeline, place: u32, kind: EventKind, base: Base) -> Option<Chain> {
    let nests = kind == EventKind::RangePushPop;
    (kind != EventKind::Mark).then(|| timeline.chain_to(place, nests, base))?
}

/// Adds a single event that goes on no chain. Returns the one that it begins.
#[inline(never)]
fn add_usual(
    timeline: &mut Timeline,
    usual: Usual,
    written: WholeRange,
    base: Base,
) -> Option<Chain> {
    let Usual { place, kind, .. } = usual;
    timeline.clocks = usual.clocks;
    let times = (written.start, written.end);
    add(timeline, place, kind, times, Content::Ready(base));
    let is_full = timeline.is_full();
    timeline.chain().filter(|_| !is_full)
}

/// Adds an event of a kind to the window.
fn add(
    timeline: &mut Timeline,
    place: u32,
    kind: EventKind,
    (start, end): (i64, i64),
    content: Content<'_>,
) {
    match kind {
        EventKind::Mark => timeline.instant(place, start, content),
        _ => timeline.range(place, start, end, kind == EventKind::RangePushPop, content),
    }
}

/// Which event of a batch may be usual next.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Usually {
    /// The next one.
    Next,
    /// Not the next one, but those behind it.
    Later,
    /// None.
    Never,
}

/// Takes usual ranges to one place.
struct Taker<'t, R> {
    timeline: &'t mut Timeline,
    ranges: R,
    content: Content<'t>,
    place: u32,
    kind: EventKind,
    chain: Option<Chain>,
    /// Whether something waits for the file, which is looked after again and again.
    is_behind: bool,
    is_done: bool,
}

/// After so many bytes it is looked whether what waits can be written.
const PIECE: usize = 1 << 16;

impl<'t, R: Ranges> Taker<'t, R> {
    /// Begins to take. `is_behind` tells whether something waits for the file.
    #[inline(always)]
    fn new(
        timeline: &'t mut Timeline,
        ranges: R,
        place: u32,
        kind: EventKind,
        chain: Option<Chain>,
        is_behind: bool,
    ) -> Self {
        let mut taker = Self {
            timeline,
            content: Content::Ready(ranges.base()),
            ranges,
            place,
            kind,
            chain,
            is_behind,
            is_done: false,
        };
        taker.shorten();
        taker
    }

    /// Which event may be usual behind those that were taken.
    #[inline(always)]
    fn usually(&self) -> Usually {
        match self.is_done {
            true => Usually::Next,
            false => Usually::Later,
        }
    }

    /// `false` if the window is full, or enough is done, or this is not a usual one.
    #[inline(always)]
    fn take<const N: usize>(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        texts: &[Option<&[u8]>],
    ) -> bool {
        if self.is_done {
            return false;
        }
        let latest = self.chain.as_ref().map(|_| self.timeline.latest());
        let buffer = self.timeline.buffer();
        let ranges = &mut self.ranges;
        let Some(written) = ranges.write::<N>(payload, text, texts, latest, buffer) else {
            return false;
        };
        if let Some(chain) = &self.chain {
            match self.timeline.follow(chain, written) {
                Followed::Yes => return true,
                Followed::Last => {
                    self.is_done = true;
                    return true;
                }
                Followed::No => {}
            }
        }
        // Nothing of this function is given away, which would keep it from being short.
        let times = (written.start, written.end);
        add(self.timeline, self.place, self.kind, times, self.content);
        self.is_done = self.timeline.is_full() || self.is_behind && self.chain.is_some();
        self.chain = self.timeline.chain();
        self.shorten();
        true
    }

    /// What waits is looked after again before long.
    fn shorten(&mut self) {
        if let Some(chain) = self.chain.as_mut().filter(|_| self.is_behind) {
            chain.shorten(PIECE);
        }
    }
}
