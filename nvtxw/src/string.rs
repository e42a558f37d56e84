//! Registered strings and messages.

use crate::domain::Domain;
use crate::error::Result;
use crate::id::Owner;
use crate::{StringHandle, text};

/// A string that the backend holds: registered once, written as eight bytes.
///
/// Made by [`Domain::string`](crate::Domain::string). As a message it is compared with the stream's domain at each
/// write; its [`handle`](RegisteredString::handle) is the bare value for fields, which nothing compares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegisteredString {
    pub(crate) owner: Owner,
    pub(crate) handle: StringHandle,
}

impl RegisteredString {
    /// The handle, for a field of an event in the same domain.
    #[inline]
    #[must_use]
    pub const fn handle(self) -> StringHandle {
        self.handle
    }
}

impl Domain<'_> {
    /// Registers a string.
    ///
    /// # Errors
    /// [`Error::InteriorNul`](crate::Error::InteriorNul), or [`Error::Call`](crate::Error::Call) if the backend refuses.
    pub fn string(&mut self, string: &str) -> Result<RegisteredString> {
        self.string_bytes(string.as_bytes())
    }

    /// Registers a string from bytes, which go to the backend as they are: they should be UTF-8, and aren't scanned. The
    /// same bytes as a `str` are the same string.
    ///
    /// # Errors
    /// As [`string`](Domain::string).
    pub fn string_bytes(&mut self, string: &[u8]) -> Result<RegisteredString> {
        let owner = self.state.owner;
        let mut registered = self.state.registered();
        if let Some(handle) = registered.strings.id(string) {
            return Ok(RegisteredString { owner, handle });
        }
        let handle = self
            .live
            .register_string(
                self.state.handle,
                &text::c_string(string, "registered string")?,
            )
            .map_err(|refusal| {
                refusal.of(
                    "register",
                    self.object("string", &String::from_utf8_lossy(string)),
                )
            })?;
        registered.strings.insert(string, handle);
        Ok(RegisteredString { owner, handle })
    }
}

/// What a plain event says: text, or a registered string.
///
/// Text goes to the backend as it is: it should be UTF-8, it isn't scanned, and readers of the trace may end it at a NUL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Message<'a> {
    /// Text, copied by the backend.
    Text(&'a [u8]),
    /// A string of the stream's domain.
    Registered(RegisteredString),
}

/// A value that a [`Message`] can be made of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a message or a name",
    label = "neither borrowed text nor a `RegisteredString`",
    note = "borrow the text: `&text` for a `String`, `&*text` for a `Cow<str>` or an `Arc<str>`"
)]
pub trait IntoMessage<'a>: Into<Message<'a>> {}

#[diagnostic::do_not_recommend]
impl<'a, T: Into<Message<'a>>> IntoMessage<'a> for T {}

impl<'a> From<&'a str> for Message<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> From<&'a String> for Message<'a> {
    #[inline]
    fn from(text: &'a String) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for Message<'a> {
    #[inline]
    fn from(text: &'a [u8]) -> Self {
        Self::Text(text)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Message<'a> {
    #[inline]
    fn from(text: &'a [u8; N]) -> Self {
        Self::Text(text)
    }
}

impl From<RegisteredString> for Message<'_> {
    #[inline]
    fn from(string: RegisteredString) -> Self {
        Self::Registered(string)
    }
}
