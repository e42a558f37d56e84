//! The numbers that name registered things: domains, scopes, categories, range ids.

use std::num::{NonZeroU32, NonZeroU64};

use nvtxw_abi::IdClass;

use crate::error::{Error, Result};

/// One domain of one session, numbered over the whole process, so that one comparison tells both the session and
/// the domain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Owner(pub(crate) NonZeroU32);

/// A domain of a session, as a small value to keep.
///
/// [`Session::domain_at`](crate::Session::domain_at) turns it into the registering view again, and
/// [`StreamOptions::new`](crate::StreamOptions::new) opens streams on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DomainId {
    pub(crate) owner: Owner,
    pub(crate) index: u32,
}

/// The number of a scope, eight bytes: what a `#[nvtx(scope)]` field holds.
///
/// Comes from [`Scope::id`]. It is not compared with the stream's domain when a struct that holds it is written.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ScopeId(u64);

impl ScopeId {
    /// No scope of its own: the next rule decides (the batch's scope, then the stream's).
    pub const NONE: Self = Self(0);
    /// The root of all scopes.
    pub const ROOT: Self = Self(1);

    /// The scope of this number.
    #[inline]
    #[must_use]
    pub const fn from_u64(id: u64) -> Self {
        Self(id)
    }

    /// The number.
    #[inline]
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }
}

/// A registered scope: the place, such as `GPU 0/engine 3`, that events and counters belong to.
///
/// Made by [`Domain::scope`](crate::Domain::scope). It knows its domain, so streams, counters and batches of another
/// one refuse it; [`Scope::id`] is the bare number for fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scope {
    pub(crate) owner: Owner,
    pub(crate) id: ScopeId,
}

impl Scope {
    /// The number, for a `#[nvtx(scope)]` field.
    #[inline]
    #[must_use]
    pub const fn id(self) -> ScopeId {
        self.id
    }
}

/// What the path of a new scope is relative to: see [`Domain::scope_in`](crate::Domain::scope_in).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ScopeParent {
    /// Nothing: the scope stands outside every hierarchy.
    None,
    /// The root of all scopes.
    Root,
    /// The machine that the trace was taken on.
    CurrentMachine,
    /// The virtual machine that the trace was taken in.
    CurrentVm,
    /// A scope of the same domain.
    Scope(Scope),
}

impl From<Scope> for ScopeParent {
    fn from(scope: Scope) -> Self {
        Self::Scope(scope)
    }
}

/// The scope of a stream, a counter or a time domain, for whatever names none of its own: see
/// [`StreamOptions::scope`](crate::StreamOptions::scope), [`CounterOptions::scope`](crate::CounterOptions::scope) and
/// [`TimeDomainOptions::scope`](crate::TimeDomainOptions::scope).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum DefaultScope {
    /// No scope.
    #[default]
    None,
    /// The root of all scopes.
    Root,
    /// A scope of the same domain.
    Scope(Scope),
}

impl From<Scope> for DefaultScope {
    fn from(scope: Scope) -> Self {
        Self::Scope(scope)
    }
}

/// The number of a category, four bytes: what a `#[nvtx(category)]` field and a plain event's
/// [`category`](crate::PlainEvent::category) hold.
///
/// Comes from [`Domain::category`](crate::Domain::category), which names it. 0 is "no category".
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CategoryId(u32);

impl CategoryId {
    /// No category.
    pub const NONE: Self = Self(0);

    /// The category of this number; 0 is [`CategoryId::NONE`].
    #[inline]
    #[must_use]
    pub const fn from_u32(id: u32) -> Self {
        Self(id)
    }

    /// The number.
    #[inline]
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        self.0
    }
}

/// A number that you pick for a scope, a schema, a counter or a time domain, instead of letting the backend pick one: from
/// 2^24 to 2^32 - 1, and no other object of that sort in the domain may have it (schemas and enums share theirs).
///
/// It is for programs that must know the number beforehand, such as one whose data was laid out elsewhere.
///
/// ```
/// use nvtxw::StaticId;
///
/// const GPU: StaticId = StaticId::new(0x0100_0000).unwrap();
/// assert_eq!(GPU.get(), 1 << 24);
/// assert_eq!(StaticId::new(17), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StaticId(NonZeroU32);

impl StaticId {
    /// The ID of this number; `None` below 2^24.
    #[must_use]
    pub const fn new(id: u32) -> Option<Self> {
        match (IdClass::of(id as u64), NonZeroU32::new(id)) {
            (IdClass::Static, Some(id)) => Some(Self(id)),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// `registered`, unless another number was asked for.
    pub(crate) fn same(
        requested: Option<Self>,
        registered: u64,
        object: impl FnOnce() -> String,
    ) -> Result<u64> {
        match requested {
            Some(requested) if u64::from(requested.get()) != registered => Err(Error::IdDiffers {
                object: object(),
                registered,
                requested,
            }),
            _ => Ok(registered),
        }
    }

    /// The number as registrations have it: 0 lets the backend pick one.
    pub(crate) fn raw(id: Option<Self>) -> u64 {
        id.map_or(0, |id| id.get().into())
    }
}

/// What joins the start of a range to its end when they are written apart: your own number, never 0, unique among the
/// ranges that are open in the domain.
///
/// The end may be written to another stream than the start; the built-in backend shows the range where it was started.
///
/// ```
/// use nvtxw::RangeId;
///
/// let dma = RangeId::new(17).unwrap();
/// assert_eq!(dma.get(), 17);
/// assert_eq!(RangeId::new(0), None);
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RangeId(NonZeroU64);

impl RangeId {
    /// A range id of this number; `None` for 0.
    #[inline]
    #[must_use]
    pub const fn new(id: u64) -> Option<Self> {
        match NonZeroU64::new(id) {
            Some(id) => Some(Self(id)),
            None => None,
        }
    }

    /// The number.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}
