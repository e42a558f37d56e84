//! The life of sessions, domains and streams.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::Arc;

use nvtxw_abi::{InProcess, ReasonHook, ResultCode, raw};

use super::{CounterPort, DomainHandle, EventPort, Functions, Refusal, StreamHandle};
use crate::backend::Backend;
use crate::error::{Error, Result};

/// How sessions of a backend begin.
pub(crate) enum Begin {
    /// Through the own member of this table.
    Table(&'static raw::nvtxwInterface_v2_t),
    /// Through the hook of an instance in this process.
    Instance(Arc<InProcess>),
}

impl Begin {
    /// What tells why the backend refused a call.
    fn reason(&self) -> Option<ReasonHook> {
        match self {
            Self::Table(_) => None,
            Self::Instance(instance) => instance.reason(),
        }
    }

    /// What passes calls on to the backend.
    #[cfg(feature = "check")]
    pub(crate) fn relay(&self) -> nvtxw_backend::relay::Relay {
        use nvtxw_backend::relay::Relay;

        match self {
            Self::Instance(instance) => Relay::to_instance(Arc::clone(instance)),
            Self::Table(table) => {
                // SAFETY:
                // - The table's functions do what the ABI says, don't unwind, and stay mapped; calls on different sessions may
                //   overlap, or the backend is exclusive, and then so is the one in front of it (`Backend::load` and its
                //   siblings require it).
                // - Pointers in payloads lead to payloads of the same event, or nowhere: the checker, which is in this program,
                //   refuses others.
                let relay = unsafe { Relay::to_table(table) };
                relay.expect("`Functions::of` found no gap in the table")
            }
        }
    }

    /// What the answer to the last call on this thread means.
    fn check(&self, code: raw::nvtxwResultCode_t) -> Result<(), Refusal> {
        match ResultCode::new(code) {
            ResultCode::SUCCESS => Ok(()),
            code => Err(Refusal::Code {
                code,
                reason: last_reason(self.reason(), code),
            }),
        }
    }
}

/// Why the last call on this thread got the answer `code`, if the backend tells.
pub(crate) fn last_reason(hook: Option<ReasonHook>, code: ResultCode) -> Option<String> {
    let mut reason = None;
    hook?(&mut |told, text| {
        if told == code {
            reason = Some(text.to_owned());
        }
    });
    reason
}

/// The exported function that frees a library's global state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finalize(pub(super) raw::nvtxwFinalize_t);

impl Finalize {
    /// Frees the library's global state.
    pub(crate) fn run(self) {
        // SAFETY:
        // - The library stays mapped until the process exits, and doesn't unwind (`Backend::load` requires it).
        // - No session of it lives: `run` is called when its last user is gone, and whoever enters meanwhile waits for its turn.
        unsafe { (self.0)() }
    }
}

/// What a stream opens with.
pub(crate) struct StreamAttributes<'a> {
    pub(crate) name: &'a CStr,
    pub(crate) domain: DomainHandle,
    pub(crate) scope: u64,
    pub(crate) time_domain: u64,
    pub(crate) interleaving: i16,
    pub(crate) ordering: i16,
    pub(crate) skid: i32,
    pub(crate) skid_amount: i64,
}

/// A session that has begun and not ended; dropping it ends it.
#[derive(Debug)]
pub(crate) struct LiveSession {
    functions: Functions,
    handle: raw::nvtxwSessionHandle_t,
    /// The process that began the session: in a forked child it is not ours to end.
    process: u32,
    ended: bool,
    backend: Backend,
}

// SAFETY:
// - The handle is never dereferenced here, and calls with it may come from any thread (`Backend::load` and
//   `InProcess::new` require it).
unsafe impl Send for LiveSession {}

// SAFETY:
// - Through `&LiveSession` streams are written, one thread at a time each, which the ABI allows; what registers is called
//   with `&mut Session` in hand.
unsafe impl Sync for LiveSession {}

impl LiveSession {
    /// Begins a session. If the backend is a library, the caller sees to it that no other begins or ends.
    pub(crate) fn begin(
        backend: Backend,
        name: &CStr,
        config: Option<&CStr>,
    ) -> Result<Self, Refusal> {
        let attributes = raw::nvtxwSessionAttributes_t {
            structSize: size_of::<raw::nvtxwSessionAttributes_t>(),
            name: name.as_ptr(),
            configString: config.map_or(ptr::null(), CStr::as_ptr),
        };
        let functions = *backend.functions();
        let mut handle = ptr::null_mut();
        let code = match backend.begin() {
            Begin::Table(_) => {
                // SAFETY:
                // - The table's functions do what the ABI says (`Backend::load` and its siblings require it).
                // - The strings live through the call, and `handle` is a place of the right type.
                unsafe { (functions.session_begin)(&attributes, &mut handle) }
            }
            Begin::Instance(instance) => {
                // SAFETY:
                // - The strings are null-terminated and live through the call; `structSize` is the struct's size.
                unsafe { instance.begin(&attributes, &mut handle) }.get()
            }
        };
        backend.begin().check(code)?;
        if handle.is_null() {
            return Err(Refusal::NullHandle);
        }
        Ok(Self {
            functions,
            handle,
            process: std::process::id(),
            ended: false,
            backend,
        })
    }

