//! Backends.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use nvtxw_abi::{InProcess, raw};
#[cfg(feature = "check")]
use nvtxw_check::Report;

use crate::Config;
use crate::calls::{Begin, Finalize, Functions, LiveSession};
use crate::error::{Error, Result};
use crate::sync::{Mutex, MutexGuard, ThreadKey, thread_key};
use crate::text;

/// What traces are written to: the embedded backend, one in a library, or one in this program.
///
/// Clones are the same backend. A library is loaded once however often it is asked for, and its global state is freed when
/// the last `Backend` of it and the last session of those are gone; the library itself stays mapped until the process
/// exits.
///
/// The sessions of a library begin and end one after the other: a thread waits here for the others. Everything else on different
/// sessions may overlap, and so may the begin and the end of sessions of a backend in this program. A backend may
/// begin and end further sessions of itself inside of its own functions; if it is a library, on the same thread only.
///
/// ```
/// # #[cfg(feature = "file")] {
/// use nvtxw::{Backend, Config, Session};
///
/// let folder = std::env::temp_dir().join("nvtxw-doc-backend");
/// std::fs::create_dir_all(&folder)?;
/// let config = Config::new()
///     .set("path", folder.join("run.pftrace").to_str().unwrap())?
///     .set("overwrite", "true")?;
/// let session = Session::begin(&Backend::embedded(), "run", &config)?;
/// session.end()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Backend {
    inner: Arc<Inner>,
}

struct Inner {
    functions: Functions,
    begin: Begin,
    name: String,
    exclusive: bool,
    sessions: Arc<Sessions>,
    #[cfg(feature = "check")]
    report: Option<Report>,
    /// Dropped when nothing uses the library any more through this backend.
    _user: Option<LibraryUser>,
}

/// The sessions of a backend.
#[derive(Default)]
struct Sessions {
    /// `None` if they may begin and end at the same time.
    turn: Option<Turn>,
    live: Mutex<Live>,
}

/// The sessions that live, or begin.
#[derive(Default)]
struct Live {
    count: usize,
    /// One of them wants to be the only one.
    exclusive: bool,
}

impl Sessions {
    fn one_by_one() -> Self {
        Self {
            turn: Some(Turn::default()),
            live: Mutex::default(),
        }
    }

    /// Runs a call that must not overlap others of its kind.
    fn in_turn<R>(&self, call: impl FnOnce() -> R) -> R {
        match &self.turn {
            Some(turn) => turn.run(call),
            None => call(),
        }
    }
}

/// Lets one thread at a time make calls. Calls inside of such a call are the called library's own doing.
#[derive(Default)]
struct Turn {
    calls: Mutex<()>,
    /// The thread that has locked `calls`.
    thread: Mutex<Option<ThreadKey>>,
}

impl Turn {
    fn run<R>(&self, call: impl FnOnce() -> R) -> R {
        /// Also where the call panics.
        struct Leave<'a>(&'a Turn);

        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                *lock(&self.0.thread) = None;
            }
        }

        let here = Some(thread_key());
        if *lock(&self.thread) == here {
            return call();
        }
        let _calls = lock(&self.calls);
        *lock(&self.thread) = here;
        let _leave = Leave(self);
        call()
    }
}

impl Backend {
    /// The backend that is built in: it writes Perfetto files, by default `<session name>.pftrace` in the current
    /// directory.
    ///
    /// Its config keys (path, format and so on) are those of the crate `nvtxw-file`. Each call gives an independent
    /// instance; that makes no difference but to [`Backend::clone`].
    #[cfg(feature = "file")]
    #[must_use]
    pub fn embedded() -> Self {
        let backend = Self::in_process(nvtxw_file::in_process());
        #[cfg(feature = "check")]
        let backend = backend.checked_if_asked();
        backend
    }

    /// A backend in this program, made with the SDK of the crate `nvtxw-backend`.
    ///
    /// Its instance is released when the last clone of this `Backend` and its last session are gone.
    #[must_use]
    pub fn in_process(instance: InProcess) -> Self {
        let functions = match Functions::of(instance.table()) {
            Ok(functions) => functions,
            Err(members) => unreachable!(
                "`InProcess::new` requires a complete table, and this one lacks {members:?}"
            ),
        };
        Self::new(
            functions,
            Begin::Instance(Arc::new(instance)),
            "in process".to_owned(),
            false,
            None,
        )
    }

