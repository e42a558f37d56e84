//! A backend that is exported from a library; here the library is the test program.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use nvtxw_abi::raw::*;
use nvtxw_backend::ResultCode;

use crate::program::*;
use crate::recorder::{Journal, Recorder};

/// The journals of the instances that were made.
static MADE: Mutex<Vec<Journal>> = Mutex::new(Vec::new());

fn make() -> Recorder {
    let journal = Journal::default();
    MADE.lock().expect("no panic").push(journal.clone());
    Recorder(journal)
}

nvtxw_backend::export_backend!(make());

unsafe extern "C" {
    fn nvtxwGetInterface(
        version: nvtxwInterfaceVersion_t,
        out: *mut *const c_void,
    ) -> nvtxwResultCode_t;
    fn nvtxwFinalize();
}

fn get_interface(version: i32) -> Outcome<&'static nvtxwInterface_v2_t> {
    let mut table = ptr::null();
    // SAFETY:
    // - The result has a place.
    call(|| unsafe { nvtxwGetInterface(version, &mut table) })?;
    let table: *const nvtxwInterface_v2_t = table.cast();
    // SAFETY:
    // - On success this is a table that lives as long as the program.
    Ok(unsafe { &*table })
}

fn begin(table: &nvtxwInterface_v2_t, attr: *const nvtxwSessionAttributes_t) -> Outcome<Session> {
    let begin = table.SessionBegin.expect("a member");
    let mut session = ptr::null_mut();
    // SAFETY:
    // - The attributes are null or valid, and the result has a place.
    call(|| unsafe { begin(attr, &mut session) })?;
    Ok(session)
}

fn end(table: &nvtxwInterface_v2_t, session: Session) -> Outcome {
    let end = table.SessionEnd.expect("a member");
    // SAFETY:
    // - Handles are never followed.
    call(|| unsafe { end(session) })
}

fn finalize() {
    // SAFETY:
    // - It may be called at any time.
    unsafe { nvtxwFinalize() };
}

#[test]
fn a_library_has_one_instance_until_it_is_finalised_and_then_another() {
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"run".as_ptr(),
        configString: ptr::null(),
    };
    let made = |index: usize| MADE.lock().expect("no panic")[index].clone();

    finalize();
    let table = get_interface(2).expect("a table");
    assert_eq!(table.missing().next(), None);
    assert!(table.reserved.iter().all(Option::is_none));
    assert_eq!(
        MADE.lock().expect("no panic").len(),
        0,
        "nothing is made before it is needed"
    );

    let (one, two) = (
        begin(table, &attr).expect("a session"),
        begin(table, &attr).expect("a session"),
    );
    end(table, one).expect("ended");
    end(table, two).expect("ended");
    finalize();
    finalize();
    assert_eq!(
        made(0).take(),
        [
            "begin run",
            "begin run",
            "end run",
            "drop session run",
            "end run",
            "drop session run",
            "finalize",
            "drop backend"
        ]
    );

    // The same mapped library, again.
    let table = get_interface(2).expect("a table");
    let session = begin(table, &attr).expect("a session");
    // Too early: then it takes effect when the session has ended.
    finalize();
    assert_eq!(made(1).take(), ["begin run"]);
    end(table, session).expect("ended");
    assert_eq!(
        made(1).take(),
        ["end run", "drop session run", "finalize", "drop backend"]
    );

    for version in [0, 1, 3, -1] {
        let mut table = ptr::null();
        // SAFETY:
        // - The result has a place.
        let code = unsafe { nvtxwGetInterface(version, &mut table) };
        assert_eq!(
            ResultCode::new(code),
            ResultCode::INTERFACE_VERSION_NOT_SUPPORTED
        );
        assert!(table.is_null());
    }
    // SAFETY:
    // - A null place is allowed.
    let nowhere = call(|| unsafe { nvtxwGetInterface(2, ptr::null_mut()) });
    assert_invalid(
        nowhere,
        "nvtxwGetInterface on \"\": ifaceOut is null, so that the result has no place",
    );

    assert_invalid(
        begin(table, ptr::null()),
        "SessionBegin on \"\": attr is null",
    );
    let begin = table.SessionBegin.expect("a member");
    // SAFETY:
    // - The attributes are valid, and a null place is allowed.
    let nowhere = call(|| unsafe { begin(&attr, ptr::null_mut()) });
    assert_invalid(
        nowhere,
        "SessionBegin on \"run\": sessionOut is null, so that the result has no place",
    );
    assert_eq!(
        MADE.lock().expect("no panic").len(),
        2,
        "a refused session needs no instance"
    );
}

#[test]
fn the_table_of_instances_begins_no_session() {
    let program = Program::new();
    assert_eq!(program.table().missing().next(), None);
    assert!(program.table().reserved.iter().all(Option::is_none));
    assert_unsupported(
        begin(program.table(), ptr::null()),
        "SessionBegin on \"\": this table is shared by all instances in this process: begin with the instance's own hook",
    );
}
