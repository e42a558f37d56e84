//! What is written beside an event: further payloads.

use crate::calls::Payload;
use crate::derived::NvtxPayload;
use crate::error::WriteError;
use crate::event::Schema;
use crate::id::Owner;
use crate::record::RecordRow;

/// A struct to be written beside an event: see [`EventWriter::write_with`](crate::EventWriter::write_with).
///
/// Made by [`Schema::payload`].
pub struct TypedPayload<'a> {
    pub(crate) payload: Payload<'a>,
    pub(crate) owner: Owner,
}

impl<P: NvtxPayload> Schema<P> {
    /// The struct, to be written beside an event.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use nvtxw::{EventWriter, NvtxEvent, NvtxPayload, Schema, WriteError};
    ///
    /// #[derive(NvtxEvent, Clone, Copy)]
    /// #[repr(C)]
    /// #[nvtx(kind = mark)]
    /// struct Request {
    ///     #[nvtx(timestamp)]
    ///     time: i64,
    /// }
    ///
    /// #[derive(NvtxPayload, Clone, Copy)]
    /// #[repr(C)]
    /// struct Peer {
    ///     address: [u8; 4],
    ///     port: u32,
    /// }
    ///
    /// fn received(requests: &EventWriter<'_, Request>, peers: Schema<Peer>) -> Result<(), WriteError> {
    ///     let peer = Peer { address: [127, 0, 0, 1], port: 80 };
    ///     requests.write_with(&Request { time: 7 }, peers.payload(&peer))
    /// }
    /// # let _ = received;
    /// # }
    /// ```
    #[inline]
    #[must_use]
    pub fn payload<'a>(&self, value: &'a P) -> TypedPayload<'a> {
        TypedPayload {
            payload: Payload::nested(self.id, value),
            owner: self.owner,
        }
    }
}

/// What can be written beside an event: a [`TypedPayload`], a `&`[`RecordRow`], or a tuple of up to four of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be written beside an event",
    label = "neither a payload nor a row",
    note = "pass `schema.payload(&value)`, where `schema` is of `Domain::payload_schema`, or a `&RecordRow`, or a tuple of \
            up to four of them"
)]
pub trait Payloads: sealed::Payloads {}

pub(crate) mod sealed {
    use crate::calls::Payload;
    use crate::error::WriteError;
    use crate::id::Owner;

    /// One payload.
    pub trait Part {
        fn owner(&self) -> Owner;
        fn payload(&self) -> Payload<'_>;

        #[inline]
        fn check(&self, domain: Owner) -> Result<(), WriteError> {
            if self.owner() == domain {
                Ok(())
            } else {
                Err(WriteError::foreign(self.owner()))
            }
        }
    }

    pub trait Payloads {
        /// Calls `write` with the event and these payloads, if they are of the domain.
        fn beside(
            self,
            event: Payload<'_>,
            domain: Owner,
            write: impl FnOnce(&[Payload<'_>]) -> Result<(), WriteError>,
        ) -> Result<(), WriteError>;
    }
}

impl sealed::Part for TypedPayload<'_> {
    #[inline]
    fn owner(&self) -> Owner {
        self.owner
    }

    #[inline]
    fn payload(&self) -> Payload<'_> {
        self.payload
    }
}

impl sealed::Part for &RecordRow {
    #[inline]
    fn owner(&self) -> Owner {
        RecordRow::owner(self)
    }

    #[inline]
    fn payload(&self) -> Payload<'_> {
        Payload::row(self.schema(), self.cells())
    }
}

macro_rules! payloads {
    ($({$($generics:tt)*} $ty:ty: |$it:ident| $($part:expr),+;)+) => { $(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Payloads for $ty {}

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> sealed::Payloads for $ty {
            #[inline]
            fn beside(
                self,
                event: Payload<'_>,
                domain: Owner,
                write: impl FnOnce(&[Payload<'_>]) -> Result<(), WriteError>,
            ) -> Result<(), WriteError> {
                let $it = self;
                $(sealed::Part::check(&$part, domain)?;)+
                write(&[event, $(sealed::Part::payload(&$part)),+])
            }
        }
    )+ };
}

payloads! {
    {} TypedPayload<'_>: |it| it;
    {} &RecordRow: |it| it;
    {A: sealed::Part} (A,): |it| it.0;
    {A: sealed::Part, B: sealed::Part} (A, B): |it| it.0, it.1;
    {A: sealed::Part, B: sealed::Part, C: sealed::Part} (A, B, C): |it| it.0, it.1, it.2;
    {A: sealed::Part, B: sealed::Part, C: sealed::Part, D: sealed::Part} (A, B, C, D): |it| it.0, it.1, it.2, it.3;
}
