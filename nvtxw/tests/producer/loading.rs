//! From an entry point or a table to a backend, and back to its finalizer.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use nvtxw::abi::raw::*;
use nvtxw::{Backend, Config, Session};

use crate::recorder::{Call, calls, record};
use crate::recorder_table::{self, TABLE};

#[test]
fn null_members_are_named() {
    static MISSING: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
        CounterNoValueWrite: None,
        ..TABLE
    };
    // SAFETY:
    // - The functions are the recorder's.
    let error = unsafe { Backend::from_table(&MISSING) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the backend `the given table` is broken: its function table has null for `CounterNoValueWrite`, which every backend \
         must have (one that doesn't do a call answers NOT_SUPPORTED); report it to its makers"
    );
    // One that this crate never calls counts too.
    static UNUSED: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
        DomainRegister: None,
        EventWrite: None,
        TimestampConversionFactorWrite: None,
        ..TABLE
    };
    // SAFETY:
    // - The functions are the recorder's.
    let error = unsafe { Backend::from_table(&UNUSED) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the backend `the given table` is broken: its function table has null for `DomainRegister`, `EventWrite`, \
         `TimestampConversionFactorWrite`, which every backend must have (one that doesn't do a call answers \
         NOT_SUPPORTED); report it to its makers"
    );
}

static ASKED: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn refuses(version: i32, _: *mut *const c_void) -> i32 {
    ASKED.store(version, Ordering::Relaxed);
    NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED
}

unsafe extern "C" fn fails(_: i32, _: *mut *const c_void) -> i32 {
    NVTXW_RESULT_FAILED
}

unsafe extern "C" fn gives_nothing(_: i32, _: *mut *const c_void) -> i32 {
    NVTXW_RESULT_SUCCESS
}

#[test]
fn an_entry_point_that_gives_no_table_says_why() {
    let refused = |entry| {
        // SAFETY:
        // - The functions hand out nothing.
        let refused = unsafe { Backend::from_interface(entry, None) };
        refused.unwrap_err().to_string()
    };
    assert_eq!(
        refused(refuses),
        "the backend `the given entry point` doesn't support version 2 of the NVTXW ABI: use a release of it that does"
    );
    assert_eq!(ASKED.load(Ordering::Relaxed), 2);
    let error = refused(fails);
    assert!(
        error.starts_with("can't get the function table of the backend `the given entry point`: the backend answered FAILED"),
        "{error}"
    );
    assert_eq!(
        refused(gives_nothing),
        "the backend `the given entry point` is broken: its entry point succeeded and gave no function table; report it to \
         its makers"
    );
}

/// An entry point of the recorder's table. Tests that count its users don't share it.
macro_rules! entry_point {
    ($name:ident, $asked:ident) => {
        static $asked: AtomicUsize = AtomicUsize::new(0);

        unsafe extern "C" fn $name(version: i32, table: *mut *const c_void) -> i32 {
            assert_eq!(version, 2);
            // What is asked in one place is counted by the place, so that two such functions are never merged into one.
            $asked.fetch_add(1, Ordering::Relaxed);
            // SAFETY:
            // - The caller gives a place for the table.
            unsafe { table.write(std::ptr::from_ref(&TABLE).cast()) };
            NVTXW_RESULT_SUCCESS
        }
    };
}

unsafe extern "C" fn finalize() {
    record(Call::Finalize);
}

fn kinds(calls: &[Call]) -> Vec<&'static str> {
    calls
        .iter()
        .map(|call| match call {
            Call::SessionBegin { .. } => "begin",
            Call::SessionEnd { .. } => "end",
            Call::Finalize => "finalize",
            call => panic!("{call:?}"),
        })
        .collect()
}

#[test]
fn the_last_user_finalizes() {
    entry_point!(entry, ASKED);
    // SAFETY:
    // - The table's functions are the recorder's, and the finalizer only records.
    let load = || unsafe { Backend::from_interface(entry, Some(finalize)) }.unwrap();
    let first = load();
    let clone = first.clone();
    let second = load();
    assert_eq!(ASKED.load(Ordering::Relaxed), 2);
    let session = Session::begin(&first, "run", &Config::new()).unwrap();
    drop((first, clone, second));
    assert_eq!(
        kinds(&calls()),
        ["begin"],
        "the session still uses the backend"
    );
    drop(session);
    assert_eq!(kinds(&calls()), ["end", "finalize"]);

    let again = load();
    let session = Session::begin(&again, "run", &Config::new()).unwrap();
    session.end().unwrap();
    assert_eq!(kinds(&calls()), ["begin", "end"]);
    drop(again);
    assert_eq!(kinds(&calls()), ["finalize"]);
}

#[test]
fn a_failed_load_leaves_nothing_behind() {
    static FAIL: AtomicUsize = AtomicUsize::new(1);
    unsafe extern "C" fn entry(_: i32, table: *mut *const c_void) -> i32 {
        if FAIL.load(Ordering::Relaxed) == 1 {
            return NVTXW_RESULT_FAILED;
        }
        // SAFETY:
        // - The caller gives a place for the table.
        unsafe { table.write(std::ptr::from_ref(&TABLE).cast()) };
        NVTXW_RESULT_SUCCESS
    }
    // SAFETY:
    // - The table's functions are the recorder's, and the finalizer only records.
    let load = || unsafe { Backend::from_interface(entry, Some(finalize)) };
    load().unwrap_err();
    assert_eq!(kinds(&calls()), ["finalize"]);
    FAIL.store(0, Ordering::Relaxed);
    drop(load().unwrap());
    assert_eq!(kinds(&calls()), ["finalize"]);
}

#[test]
fn sessions_of_a_backend_begin_and_end_one_at_a_time() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    fn alone(call: impl FnOnce() -> i32) -> i32 {
        let inside = INSIDE.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(1));
        SEEN.lock().unwrap().push(inside);
        let answer = call();
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        answer
    }
    unsafe extern "C" fn begin(
        attr: *const nvtxwSessionAttributes_t,
        out: *mut nvtxwSessionHandle_t,
    ) -> i32 {
        // SAFETY:
        // - The arguments are passed on.
        alone(|| unsafe { recorder_table::session_begin(attr, out) })
    }
    unsafe extern "C" fn end(session: nvtxwSessionHandle_t) -> i32 {
        // SAFETY:
        // - The argument is passed on.
        alone(|| unsafe { recorder_table::session_end(session) })
    }
    static SLOW: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
        SessionBegin: Some(begin),
        SessionEnd: Some(end),
        ..TABLE
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Two backends of one table are one library.
                // SAFETY:
                // - The functions are the recorder's.
                let backend = unsafe { Backend::from_table(&SLOW) }.unwrap();
                for _ in 0..5 {
                    Session::begin(&backend, "run", &Config::new())
                        .unwrap()
                        .end()
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(*SEEN.lock().unwrap(), vec![0; 40]);
}