    /// Ends the session, and reports what the backend answered.
    pub(crate) fn end(mut self, name: &str) -> Result<()> {
        self.finish(name)
    }

    fn finish(&mut self, name: &str) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        if self.process != std::process::id() {
            return Err(Error::Forked {
                session: name.to_owned(),
            });
        }
        let code = self.backend.end_session(|| {
            // SAFETY:
            // - The session has not ended: `ended` was false, and `end` and `drop` have it by value or `&mut`, so that no
            //   writer lives.
            // - Ends of sessions overlap only in a backend in this program, which allows that (`InProcess::new` requires it), or
            //   where a library makes this call inside of its own.
            unsafe { (self.functions.session_end)(self.handle) }
        });
        self.check(code)
            .map_err(|refusal| refusal.of("end", format!("session `{name}`")))
    }

    /// What tells why the backend refused a call.
    pub(crate) fn reason(&self) -> Option<ReasonHook> {
        self.backend.begin().reason()
    }

    /// What the answer to the last call on this thread means.
    pub(super) fn check(&self, code: raw::nvtxwResultCode_t) -> Result<(), Refusal> {
        self.backend.begin().check(code)
    }

    /// The functions that register, and the session that they register in.
    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Registers a domain; `None` is the session's default domain.
    pub(crate) fn domain(&self, name: Option<&CStr>) -> Result<DomainHandle, Refusal> {
        let attributes = raw::nvtxwDomainAttributes_t {
            structSize: size_of::<raw::nvtxwDomainAttributes_t>(),
            name: name.map_or(ptr::null::<c_char>(), CStr::as_ptr),
        };
        let mut handle = ptr::null_mut();
        // SAFETY:
        // - The session lives as long as `self`.
        // - The name lives through the call, and `handle` is a place of the right type.
        self.check(unsafe {
            (self.functions.domain_register)(self.handle, &attributes, &mut handle)
        })?;
        if handle.is_null() {
            Err(Refusal::NullHandle)
        } else {
            Ok(DomainHandle(handle))
        }
    }

    /// Opens a stream.
    pub(crate) fn open_stream(
        &self,
        stream: &StreamAttributes<'_>,
    ) -> Result<StreamHandle, Refusal> {
        let attributes = raw::nvtxwStreamAttributes_t {
            structSize: size_of::<raw::nvtxwStreamAttributes_t>(),
            name: stream.name.as_ptr(),
            domain: stream.domain.0,
            scopeId: stream.scope,
            timeDomainId: stream.time_domain,
            orderInterleaving: stream.interleaving,
            orderingType: stream.ordering,
            orderingSkid: stream.skid,
            orderingSkidAmount: stream.skid_amount,
        };
        let mut handle = ptr::null_mut();
        // SAFETY:
        // - The session lives as long as `self`, and its domains as long as it.
        // - The name lives through the call, and `handle` is a place of the right type.
        self.check(unsafe { (self.functions.stream_open)(self.handle, &attributes, &mut handle) })?;
        if handle.is_null() {
            Err(Refusal::NullHandle)
        } else {
            Ok(StreamHandle(handle))
        }
    }

    /// Closes a stream of this session. Its handle must not be used again if that succeeds.
    pub(crate) fn close_stream(&self, stream: &mut StreamHandle) -> Result<(), Refusal> {
        // SAFETY:
        // - The stream is one of this session's, which lives as long as `self`, and no writer holds it.
        self.check(unsafe { (self.functions.stream_close)(stream.0) })
    }

    /// What writes events to a stream of this session, which stays open as long as this is borrowed. The caller keeps the
    /// stream borrowed too, so that one thread at a time writes to it.
    #[inline]
    pub(crate) fn events(&self, stream: &StreamHandle) -> EventPort<'_> {
        EventPort::new(&self.functions, stream)
    }

    /// What writes counters to a stream of this session, as [`events`](Self::events) does events.
    #[inline]
    pub(crate) fn counters(&self, stream: &StreamHandle) -> CounterPort<'_> {
        CounterPort::new(&self.functions, stream)
    }
}

impl Drop for LiveSession {
    fn drop(&mut self) {
        // Nobody is left to hear of an error: `Session::end` is for those who want to.
        let _ = self.finish("");
    }
}
