//! How instances are handed out: in process, or as a library's only one.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use nvtxw_abi::InProcess;
use nvtxw_abi::raw::{
    nvtxwInterface_v2_t, nvtxwResultCode_t, nvtxwSessionAttributes_t, nvtxwSessionHandle_t,
};

use crate::backend::{AnyBackend, Backend};
use crate::instance::Instance;
use crate::last_refusal;
use crate::lock::lock;
use crate::panic::catch;
use crate::raw::outside::Promise;
use crate::raw::trampoline::{On, call, put, table};
use crate::raw::views;
use crate::refusal::{Refusal, Result};
use crate::session::{self, DOMAINS, SESSIONS};
use crate::stream::STREAMS;
use crate::sync::Mutex;

/// Hands a backend to a producer in the same program. Instances are independent of each other, and need no library to be
/// loaded.
///
/// Pointers in what the producer writes are followed only to other payloads of the same event: safe code may write any number
/// there, so that nothing says that they hold.
///
/// The backend is finalised and dropped when the token and all sessions are gone.
pub fn in_process<B: Backend>(backend: B) -> InProcess {
    static TABLE: nvtxwInterface_v2_t = table(no_instance);

    let instance = Arc::new(Instance::new(Box::new(backend)));
    // SAFETY:
    // - All members are set; each does what the ABI says, catches panics, may be called from any thread at any time, and
    //   looks handles up without following them. So do the hooks.
    // - The instance comes from `Arc::into_raw`, as the hooks expect, and holds one count until `release` gives it back.
    let token = unsafe { InProcess::new(&TABLE, Arc::into_raw(instance).cast(), begin, release) };
    last_refusal::keep();
    token.with_reason(last_refusal::take)
}

/// Begins a session of an instance.
unsafe extern "C" fn begin(
    instance: *const c_void,
    attr: *const nvtxwSessionAttributes_t,
    out: *mut nvtxwSessionHandle_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The token calls this with what `in_process` gave it, and has not released it.
    let instance = unsafe { Arc::from_raw(instance.cast::<Instance>()) };
    // The count stays the token's.
    let instance = ManuallyDrop::new(instance);
    // SAFETY:
    // - The producer vouches for its arguments.
    // - A producer in the same program promises nothing: its safe code may write any address.
    unsafe { begin_session(|| Ok(Arc::clone(&instance)), None, attr, out) }
}

/// Gives the token's count of an instance back.
unsafe extern "C" fn release(instance: *const c_void) {
    // SAFETY:
    // - The token calls this once, with what `in_process` gave it.
    let instance = unsafe { Arc::from_raw(instance.cast::<Instance>()) };
    drop(instance);
}

/// What the table of all instances has for `SessionBegin`.
unsafe extern "C" fn no_instance(
    _attr: *const nvtxwSessionAttributes_t,
    _out: *mut nvtxwSessionHandle_t,
) -> nvtxwResultCode_t {
    call("SessionBegin", On::New(None), || {
        Err(Refusal::unsupported(
            "this table is shared by all instances in this process: begin with the instance's own hook",
        ))
    })
}

/// Begins a session of what `instance` gives, for a producer that promises so much.
///
/// # Safety
/// `attr` is null or points to as many bytes as its `structSize` says, and each text in it is null or null-terminated. `out` is
/// null or may be written to.
unsafe fn begin_session(
    instance: impl FnOnce() -> Result<Arc<Instance>>,
    promise: Option<Promise>,
    attr: *const nvtxwSessionAttributes_t,
    out: *mut nvtxwSessionHandle_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The caller vouches for the pointer.
    let spec = catch(|| unsafe { views::session(attr) }).flatten();
    let name = spec.as_ref().ok().and_then(|spec| spec.name);
    call("SessionBegin", On::New(name), || {
        let spec = spec?;
        let begin = || {
            Ok(std::ptr::without_provenance_mut(
                session::begin(&instance()?, &spec, promise)? as usize,
            ))
        };
        // SAFETY:
        // - The caller vouches for the pointer.
        unsafe { put(out, "sessionOut", begin) }
    })
}

/// The instance of an exported library: made for its first session, gone after `nvtxwFinalize`, and made again if need be.
pub struct Library {
    make: fn() -> Box<dyn AnyBackend>,
    instance: Mutex<Option<Arc<Instance>>>,
}

impl Library {
    /// A library whose instance `make` makes.
    #[cfg(not(all(test, loom)))]
    pub const fn new(make: fn() -> Box<dyn AnyBackend>) -> Self {
        Self {
            make,
            instance: Mutex::new(None),
        }
    }

    /// A library whose instance `make` makes.
    #[cfg(all(test, loom))]
    pub fn new(make: fn() -> Box<dyn AnyBackend>) -> Self {
        Self {
            make,
            instance: Mutex::new(None),
        }
    }

    /// The library's `SessionBegin`.
    ///
    /// # Safety
    /// `attr` is null or points to as many bytes as its `structSize` says, and each text in it is null or null-terminated.
    /// `out` is null or may be written to. Pointers in what is written to the session lead to what the entries that hold them
    /// describe, until the call returns.
    pub unsafe fn session_begin(
        &self,
        attr: *const nvtxwSessionAttributes_t,
        out: *mut nvtxwSessionHandle_t,
    ) -> nvtxwResultCode_t {
        // SAFETY:
        // - The caller vouches for what is written to the session, and nothing else gets this.
        let promise = unsafe { Promise::given() };
        // SAFETY:
        // - The caller vouches for the pointers.
        unsafe { begin_session(|| self.instance(), Some(promise), attr, out) }
    }

    /// The library's `nvtxwFinalize`.
    pub fn finalize(&self) {
        let instance = lock(&self.instance).take();
        drop(instance);
        STREAMS.forget_gone();
        DOMAINS.forget_gone();
        SESSIONS.forget_gone();
    }

    pub(crate) fn instance(&self) -> Result<Arc<Instance>> {
        if let Some(instance) = &*lock(&self.instance) {
            return Ok(Arc::clone(instance));
        }
        // Made without the lock, which the backend must not run under. Of two that are made at once, one is dropped.
        let made = Arc::new(Instance::new(catch(self.make)?));
        Ok(Arc::clone(lock(&self.instance).get_or_insert(made)))
    }
}
