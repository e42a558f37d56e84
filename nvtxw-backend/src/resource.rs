//! Resources: objects of the traced program that got a name.

use std::collections::HashMap;

/// A registered resource: a name for an object of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub(crate) kind: i32,
    pub(crate) identifier: u64,
    pub(crate) name: Option<Box<str>>,
}

impl Resource {
    /// What the identifier is: a [`ResourceType`](crate::ResourceType), or a number that an extension of NVTX defines.
    pub fn kind(&self) -> i32 {
        self.kind
    }

    /// Which object is meant: an address or a number.
    pub fn identifier(&self) -> u64 {
        self.identifier
    }

    /// The object's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The resources of a domain, in the order of their registration.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    all: Vec<Resource>,
    /// Indices of the last one of each kind and identifier.
    last: HashMap<(i32, u64), usize>,
}

impl Resources {
    pub(crate) fn add(&mut self, resource: Resource) {
        let key = (resource.kind, resource.identifier);
        self.last.insert(key, self.all.len());
        self.all.push(resource);
    }

    pub(crate) fn get(&self, kind: i32, identifier: u64) -> Option<&Resource> {
        let index = self.last.get(&(kind, identifier))?;
        self.all.get(*index)
    }

    pub(crate) fn all(&self) -> &[Resource] {
        &self.all
    }
}