    /// The functions of a backend that is not in this program: of its library, or of the table that was given. They may be
    /// called as long as this `Backend` or a session of it is there.
    #[must_use]
    pub fn table(&self) -> Option<&'static raw::nvtxwInterface_v2_t> {
        match self.inner.begin {
            Begin::Table(table) => Some(table),
            Begin::Instance(_) => None,
        }
    }

    pub(crate) fn new(
        functions: Functions,
        begin: Begin,
        name: String,
        exclusive: bool,
        user: Option<LibraryUser>,
    ) -> Self {
        let sessions = user
            .as_ref()
            .map_or_else(Arc::default, |user| Arc::clone(&user.sessions));
        Self {
            inner: Arc::new(Inner {
                functions,
                begin,
                name,
                exclusive,
                sessions,
                #[cfg(feature = "check")]
                report: None,
                _user: user,
            }),
        }
    }

    /// The same with the report of the checker in front of it.
    #[cfg(feature = "check")]
    pub(crate) fn in_front_of(behind: &Self, checker: InProcess, report: Report) -> Self {
        let mut backend = Self::in_process(checker);
        let inner = Arc::get_mut(&mut backend.inner).expect("nobody else has it yet");
        inner.name = format!("the checker before {}", behind.inner.name);
        inner.exclusive = behind.inner.exclusive;
        inner.sessions = Arc::clone(&behind.inner.sessions);
        inner.report = Some(report);
        backend
    }

    /// What the checker in front of this backend found so far, if there [is one](Self::checked).
    #[cfg(feature = "check")]
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.inner.report.as_ref()
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.inner.functions
    }

    pub(crate) fn begin(&self) -> &Begin {
        &self.inner.begin
    }

    /// Begins a session.
    pub(crate) fn begin_session(&self, name: &str, config: &Config) -> Result<LiveSession> {
        let c_name = text::c_string(name, "session name")?;
        let config = config.as_c_str();
        self.inner.sessions.in_turn(|| {
            // It counts from now on: the backend may begin others inside of the call.
            self.count_session(name)?;
            LiveSession::begin(self.clone(), &c_name, config).map_err(|refusal| {
                self.forget_session();
                refusal.of("begin", format!("session `{name}`"))
            })
        })
    }

    fn count_session(&self, name: &str) -> Result<()> {
        let mut live = lock(&self.inner.sessions.live);
        if live.exclusive || (self.inner.exclusive && live.count > 0) {
            return Err(Error::Busy {
                library: self.inner.name.clone(),
                session: name.to_owned(),
            });
        }
        live.count += 1;
        live.exclusive = self.inner.exclusive;
        Ok(())
    }

    fn forget_session(&self) {
        let mut live = lock(&self.inner.sessions.live);
        live.count -= 1;
        live.exclusive = false;
    }

    /// Runs the end of a session.
    pub(crate) fn end_session<R>(&self, end: impl FnOnce() -> R) -> R {
        self.inner.sessions.in_turn(|| {
            let result = end();
            self.forget_session();
            result
        })
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("name", &self.inner.name)
            .field("exclusive", &self.inner.exclusive)
            .finish_non_exhaustive()
    }
}

/// One user of a library: keeps it from being finalized.
pub(crate) struct LibraryUser {
    /// The address of the library's entry point: paths lie, links and copies of a path are one library.
    entry: usize,
    sessions: Arc<Sessions>,
    process: u32,
}

struct Library {
    users: usize,
    finalize: Option<Finalize>,
    sessions: Arc<Sessions>,
}

type Libraries = Mutex<BTreeMap<usize, Library>>;

/// The libraries that are in use, by the address of their entry point. Not locked while a library's code runs.
#[cfg(not(all(test, loom)))]
static LIBRARIES: Libraries = Mutex::new(BTreeMap::new());

#[cfg(all(test, loom))]
nvtxw_loom::lazy_static! {
    static ref LIBRARIES: Libraries = Mutex::new(BTreeMap::new());
}

impl LibraryUser {
    pub(crate) fn enter(entry: usize, finalize: Option<Finalize>) -> Self {
        let mut libraries = lock(&LIBRARIES);
        let library = libraries.entry(entry).or_insert_with(|| Library {
            users: 0,
            finalize: None,
            sessions: Arc::new(Sessions::one_by_one()),
        });
        library.users += 1;
        library.finalize = library.finalize.or(finalize);
        Self {
            entry,
            sessions: Arc::clone(&library.sessions),
            process: std::process::id(),
        }
    }

    /// Runs `call` while no session of the library begins or ends, and nobody finalizes it.
    pub(crate) fn in_turn<R>(&self, call: impl FnOnce() -> R) -> R {
        self.sessions.in_turn(call)
    }

    /// Leaves the library, but not as its last user.
    fn try_leave(&self) -> bool {
        let mut libraries = lock(&LIBRARIES);
        match libraries.get_mut(&self.entry) {
            Some(library) if library.users == 1 => false,
            Some(library) => {
                library.users -= 1;
                true
            }
            None => true,
        }
    }

    /// Leaves the library, and finalizes it unless somebody has entered it meanwhile.
    fn leave(&self) {
        let finalize = lock(&LIBRARIES).get_mut(&self.entry).and_then(|library| {
            library.users -= 1;
            library.finalize.filter(|_| library.users == 0)
        });
        // Who enters now finds the library here, and waits for this thread before calling it.
        if let Some(finalize) = finalize {
            finalize.run();
        }
        let mut libraries = lock(&LIBRARIES);
        if (libraries.get(&self.entry)).is_some_and(|library| library.users == 0) {
            libraries.remove(&self.entry);
        }
    }
}

impl Drop for LibraryUser {
    fn drop(&mut self) {
        // In a forked child the library's state, and perhaps a lock, is the parent's.
        if self.process == std::process::id() && !self.try_leave() {
            self.in_turn(|| self.leave());
        }
    }
}

/// The state behind `mutex`. It is whole after a panic too: nothing panics between its changes.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
