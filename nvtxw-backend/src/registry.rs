//! What a domain registers under IDs.

use std::sync::Arc;

use nvtxw_abi::IdClass;

use crate::id_map::IdMap;
use crate::list::List;
use crate::refusal::{Cause, Refusal, Result};

/// Things of one kind under their IDs, static and dynamic; read without a lock.
pub(crate) struct Registry<T> {
    /// What the IDs are of, for people.
    what: &'static str,
    /// In a mirror also those of dynamic IDs, which another backend picked.
    statics: IdMap<Arc<T>>,
    dynamics: List<Arc<T>>,
    is_mirror: bool,
}

impl<T> Registry<T> {
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            what,
            statics: IdMap::new(),
            dynamics: List::new(),
            is_mirror: false,
        }
    }

    /// One that has all things under the IDs that somebody else picked.
    pub(crate) fn mirror(what: &'static str) -> Self {
        Self {
            is_mirror: true,
            ..Self::new(what)
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<&Arc<T>> {
        match id.checked_sub(IdClass::DYNAMIC_START) {
            Some(_) if self.is_mirror => self.statics.get(id),
            Some(index) => self.dynamics.get(u32::try_from(index).ok()?),
            None => self.statics.get(id),
        }
    }

    /// Registers what `build` makes of its ID: `wanted`, or the next dynamic one if that is 0.
    pub(crate) fn register(&self, wanted: u64, build: impl FnOnce(u64) -> T) -> Result<u64> {
        let what = self.what;
        if wanted == 0 {
            let mut id = 0;
            self.dynamics
                .push_with(|index| {
                    id = IdClass::DYNAMIC_START + u64::from(index);
                    Arc::new(build(id))
                })
                .ok_or_else(|| {
                    Refusal::failed(format!("the domain is full: it can't hold one more {what}"))
                })?;
            return Ok(id);
        }
        let class = match IdClass::of(wanted) {
            IdClass::Dynamic if self.is_mirror => {
                return match self.statics.insert(wanted, Arc::new(build(wanted))) {
                    true => Ok(wanted),
                    false => Err(Refusal::invalid(format!(
                        "the {what} ID {wanted} is taken already in this domain"
                    ))),
                };
            }
            IdClass::Static if self.statics.insert(wanted, Arc::new(build(wanted))) => {
                return Ok(wanted);
            }
            IdClass::Static => {
                return Err(Refusal::invalid(format!(
                    "the static {what} ID {wanted} is taken already in this domain; choose another one"
                ))
                .because(Cause::Taken));
            }
            IdClass::Predefined => "predefined IDs",
            IdClass::Dynamic => "IDs that the backend picks",
        };
        Err(Refusal::invalid(format!(
            "the static {what} ID {wanted} is among the {class}; choose one from 2^24 to 2^32 - 1, or 0 to get one"
        )))
    }
}
