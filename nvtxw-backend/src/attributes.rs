//! The attributes of events, at places that are known.

use crate::check;
use crate::domain::Domain;
use crate::event::Text;
use crate::refusal::Result;
use crate::scalar::read;
use crate::schema::{AttributesAt, MessageAt, OsIdAt, Schema};
use crate::text;

/// What an event says of itself, beside its time and scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) message: Option<Text<'a>>,
    pub(crate) color: u32,
    pub(crate) category: u32,
    pub(crate) range_id: Option<u64>,
    pub(crate) process: Option<u64>,
    pub(crate) thread: Option<u64>,
}

impl<'a> Attributes<'a> {
    /// Adds what a payload of `schema` says, whose attributes are there, over what earlier ones said, but for a message that has
    /// no fixed place.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        schema: &'a Schema,
        at: &AttributesAt,
        bytes: &'a [u8],
        domain: &'a Domain,
    ) -> Result<()> {
        let plan = &schema.plan;
        match plan.message {
            None | Some(MessageAt::Loose(_)) => {}
            Some(MessageAt::Handle(offset)) => match read(bytes, offset) {
                0 => {}
                handle => match domain.registered(handle) {
                    Some(string) => self.message = Some(Text::Registered(string)),
                    None => return Err(check::unknown_handle(handle, "message")),
                },
            },
            Some(MessageAt::Fixed { ty, offset, len }) => {
                let text = text::before_null(ty, &bytes[offset..offset + len]);
                self.message = Text::of(text::value(ty, text));
            }
            Some(MessageAt::Whole(ty)) => {
                self.message = Text::of(text::value(ty, text::before_null(ty, bytes)));
            }
        }
        if let Some(offset) = at.color {
            let color = read(bytes, offset);
            self.color = if color == 0 { self.color } else { color };
        }
        if let Some(offset) = at.category {
            let category = read(bytes, offset);
            self.category = if category == 0 {
                self.category
            } else {
                category
            };
        }
        if let Some(offset) = at.range_id {
            self.range_id = Some(read(bytes, offset));
        }
        if at.names_os_id() {
            let read = |id: OsIdAt| id.read(bytes);
            self.process = at.process.map(read).or(self.process);
            self.thread = at.thread.map(read).or(self.thread);
        }
        Ok(())
    }

    /// Takes colour and category of the one payload, which says nothing else of these.
    #[inline(always)]
    pub(crate) fn paint(&mut self, at: &AttributesAt, bytes: &[u8]) {
        self.color = at.color.map_or(0, |offset| read(bytes, offset));
        self.category = at.category.map_or(0, |offset| read(bytes, offset));
    }

    /// A scope that the event itself names says where it is, and what it says of its process and thread is data then.
    pub(crate) fn forget_os_ids(&mut self) {
        (self.process, self.thread) = (None, None);
    }
}

impl OsIdAt {
    fn read(self, bytes: &[u8]) -> u64 {
        match self.is_wide {
            true => read(bytes, self.offset),
            false => read::<u32>(bytes, self.offset).into(),
        }
    }
}
