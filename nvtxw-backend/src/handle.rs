//! Handles: numbers that are looked up, and never dereferenced.

use std::sync::{Arc, TryLockError};

use crate::list::List;
use crate::lock::lock;
use crate::log::Account;
use crate::refusal::{Cause, Refusal, Result};
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Mutex, MutexGuard};

const _: () = assert!(usize::BITS == 64, "handles need pointers of 64 bits");

/// Bits of a handle that hold its generation.
const GENERATION_BITS: u32 = 28;
pub(crate) const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Session = 1,
    Domain = 2,
    Stream = 3,
    String = 4,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Domain => "domain",
            Self::Stream => "stream",
            Self::String => "string",
        }
    }

    fn of(handle: u64) -> Option<Self> {
        [Self::Session, Self::Domain, Self::Stream, Self::String]
            .into_iter()
            .find(|kind| *kind as u64 == handle >> 60)
    }
}

/// A handle: the kind in the upper 4 bits, so that it is never 0, then 28 bits of generation, then the index.
#[inline]
pub(crate) fn encode(kind: Kind, generation: u32, index: u32) -> u64 {
    (kind as u64) << 60 | u64::from(generation & GENERATION_MASK) << 32 | u64::from(index)
}

/// Generation and index of a handle of this kind.
#[inline]
pub(crate) fn decode(kind: Kind, handle: u64) -> Option<(u32, u32)> {
    (handle >> 60 == kind as u64)
        .then_some(((handle >> 32) as u32 & GENERATION_MASK, handle as u32))
}

/// All objects of one kind in the process. A slot serves many objects, one after the other, under handles that differ in
/// their generation.
pub(crate) struct Slots<T> {
    kind: Kind,
    slots: List<Slot<T>>,
    free: Mutex<Vec<u32>>,
}

struct Slot<T> {
    index: u32,
    /// Of the object that is here now, or comes next. Changed only under the lock of `content`.
    generation: AtomicU32,
    content: Mutex<Option<T>>,
    /// Generation of the object that is or was here last, and what is known of it.
    known: Mutex<(u32, Known)>,
}

/// What is known of an object, also while a call is inside it, and after it is gone.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) name: Arc<str>,
    /// That of its session.
    pub(crate) account: Arc<Account>,
}

/// An object that this thread alone has entered.
pub(crate) struct Entered<'a, T> {
    slots: &'a Slots<T>,
    slot: &'a Slot<T>,
    content: MutexGuard<'a, Option<T>>,
}

impl<T> Slots<T> {
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            slots: List::new(),
            free: Mutex::new(Vec::new()),
        }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            slots: List::new(),
            free: Mutex::new(Vec::new()),
        }
    }

    /// Gives `object` a handle.
    pub(crate) fn insert(&self, known: Known, object: T) -> Result<u64> {
        let free = lock(&self.free).pop();
        let slot = match free {
            Some(index) => self.slots.get(index),
            None => self.slots.push_with(|index| Slot {
                index,
                generation: AtomicU32::new(1),
                content: Mutex::new(None),
                known: Mutex::default(),
            }),
        };
        let slot = slot.ok_or_else(|| {
            Refusal::failed(format!(
                "the process holds too many {}s; end some",
                self.kind.name()
            ))
        })?;
        let mut content = lock(&slot.content);
        let generation = slot.generation.load(Ordering::Relaxed);
        *lock(&slot.known) = (generation, known);
        *content = Some(object);
        Ok(encode(self.kind, generation, slot.index))
    }

    /// Enters the object, without waiting: who finds another call inside is refused.
    #[inline(always)]
    pub(crate) fn enter(&self, handle: u64) -> Result<Entered<'_, T>> {
        let Some((slot, generation)) = self.find(handle) else {
            return Err(self.unknown(handle));
        };
        let content = match slot.content.try_lock() {
            Err(TryLockError::Poisoned(content)) => Ok(content.into_inner()),
            content => content,
        };
        match content {
            Ok(content)
                if content.is_some() && slot.generation.load(Ordering::Relaxed) == generation =>
            {
                Ok(Entered {
                    slots: self,
                    slot,
                    content,
                })
            }
            Ok(_) => Err(self.unknown(handle)),
            Err(_) if slot.generation.load(Ordering::Acquire) != generation => {
                Err(self.unknown(handle))
            }
            Err(_) => Err(self.busy()),
        }
    }

    /// What is known of the object, also after it is gone.
    pub(crate) fn known(&self, handle: u64) -> Option<Known> {
        let (slot, generation) = self.find(handle)?;
        let known = lock(&slot.known);
        (known.0 == generation).then(|| known.1.clone())
    }

    #[inline]
    fn find(&self, handle: u64) -> Option<(&Slot<T>, u32)> {
        let (generation, index) = decode(self.kind, handle)?;
        Some((self.slots.get(index)?, generation))
    }

    #[cold]
    fn unknown(&self, handle: u64) -> Refusal {
        let kind = self.kind.name();
        Refusal::invalid(match (handle, Kind::of(handle)) {
            (0, _) => format!("the {kind} handle is null"),
            (_, Some(other)) if other != self.kind => {
                format!(
                    "{handle:#x} is no {kind} handle, but that of a {}",
                    other.name()
                )
            }
            _ if self.find(handle).is_some() => {
                format!("the {kind} handle {handle:#x} is stale: its {kind} has ended")
            }
            _ => format!("{handle:#x} is no {kind} handle: none such was given out"),
        })
        .because(Cause::Handle)
    }

    #[cold]
    fn busy(&self) -> Refusal {
        let kind = self.kind.name();
        Refusal::failed(format!(
            "another call is inside this {kind}: calls on one {kind} must not overlap, nor come from inside the backend"
        ))
        .because(Cause::Overlap)
    }

    /// A clone of the object.
    pub(crate) fn get(&self, handle: u64) -> Result<T>
    where
        T: Clone,
    {
        let Some((slot, generation)) = self.find(handle) else {
            return Err(self.unknown(handle));
        };
        let content = lock(&slot.content);
        match &*content {
            Some(object) if slot.generation.load(Ordering::Relaxed) == generation => {
                Ok(object.clone())
            }
            _ => Err(self.unknown(handle)),
        }
    }

    /// Makes the handle stale. Returns the object, or `None` if it was stale already.
    pub(crate) fn remove(&self, handle: u64) -> Option<T> {
        let (slot, generation) = self.find(handle)?;
        let content = lock(&slot.content);
        if content.is_none() || slot.generation.load(Ordering::Relaxed) != generation {
            return None;
        }
        Some(
            Entered {
                slots: self,
                slot,
                content,
            }
            .remove(),
        )
    }
}

impl<T> Entered<'_, T> {
    /// Makes the handle stale, and returns the object.
    pub(crate) fn remove(mut self) -> T {
        let object = self.content.take().expect("an entered slot is not empty");
        let generation = self.slot.generation.load(Ordering::Relaxed);
        self.slot
            .generation
            .store(generation + 1, Ordering::Release);
        // A slot whose generations are used up is never used again: a stale handle must not come true.
        if generation + 1 < GENERATION_MASK {
            lock(&self.slots.free).push(self.slot.index);
        }
        object
    }
}

impl<T> std::ops::Deref for Entered<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.content.as_ref().expect("an entered slot is not empty")
    }
}

impl<T> std::ops::DerefMut for Entered<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.content.as_mut().expect("an entered slot is not empty")
    }
}
