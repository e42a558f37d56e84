//! Models of the table of libraries.

use nvtxw_loom::sync::atomic::{AtomicUsize, Ordering};
use nvtxw_loom::{lazy_static, model, thread};

use super::Finalize;
use crate::backend::LibraryUser;

lazy_static! {
    /// 1 from the call of the library's entry point to that of its finalizer.
    static ref READY: AtomicUsize = AtomicUsize::new(0);
    /// Calls of the entry point and the finalizer that run.
    static ref INSIDE: AtomicUsize = AtomicUsize::new(0);
    static ref OVERLAPPED: AtomicUsize = AtomicUsize::new(0);
    static ref FINALIZED: AtomicUsize = AtomicUsize::new(0);
    static ref OTHER_FINALIZED: AtomicUsize = AtomicUsize::new(0);
}

fn alone(call: impl FnOnce()) {
    OVERLAPPED.fetch_add(INSIDE.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    call();
    INSIDE.fetch_sub(1, Ordering::Relaxed);
}

unsafe extern "C" fn finalize() {
    alone(|| READY.store(0, Ordering::Relaxed));
    FINALIZED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn finalize_other() {
    OTHER_FINALIZED.fetch_add(1, Ordering::Relaxed);
}

/// Loads the library, as `from_interface` does.
fn load() -> LibraryUser {
    let user = LibraryUser::enter(7, Some(Finalize(finalize)));
    user.in_turn(|| alone(|| READY.store(1, Ordering::Relaxed)));
    user
}

fn is_ready() -> bool {
    READY.load(Ordering::Relaxed) == 1
}

#[test]
fn a_library_is_finalized_after_its_last_user_and_under_nobody() {
    model(["shared", "loaded again"], |[shared, again]| {
        let user = || {
            thread::spawn(|| {
                let user = load();
                let was_ready = is_ready();
                drop(user);
                was_ready
            })
        };
        let users = [user(), user()];
        for user in users {
            assert!(user.join().unwrap(), "finalized under a user");
        }
        assert!(!is_ready());
        assert_eq!(OVERLAPPED.load(Ordering::Relaxed), 0);
        match FINALIZED.load(Ordering::Relaxed) {
            1 => shared.met(),
            2 => again.met(),
            count => panic!("finalized {count} times for two users"),
        }
        // And once more.
        let user = load();
        assert!(is_ready());
        drop(user);
        assert!(!is_ready());
    });
}

#[test]
fn a_user_passed_to_another_thread_counts_on() {
    model(["first sees the end", "second sees the end"], |outcomes| {
        let first = load();
        let second = load();
        let [one, other] = [first, second].map(|user| {
            thread::spawn(move || {
                let was_ready = is_ready();
                drop(user);
                (was_ready, is_ready())
            })
        });
        let (one, other) = (one.join().unwrap(), other.join().unwrap());
        assert!(one.0 && other.0);
        assert_eq!(FINALIZED.load(Ordering::Relaxed), 1);
        assert!(!one.1 || !other.1, "who is last has seen the end");
        if !one.1 {
            outcomes[0].met();
        }
        if !other.1 {
            outcomes[1].met();
        }
    });
}

#[test]
fn libraries_are_counted_apart() {
    model([], |[]| {
        let user = load();
        let other = thread::spawn(|| {
            drop(LibraryUser::enter(8, Some(Finalize(finalize_other))));
        });
        assert!(is_ready());
        drop(user);
        assert!(!is_ready());
        assert_eq!(FINALIZED.load(Ordering::Relaxed), 1);
        other.join().unwrap();
        assert_eq!(OTHER_FINALIZED.load(Ordering::Relaxed), 1);
    });
}
