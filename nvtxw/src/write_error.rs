//! The errors of writes, which are as small as a result code.

use std::fmt;
use std::num::NonZeroI32;

use nvtxw_abi::{OneLine, ResultCode};

use crate::error::{Error, Result, advice};
use crate::id::Owner;
use crate::owner;
use crate::plain;
use crate::stream::Stream;

/// Why a write failed: the backend's result code, as small as that.
///
/// `Result<(), WriteError>` is four bytes. [`at`](WriteError::at) adds what was written and where, off the fast path;
/// `?` turns it into an [`Error`] as it is, whose text names `at` where the backend was asked.
///
/// ```
/// use nvtxw::WriteError;
///
/// assert_eq!(size_of::<Result<(), WriteError>>(), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct WriteError(NonZeroI32);

const _: () = assert!(size_of::<Result<(), WriteError>>() == 4);

/// The lowest number of the range that stands for refusals of this crate; result codes of backends are small.
const OWN: i32 = i32::MIN;
/// From here on, the number holds an index among the schemas of plain events, and the backend's answer to its registration.
const PLAIN_SCHEMA: i32 = OWN + 0x1000;
/// How many answers can be held; codes of backends are small.
const ANSWERS: i32 = 0x1000;
/// From here on, the number is that of the domain that a string or a row belongs to.
const FOREIGN: i32 = PLAIN_SCHEMA + 0x1_0000;
/// The number after the last of that range.
const FOREIGN_END: i32 = FOREIGN + 0x3FFF_0000;

impl WriteError {
    /// The stream was opened with `plain_events(false)`.
    pub(crate) const NO_PLAIN_EVENTS: Self = Self::own(0);
    /// A row was written through a writer with a scope, which only batches can carry.
    pub(crate) const ROW_WITH_SCOPE: Self = Self::own(1);

    /// An event's text lies outside the pool that was passed.
    pub(crate) const TEXT_OUTSIDE_POOL: Self = Self::own(3);

    const fn own(number: i32) -> Self {
        match NonZeroI32::new(OWN + number) {
            Some(code) => Self(code),
            None => unreachable!(),
        }
    }

    /// A string or a row of another domain was passed.
    #[cold]
    pub(crate) fn foreign(owner: Owner) -> Self {
        let number = i32::try_from(owner.0.get())
            .unwrap_or(i32::MAX)
            .min(FOREIGN_END - FOREIGN - 1);
        Self::own(FOREIGN - OWN + number)
    }

    /// What a backend answered.
    #[inline]
    pub(crate) fn check(code: i32) -> Result<(), Self> {
        match NonZeroI32::new(code) {
            None => Ok(()),
            Some(code) => Err(Self(code)),
        }
    }

    /// The schema at `index` of those of plain events could not be registered: the backend's answer, which is
    /// [`ResultCode::SUCCESS`] if it gave no ID.
    pub(crate) fn plain_schema(index: usize, code: ResultCode) -> Self {
        let code = code.get();
        if !(0..ANSWERS).contains(&code) {
            return Self(NonZeroI32::new(code).unwrap_or(NonZeroI32::MIN));
        }
        Self::own(PLAIN_SCHEMA - OWN + index as i32 * ANSWERS + code)
    }

    /// The index of the schema that could not be registered, and the backend's answer.
    fn as_plain_schema(self) -> Option<(usize, ResultCode)> {
        let number = self.0.get();
        (PLAIN_SCHEMA..FOREIGN).contains(&number).then(|| {
            let number = number - PLAIN_SCHEMA;
            let code = ResultCode::new(number % ANSWERS);
            ((number / ANSWERS) as usize, code)
        })
    }

    /// The domain of the string or the row that was passed, if that was the fault.
    fn owner(self) -> Option<Owner> {
        let code = self.0.get();
        let number = (FOREIGN..FOREIGN_END)
            .contains(&code)
            .then(|| code - FOREIGN)?;
        Some(Owner(u32::try_from(number).ok()?.try_into().ok()?))
    }

