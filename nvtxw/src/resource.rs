//! Resources: objects of the traced program that get a name.

use nvtxw_abi::ResourceType;

use crate::calls::ResourceName;
use crate::domain::Domain;
use crate::error::Result;
use crate::string::{IntoMessage, Message};
use crate::{owner, text};

/// Which object of the traced program is meant: see [`Domain::resource`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ResourceId {
    /// The one at this address.
    Pointer(u64),
    /// The one with this handle.
    Handle(u64),
    /// The thread to which the operating system gave this number.
    NativeThread(u64),
    /// The thread with this `pthread_t`.
    PosixThread(u64),
    /// One of a type that an extension of NVTX defines.
    Other {
        /// The ABI's number of that type.
        identifier_type: i32,
        /// The object's address or number.
        identifier: u64,
    },
}

impl ResourceId {
    fn to_raw(self) -> (i32, u64) {
        match self {
            Self::Pointer(address) => (ResourceType::Pointer.to_raw(), address),
            Self::Handle(handle) => (ResourceType::Handle.to_raw(), handle),
            Self::NativeThread(id) => (ResourceType::NativeThread.to_raw(), id),
            Self::PosixThread(id) => (ResourceType::PosixThread.to_raw(), id),
            Self::Other {
                identifier_type,
                identifier,
            } => (identifier_type, identifier),
        }
    }
}

impl Domain<'_> {
    /// Names an object of the traced program: with text, or with a string of this domain. Naming it again is a new call.
    ///
    /// ```
    /// # use nvtxw::{Domain, ResourceId, Result};
    /// fn name(domain: &mut Domain<'_>) -> Result<()> {
    ///     domain.resource(ResourceId::NativeThread(4711), "decoder")?;
    ///     domain.resource(ResourceId::Pointer(0x7f00_dead_b000), "frame pool")
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::InteriorNul`](crate::Error::InteriorNul); [`Error::Foreign`](crate::Error::Foreign) if a registered name is
    /// one of another domain; [`Error::Call`](crate::Error::Call) if the backend refuses.
    pub fn resource<'m>(&mut self, id: ResourceId, name: impl IntoMessage<'m>) -> Result<()> {
        let (kind, identifier) = id.to_raw();
        let c_name;
        let name = match name.into() {
            Message::Text(name) => {
                c_name = text::c_string(name, "resource name")?;
                ResourceName::Text(&c_name)
            }
            Message::Registered(string) if string.owner == self.state.owner => {
                ResourceName::Registered(string.handle)
            }
            Message::Registered(string) => {
                return Err(owner::foreign(
                    "a string that was passed".to_owned(),
                    string.owner,
                    "the resource is named in",
                    self.state.owner,
                ));
            }
        };
        self.live
            .register_resource(self.state.handle, kind, identifier, &name)
            .map_err(|refusal| {
                let object = format!(
                    "resource {identifier:#x} (type {kind:#x}) in {}",
                    self.state.describe()
                );
                refusal.of("name", object)
            })
    }
}
