//! The events of a batch by their bytes, where these are nearly all there is to them.

use crate::batch::EventBatch;
use crate::data::{Flex, Steps};
use crate::event::Event;
use crate::locate::Loose;

/// The events of a batch by their bytes, in order, as [`EventBatch::plain_events`] gives them.
#[derive(Debug)]
pub struct PlainEvents<'b, 'a> {
    batch: &'b EventBatch<'a>,
    /// Where the messages are, if they are text in the flexible data.
    text: Option<(&'b Loose, Flex<'a>)>,
    /// The bytes of those that are left.
    rest: &'a [u8],
    steps: Steps,
}

/// An event by its bytes: one of [`PlainEvents`], or a [single](crate::Stream::take_plain) one.
#[derive(Debug)]
pub struct PlainEvent<'a> {
    bytes: &'a [u8],
    text: Option<&'a [u8]>,
}

impl<'b, 'a> PlainEvents<'b, 'a> {
    /// `None` if the events are none of this kind.
    pub(crate) fn new(batch: &'b EventBatch<'a>, flex: Option<Flex<'a>>) -> Option<Self> {
        let plan = &batch.schema().plan;
        let text = match (plan.is_plain, &*plan.loose, flex) {
            (true, ..) => None,
            (false, [message], Some(flex)) if plan.is_plain_but_message => {
                Some((message, flex)).filter(|_| message.is_flexible_text())
            }
            _ => return None,
        };
        (plan.is_plain || text.is_some()).then(|| Self {
            batch,
            text,
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
        self.text.is_some()
    }

    /// Shows the events that are left to `take`, in order, and stops at the first for which that answers `false`. It stops
    /// also at one whose message can't be told like this, which is to be [read](Self::read).
    #[inline(always)]
    pub fn take_while(&mut self, mut take: impl FnMut(&PlainEvent<'a>) -> bool) {
        let schema = self.batch.schema();
        let (size, work) = (schema.size(), schema.plan.work);
        // Two loops on a local, so that each is as short as it can be.
        let mut rest = self.rest;
        match &self.text {
            None => {
                while let Some(behind) = rest.get(size..).filter(|_| !rest.is_empty())
                    && take(&PlainEvent::single(rest, None))
                {
                    rest = behind;
                }
            }
            Some((message, flex)) => {
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
            }
        }
        self.rest = rest;
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
        Self { bytes, text }
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
}
