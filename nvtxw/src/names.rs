//! Objects that are registered under names.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// IDs of things by their names, and the names by the IDs.
#[derive(Debug)]
pub(crate) struct Names<N: ?Sized, I> {
    ids: HashMap<Arc<N>, I>,
    names: HashMap<I, Arc<N>>,
}

impl<N: Eq + Hash + ?Sized, I: Copy + Eq + Hash> Names<N, I> {
    pub(crate) fn new() -> Self {
        Self {
            ids: HashMap::new(),
            names: HashMap::new(),
        }
    }

    pub(crate) fn id(&self, name: &N) -> Option<I> {
        self.ids.get(name).copied()
    }

    pub(crate) fn name(&self, id: I) -> Option<&N> {
        self.names.get(&id).map(|name| &**name)
    }

    pub(crate) fn insert(&mut self, name: impl Into<Arc<N>>, id: I) {
        let name = name.into();
        self.names.entry(id).or_insert_with(|| Arc::clone(&name));
        self.ids.insert(name, id);
    }
}
