//! What is worked out once for each schema that a stream meets.

use nvtxw_backend::Schema;

use crate::ids::IdMap;

/// A plan for each schema.
pub(crate) struct Plans<P> {
    all: Vec<P>,
    /// Indices of `all`, by schema.
    indices: IdMap<u64, usize>,
    /// The schema that was asked for last, and its index.
    last: Option<(u64, usize)>,
    /// The same of some that were asked for before, by the low bits of their IDs.
    recent: [Option<(u64, usize)>; RECENT],
}

const RECENT: usize = 8;

impl<P> Default for Plans<P> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            indices: IdMap::default(),
            last: None,
            recent: [None; RECENT],
        }
    }
}

impl<P> Plans<P> {
    /// The plan of a schema, which `make` makes if there is none yet.
    #[inline]
    pub(crate) fn get(&mut self, schema: &Schema, make: impl FnOnce() -> P) -> &mut P {
        let index = match self.last {
            Some((id, index)) if id == schema.id() => index,
            _ => self.find(schema, make),
        };
        &mut self.all[index]
    }

    #[inline(never)]
    fn find(&mut self, schema: &Schema, make: impl FnOnce() -> P) -> usize {
        let id = schema.id();
        let recent = &mut self.recent[id as usize % RECENT];
        let index = match *recent {
            Some((known, index)) if known == id => index,
            _ => *self.indices.entry(id).or_insert_with(|| {
                self.all.push(make());
                self.all.len() - 1
            }),
        };
        *recent = Some((id, index));
        self.last = *recent;
        index
    }
}
