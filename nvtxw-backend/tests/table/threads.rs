//! Calls from many threads, beyond what the ABI asks for.

use std::ptr;
use std::sync::mpsc;

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

/// Handles and IDs of what a thread has registered, for others to write with.
#[derive(Clone, Copy)]
struct Fresh {
    schema: u64,
    counter: u64,
    string: u64,
    scope: u64,
}

/// Registers one of everything.
fn register_all(program: &Program, session: u64, domain: u64) -> Fresh {
    let domain = handle(domain);
    let name = |n| enum_entry(c"red", n);
    member!(program, CategoryRegister(domain, 7, c"io".as_ptr())).expect("named");
    let enumeration = program.enumeration(domain, &enum_attr(&[name(1)], 4));
    let enumeration = enumeration.expect("an enum");
    let scope = program.scope(domain, NVTX_SCOPE_ROOT, Some(c"here"), 0);
    let string = program.string(domain, c"gemm").expect("a string");
    let clock = nvtxTimeDomainAttr_t {
        scopeId: NVTX_SCOPE_NONE,
        timestampTypeId: NVTX_TIMESTAMP_TYPE_NONE,
        timeDomainId: 0,
        timerFlags: 0,
        timerResolution: 0,
        timerStart: 0,
    };
    member!(program, TimeDomainRegister(domain, &clock, &mut 0)).expect("a time domain");
    let resource = nvtxResourceAttributes_t {
        version: NVTX_VERSION,
        size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
        identifierType: NVTX_RESOURCE_TYPE_GENERIC_HANDLE,
        identifier: nvtxResourceIdentifier_t { ullValue: 42 },
        messageType: NVTX_MESSAGE_TYPE_ASCII,
        message: nvtxMessageValue_t {
            ascii: c"mutex".as_ptr(),
        },
    };
    member!(program, ResourceRegister(domain, &resource)).expect("registered");
    program
        .domain(handle(session), Some(c"other"))
        .expect("a domain");
    let entries = [
        mark_entries()[0],
        entry(
            MESSAGE,
            NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
            c"message",
        ),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
        entry(0, enumeration, c"color"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"category"),
    ];
    let schema = program.schema(
        domain,
        &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries),
    );
    let counter = program.counter(domain, &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64));
    Fresh {
        schema: schema.expect("a schema"),
        counter: counter.expect("a counter"),
        string: number(string),
        scope: scope.expect("a scope"),
    }
}

#[test]
fn what_one_thread_registers_others_write_at_once() {
    const WRITERS: i64 = 3;
    const ROUNDS: i64 = 100;

    let program = Program::new();
    let (session, domain, _) = program.ready();
    let (session, domain) = (number(session), number(domain));
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..WRITERS).map(|_| mpsc::channel::<Fresh>()).unzip();
    std::thread::scope(|threads| {
        let program = &program;
        for (writer, fresh) in (0..).zip(receivers) {
            threads.spawn(move || {
                let attr = stream_attr(c"", handle(domain));
                let stream = program.open_with(handle(session), &attr);
                let stream = stream.expect("a stream");
                for (round, fresh) in (0_i64..).zip(fresh) {
                    let time = writer * 1000 + round;
                    let event = bytes![time, fresh.string, fresh.scope, 1_u32, 7_u32];
                    program
                        .write(stream, &[payload(fresh.schema, &event)])
                        .expect("written");
                    program
                        .write_counter(stream, time, fresh.counter, &bytes![time])
                        .expect("written");
                }
                program.close(stream).expect("closed");
            });
        }
        threads.spawn(move || {
            for _ in 0..ROUNDS {
                let fresh = register_all(program, session, domain);
                for sender in &senders {
                    sender.send(fresh).expect("the writer waits for it");
                }
            }
        });
    });
    let lines = program.journal.take();
    for writer in 0..WRITERS {
        for round in 0..ROUNDS {
            let time = writer * 1000 + round;
            let mark = format!("mark @{time} #");
            let mark = lines.iter().find(|line| line.starts_with(&mark));
            let mark = mark.expect("the event is there");
            assert!(mark.contains("\"gemm\" category 7 scope "), "{mark}");
            assert!(mark.ends_with("{color: red}"), "{mark}");
            let sample = format!("counter n in scope 0 @{time} {{n: I64({time})}}");
            assert!(lines.contains(&sample), "{sample}");
        }
    }
    program.end(handle(session)).expect("ended");
}

#[test]
fn of_overlapping_writes_some_fail_and_none_is_lost() {
    const EACH: usize = 500;
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mark = program.mark(domain);
    let stream = number(stream);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let mut written = 0;
                while written < EACH {
                    match program.write(handle(stream), &[payload(mark, &bytes![1_i64])]) {
                        Ok(()) => written += 1,
                        Err(refused) => assert!(
                            refused.report.contains("another call is inside"),
                            "{refused:?}"
                        ),
                    }
                }
            });
        }
    });
    assert_eq!(program.journal.take().len(), 4 * EACH);
}

#[test]
fn sessions_end_while_others_write_to_them() {
    for _ in 0..10 {
        let program = Program::new();
        let (session, domain, stream) = program.ready();
        let mark = program.mark(domain);
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
