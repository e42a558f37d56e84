//! Sessions: their beginning, their domains and streams, and their end.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::process;
use std::sync::Arc;

use nvtxw_abi::ResultCode;

use crate::backend::AnySession;
use crate::call::Registration;
use crate::config::Config;
use crate::domain::Domain;
use crate::exit;
use crate::handle::{Entered, Kind, Known, Object, Slots};
use crate::instance::Instance;
use crate::lock::lock;
use crate::log::{Account, Report};
use crate::panic::{catch, catch_poisoning};
use crate::raw::Promise;
#[cfg(not(all(test, loom)))]
use crate::raw::set_exit_hook;
use crate::refusal::{Cause, Refusal, RefusalCounts, Result};
use crate::spec::{SessionSpec, StreamSpec};
use crate::stream::{OpenStream, STREAMS, StreamInfo};
use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use crate::sync::{Mutex, process_wide};
use crate::text::lossy;

/// What a session begins with.
#[derive(Debug)]
pub struct SessionRequest<'a> {
    name: Option<&'a str>,
    config: &'a Config,
    texts: [Option<&'a CStr>; 2],
    account: &'a Account,
}

impl<'a> SessionRequest<'a> {
    /// The session's name. What was not UTF-8 is U+FFFD.
    pub fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// The session's options.
    pub fn config(&self) -> &'a Config {
        self.config
    }

    /// The name as the producer gave it.
    pub fn name_text(&self) -> Option<&'a CStr> {
        self.texts[0]
    }

    /// The options as the producer gave them.
    pub fn config_text(&self) -> Option<&'a CStr> {
        self.texts[1]
    }

    /// Logs something about a session that begins all the same: that a default was changed, for example. It doesn't count as a
    /// refusal, and the producer gets no code for it.
    pub fn report(&self, remark: &Refusal) {
        let name = self.name.unwrap_or_default();
        self.account.remark("SessionBegin", name, remark);
    }
}

/// The most sessions and domains of the process at one time. Few in models, so that they get to the end.
const MOST_SESSIONS: usize = if cfg!(all(test, loom)) { 3 } else { 1 << 12 };
const MOST_DOMAINS: usize = if cfg!(all(test, loom)) { 3 } else { 1 << 16 };

process_wide! {
    /// The sessions of the process.
    pub(crate) static SESSIONS: Slots<Arc<OpenSession>, MOST_SESSIONS> = Slots::new();
}
process_wide! {
    /// The domains of the process.
    pub(crate) static DOMAINS: Slots<DomainEntry, MOST_DOMAINS> = Slots::new();
}

impl Object for Arc<OpenSession> {
    const KIND: Kind = Kind::Session;
}

impl Object for DomainEntry {
    const KIND: Kind = Kind::Domain;
}

/// A session that has begun.
pub(crate) struct OpenSession {
    // Before the instance, which may finalise the backend as it is dropped.
    backend: Box<dyn AnySession>,
    _instance: Arc<Instance>,
    poisoned: AtomicBool,
    promise: Option<Promise>,
    pub(crate) account: Arc<Account>,
    /// Counts the sessions of the process in the order in which they began.
    pub(crate) number: u32,
    /// The process that began it: in a forked child it is not to be ended.
    pub(crate) process: u32,
    /// Calls of the backend's session that run.
    inside: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_ending: bool,
    /// Number of streams that the backend is opening right now.
    opening: usize,
    stream_names: HashSet<Arc<str>>,
    /// Handles, with the number of streams opened before.
    streams: HashMap<u64, u64>,
    /// Number of streams opened so far.
    opened: u64,
    /// By name; the default domain's is empty.
    domains: HashMap<Box<str>, (u64, Arc<Domain>)>,
}

/// A domain, and the session that it is of.
#[derive(Clone)]
pub(crate) struct DomainEntry {
    pub(crate) session: Arc<OpenSession>,
    pub(crate) domain: Arc<Domain>,
}

