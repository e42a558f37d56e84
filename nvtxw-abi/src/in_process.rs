//! A backend that lives in the same program.

use core::ffi::c_void;
use core::fmt;

use crate::ResultCode;
use crate::raw::{
    nvtxwInterface_v2_t, nvtxwResultCode_t, nvtxwSessionAttributes_t, nvtxwSessionHandle_t,
};

/// Begins a session of the backend instance `instance`: the table's `SessionBegin` with an
/// instance.
pub type BeginHook = unsafe extern "C" fn(
    instance: *const c_void,
    attr: *const nvtxwSessionAttributes_t,
    session_out: *mut nvtxwSessionHandle_t,
) -> nvtxwResultCode_t;

/// Passes the code and the reason of the last call that the backend refused on this thread, if it has not been asked for
/// that one yet.
pub type ReasonHook = fn(&mut dyn FnMut(ResultCode, &str));

/// An instance of a backend in the same program, as a backend hands it to a producer: neither has
/// to know the other.
///
/// Sessions begin through the instance's own hook, and everything else goes through the table that
/// all instances share. Dropping the token releases the instance.
pub struct InProcess {
    table: &'static nvtxwInterface_v2_t,
    instance: *const c_void,
    begin: BeginHook,
    release: unsafe extern "C" fn(*const c_void),
    reason: Option<ReasonHook>,
}

// SAFETY:
// - `new` requires that the hooks and the table's functions may be called from any thread.
// - The token gives out `instance` to its hooks only.
unsafe impl Send for InProcess {}

// SAFETY:
// - `new` requires that `begin` may be called from any thread, also while another call of it runs.
// - All other state is immutable.
unsafe impl Sync for InProcess {}

impl InProcess {
    /// A token for `instance`.
    ///
    /// # Safety
    /// - `table` is a complete v2 table: no baseline member is null, and each does what the ABI
    ///   says.
    /// - No function of `table` and neither hook unwinds.
    /// - All of them may be called from any thread, and calls on different sessions may overlap;
    ///   `begin` may overlap itself and calls on any session.
    /// - They are memory-safe whatever a handle or an ID in their arguments holds (stale and
    ///   foreign ones included), and whatever bytes a payload holds, as long as each pointer
    ///   argument is null or points to as many valid values as the call says.
    /// - `instance` is what both hooks expect, and stays valid until `release` is called with it.
    ///   The token calls `release` exactly once, when it is dropped; sessions that are still alive
    ///   then stay usable until they end.
    pub unsafe fn new(
        table: &'static nvtxwInterface_v2_t,
        instance: *const c_void,
        begin: BeginHook,
        release: unsafe extern "C" fn(*const c_void),
    ) -> Self {
        Self {
            table,
            instance,
            begin,
            release,
            reason: None,
        }
    }

    /// The same token, with what tells why a call was refused. Without it a producer knows the code alone.
    #[must_use]
    pub fn with_reason(mut self, reason: ReasonHook) -> Self {
        self.reason = Some(reason);
        self
    }

    /// What tells why a call was refused, if the backend has that.
    pub fn reason(&self) -> Option<ReasonHook> {
        self.reason
    }

    /// The functions of the instance's sessions. `SessionBegin` there knows nothing of the
    /// instance: use [`begin`](Self::begin).
    pub fn table(&self) -> &'static nvtxwInterface_v2_t {
        self.table
    }

    /// Begins a session of this instance; on success its handle is in `session_out`.
    ///
    /// # Safety
    /// Each pointer in `attr` is null or points to a null-terminated string, and `structSize` is
    /// not larger than the struct.
    pub unsafe fn begin(
        &self,
        attr: &nvtxwSessionAttributes_t,
        session_out: &mut nvtxwSessionHandle_t,
    ) -> ResultCode {
        // SAFETY:
        // - `instance` is valid until it is released, which needs the token by value.
        // - `attr` and `session_out` are references, and the caller vouches for the pointers in
        //   `attr`.
        ResultCode::new(unsafe { (self.begin)(self.instance, attr, session_out) })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // SAFETY:
        // - `instance` has not been released: only this does it, and a value is dropped once.
        unsafe { (self.release)(self.instance) }
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::ffi::c_void;
    use core::ptr;
    use std::cell::Cell;
    use std::string::ToString;

    use super::InProcess;
    use crate::ResultCode;
    use crate::raw::{
        NVTXW_RESULT_NOT_SUPPORTED, nvtxwInterface_v2_t, nvtxwResultCode_t,
        nvtxwSessionAttributes_t, nvtxwSessionHandle_t,
    };

    std::thread_local! {
        static RELEASED: Cell<Option<(usize, u32)>> = const { Cell::new(None) };
    }

    /// Answers with the address of the instance, so that a test sees what the token passes.
    unsafe extern "C" fn begin(
        instance: *const c_void,
        attr: *const nvtxwSessionAttributes_t,
        session_out: *mut nvtxwSessionHandle_t,
    ) -> nvtxwResultCode_t {
        // SAFETY:
        // - The token passes a reference.
        let size = unsafe { (*attr).structSize };
        assert_eq!(size, size_of::<nvtxwSessionAttributes_t>());
        // SAFETY:
        // - The token passes a reference.
        unsafe { session_out.write(instance.cast_mut().cast()) };
        NVTXW_RESULT_NOT_SUPPORTED
    }

    unsafe extern "C" fn release(instance: *const c_void) {
        let count = RELEASED.get().map_or(0, |(_, count)| count);
        RELEASED.set(Some((instance.addr(), count + 1)));
    }

    #[test]
    fn the_token_passes_its_instance_and_releases_it_once() {
        static TABLE: nvtxwInterface_v2_t = nvtxwInterface_v2_t::empty();
        static INSTANCE: u64 = 0;
        let instance: *const c_void = (&raw const INSTANCE).cast();
        // SAFETY:
        // - Nothing calls the table.
        // - The hooks neither unwind nor look at the instance, and don't depend on the thread.
        let token = unsafe { InProcess::new(&TABLE, instance, begin, release) };
        assert!(ptr::eq(token.table(), &TABLE));

        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: ptr::null(),
            configString: ptr::null(),
        };
        let mut session = ptr::null_mut();
        // SAFETY:
        // - All pointers in `attr` are null.
        let code = unsafe { token.begin(&attr, &mut session) };
        assert_eq!(code, ResultCode::NOT_SUPPORTED);
        assert_eq!(session.addr(), instance.addr());

        assert_eq!(RELEASED.get(), None);
        drop(token);
        assert_eq!(RELEASED.get(), Some((instance.addr(), 1)));
    }

    #[test]
    fn the_token_has_the_reason_that_it_was_given() {
        static TABLE: nvtxwInterface_v2_t = nvtxwInterface_v2_t::empty();
        // SAFETY:
        // - Nothing calls the table or `begin`; `release` doesn't look at the instance.
        let token = unsafe { InProcess::new(&TABLE, ptr::null(), begin, release) };
        assert!(token.reason().is_none());

        let token = token.with_reason(|told| told(ResultCode::FAILED, "the disk is full"));
        let mut heard = None;
        let reason = token.reason().expect("it was given one");
        reason(&mut |code, text| heard = Some((code, text.to_string())));
        assert_eq!(
            heard,
            Some((ResultCode::FAILED, "the disk is full".to_string()))
        );
    }

    #[test]
    fn the_token_crosses_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<InProcess>();
    }
}
