//! Backends in the same program.

use std::ffi::c_void;

use nvtxw::abi::raw::*;
use nvtxw::{Backend, Config, InProcess, Session};

use crate::recorder::{Call, calls, record};
use crate::recorder_table::{self, TABLE};

/// Refuses, so that a session which began went through the instance's hook.
unsafe extern "C" fn no_begin(
    _: *const nvtxwSessionAttributes_t,
    _: *mut nvtxwSessionHandle_t,
) -> i32 {
    NVTXW_RESULT_FAILED
}

static SHARED: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
    SessionBegin: Some(no_begin),
    ..TABLE
};

/// Records the instance, as the stream of a `StreamClose`, before the begin.
unsafe extern "C" fn begin(
    instance: *const c_void,
    attr: *const nvtxwSessionAttributes_t,
    out: *mut nvtxwSessionHandle_t,
) -> i32 {
    record(Call::StreamClose {
        stream: instance.addr(),
    });
    // SAFETY:
    // - The arguments are passed on.
    unsafe { recorder_table::session_begin(attr, out) }
}

unsafe extern "C" fn release(_: *const c_void) {
    record(Call::Finalize);
}

fn instance(number: usize) -> Backend {
    // SAFETY:
    // - The table is complete, and its functions and the hooks are the recorder's: they don't unwind, take calls from any
    //   thread, and never follow a handle.
    // - The instance is a number that nothing follows.
    let token = unsafe {
        InProcess::new(
            &SHARED,
            std::ptr::without_provenance(number),
            begin,
            release,
        )
    };
    Backend::in_process(token)
}

#[test]
fn a_session_begins_through_its_instance() {
    let (one, two) = (instance(1), instance(2));
    let first = Session::begin(&one, "a", &Config::new()).unwrap();
    let second = Session::begin(&two, "b", &Config::new()).unwrap();
    let begun = calls();
    assert_eq!(
        (&begun[0], &begun[2]),
        (
            &Call::StreamClose { stream: 1 },
            &Call::StreamClose { stream: 2 }
        )
    );
    assert!(matches!(&begun[1], Call::SessionBegin { name, .. } if name == "a"));
    second.end().unwrap();
    first.end().unwrap();
    assert_eq!(calls().len(), 2);
}

#[test]
fn the_last_session_releases_the_instance() {
    let backend = instance(1);
    let session = Session::begin(&backend, "run", &Config::new()).unwrap();
    drop(backend.clone());
    drop(backend);
    calls();
    session.end().unwrap();
    assert!(matches!(
        calls()[..],
        [Call::SessionEnd { .. }, Call::Finalize]
    ));
}
