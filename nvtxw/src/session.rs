//! Sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::Backend;
use crate::calls::LiveSession;
use crate::config::Config;
use crate::domain::{Domain, DomainState, numbered_session};
use crate::error::{CloseError, Error, Result};
use crate::id::{DomainId, Owner};
use crate::stream::{Stream, StreamOptions};
use crate::writer::Writer;
use crate::{owner, text};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// One trace that is being written: what domains and streams belong to.
///
/// `&mut Session` registers, `&Session` writes: the borrow checker keeps registration and writing apart, as the ABI
/// demands. Threads that write share `&session` and have a `&mut Stream` each. A program that must register while other
/// threads write puts the session in an `RwLock` and binds its writers anew for each batch, which costs a few
/// instructions.
///
/// [`end`](Session::end) is the flush: it says that all data is in, and reports what went wrong with it. Dropping the
/// session ends it too, and the error, if there is one, is lost.
///
/// Backends made with this project's SDK end the sessions that are still open, in a `static` for example, when the process exits.
///
/// In a forked child process, a session of the parent can't be ended: dropping it does nothing there. The child must not
/// write through it either: what it wrote would be lost, or would get between the parent's data.
#[derive(Debug)]
pub struct Session {
    live: LiveSession,
    name: Arc<str>,
    number: u64,
    domains: Vec<Arc<DomainState>>,
    /// Indices of `domains`.
    by_name: HashMap<Box<str>, u32>,
}

impl Session {
    /// Begins a session of a backend.
    ///
    /// What the name is for is the backend's matter; the embedded one names its file after it.
    ///
    /// # Errors
    /// [`Error::InteriorNul`]; [`Error::Busy`] if the backend was loaded for one session at a time; [`Error::Call`] if the
    /// backend refuses.
    pub fn begin(backend: &Backend, name: &str, config: &Config) -> Result<Self> {
        let live = backend.begin_session(name, config)?;
        Ok(Self {
            live,
            name: name.into(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            domains: Vec::new(),
            by_name: HashMap::new(),
        })
    }

    /// The session's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends the session: all data is in. Streams that are still open are closed with it.
    ///
    /// # Errors
    /// [`Error::Call`] if the backend could not write everything; the session has ended all the same.
    /// [`Error::Forked`] in a child process of the one that began it.
    pub fn end(self) -> Result<()> {
        self.live.end(&self.name)
    }

    /// Registers a domain, or finds it again; `""` is the session's default domain.
    ///
    /// Strings, categories, scopes, schemas and counters are registered in a domain, and a stream writes to one.
    ///
    /// # Errors
    /// [`Error::InteriorNul`], or [`Error::Call`] if the backend refuses.
    pub fn domain(&mut self, name: &str) -> Result<Domain<'_>> {
        let index = match self.by_name.get(name) {
            Some(&index) => index,
            None => {
                let c_name = text::c_string(name, "domain name")?;
                let handle = self
                    .live
                    .domain((!name.is_empty()).then_some(&*c_name))
                    .map_err(|refusal| {
                        refusal.of(
                            "register",
                            format!("domain `{name}` of session `{}`", self.name),
                        )
                    })?;
                let index = self.domains.len() as u32;
                self.domains
                    .push(DomainState::enter(name, handle, &self.name, self.number));
                self.by_name.insert(name.into(), index);
                index
            }
        };
        let state = &self.domains[index as usize];
        let id = DomainId {
            owner: state.owner,
            index,
        };
        Ok(Domain::new(&self.live, state, id))
    }

    /// The session's default domain.
    ///
    /// # Errors
    /// [`Error::Call`] if the backend refuses.
    pub fn default_domain(&mut self) -> Result<Domain<'_>> {
        self.domain("")
    }

    /// A domain of this session, by what [`Domain::id`] gave.
    ///
    /// # Errors
    /// [`Error::Foreign`] if it is one of another session.
    pub fn domain_at(&mut self, domain: DomainId) -> Result<Domain<'_>> {
        let state = self.state(domain, "it was asked for in")?;
        Ok(Domain::new(&self.live, state, domain))
    }

    /// Opens a stream. No two streams of a session may have the same name.
    ///
    /// # Errors
    /// [`Error::InteriorNul`]; [`Error::Foreign`] if the options' domain is one of another session, or their scope one of
    /// another domain; [`Error::Call`] if the backend refuses, for instance because of the name.
    pub fn open_stream(&mut self, name: &str, options: StreamOptions) -> Result<Stream> {
        let state = self.state(
            options.domain,
            &format!("stream `{name}` was to be opened on it in"),
        )?;
        Stream::open(name, &options, &self.live, Arc::clone(state), self.number)
    }

    /// Closes a stream before the session's end.
    ///
    /// # Errors
    /// A [`CloseError`] with the stream, if the backend refuses or the stream is one of another session.
    pub fn close_stream(&mut self, stream: Stream) -> Result<(), CloseError> {
        if stream.session != self.number {
            let error = self.foreign_stream(&stream, "it was to be closed in");
            return Err(CloseError::new(stream, error));
        }
        stream.close(&self.live)
    }

    /// What writes to a stream, while the session isn't registering.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the stream is one of another session.
    #[inline]
    pub fn writer<'w>(&'w self, stream: &'w mut Stream) -> Result<Writer<'w>> {
        if stream.session != self.number {
            return Err(self.foreign_stream(stream, "a writer of it was asked for in"));
        }
        Ok(Writer::new(&self.live, stream))
    }

    fn state(&self, domain: DomainId, place: &str) -> Result<&Arc<DomainState>> {
        match self.domains.get(domain.index as usize) {
            Some(state) if state.owner == domain.owner => Ok(state),
            _ => Err(self.foreign_domain(domain, place)),
        }
    }

    /// The domain of this session that something of that kind belongs to.
    pub(crate) fn domain_of(&self, owner: Owner, kind: &str) -> Result<Arc<DomainState>> {
        let (object, place) = (format!("the given {kind}"), "it was asked for in");
        match owner::find(owner) {
            Some(state) if state.session_number == self.number => Ok(state),
            Some(state) => Err(self.foreign(object, &state, place)),
            None => Err(Error::Foreign {
                object,
                owner: "a session that has ended".to_owned(),
                place: format!("{place} session `{}`", self.name),
            }),
        }
    }

    #[cold]
    fn foreign_domain(&self, domain: DomainId, place: &str) -> Error {
        match owner::find(domain.owner) {
            Some(state) => self.foreign(state.short(), &state, place),
            None => Error::Foreign {
                object: "the given domain".to_owned(),
                owner: "a session that has ended".to_owned(),
                place: format!("{place} session `{}`", self.name),
            },
        }
    }

    /// The error of using `object`, which belongs to the session of `domain`, where `place` says, which ends in this one.
    #[cold]
    fn foreign(&self, object: String, domain: &DomainState, place: &str) -> Error {
        let (there, here) = if domain.session == self.name {
            (
                numbered_session(&domain.session, domain.session_number),
                numbered_session(&self.name, self.number),
            )
        } else {
            (
                format!("session `{}`", domain.session),
                format!("session `{}`", self.name),
            )
        };
        Error::Foreign {
            object,
            owner: there,
            place: format!("{place} {here}"),
        }
    }

    #[cold]
    fn foreign_stream(&self, stream: &Stream, place: &str) -> Error {
        self.foreign(format!("stream `{}`", stream.name()), &stream.domain, place)
    }
}
