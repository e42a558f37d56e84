//! Handles: numbers that are looked up, and never dereferenced.

use std::sync::{Arc, TryLockError};

use crate::exit;
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

/// A kind of object that has handles.
pub(crate) trait Object {
    const KIND: Kind;
}

/// All objects of one kind in the process, `N` at most. A slot serves many objects, one after the other, under handles that
/// differ in their generation.
///
/// The slots are part of the static that the table is, and all of its bytes are zero at first: those that are never used take no
/// memory, and nothing has to be freed that a call of another thread may be reading.
pub(crate) struct Slots<T, const N: usize> {
    slots: [Slot<T>; N],
    /// Number of slots that were ever used: the first ones. Changed only under the lock of `free`.
    used: AtomicU32,
    /// The first slot of those that are free again, counted from 1; 0 if there is none.
    free: Mutex<u32>,
}

/// Threads that enter neighbouring slots don't share a cache line, nor two that processors fetch together.
#[repr(align(128))]
struct Slot<T> {
    /// Of the object that is here now, or comes next. Changed only by who has the lock of `content`, or [retires](Slots::retire)
    /// the object.
    generation: AtomicU32,
    /// The next free slot, as `free` has the first. Used only under the lock of that.
    next: AtomicU32,
    content: Mutex<Option<T>>,
    /// Generation of the object that is or was here last, and what is known of it.
    known: Mutex<Option<(u32, Known)>>,
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
    place: Place<'a, T>,
    content: MutexGuard<'a, Option<T>>,
}

/// A slot, and what gives it out.
struct Place<'a, T> {
    slot: &'a Slot<T>,
    index: u32,
    free: &'a Mutex<u32>,
}

impl<T> Slot<T> {
    #[cfg(not(all(test, loom)))]
    const fn new() -> Self {
        Self {
            generation: AtomicU32::new(0),
            next: AtomicU32::new(0),
            content: Mutex::new(None),
            known: Mutex::new(None),
        }
    }
}

impl<T: Object, const N: usize> Slots<T, N> {
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn new() -> Self {
        Self {
            slots: [const { Slot::new() }; N],
            used: AtomicU32::new(0),
            free: Mutex::new(0),
        }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        Self {
            slots: std::array::from_fn(|_| Slot {
                generation: AtomicU32::new(0),
                next: AtomicU32::new(0),
                content: Mutex::new(None),
                known: Mutex::new(None),
            }),
            used: AtomicU32::new(0),
            free: Mutex::new(0),
        }
    }

    /// Gives `object` a handle.
    pub(crate) fn insert(&self, known: Known, object: T) -> Result<u64> {
        let kind = T::KIND;
        let index = self.take_free().ok_or_else(|| {
            Refusal::failed(format!(
                "the process holds {N} {kind}s, which is the most: end some",
                kind = kind.name()
            ))
        })?;
        let slot = &self.slots[index as usize];
        let mut content = lock(&slot.content);
        let generation = slot.generation.load(Ordering::Relaxed);
        *lock(&slot.known) = Some((generation, known));
        *content = Some(object);
        Ok(encode(kind, generation, index))
    }

    /// A slot that nothing is in.
    fn take_free(&self) -> Option<u32> {
        let mut free = lock(&self.free);
        if let Some(index) = free.checked_sub(1) {
            *free = self.slots[index as usize].next.load(Ordering::Relaxed);
            return Some(index);
        }
        let index = self.used.load(Ordering::Relaxed);
        if index as usize == N {
            return None;
        }
        self.used.store(index + 1, Ordering::Relaxed);
        Some(index)
    }

