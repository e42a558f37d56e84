//! Resources: objects of the traced program that got a name.

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