    /// The backend's answer; [`ResultCode::INVALID_ARGUMENT`] if the backend wasn't asked, because a registered string or
    /// a row belongs to another domain, or because the writer can't write this. Of an event whose schema the backend didn't
    /// register, the answer to that.
    #[must_use]
    pub fn code(self) -> ResultCode {
        match self.as_plain_schema() {
            Some((_, code)) if !code.is_success() => code,
            _ if self.is_own() => ResultCode::INVALID_ARGUMENT,
            _ => ResultCode::new(self.0.get()),
        }
    }

    /// The backend's reason for rejecting the thread's last write to `stream`, or the schema of the event.
    #[cold]
    pub(crate) fn reason(self, stream: &Stream) -> Option<String> {
        if let Some((index, _)) = self.as_plain_schema() {
            return stream.plain.as_ref()?.reason(index);
        }
        if self.is_own() {
            return None;
        }
        stream.last_reason(self.code())
    }

    /// Whether the backend wasn't asked.
    fn is_own(self) -> bool {
        (OWN..FOREIGN_END).contains(&self.0.get())
    }

    /// Whether the backend doesn't offer this: other writes may go on.
    #[must_use]
    pub fn is_not_supported(self) -> bool {
        self.code() == ResultCode::NOT_SUPPORTED
    }

    /// The error with what was written, the names of the stream and its domain, and the reason of the thread's last refused
    /// write if the backend tells it: call this right after the write.
    ///
    /// ```
    /// # use nvtxw::{Result, Writer};
    /// fn tick(out: &Writer<'_>, time: i64) -> Result<()> {
    ///     out.mark(time).message("tick").write().map_err(|error| error.at(out))
    /// }
    /// ```
    #[cold]
    #[must_use]
    pub fn at(self, place: &impl Place) -> Error {
        Error::Write {
            what: place.what(),
            error: self,
            reason: self.reason(place.stream()),
        }
    }

    /// Writes the problem and the fix, with the backend's reason if it is known.
    pub(crate) fn explain(self, f: &mut fmt::Formatter<'_>, reason: Option<&str>) -> fmt::Result {
        if let Some(owner) = self.owner() {
            return write!(
                f,
                "a registered string or a row that was passed belongs to {}: use one of the stream's own domain",
                owner::describe(owner)
            );
        }
        if let Some((index, code)) = self.as_plain_schema() {
            let name = plain::schema_name(index);
            write!(
                f,
                "the schema of {name} was not registered when the domain's first stream was opened: "
            )?;
            if code.is_success() {
                return f.write_str("the backend is broken, it answered SUCCESS and gave no ID; report it to its makers");
            }
        }
        match self {
            Self::NO_PLAIN_EVENTS => f.write_str("the stream was opened with `plain_events(false)`: leave that out"),
            Self::ROW_WITH_SCOPE => f.write_str(
                "a row or payload can't be written through a writer with a scope, which only batches carry: take a writer \
                 without one, and give the event a `scope` field",
            ),
            Self::TEXT_OUTSIDE_POOL => f.write_str(
                "the text of an event lies outside the pool that was passed: pass the pool that made its `FlexStr`s, and \
                 clear it only after the write",
            ),
            _ => match reason {
                Some(reason) => write!(f, "the backend answered {}: {reason}", self.code()),
                None => write!(f, "the backend answered {}{}", self.code(), advice(self.code())),
            },
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", OneLine(fmt::from_fn(|f| self.explain(f, None))))
    }
}

impl fmt::Debug for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteError({self})")
    }
}

impl std::error::Error for WriteError {}

/// What a [`WriteError`] can be told to have happened at: a [`Writer`](crate::Writer) or one that it gave, such as an
/// [`EventWriter`](crate::EventWriter).
#[diagnostic::on_unimplemented(
    message = "a write doesn't fail at a `{Self}`",
    label = "not a writer",
    note = "give the writer that was written through: a `Writer`, an `EventWriter`, a `CounterWriter`, …"
)]
pub trait Place: sealed::Place {}

impl<P: sealed::Place> Place for P {}

pub(crate) mod sealed {
    use crate::stream::Stream;

    /// Says what is written to what.
    pub trait Place {
        fn what(&self) -> String;

        /// The stream.
        fn stream(&self) -> &Stream;
    }
}
