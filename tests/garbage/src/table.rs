//! The tables of backends, and what they answer.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Once;

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::{Library, table};
use nvtxw_backend::{InProcess, ResultCode, log};

use crate::collector::{Collector, Fate, PANIC, Reached, reached_by};
use crate::show::show;

nvtxw_backend::export_backend!(Collector);

unsafe extern "C" {
    fn nvtxwGetInterface(
        version: nvtxwInterfaceVersion_t,
        out: *mut *const c_void,
    ) -> nvtxwResultCode_t;
    fn nvtxwFinalize();
}

/// The table of a backend.
pub struct Table {
    members: &'static nvtxwInterface_v2_t,
    /// By which sessions begin of a backend that is not loaded as a library.
    token: Option<InProcess>,
    is_collector: bool,
}

/// What a call answered, and what it did.
#[derive(Debug)]
pub struct Answer {
    pub code: ResultCode,
    /// Empty for a success.
    pub reason: String,
    pub reached: Reached,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        self.code.is_success()
    }
}

/// Calls a member of the table, and gets its code.
macro_rules! member {
    ($table:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        $crate::show::show(|| stringify!($member).to_owned());
        let member = $table.members().$member.expect("a baseline member");
        // SAFETY:
        // - Each pointer is null, or made so that all that the call may read is there.
        unsafe { member($($argument),*) }
    }};
}
pub(crate) use member;

impl Table {
    /// That of the collector, as a library gives it out.
    pub fn of_collector() -> Self {
        let mut table: *const c_void = ptr::null();
        // SAFETY:
        // - The result has a place.
        let code = unsafe { nvtxwGetInterface(NVTXW_INTERFACE_VERSION, &mut table) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        Self {
            // SAFETY:
            // - On success this is a table that lives as long as the program.
            members: unsafe { &*table.cast() },
            token: None,
            is_collector: true,
        }
    }

    /// That of the collector, as a producer in the same program has it.
    pub fn of_collector_in_process() -> Self {
        Self::of_token(nvtxw_backend::in_process(Collector), true)
    }

    /// That of the built-in backend.
    pub fn of_file_backend() -> Self {
        Self::of_token(nvtxw_file::in_process(), false)
    }

    /// The same, as a library gives it out.
    pub fn of_file_library() -> Self {
        Self {
            members: files(),
            token: None,
            is_collector: false,
        }
    }

    fn of_token(token: InProcess, is_collector: bool) -> Self {
        Self {
            members: token.table(),
            token: Some(token),
            is_collector,
        }
    }

    pub fn members(&self) -> &'static nvtxwInterface_v2_t {
        self.members
    }

    pub fn is_collector(&self) -> bool {
        self.is_collector
    }

    /// Whether the backend is loaded as a library: a producer that does this promises that pointers hold.
    pub fn is_library(&self) -> bool {
        self.token.is_none()
    }

    /// `SessionBegin`. One that is not loaded as a library gets it by a hook that takes no null pointers.
    pub fn begin(
        &self,
        attr: *const nvtxwSessionAttributes_t,
        out: *mut nvtxwSessionHandle_t,
    ) -> nvtxwResultCode_t {
        match &self.token {
            Some(token) => {
                show(|| "SessionBegin".to_owned());
                // SAFETY:
                // - For such backends the sessions' attributes are there, as a whole.
                let attr = unsafe { &*attr };
                // SAFETY:
                // - For such backends the result has a place, which nothing else refers to.
                let out = unsafe { &mut *out };
                // SAFETY:
                // - Each text is null or null-terminated.
                unsafe { token.begin(attr, out) }.get()
            }
            None => member!(self, SessionBegin(attr, out)),
        }
    }

    /// `nvtxwFinalize` of a library.
    pub fn finalize(&self) {
        if self.is_library() {
            // SAFETY:
            // - It may be called at any time.
            unsafe { nvtxwFinalize() };
        }
    }
}

/// The table of the built-in backend as a library.
pub fn files() -> &'static nvtxwInterface_v2_t {
    static LIBRARY: Library = Library::new(|| Box::new(nvtxw_file::FileBackend::new()));
    static TABLE: nvtxwInterface_v2_t = table(begin);

    unsafe extern "C" fn begin(
        attr: *const nvtxwSessionAttributes_t,
        out: *mut nvtxwSessionHandle_t,
    ) -> nvtxwResultCode_t {
        // SAFETY:
        // - The caller vouches for its arguments, and for pointers in what it writes.
        unsafe { LIBRARY.session_begin(attr, out) }
    }

    &TABLE
}

/// How the built-in backend ends what it tells of data that it takes, though this is not in the order that was claimed.
const TAKEN: &str = "the events are taken and put in order all the same, and counted";

thread_local! {
    static REPORTS: RefCell<Vec<(ResultCode, String)>> = const { RefCell::new(Vec::new()) };
}

/// Makes a call, and checks that it is reported if it is refused, and only then. The backend meets `fate` in it.
pub fn answer(fate: Option<Fate>, call: impl FnOnce() -> nvtxwResultCode_t) -> Answer {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        log::set_hook(Some(|report| {
            let refusal = report.refusal;
            let report = (refusal.code(), refusal.reason().to_owned());
            REPORTS.with_borrow_mut(|reports| reports.push(report));
        }));
    });

    let outer = REPORTS.take();
    let (code, reached) = reached_by(fate, call);
    let code = ResultCode::new(code);
    let mut reports = REPORTS.replace(outer);
    reports.retain(|(_, reason)| !reason.ends_with(TAKEN));
    let reason = match &*reports {
        [] if code.is_success() => String::new(),
        [(reported, reason)] if *reported == code && !reason.is_empty() => reason.clone(),
        _ => panic!("{code} with the reports {reports:?}"),
    };
    assert!(
        [
            ResultCode::SUCCESS,
            ResultCode::FAILED,
            ResultCode::INVALID_ARGUMENT,
            ResultCode::NOT_SUPPORTED
        ]
        .contains(&code),
        "{code}: {reason}"
    );
    show(|| format!("  {code} {reason}"));
    assert!(
        !reason.contains("panicked") || reason.contains(PANIC) || reason.contains("poisoned"),
        "{reason}"
    );
    Answer {
        code,
        reason,
        reached,
    }
}
