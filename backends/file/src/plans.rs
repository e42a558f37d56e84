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
}

impl<P> Default for Plans<P> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            indices: IdMap::default(),
            last: None,
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
        let index = *self.indices.entry(schema.id()).or_insert_with(|| {
            self.all.push(make());
            self.all.len() - 1
        });
        self.last = Some((schema.id(), index));
        index
    }
}
