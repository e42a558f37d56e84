//! A forked child has copies of the parent's sessions, and must leave them alone.

use std::ffi::c_int;

use nvtxw::{Error, StreamOptions};

use crate::recorder::{Call, calls, session};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[test]
fn a_child_ends_no_session_of_its_parent() {
    let (first, mut second) = (session("first"), session("second"));
    let domain = second.domain("sim").unwrap().id();
    let stream = second.open_stream("s", StreamOptions::new(domain)).unwrap();
    calls();

    // SAFETY:
    // - The child calls only what needs no lock that another thread of the parent could hold, and leaves by `_exit`.
    let child = unsafe { fork() };
    if child == 0 {
        let error = first.end();
        drop((second, stream));
        let right = match &error {
            Err(error @ Error::Forked { session }) => {
                session == "first"
                    && error.to_string()
                        == "can't end session `first` in this process, which was forked from the one that began it: end it \
                            there"
            }
            _ => false,
        };
        let status = if right && calls().is_empty() { 0 } else { 1 };
        // SAFETY:
        // - It ends the process.
        unsafe { _exit(status) };
    }
    assert!(child > 0, "fork failed");
    let mut status = -1;
    // SAFETY:
    // - `status` is a place of the right type.
    let waited = unsafe { waitpid(child, &mut status, 0) };
    assert_eq!((waited, status), (child, 0));

    first.end().unwrap();
    second.end().unwrap();
    assert!(matches!(
        calls()[..],
        [Call::SessionEnd { .. }, Call::SessionEnd { .. }]
    ));
}
