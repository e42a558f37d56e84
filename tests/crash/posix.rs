//! The few calls of the system that the standard library has not.

use std::ffi::{c_int, c_ulong};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const SIGUSR1: c_int = 10;
const SIGXFSZ: c_int = 25;
const SIG_IGN: usize = 1;
const RLIMIT_FSIZE: c_int = 1;

#[repr(C)]
struct Limit {
    current: u64,
    greatest: u64,
}

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn siginterrupt(signal: c_int, flag: c_int) -> c_int;
    fn pthread_self() -> c_ulong;
    fn pthread_kill(thread: c_ulong, signal: c_int) -> c_int;
    fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
}

/// Runs `child` in a fork of this process, which then exits. Returns its status.
pub fn fork_and_wait(child: impl FnOnce()) -> c_int {
    // SAFETY:
    // - Of the other threads of this program one waits for this one, and others flush or write: none holds a lock that the
    //   child needs, but for that of memory, which the system's library sees to.
    let process = unsafe { fork() };
    if process == 0 {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        std::process::exit(if result.is_ok() { 0 } else { 1 });
    }
    assert!(process > 0, "fork failed");
    let mut status = -1;
    // SAFETY:
    // - `status` is a place of the right type.
    let waited = unsafe { waitpid(process, &mut status, 0) };
    assert_eq!(waited, process);
    status
}

static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// Interrupts the system calls that this thread makes in `work`, again and again. Returns how often.
pub fn interrupted<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // SAFETY:
    // - The handler does what a handler may: it adds to an atomic number.
    unsafe { signal(SIGUSR1, count as extern "C" fn(c_int) as usize) };
    // SAFETY:
    // - It takes numbers.
    unsafe { siginterrupt(SIGUSR1, 1) };
    // SAFETY:
    // - It takes nothing.
    let thread = unsafe { pthread_self() };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                // SAFETY:
                // - The thread lives: it waits for this one at the end of the scope.
                unsafe { pthread_kill(thread, SIGUSR1) };
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        (result, SIGNALS.load(Ordering::Relaxed))
    })
}

/// Lets no file of this process grow beyond so many bytes: a write beyond fails.
pub fn limit_file_size(bytes: u64) {
    // SAFETY:
    // - To ignore a signal needs no handler.
    unsafe { signal(SIGXFSZ, SIG_IGN) };
    let limit = Limit {
        current: bytes,
        greatest: bytes,
    };
    // SAFETY:
    // - `limit` is a value of the right type.
    let result = unsafe { setrlimit(RLIMIT_FSIZE, &limit) };
    assert_eq!(result, 0);
}