    /// Enters the object, without waiting: who finds another call inside is refused.
    #[inline(always)]
    pub(crate) fn enter(&self, handle: u64) -> Result<Entered<'_, T>> {
        let Some((place, generation)) = self.find(handle) else {
            return Err(self.unknown(handle));
        };
        let slot = place.slot;
        let content = match slot.content.try_lock() {
            Err(TryLockError::Poisoned(content)) => Ok(content.into_inner()),
            content => content,
        };
        match content {
            Ok(content)
                if content.is_some() && slot.generation.load(Ordering::Relaxed) == generation =>
            {
                Ok(Entered { place, content })
            }
            Ok(_) => Err(self.unknown(handle)),
            Err(_) if slot.generation.load(Ordering::Acquire) != generation => {
                Err(self.unknown(handle))
            }
            Err(_) => Err(busy(T::KIND)),
        }
    }

    /// What is known of the object, also after it is gone.
    pub(crate) fn known(&self, handle: u64) -> Option<Known> {
        let (place, generation) = self.find(handle)?;
        let known = lock(&place.slot.known);
        let (of, known) = known.as_ref()?;
        (*of == generation).then(|| known.clone())
    }

    /// Forgets what is known of objects that are gone.
    pub(crate) fn forget_gone(&self) {
        for slot in self.used_slots() {
            // One that a call is inside is not gone.
            if let Ok(content) = slot.content.try_lock()
                && content.is_none()
            {
                *lock(&slot.known) = None;
            }
        }
    }

    /// The objects that no call is inside, with their handles.
    #[cfg_attr(all(test, loom), allow(dead_code))]
    pub(crate) fn idle(&self) -> Vec<(u64, T)>
    where
        T: Clone,
    {
        let slots = self.used_slots().zip(0..);
        let idle = slots.filter_map(|(slot, index)| {
            let content = slot.content.try_lock().ok()?;
            let generation = slot.generation.load(Ordering::Relaxed);
            Some((encode(T::KIND, generation, index), content.clone()?))
        });
        idle.collect()
    }

    /// Makes the handle stale, also while a call is inside the object, which stays there: no later call gets in. Returns false if
    /// the handle was stale already.
    pub(crate) fn retire(&self, handle: u64) -> bool {
        self.find(handle).is_some_and(|(place, generation)| {
            let generations = &place.slot.generation;
            let retired = generations.compare_exchange(
                generation,
                generation + 1,
                Ordering::Release,
                Ordering::Relaxed,
            );
            retired.is_ok()
        })
    }

    /// Enters an object that this thread has retired, without waiting: `None` while a call is inside, and the inner `None` if that
    /// call has removed the object.
    pub(crate) fn enter_retired(&self, handle: u64) -> Option<Option<Entered<'_, T>>> {
        let (place, generation) = self.find(handle)?;
        let content = match place.slot.content.try_lock() {
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(content)) => content.into_inner(),
            Ok(content) => content,
        };
        let is_here =
            content.is_some() && place.slot.generation.load(Ordering::Relaxed) == generation + 1;
        Some(is_here.then_some(Entered { place, content }))
    }

    fn used_slots(&self) -> impl Iterator<Item = &Slot<T>> {
        let used = self.used.load(Ordering::Relaxed);
        self.slots.iter().take(used as usize)
    }

    #[inline]
    fn find(&self, handle: u64) -> Option<(Place<'_, T>, u32)> {
        let (generation, index) = decode(T::KIND, handle)?;
        let place = Place {
            slot: self.slots.get(index as usize)?,
            index,
            free: &self.free,
        };
        Some((place, generation))
    }

    #[cold]
    fn unknown(&self, handle: u64) -> Refusal {
        let kind = T::KIND.name();
        let was_given_out = decode(T::KIND, handle)
            .is_some_and(|(_, index)| index < self.used.load(Ordering::Relaxed));
        if was_given_out && exit::is_exiting() {
            return Refusal::failed(format!(
                "the process is exiting, which has ended this {kind} (handle {handle:#x}): end sessions before the process exits"
            ));
        }
        Refusal::invalid(match (handle, Kind::of(handle)) {
            (0, _) => format!("the {kind} handle is null"),
            (_, Some(other)) if other != T::KIND => {
                format!(
                    "{handle:#x} is no {kind} handle, but that of a {}",
                    other.name()
                )
            }
            _ if was_given_out => {
                format!("the {kind} handle {handle:#x} is stale: its {kind} has ended")
            }
            _ => format!("{handle:#x} is no {kind} handle: none such was given out"),
        })
        .because(Cause::Handle)
    }

    /// A clone of the object.
    pub(crate) fn get(&self, handle: u64) -> Result<T>
    where
        T: Clone,
    {
        let Some((place, generation)) = self.find(handle) else {
            return Err(self.unknown(handle));
        };
        let content = lock(&place.slot.content);
        match &*content {
            Some(object) if place.slot.generation.load(Ordering::Relaxed) == generation => {
                Ok(object.clone())
            }
            _ => Err(self.unknown(handle)),
        }
    }

    /// Makes the handle stale. Returns the object, or `None` if it was stale already.
    pub(crate) fn remove(&self, handle: u64) -> Option<T> {
        let (place, generation) = self.find(handle)?;
        let content = lock(&place.slot.content);
        if content.is_none() || place.slot.generation.load(Ordering::Relaxed) != generation {
            return None;
        }
        Some(Entered { place, content }.remove())
    }
}

#[cold]
fn busy(kind: Kind) -> Refusal {
    let kind = kind.name();
    Refusal::failed(format!(
        "another call is inside this {kind}: calls on one {kind} must not overlap, nor come from inside the backend"
    ))
    .because(Cause::Overlap)
}

impl<T> Entered<'_, T> {
    /// Makes the handle stale, and returns the object.
    pub(crate) fn remove(mut self) -> T {
        let object = self.content.take().expect("an entered slot is not empty");
        let Place { slot, index, free } = self.place;
        let generation = slot.generation.load(Ordering::Relaxed);
        slot.generation.store(generation + 1, Ordering::Release);
        // A slot whose generations are used up is never used again: a stale handle must not come true.
        if generation + 1 < GENERATION_MASK {
            let mut free = lock(free);
            slot.next.store(*free, Ordering::Relaxed);
            *free = index + 1;
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
