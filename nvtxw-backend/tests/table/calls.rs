//! Calls as the producer made them, as far as a backend asks for that.

use std::sync::{Arc, Mutex};

use nvtxw_abi::raw::*;
use nvtxw_backend::call::{EventCall, Registration, WriteCall};
use nvtxw_backend::log::Report;
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Domain, Event, EventBatch, NoValueReason, Refusal, Result,
    Session, SessionRequest, Stream, StreamInfo, TimeRelation, in_process,
};

use crate::program::{self, *};

type Lines = Arc<Mutex<Vec<String>>>;

/// A backend that notes calls, each as its debug text. What is called `no` it refuses.
struct Witness(Lines);
struct WitnessStream(Lines);

fn note(lines: &Lines, line: String) {
    lines.lock().expect("no panic").push(line);
}

impl Backend for Witness {
    type Session = Self;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Self> {
        let (name, config) = (request.name_text(), request.config_text());
        note(&self.0, format!("begin {name:?} {config:?}"));
        Ok(Self(Arc::clone(&self.0)))
    }
}

impl Session for Witness {
    type Stream = WitnessStream;

    fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        note(&self.0, format!("{} {registration:?}", domain.index()));
        match registration {
            Registration::Scope { attributes, .. } if attributes.path == Some(c"no") => {
                Err(Refusal::unsupported("no such scopes"))
            }
            _ => Ok(()),
        }
    }

    fn note_refusal(&self, report: &Report<'_>) {
        let Report {
            member,
            object,
            session,
            refusal,
            ..
        } = report;
        note(
            &self.0,
            format!("refused {member} {object:?} {session:?} {refusal}"),
        );
    }

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<WitnessStream> {
        note(&self.0, format!("{:?}", stream.attributes()));
        Ok(WitnessStream(Arc::clone(&self.0)))
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

impl Stream for WitnessStream {
    fn take_event(&mut self, event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        note(&self.0, format!("{:?} {call:?}", event.kind()));
        Ok(())
    }

    fn write_event(&mut self, _event: &Event<'_>) -> Result<()> {
        unreachable!("events come with their calls")
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        note(&self.0, format!("{:?}", batch.call()));
        Ok(())
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        note(&self.0, format!("{:?}", samples.call()));
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        note(&self.0, format!("{:?}", relation.call()));
        Ok(())
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        note(&self.0, format!("nothing: {call:?}"));
        Ok(())
    }

    fn close_at_end(&mut self) -> Result<()> {
        note(&self.0, "close at the end".to_owned());
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        note(&self.0, "close".to_owned());
        Ok(())
    }
}

struct Seen {
    program: Program,
    lines: Lines,
    session: program::Session,
    domain: program::Domain,
    stream: program::Stream,
}

impl Seen {
    fn new() -> Self {
        let lines = Lines::default();
        let program = Program::of(in_process(Witness(Arc::clone(&lines))));
        let session = program.begin(c"run\xFF");
        let domain = program.domain(session, Some(c"sim")).expect("a domain");
        let stream = program.open(session, c"gpu", domain);
        lines.lock().expect("no panic").clear();
        Self {
            program,
            lines,
            session,
            domain,
            stream,
        }
    }

    #[track_caller]
    fn expect<const N: usize>(&self, lines: [&str; N]) {
        let seen = std::mem::take(&mut *self.lines.lock().expect("no panic"));
        assert_eq!(seen, lines);
    }
}

#[test]
fn sessions_domains_and_streams_come_with_their_text_and_numbers() {
    let lines = Lines::default();
    let program = Program::of(in_process(Witness(Arc::clone(&lines))));
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"run\xFF".as_ptr(),
        configString: c" a = b\n# c".as_ptr(),
    };
    let session = program.begin_with(&attr).expect("a session");
    // The default domain, which is there from here on, then asked for.
    let attr = nvtxwStreamAttributes_t {
        orderInterleaving: 1,
        orderingType: 3,
        orderingSkidAmount: -7,
        timeDomainId: 12,
        scopeId: 1,
        ..stream_attr(c"first", std::ptr::null_mut())
    };
    program.open_with(session, &attr).expect("a stream");
    program.domain(session, None).expect("a domain");
    program.domain(session, Some(c"")).expect("a domain");
    let domain = program.domain(session, Some(c"a\xFF")).expect("a domain");
    let stream = program.open(session, c"second", domain);
    program.close(stream).expect("closed");
    program.end(session).expect("ended");
    let lines = lines.lock().expect("no panic");
    let stream = |name: &str, rest: &str| {
        format!("StreamAttributes {{ name: Some(\"{name}\"), domain: {rest} }}")
    };
    assert_eq!(
        *lines,
        [
            r#"begin Some("run\xff") Some(" a = b\n# c")"#.to_owned(),
            stream(
                "first",
                "0, names_domain: false, scope: 1, time_domain: 12, interleaving: 1, ordering: 3, skid: 0, skid_amount: -7"
            ),
            "0 Domain { name: None }".to_owned(),
            r#"0 Domain { name: Some("") }"#.to_owned(),
            r#"1 Domain { name: Some("a\xff") }"#.to_owned(),
            stream(
                "second",
                "1, names_domain: true, scope: 0, time_domain: 0, interleaving: 0, ordering: 0, skid: 0, skid_amount: 0"
            ),
            "close".to_owned(),
            "close at the end".to_owned(),
        ]
    );
}

