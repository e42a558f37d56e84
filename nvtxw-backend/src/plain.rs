//! The events of a batch by their bytes, where these are nearly all there is to them.

use crate::batch::EventBatch;
use crate::data::{Flex, Steps};
use crate::event::Event;
use crate::locate::{Found, LOOSE, Loose};
use crate::schema::{MessageAt, Schema, Shape};

/// The events of a batch by their bytes, in order, as [`EventBatch::plain_events`] gives them.
#[derive(Debug)]
pub struct PlainEvents<'b, 'a> {
    batch: &'b EventBatch<'a>,
    /// How texts in the flexible data are found, if there are some.
    texts: Option<(&'b [Loose], Flex<'a>)>,
    /// Which of them is the message.
    message: Option<usize>,
    /// The bytes of those that are left.
    rest: &'a [u8],
    steps: Steps,
}

/// An event by its bytes: one of [`PlainEvents`], or a [single](crate::Stream::take_plain) one.
#[derive(Debug)]
pub struct PlainEvent<'a> {
    bytes: &'a [u8],
    text: Option<&'a [u8]>,
    texts: &'a [Option<&'a [u8]>],
}

impl<'b, 'a> PlainEvents<'b, 'a> {
    /// `None` if the events are none of this kind.
    pub(crate) fn new(batch: &'b EventBatch<'a>, flex: Option<Flex<'a>>) -> Option<Self> {
        let schema: &'b Schema = batch.schema();
        let plan = &schema.plan;
        let are_flexible = || {
            let are_texts = plan.loose.iter().all(Loose::is_flexible_text);
            schema.shape == Shape::Static && plan.is_plain_but_texts && are_texts
        };
        let texts = match (plan.is_plain, flex) {
            (true, _) => None,
            (false, Some(flex)) if are_flexible() => Some((&*plan.loose, flex)),
            (false, _) => return None,
        };
        Some(Self {
            batch,
            texts,
            message: match plan.message {
                Some(MessageAt::Loose(index)) => schema.fields[index].loose,
                _ => None,
            },
            rest: batch.bytes(),
            steps: batch.steps(),
        })
    }

    /// Whether none are left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether their messages are text elsewhere: all of them, or none.
    #[inline]
    pub fn have_text(&self) -> bool {
        self.message.is_some()
    }

    /// Whether others of their fields are.
    #[inline]
    pub fn have_texts(&self) -> bool {
        let count = self.texts.as_ref().map_or(0, |(all, _)| all.len());
        count > usize::from(self.have_text())
    }

    /// Shows the events that are left to `take`, in order, and stops at the first for which that answers `false`. It is for those
    /// that [have no text](Self::have_text) elsewhere, and shows none of others.
    // A loop on a local for each kind, so that each is as short as it can be.
    #[inline(always)]
    pub fn take_while(&mut self, mut take: impl FnMut(&PlainEvent<'_>) -> bool) {
        if self.texts.is_some() {
            return;
        }
        let size = self.batch.schema().size();
        let mut rest = self.rest;
        while let Some(behind) = rest.get(size..).filter(|_| !rest.is_empty())
            && take(&PlainEvent::single(rest, None))
        {
            rest = behind;
        }
        self.rest = rest;
    }

    /// The same for those whose message is the only text that is elsewhere. It stops also at one whose message can't be told like
    /// this, which is to be [read](Self::read).
    #[inline(always)]
    pub fn take_text_while(&mut self, mut take: impl FnMut(&PlainEvent<'_>) -> bool) {
        let Some(([message], flex)) = &self.texts else {
            return;
        };
        if self.message.is_none() {
            return;
        }
        let schema = self.batch.schema();
        let (size, work) = (schema.size(), schema.plan.work);
        let mut rest = self.rest;
        while let Some((bytes, behind)) = rest.split_at_checked(size) {
            let steps = self.steps.clone();
            if !steps.try_take(work) {
                break;
            }
            let Some(text) = message.flexible_text(bytes, flex, &steps) else {
                break;
            };
            if !take(&PlainEvent::single(rest, Some(text))) {
                break;
            }
            (rest, self.steps) = (behind, steps);
        }
        self.rest = rest;
    }

    /// The same for events of any kind, if slower.
    #[inline(always)]
    pub fn take_texts_while(&mut self, mut take: impl FnMut(&PlainEvent<'_>) -> bool) {
        let schema = self.batch.schema();
        let mut found: Found<'a> = [None; LOOSE];
        while let Some((bytes, behind)) = self.rest.split_at_checked(schema.size()) {
            let steps = self.steps.clone();
            let count = match &self.texts {
                None => 0,
                Some((all, flex)) => {
                    let mut all_found = steps.try_take(schema.plan.work);
                    for (loose, place) in all.iter().zip(&mut found) {
                        *place = loose.flexible_text(bytes, flex, &steps);
                        all_found &= place.is_some();
                    }
                    if !all_found {
                        return;
                    }
                    all.len()
                }
            };
            let event = PlainEvent {
                bytes: self.rest,
                text: self.message.and_then(|index| found[index]),
                texts: &found[..count],
            };
            if !take(&event) {
                return;
            }
            (self.rest, self.steps) = (behind, steps);
        }
    }

    /// Reads the next event as [`EventBatch::events`] does, and goes on to the one behind it. `None` if it is bad, and if there
    /// is none.
    pub fn read(&mut self) -> Option<Event<'a>> {
        let bytes;
        (bytes, self.rest) = self.rest.split_at_checked(self.batch.schema().size())?;
        self.batch.read(bytes, self.rest.len(), &self.steps)
    }
}

impl<'a> PlainEvent<'a> {
    /// A single event, of these bytes and perhaps a text behind them.
    #[inline]
    pub(crate) fn single(bytes: &'a [u8], text: Option<&'a [u8]>) -> Self {
        Self {
            bytes,
            text,
            texts: &[],
        }
    }

    /// [As many](crate::Schema::size) as its schema says, or more, with each field in its [place](crate::Field::offset).
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The message, if that is text elsewhere, without a null. Meant to be UTF-8; it may not be.
    #[inline]
    pub fn text(&self) -> Option<&'a [u8]> {
        self.text
    }

    /// What [`Event::texts`] tells, if the event [has texts](PlainEvents::have_texts).
    #[inline]
    pub fn texts(&self) -> &'a [Option<&'a [u8]>] {
        self.texts
    }
}