/// Begins a session of `instance`, and returns its handle. What its producer promises holds for all that is written to it.
pub(crate) fn begin(
    instance: &Arc<Instance>,
    spec: &SessionSpec<'_>,
    promise: Option<Promise>,
) -> Result<u64> {
    process_wide! {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
    }

    if exit::is_exiting() {
        return Err(Refusal::failed(
            "the process is exiting: begin sessions before that",
        ));
    }
    #[cfg(not(all(test, loom)))]
    set_exit_hook();
    let config = Config::parse(&lossy(spec.config).unwrap_or_default());
    let name = lossy(spec.name);
    let name = name.as_deref().filter(|name| !name.is_empty());
    let shared_name: Arc<str> = name.unwrap_or_default().into();
    let account = Arc::new(Account::new(Arc::clone(&shared_name)));
    let request = SessionRequest {
        name,
        config: &config,
        texts: [spec.name, spec.config],
        account: &account,
    };
    let backend = catch(|| instance.backend().begin_any(&request))??;
    let known = Known {
        name: shared_name,
        account: Arc::clone(&account),
    };
    let session = OpenSession {
        backend,
        _instance: Arc::clone(instance),
        poisoned: AtomicBool::new(false),
        promise,
        account,
        number: NUMBER.fetch_add(1, Ordering::Relaxed),
        process: process::id(),
        inside: AtomicU32::new(0),
        state: Mutex::default(),
    };
    let session = Arc::new(session);
    session.account.begin(&session);
    SESSIONS.insert(known, session)
}

/// Closes the session's streams, ends it, and makes all of its handles stale.
pub(crate) fn end(handle: u64) -> Result<()> {
    let session = SESSIONS.get(handle)?;
    let streams = session.start_ending()?;
    let mut entered = Vec::with_capacity(streams.len());
    for stream in streams {
        match STREAMS.enter(stream) {
            Ok(stream) => entered.push(stream),
            // Another thread was closing it, and is through.
            Err(refusal) if refusal.code() == ResultCode::INVALID_ARGUMENT => {}
            Err(refusal) => {
                lock(&session.state).is_ending = false;
                let name = STREAMS.known(stream).unwrap_or_default().name;
                return Err(refusal.at(format_args!("nothing was ended: stream {name:?}")));
            }
        }
    }
    finish(handle, session, entered)
}

/// Closes the streams, which are all that the session has, and ends it.
pub(crate) fn finish(
    handle: u64,
    session: Arc<OpenSession>,
    streams: Vec<Entered<'_, Box<OpenStream>>>,
) -> Result<()> {
    let mut result = Ok(());
    for mut stream in streams {
        let name = Arc::clone(stream.info.name_shared());
        let closed = stream.backend.call(|backend| backend.close_at_end());
        let dropped = catch(|| drop(stream.remove()));
        result = result.and(
            closed
                .and(dropped)
                .map_err(|refusal| refusal.at(format_args!("stream {name:?}"))),
        );
    }

    let ended = session.call(|backend| {
        let counts = session.account.tally.counts();
        if counts != RefusalCounts::default() {
            backend.note_refusals_any(counts);
        }
        backend.end_any()
    });
    SESSIONS.remove(handle);
    let domains = std::mem::take(&mut lock(&session.state).domains);
    for (domain, _) in domains.into_values() {
        DOMAINS.remove(domain);
    }
    result.and(ended).and(catch(|| drop(session)))
}

impl OpenSession {
    /// The domain of this name, new or not; the default one's is empty.
    pub(crate) fn domain(self: &Arc<Self>, name: &str) -> Result<(u64, Arc<Domain>)> {
        process_wide! {
            static TAG: AtomicU32 = AtomicU32::new(0);
        }

        self.check()?;
        let mut state = lock(&self.state);
        state.check()?;
        if let Some((handle, domain)) = state.domains.get(name) {
            return Ok((*handle, Arc::clone(domain)));
        }
        let known_as = Some(name).filter(|name| !name.is_empty());
        let tag = TAG.fetch_add(1, Ordering::Relaxed);
        let domain = Arc::new(Domain::new(
            known_as.map(Into::into),
            state.domains.len() as u32,
            tag,
            self.promise,
        ));
        let entry = DomainEntry {
            session: Arc::clone(self),
            domain: Arc::clone(&domain),
        };
        let handle = DOMAINS.insert(self.known(name.into()), entry)?;
        state
            .domains
            .insert(name.into(), (handle, Arc::clone(&domain)));
        Ok((handle, domain))
    }

