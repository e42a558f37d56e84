//! What reaches the backend behind the checker.

use nvtxw_abi::raw::*;
use nvtxw_backend::relay::Relay;
use nvtxw_backend::{InProcess, in_process};
use nvtxw_check::{Behind, Checked};

use crate::program::*;
use crate::recorder::{Journal, Recorder};

/// What a recorder gets that stands behind what `before` makes of it.
fn written(before: impl FnOnce(Recorder) -> InProcess) -> Vec<String> {
    let journal = Journal::default();
    let program = Program::of(before(Recorder(journal.clone())));
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"run".as_ptr(),
        configString: c"check.output=off|level=3".as_ptr(),
    };
    let session = program.begin_with(&attr).expect("a session");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let stream = program.open(session, c"gpu", domain);
    let schema = |flags, entries: &[nvtxPayloadSchemaEntry_t]| {
        program
            .schema(domain, &schema_attr(flags, entries))
            .expect("a schema")
    };
    let mark = mark_entries()[0];
    let name = entry(
        MESSAGE,
        NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
        c"name",
    );
    let scope = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope");
    let marks = schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &[mark, name, scope]);
    let gemm = program.string(domain, c"gemm").expect("a string");
    let gpu = program
        .scope(domain, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 0)
        .expect("a scope");
    let events = [
        bytes![20_i64, number(gemm), gpu],
        bytes![10_i64, 0_u64, 0_u64],
    ]
    .concat();
    // What breaks its claim is passed on too.
    program
        .write_batch(stream, &batch(marks, &events))
        .expect("written");
    program
        .write(stream, &[payload(marks, &events[..24])])
        .expect("written");
    program
        .write(stream, &[payload(marks + 1, &events)])
        .expect_err("refused");
    let counter = counter_attr(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = program.counter(domain, &counter).expect("a counter");
    program
        .write_counter(stream, 30, counter, &bytes![7_i64])
        .expect("written");
    let values = bytes![1_i64, 2_i64];
    let samples = counter_batch(counter, &values, Some(&[40, 50]));
    program.write_counters(stream, &samples).expect("written");
    member!(program, CounterNoValueWrite(stream, 60, counter, 1)).expect("written");
    member!(
        program,
        TimeSyncPointWrite(
            stream,
            NVTX_TIMESTAMP_TYPE_CPU_TSC,
            NVTX_TIMESTAMP_TYPE_C_TIME,
            1,
            2
        )
    )
    .expect("written");
    program.close(stream).expect("closed");
    program.open(session, c"left open", domain);
    program.end(session).expect("ended");
    // When the backend goes depends on who holds it.
    let mut lines = journal.take();
    lines.retain(|line| !line.starts_with("drop ") && line != "finalize");
    lines
}

#[test]
fn the_backend_behind_gets_what_it_would_get_without_the_checker() {
    let bare = written(in_process);
    assert!(bare.len() > 10, "{bare:?}");
    assert_eq!(written(|recorder| in_process(Checked::new(recorder))), bare);
    let relayed = written(|recorder| {
        let relay = Relay::to_instance(in_process(recorder));
        in_process(Checked::new(Behind::relay(relay, ())))
    });
    assert_eq!(relayed, bare);
}
