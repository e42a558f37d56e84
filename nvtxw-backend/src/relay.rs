//! Passing calls on: the same calls on another backend.
//!
//! A [`Relay`] makes calls on the table of another backend. What that one calls by other handles and IDs than the producer knows
//! is translated: handles, dynamic IDs of scopes, schemas, enums, counters and time domains, also where payloads hold registered
//! strings and scopes; bytes are copied only where they hold such. What pointers lead to is copied too where such may be there, where
//! it is not where the pointers say any more, and for a backend in the same program, which looks nowhere but in what it gets. What it
//! refuses comes back as a [`Refusal`](crate::Refusal) with its code.
//!
//! A backend that stands in front of another one passes on what its [`Session`](crate::Session) and [`Stream`](crate::Stream) get:
//!
//! ```
//! use std::sync::Arc;
//!
//! use nvtxw_backend::call::{EventCall, Registration, WriteCall};
//! use nvtxw_backend::relay::{Origin, Relay, RelaySession, RelayStream};
//! use nvtxw_backend::*;
//!
//! struct Layer(Relay);
//! struct LayerSession(RelaySession);
//! struct LayerStream(RelayStream);
//!
//! impl Backend for Layer {
//!     type Session = LayerSession;
//!
//!     fn begin(&self, request: &SessionRequest<'_>) -> Result<LayerSession> {
//!         let (name, config) = (request.name_text(), request.config_text());
//!         Ok(LayerSession(self.0.begin(name, config, Origin::Live)?))
//!     }
//! }
//!
//! impl Session for LayerSession {
//!     type Stream = LayerStream;
//!
//!     fn note_registration(&self, domain: &Arc<Domain>, call: &Registration<'_>) -> Result<()> {
//!         self.0.register(domain.index(), call)
//!     }
//!
//!     fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<LayerStream> {
//!         Ok(LayerStream(self.0.open_stream(&stream.attributes())?))
//!     }
//!
//!     fn end(&self) -> Result<()> {
//!         self.0.end()
//!     }
//! }
//!
//! impl Stream for LayerStream {
//!     fn take_event(&mut self, _event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
//!         self.0.write(&WriteCall::Event(*call))
//!     }
//!
//!     fn write_event(&mut self, _event: &Event<'_>) -> Result<()> {
//!         unreachable!("events come with their calls, or in batches")
//!     }
//!
//!     fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
//!         self.0.write(&batch.call())
//!     }
//!
//!     fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
//!         self.0.write(&samples.call())
//!     }
//!
//!     fn write_no_value(&mut self, counter: &Arc<Counter>, time: i64, reason: NoValueReason) -> Result<()> {
//!         self.0.write(&WriteCall::NoValue { time, counter: counter.id(), reason: reason.to_raw() })
//!     }
//!
//!     fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
//!         self.0.write(&relation.call())
//!     }
//!
//!     fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
//!         self.0.write(call)
//!     }
//!
//!     // The other backend closes what is open when the session ends.
//!     fn close_at_end(&mut self) -> Result<()> {
//!         Ok(())
//!     }
//!
//!     fn close(&mut self) -> Result<()> {
//!         self.0.close()
//!     }
//! }
//!
//! # struct Nothing;
//! # impl Backend for Nothing {
//! #     type Session = Nothing;
//! #     fn begin(&self, _: &SessionRequest<'_>) -> Result<Nothing> { Ok(Nothing) }
//! # }
//! # impl Session for Nothing {
//! #     type Stream = LayerStream;
//! #     fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<LayerStream> { Err(Refusal::unsupported("no streams")) }
//! #     fn end(&self) -> Result<()> { Ok(()) }
//! # }
//! // `Nothing` is some backend in this program.
//! let other = in_process(Nothing);
//! let layer = in_process(Layer(Relay::to_instance(other)));
//! assert_eq!(layer.table().missing().next(), None);
//! ```

mod copy;
mod domain;
mod moved;
mod place;
mod samples;
mod stream;

use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

use nvtxw_abi::InProcess;

use self::domain::RelayDomain;
use crate::call::{Registration, StreamAttributes};
use crate::lock::lock;
use crate::raw::{Onward, SessionHandle};
use crate::refusal::Result;
use crate::sync::Mutex;

pub(crate) use self::place::has_pointers;
pub use self::stream::RelayStream;

/// Another backend, to which calls are passed on. Clones are the same one.
#[derive(Clone)]
pub struct Relay {
    pub(crate) onward: Arc<Onward>,
}

/// Where the calls come from that a relay passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From a producer, in the calls that it makes: what was accepted from it. Pointers lead to where it says.
    Live,
    /// From a recording: nothing is taken for granted. What could make the other backend read memory that is not there is
    /// refused, as far as that backend doesn't look itself.
    Recorded,
}

/// A session of another backend.
pub struct RelaySession {
    relay: Relay,
    handle: SessionHandle,
    origin: Origin,
    domains: Mutex<HashMap<u32, Arc<RelayDomain>>>,
}

impl Relay {
    /// To a backend in this program.
    pub fn to_instance(instance: impl Into<Arc<InProcess>>) -> Self {
        Self {
            onward: Arc::new(Onward::Instance(instance.into())),
        }
    }

    /// Begins a session.
    ///
    /// # Errors
    /// What the other backend says.
    pub fn begin(
        &self,
        name: Option<&CStr>,
        config: Option<&CStr>,
        origin: Origin,
    ) -> Result<RelaySession> {
        Ok(RelaySession {
            relay: self.clone(),
            handle: self.onward.begin(name, config)?,
            origin,
            domains: Mutex::default(),
        })
    }
}

impl RelaySession {
    /// Registers something. `domain` is the [number](crate::Domain::index) of its domain, or of the domain that is registered.
    ///
    /// # Errors
    /// What the other backend says; `INVALID_ARGUMENT` if it is about something that this one doesn't have, because it refused
    /// it.
    pub fn register(&self, domain: u32, call: &Registration<'_>) -> Result<()> {
        let onward = &self.relay.onward;
        let known = self.domain(domain);
        if let Registration::Domain { name } = call {
            known.learn_handle(onward.domain(self.handle, *name)?);
        }
        known.register(onward, call)
    }

    /// Opens a stream.
    ///
    /// # Errors
    /// As those of [`register`](Self::register).
    pub fn open_stream(&self, attributes: &StreamAttributes<'_>) -> Result<RelayStream> {
        let domain = self.domain(attributes.domain);
        let onward = &self.relay.onward;
        let handle = match attributes.names_domain {
            true => Some(domain.handle()?),
            false => None,
        };
        let there = StreamAttributes {
            scope: domain.scope(attributes.scope)?,
            time_domain: domain.time_domain(attributes.time_domain)?,
            ..*attributes
        };
        let handle = onward.open(self.handle, handle, &there)?;
        Ok(RelayStream::new(
            Arc::clone(onward),
            handle,
            domain,
            self.origin,
        ))
    }

    /// Ends the session. What is called on it or its streams after that is refused, by the other backend.
    ///
    /// # Errors
    /// What the other backend says.
    pub fn end(&self) -> Result<()> {
        self.relay.onward.end(self.handle)
    }

    fn domain(&self, index: u32) -> Arc<RelayDomain> {
        let mut domains = lock(&self.domains);
        let domain = domains
            .entry(index)
            .or_insert_with(|| Arc::new(RelayDomain::new(index)));
        Arc::clone(domain)
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").finish_non_exhaustive()
    }
}

impl fmt::Debug for RelaySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelaySession").finish_non_exhaustive()
    }
}