    /// Opens a stream, and returns its handle.
    pub(crate) fn open_stream(self: &Arc<Self>, spec: &StreamSpec<'_>) -> Result<u64> {
        let domain = match spec.domain {
            0 => self.domain("")?.1,
            handle => {
                let entry = DOMAINS
                    .get(handle)
                    .map_err(|refusal| refusal.at("attr.domain"))?;
                if !Arc::ptr_eq(&entry.session, self) {
                    return Err(Refusal::invalid(format!(
                        "attr.domain {handle:#x} is a domain of another session: register it in this one"
                    ))
                    .because(Cause::Handle));
                }
                entry.domain
            }
        };
        let info = Arc::new(StreamInfo::new(spec, domain, &self.account)?);
        let name = Arc::clone(info.name_shared());

        self.reserve(&name)?;
        let opened = self.call(|backend| backend.open_any(&info));
        let opened = opened.and_then(|backend| {
            STREAMS.insert(
                self.known(Arc::clone(&name)),
                Box::new(OpenStream::new(info, backend, Arc::clone(self))),
            )
        });

        let mut state = lock(&self.state);
        state.opening -= 1;
        match opened {
            Ok(handle) => {
                state.opened += 1;
                let order = state.opened;
                state.streams.insert(handle, order);
                Ok(handle)
            }
            Err(refusal) => {
                state.stream_names.remove(&name);
                Err(refusal)
            }
        }
    }

    /// Forgets a stream that is closed.
    pub(crate) fn forget_stream(&self, handle: u64, name: &Arc<str>) {
        let mut state = lock(&self.state);
        state.streams.remove(&handle);
        state.stream_names.remove(name);
    }

    /// Keeps the name for a stream that is about to be opened.
    fn reserve(&self, name: &Arc<str>) -> Result<()> {
        let mut state = lock(&self.state);
        state.check()?;
        if !name.is_empty() && !state.stream_names.insert(Arc::clone(name)) {
            return Err(Refusal::invalid(format!(
                "attr.name {name:?} is that of an open stream of this session; names of streams must differ"
            ))
            .because(Cause::Taken));
        }
        state.opening += 1;
        Ok(())
    }

    /// Lets nothing new begin, and returns the streams in the order in which they were opened.
    fn start_ending(&self) -> Result<Vec<u64>> {
        let mut state = lock(&self.state);
        state.check()?;
        if state.opening > 0 {
            return Err(Refusal::failed(
                "nothing was ended: a StreamOpen of this session is running",
            )
            .because(Cause::Overlap));
        }
        Ok(state.start_ending())
    }

    /// Starts the end without waiting, while only calls on streams run in the session, or if it is `forced`. `None` also if the
    /// session is ending.
    pub(crate) fn try_start_ending(&self, forced: bool) -> Option<Vec<u64>> {
        let mut state = self.state.try_lock().ok()?;
        let is_inside = state.opening > 0 || self.inside.load(Ordering::Relaxed) > 0;
        match state.is_ending || is_inside && !forced {
            true => None,
            false => Some(state.start_ending()),
        }
    }

    /// Calls the backend's session, unless it is poisoned.
    fn call<T>(&self, call: impl FnOnce(&dyn AnySession) -> Result<T>) -> Result<T> {
        self.check()?;
        self.inside.fetch_add(1, Ordering::Relaxed);
        let result = catch_poisoning(
            || self.poisoned.store(true, Ordering::Relaxed),
            || call(&*self.backend),
        );
        self.inside.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Tells the backend of a registration.
    pub(crate) fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        self.call(|backend| backend.note_registration_any(domain, registration))
    }

    /// Tells the backend of a refusal.
    pub(crate) fn note_refusal(&self, report: &Report<'_>) {
        // Nobody is left to tell that this failed; a panic poisons the session.
        let _ = self.call(|backend| {
            backend.note_refusal_any(report);
            Ok(())
        });
    }

    /// What is to be known of something of this name in the session.
    fn known(&self, name: Arc<str>) -> Known {
        Known {
            name,
            account: Arc::clone(&self.account),
        }
    }

    /// Refuses a poisoned session.
    pub(crate) fn check(&self) -> Result<()> {
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(Refusal::failed(
                "this session is poisoned: the backend panicked in an earlier call on it",
            ));
        }
        Ok(())
    }
}

impl DomainEntry {
    /// Tells the session's backend of a registration in the domain.
    pub(crate) fn note(&self, registration: &Registration<'_>) -> Result<()> {
        self.session.note_registration(&self.domain, registration)
    }
}

impl State {
    /// Lets nothing new begin, and returns the streams in the order in which they were opened.
    fn start_ending(&mut self) -> Vec<u64> {
        self.is_ending = true;
        let mut streams: Vec<_> = self.streams.iter().collect();
        streams.sort_by_key(|(_, order)| **order);
        streams.into_iter().map(|(handle, _)| *handle).collect()
    }

    fn check(&self) -> Result<()> {
        if self.is_ending {
            return Err(Refusal::failed("this session is ending").because(Cause::Overlap));
        }
        Ok(())
    }
}
