//! Calls from many threads, beyond what the ABI asks for.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use nvtxw_abi::raw::*;

use crate::program::*;

/// Handles are numbers; the tests pass them between threads as such.
#[test]
fn registration_and_writes_on_many_threads() {
    let program = Program::new();
    let (session, domain, _) = program.ready();
    let (session, domain) = (number(session), number(domain));
    let mark = program
        .schema(
            handle(domain),
            &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
        )
        .expect("a schema");
    std::thread::scope(|threads| {
        for thread in 0..4_i64 {
            let program = &program;
            threads.spawn(move || {
                let stream = program
                    .open_with(handle(session), &stream_attr(c"", handle(domain)))
                    .expect("a stream");
                for n in 0..200 {
                    let string = program.string(handle(domain), c"text").expect("a string");
                    assert!(!string.is_null());
                    let own = program
                        .schema(
                            handle(domain),
                            &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
                        )
                        .expect("a schema");
                    program
                        .write(stream, &[payload(own, &bytes![thread * 1000 + n])])
                        .expect("written");
                    program
                        .write(stream, &[payload(mark, &bytes![0_i64])])
                        .expect("written");
                }
                program.close(stream).expect("closed");
            });
        }
    });
    let lines = program.journal.take();
    for thread in 0..4 {
        for n in 0..200 {
            assert!(lines.contains(&format!("mark @{}", thread * 1000 + n)));
        }
    }
    assert_eq!(
        lines.iter().filter(|line| *line == "mark @0").count(),
        4 * 200 + 1
    );
    program.end(handle(session)).expect("ended");
}

#[test]
fn of_overlapping_writes_some_fail_and_none_is_lost() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mark = program
        .schema(
            domain,
            &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
        )
        .expect("a schema");
    let stream = number(stream);
    let written = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..500 {
                    match program.write(handle(stream), &[payload(mark, &bytes![1_i64])]) {
                        Ok(()) => _ = written.fetch_add(1, Ordering::Relaxed),
                        Err(refused) => assert!(
                            refused.report.contains("another call is inside"),
                            "{refused:?}"
                        ),
                    }
                }
            });
        }
    });
    let written = written.into_inner();
    assert!(written >= 500, "a thread that runs alone always gets in");
    assert_eq!(program.journal.take().len(), written);
}

#[test]
fn sessions_end_while_others_write_to_them() {
    for _ in 0..10 {
        let program = Program::new();
        let (session, domain, stream) = program.ready();
        let mark = program
            .schema(
                domain,
                &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
            )
            .expect("a schema");
        let (session, domain, stream) = (number(session), number(domain), number(stream));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while program
                    .write(handle(stream), &[payload(mark, &bytes![1_i64])])
                    .is_ok()
                {}
            });
            threads.spawn(|| while program.string(handle(domain), c"text").is_ok() {});
            threads.spawn(|| {
                while program
                    .open_with(handle(session), &stream_attr(c"", ptr::null_mut()))
                    .is_ok()
                {}
            });
            threads.spawn(|| {
                // A write may be inside, or a stream may just be opened: then nothing was ended.
                while program.end(handle(session)).is_err() {
                    std::thread::yield_now();
                }
            });
        });
        let lines = program.journal.take();
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!(
            count("open"),
            count("close") - 1,
            "all streams were closed, also the one from before"
        );
        assert_eq!(lines[lines.len() - 2..], ["end run", "drop session run"]);
    }
}
