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

/// One of [`PlainEvents`].
#[derive(Debug)]
pub struct PlainEvent<'a> {
    bytes: &'a [u8],
    text: Option<&'a [u8]>,
    /// What is left for those behind it.
    steps: Steps,
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

    /// The next event. `None` if its message can't be told like this, so that it is to be [read](Self::read), and if there
    /// is none.
    #[inline(always)]
    pub fn peek(&self) -> Option<PlainEvent<'a>> {
        let schema = self.batch.schema();
        let bytes = self.rest.get(..schema.size())?;
        let steps = self.steps.clone();
        let text = match &self.text {
            None => None,
            Some((message, flex)) => {
                let is_cheap = steps.try_take(schema.plan.work);
                Some(
                    message
                        .flexible_text(bytes, flex, &steps)
                        .filter(|_| is_cheap)?,
                )
            }
        };
        Some(PlainEvent { bytes, text, steps })
    }

    /// Goes on to the event behind this one, at which was [peeked](Self::peek).
    #[inline(always)]
    pub fn pass(&mut self, event: PlainEvent<'a>) {
        self.rest = &self.rest[event.bytes.len()..];
        self.steps = event.steps;
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
    /// [As many](crate::Schema::size) as each event of the batch has, with each field in its [place](crate::Field::offset).
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The message, if that is text elsewhere. Meant to be UTF-8; it may not be.
    #[inline]
    pub fn text(&self) -> Option<&'a [u8]> {
        self.text
    }
}