#[test]
fn registrations_come_with_all_that_was_said_and_what_they_get() {
    let seen = Seen::new();
    let (program, domain) = (&seen.program, seen.domain);
    let string = program.string(domain, c"gemm\xFF").expect("a string");
    member!(program, CategoryRegister(domain, 7, c"io".as_ptr())).expect("a category");
    program
        .scope(domain, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 1 << 24)
        .expect("a scope");
    let resource = nvtxResourceAttributes_t {
        version: 3,
        size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
        identifierType: -5,
        identifier: nvtxResourceIdentifier_t { ullValue: 9 },
        messageType: NVTX_MESSAGE_TYPE_REGISTERED,
        message: nvtxMessageValue_t { registered: string },
    };
    member!(program, ResourceRegister(domain, &resource)).expect("a resource");
    let time = nvtxTimeDomainAttr_t {
        scopeId: 1 << 24,
        timestampTypeId: 12,
        timeDomainId: 1 << 25,
        timerFlags: 1 << 40,
        timerResolution: 1000,
        timerStart: 77,
    };
    let mut id = 0;
    member!(program, TimeDomainRegister(domain, &time, &mut id)).expect("a time domain");
    let values = [enum_entry(c"idle", 0x1FF)];
    program
        .enumeration(domain, &enum_attr(&values, 1))
        .expect("an enum");
    let handle = number(string);
    seen.expect([
        &format!(r#"0 String {{ text: "gemm\xff", handle: {handle} }}"#),
        r#"0 Category { category: 7, name: "io" }"#,
        r#"0 Scope { attributes: ScopeAttributes { path: Some("GPU[0]"), parent: 1, id: 16777216 }, id: 16777216 }"#,
        &format!("0 Resource(ResourceAttributes {{ version: 3, kind: -5, identifier: 9, message: Registered({handle}) }})"),
        "0 TimeDomain { attributes: TimeDomainAttributes { scope: 16777216, timestamp_type: 12, id: 33554432, \
         flags: 1099511627776, resolution: 1000, start: 77 }, id: 33554432 }",
        r#"0 Enum { attributes: EnumAttributes { mask: 30, name: Some("Color"), entries: [EnumValue { name: "idle", value: 511, is_flag: false }], size: 1, id: 0 }, id: 4294967296 }"#,
    ]);

    // A node of a later version, with more at its end, and one of a kind that is not known yet.
    let mut counter = nvtxSemanticsCounter_t {
        header: nvtxSemanticsHeader_t {
            structSize: 72,
            semanticId: NVTX_SEMANTIC_ID_COUNTERS_V1,
            version: 9,
            next: std::ptr::null(),
        },
        flags: NVTX_COUNTER_FLAG_LIMIT_MAX | 1 << 50,
        unit: c"B\xFF".as_ptr(),
        unitScaleNumerator: 0,
        unitScaleDenominator: 4,
        limitType: NVTX_COUNTER_LIMIT_I64,
        min: nvtxCounterLimit_t { i64: 5 },
        max: nvtxCounterLimit_t { i64: -1 },
    };
    let unknown = [24_u32, 99, 0, 0, 0xAABB_CCDD, 0x1122_3344];
    counter.header.next = unknown.as_ptr().cast();
    let attr = nvtxCounterAttr_t {
        semantics: (&raw const counter).cast(),
        scopeId: 1 << 24,
        ..counter_attr(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
    };
    program.counter(domain, &attr).expect("a counter");
    let number_type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    seen.expect([&format!(
        r#"0 Counter {{ attributes: CounterAttributes {{ schema: {number_type}, name: Some("depth"), description: None, scope: 16777216, semantics: [SemanticNode {{ size: 72, version: 9, semantic: Counter {{ flags: 1125899906842632, unit: Some("B\xff"), scale: (0, 4), limit_type: 1, min: 5, max: 18446744073709551615 }} }}, SemanticNode {{ size: 24, version: 0, semantic: Other {{ kind: 99, bytes: [221, 204, 187, 170, 68, 51, 34, 17] }} }}], id: 0 }}, id: 4294967296 }}"#
    )]);

    let [mut time] = mark_entries();
    time.reserved = std::ptr::without_provenance(17);
    let entries = [time];
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let attr = packed(2, named(c"m", attr));
    let schema = program.schema(domain, &attr).expect("a schema");
    let seen = std::mem::take(&mut *seen.lines.lock().expect("no panic"));
    let [line] = &*seen else { panic!("one line") };
    let (flags, ty) = (MARK_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    assert_eq!(
        *line,
        format!(
            r#"0 Schema {{ attributes: SchemaAttributes {{ mask: 190, name: Some("m"), kind: 1, flags: 32, entries: [EntryAttributes {{ flags: {flags}, ty: {ty}, name: Some("time"), description: None, detail: 0, offset: 0, semantics: [], reserved: 17 }}], size: 0, pack: 2, id: 0 }}, id: {schema} }}"#
        )
    );
}

#[test]
fn a_backend_may_refuse_a_registration() {
    let seen = Seen::new();
    assert_unsupported(
        seen.program.scope(seen.domain, 0, Some(c"no"), 0),
        "ScopeRegister on \"sim\": no such scopes",
    );
    seen.expect([
        r#"0 Scope { attributes: ScopeAttributes { path: Some("no"), parent: 0, id: 0 }, id: 4294967296 }"#,
        r#"refused ScopeRegister "sim" "run�" NOT_SUPPORTED (7): no such scopes"#,
    ]);
}

#[test]
fn writes_come_with_their_bytes() {
    let seen = Seen::new();
    let (program, domain, stream) = (&seen.program, seen.domain, seen.stream);
    let entries = mark_entries();
    let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let mark = program
        .schema(domain, &with_id(1 << 24, mark))
        .expect("a schema");
    let counter = counter_attr(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT16);
    let counter = program.counter(domain, &counter).expect("a counter");
    seen.lines.lock().expect("no panic").clear();

    let time = 5_i64.to_ne_bytes();
    program
        .write(
            stream,
            &[
                payload(mark, &time),
                payload(1023, b"\x01"),
                payload(0, b""),
            ],
        )
        .expect("written");
    program
        .write(stream, &[payload(mark, &time)])
        .expect("written");
    // Flags that mean nothing yet, and flexible data that no entry refers to.
    let events = nvtxEventBatch_t {
        flags: NVTX_BATCH_FLAG_UNSORTED | 1 << 60,
        scope: 1,
        flexData: c"xyz".as_ptr().cast(),
        flexDataSize: 2,
        flexDataOffset: 1,
        ..batch(mark, &time)
    };
    program.write_batch(stream, &events).expect("written");
    program
        .write_counter(stream, -3, counter, &[1, 2])
        .expect("written");
    let samples = nvtxCounterBatch_t {
        flags: NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR,
        ..counter_batch(counter, &[1, 2, 3, 4], Some(&[1, 2]))
    };
    program.write_counters(stream, &samples).expect("written");
    member!(program, TimeSyncPointWrite(stream, 12, 13, 1, 2)).expect("written");
    let points = [nvtxSyncPoint_t { src: 1, dst: 2 }];
    member!(
        program,
        TimeSyncPointTableWrite(stream, 12, 13, points.as_ptr(), 1)
    )
    .expect("written");
    member!(
        program,
        TimestampConversionFactorWrite(stream, 12, 13, 0.5, 1, 2)
    )
    .expect("written");
    // What writes nothing.
    program
        .write_batch(stream, &batch(mark, &[]))
        .expect("written");
    program
        .write_counters(stream, &counter_batch(counter, &[], None))
        .expect("written");
    member!(
        program,
        TimeSyncPointTableWrite(stream, 12, 13, std::ptr::null(), 0)
    )
    .expect("written");

    let mark =
        "PayloadBytes { schema: 16777216, bytes: [5, 0, 0, 0, 0, 0, 0, 0], is_terminated: false }";
    let one = "[5, 0, 0, 0, 0, 0, 0, 0]";
    seen.expect([
        &format!(
            "Mark [{mark}, PayloadBytes {{ schema: 1023, bytes: [1], is_terminated: false }}, \
             PayloadBytes {{ schema: 0, bytes: [], is_terminated: false }}]"
        ),
        &format!("Mark [{mark}]"),
        &format!(
            "EventBatch(EventBatchCall {{ schema: 16777216, bytes: {one}, flex: Some(FlexData {{ bytes: [121, 122], offset: 1 }}), \
             scope: 1, flags: 1152921504606846982, pointees: There }})"
        ),
        "Counter(CounterCall { time: -3, counter: 4294967296, bytes: [1, 2], pointees: There })",
        "CounterBatch(CounterBatchCall { counter: 4294967296, bytes: [1, 2, 3, 4], flags: 4294967296, \
         timestamps: Some([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), pointees: There })",
        "SyncPoint { time_domains: (12, 13), times: (1, 2) }",
        "SyncPoints { time_domains: (12, 13), points: [(1, 2)] }",
        "Conversion { time_domains: (12, 13), slope: 0.5, times: (1, 2) }",
        "nothing: EventBatch(EventBatchCall { schema: 16777216, bytes: [], flex: None, scope: 0, flags: 0, pointees: Unknown })",
        "nothing: CounterBatch(CounterBatchCall { counter: 4294967296, bytes: [], flags: 0, timestamps: None, pointees: Unknown })",
        "nothing: SyncPoints { time_domains: (12, 13), points: [] }",
    ]);
}

#[test]
fn refused_calls_are_told_wherever_they_were_made() {
    let seen = Seen::new();
    let (program, stream) = (&seen.program, seen.stream);
    assert!(program.write(stream, &[]).is_err());
    assert!(program.string(seen.domain, c"a").is_ok());
    assert!(member!(program, CategoryRegister(seen.domain, 0, c"a".as_ptr())).is_err());
    assert!(
        program
            .open_with(seen.session, &stream_attr(c"gpu", seen.domain))
            .is_err()
    );
    program.close(stream).expect("closed");
    // The handle is stale, and remembered.
    assert!(program.write(stream, &[]).is_err());
    let lines = std::mem::take(&mut *seen.lines.lock().expect("no panic"));
    let told: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("refused"))
        .collect();
    let starts = [
        r#"refused EventWrite "gpu" "run�" INVALID_ARGUMENT (2): no payload has an event role"#,
        r#"refused CategoryRegister "sim" "run�" INVALID_ARGUMENT (2): category is 0"#,
        r#"refused StreamOpen "run�" "run�" INVALID_ARGUMENT (2): attr.name "gpu" is that of an open stream"#,
        r#"refused EventWrite "gpu" "run�" INVALID_ARGUMENT (2): the stream handle"#,
    ];
    assert_eq!(told.len(), starts.len(), "{told:?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}");
    }
    // After its end nobody is left to be told.
    program.end(seen.session).expect("ended");
    seen.lines.lock().expect("no panic").clear();
    assert!(program.end(seen.session).is_err());
    seen.expect([]);
}
