//! Random layouts, bytes, handles and sequences of calls: refused or taken, never a crash.

use std::cell::Cell;
use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::ResultCode;

use crate::program::*;

/// Xorshift: the same numbers in every run.
struct Random(Cell<u64>);

impl Random {
    fn from_seed(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    fn next(&self) -> u64 {
        let mut state = self.0.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.set(state);
        state
    }

    fn below(&self, bound: u64) -> u64 {
        (self.next() >> 8) % bound
    }

    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn bytes(&self, len: usize) -> Vec<u8> {
        (0..len)
            .map(|_| if self.one_in(3) { 0 } else { self.next() as u8 })
            .collect()
    }
}

const NAMES: [&std::ffi::CStr; 4] = [c"a", c"b", c"", c"\xFF"];

/// That the data is elsewhere, and maybe as text up to its null.
const REFERENCES: [u64; 4] = [
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY,
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
];

/// An entry that is often acceptable.
fn random_entry(random: &Random, types: &[u64]) -> nvtxPayloadSchemaEntry_t {
    let is_odd = random.one_in(6);
    let attribute = if is_odd { random.below(4) << 10 } else { 0 };
    let purpose = if is_odd { random.below(8) << 12 } else { 0 };
    let indirect = match random.below(20) {
        0 => random.below(16) << 1 | random.below(2) << 8,
        1..4 => random.pick(&REFERENCES),
        _ => 0,
    };
    let style = if is_odd || indirect != 0 {
        random.below(8) << 4
    } else {
        random.pick(&[0, FIXED])
    };
    let hide = random.below(2) << 9;
    let mut entry = entry(
        attribute | purpose | style | hide | indirect,
        random.pick(types),
        random.pick(&NAMES),
    );
    entry.arrayOrUnionDetail = if is_odd {
        random.below(40)
    } else if style > FIXED || random.one_in(4) {
        random.below(3)
    } else {
        1 + random.below(5)
    };
    if random.one_in(4) {
        entry.offset = random.below(64);
    }
    if random.one_in(50) {
        entry.offset = random.next();
        entry.arrayOrUnionDetail = random.next();
    }
    entry
}

/// All predefined types, and some numbers that are none.
fn types() -> Vec<u64> {
    (0..=101).chain([1022, 1023, 1 << 24, 1 << 32]).collect()
}

#[track_caller]
fn assert_no_panic(outcome: &Outcome, context: &str) {
    if let Err(refused) = outcome {
        assert_ne!(refused.code, ResultCode::FAILED, "{refused:?} of {context}");
    }
}

#[test]
fn any_bytes_of_any_accepted_schema_are_decoded() {
    let random = Random::from_seed(0x9E37_79B9_7F4A_7C15);
    // By the type of the schema.
    let (mut kinds, mut written, mut batches) = ([0; 5], [0; 5], 0);
    for _ in 0..100 {
        let program = Program::new();
        let (_, domain, stream) = program.ready();
        let blob = random.bytes(64);
        let entries = mark_entries();
        let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
        let mark = program.schema(domain, &mark).expect("a schema");
        // Those that are decoded, as often as all.
        let decoded = [
            1, 5, 9, 11, 16, 17, 18, 20, 22, 23, 27, 32, 33, 42, 50, 67, 68, 69, 73, 75, 76, 80,
        ];
        let mut types = [types(), decoded.repeat(5)].concat();
        types.push(
            program
                .enumeration(
                    domain,
                    &enum_attr(&[enum_entry(c"x", 1)], random.pick(&[1, 2, 4, 8])),
                )
                .expect("an enum"),
        );
        let string = number(program.string(domain, c"text").expect("a string"));
        for _ in 0..100 {
            let role = if random.one_in(2) {
                random.below(10)
            } else {
                random.below(2)
            } << 3;
            let mut entries: Vec<_> = (0..1 + random.below(6))
                .map(|_| random_entry(&random, &types))
                .collect();
            // Often enough the timestamps fit, so that events get through.
            if role >= 2 << 3 && !random.one_in(4) {
                entries
                    .iter_mut()
                    .for_each(|entry| entry.flags &= !(7 << 10 | 7 << 12));
                let int64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
                let flags = match role >> 3 {
                    4 => &[MARK_TIME][..],
                    2 | 3 => &[BEGIN_TIME, END_TIME],
                    5 | 7 => &[BEGIN_TIME],
                    _ => &[END_TIME],
                };
                entries.extend(flags.iter().map(|flags| entry(*flags, int64, c"time")));
                entries.push(entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id"));
            }
            let mut attr = schema_attr(role, &entries);
            if random.one_in(3) {
                attr = packed(random.pick(&[1, 2, 4, 8]), attr);
            }
            if random.one_in(3) {
                attr = sized(random.below(300) as usize, attr);
            }
            match random.below(20) {
                0 => attr.r#type = random.below(6),
                1..10 => attr.r#type = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
                10..12 => {
                    attr.flags = 0;
                    attr = union(attr);
                }
                12..15 => {
                    let mut selector = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, c"which");
                    selector.arrayOrUnionDetail = 1;
                    entries.push(selector);
                    attr = selecting(attr);
                    attr.flags = 0;
                    attr.entries = entries.as_ptr();
                    attr.numEntries = entries.len();
                }
                _ => {}
            }
            let Ok(schema) = program.schema(domain, &attr) else {
                continue;
            };
            // Later schemas nest it.
            types.push(schema);
            kinds[attr.r#type as usize] += 1;
            let registered = program.journal.domain().schema(schema);
            let size = registered.expect("registered").size();
            if size > 1 << 20 {
                // An entry far out: no payload is that large.
                program
                    .write(stream, &[payload(schema, &[0; 64])])
                    .expect_err("too small");
                continue;
            }
            for _ in 0..4 {
                let mut bytes = random.bytes(size.max(1) * 3 + random.below(100) as usize);
                for _ in 0..random.below(6) {
                    // Sprinkle what leads somewhere: to the blob, or a few bytes on.
                    let place = random.below(bytes.len() as u64) as usize / 8 * 8;
                    let end = bytes.len().min(place + 8);
                    let address = blob.as_ptr().addr() as u64 + random.below(70);
                    let number = random.pick(&[address, random.below(70), random.below(8)]);
                    bytes[place..end].copy_from_slice(&number.to_ne_bytes()[..end - place]);
                }
                if random.one_in(2) {
                    // Sprinkle a handle that is known.
                    let place = random.below(bytes.len() as u64) as usize;
                    let end = bytes.len().min(place + 8);
                    bytes[place..end].copy_from_slice(&string.to_ne_bytes()[..end - place]);
                }
                let context = format!("schema {schema} of {size} bytes");
                let len = random.pick(&[size, size, size.saturating_sub(1), bytes.len()]);
                let outcome = program.write(
                    stream,
                    &[
                        payload(schema, &bytes[..len]),
                        payload(NVTX_PAYLOAD_ENTRY_TYPE_INT8, &bytes[..1]),
                        payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, &blob),
                        payload(schema, &[]),
                    ],
                );
                assert_no_panic(&outcome, &context);
                written[attr.r#type as usize] += usize::from(outcome.is_ok());
                // The same as data of an event.
                let outcome = program.write(
                    stream,
                    &[
                        payload(mark, &bytes![1_i64]),
                        payload(schema, &bytes[..len]),
                        payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, &blob),
                    ],
                );
                assert_no_panic(&outcome, &context);
                written[attr.r#type as usize] += usize::from(outcome.is_ok());
                let len = random.pick(&[size, size * 3, size + 1]);
                let mut events = batch(schema, &bytes[..len.min(bytes.len())]);
                if random.one_in(2) {
                    events.flexData = blob.as_ptr().cast();
                    events.flexDataOffset = random.below(20) as usize;
                    events.flexDataSize = random.below(40) as usize;
                }
                let outcome = program.write_batch(stream, &events);
                assert_no_panic(&outcome, &context);
                batches += usize::from(outcome.is_ok());
                let attr = nvtxCounterAttr_t {
                    schemaId: schema,
                    ..counter_attr(c"n", schema)
                };
                if let Ok(counter) = program.counter(domain, &attr) {
                    let times = [1, 2, 3];
                    let times = if random.one_in(2) {
                        Some(&times[..])
                    } else {
                        None
                    };
                    let outcome = program
                        .write_counters(stream, &counter_batch(counter, &bytes[..size * 3], times));
                    assert_no_panic(&outcome, &context);
                }
            }
            program.journal.take();
        }
    }
    assert!(
        kinds[1..].iter().all(|count| *count > 60)
            && written[1..3].iter().all(|count| *count > 600)
            && written[4] > 60
            && batches > 300,
        "the test tests something: {kinds:?} schemas, {written:?} events, {batches} batches"
    );
}

#[test]
fn any_payloads_of_predefined_types_are_decoded() {
    let random = Random::from_seed(42);
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mark = program
        .schema(
            domain,
            &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
        )
        .expect("a schema");
    let types = types();
    for _ in 0..3000 {
        let bytes = random.bytes(64);
        let count = random.below(12) as usize;
        let mut payloads: Vec<_> = (0..count)
            .map(|_| payload(random.pick(&types), &bytes[..random.below(65) as usize]))
            .collect();
        payloads.insert(
            random.below(count as u64 + 1) as usize,
            payload(mark, &bytes),
        );
        assert_no_panic(&program.write(stream, &payloads), "predefined payloads");
    }
}

/// Handles or IDs of each kind: those that are, those that were, and those that never were.
struct Pool {
    kinds: [Vec<u64>; 7],
}

const SESSIONS: usize = 0;
const DOMAINS: usize = 1;
const STREAMS: usize = 2;
const STRINGS: usize = 3;
const SCOPES: usize = 4;
const SCHEMAS: usize = 5;
const COUNTERS: usize = 6;

impl Pool {
    /// Mostly one of this kind, and of those mostly a recent one.
    fn any(&self, random: &Random, kind: usize) -> u64 {
        if random.one_in(12) {
            return random.pick(&[0, 1, 17, 1 << 24, 1 << 32, random.next()]);
        }
        let kind = if random.one_in(12) {
            random.below(7) as usize
        } else {
            kind
        };
        let known = &self.kinds[kind];
        let number = match known.len() as u64 {
            0 => return 0,
            len if random.one_in(4) => known[random.below(len) as usize],
            len => known[(len - 1 - random.below(len.min(3))) as usize],
        };
        if random.one_in(40) {
            number ^ 1 << random.below(64)
        } else {
            number
        }
    }

    fn handle<T>(&self, random: &Random, kind: usize) -> *mut T {
        handle(self.any(random, kind))
    }

    /// Mostly none.
    fn scope(&self, random: &Random) -> u64 {
        if !random.one_in(8) {
            0
        } else {
            self.any(random, SCOPES)
        }
    }

    fn keep(&mut self, kind: usize, number: u64) {
        self.kinds[kind].push(number);
    }
}

/// In a process of its own: made-up handles come true, and would disturb the other tests.
#[test]
fn any_sequence_of_calls_with_any_handles() {
    let output = std::process::Command::new(std::env::current_exe().expect("the test program"))
        .args(["--ignored", "--exact", "garbage::sequences_of_calls"])
        .output()
        .expect("the test program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
#[ignore = "a part of the test before"]
fn sequences_of_calls() {
    let random = Random::from_seed(7);
    let program = Program::new();
    let mut pool = Pool {
        kinds: [const { Vec::new() }; 7],
    };
    let mut successes = [0_usize; 21];
    for step in 0..100_000 {
        let random = &random;
        let name = random.pick(&NAMES);
        let bytes = random.bytes(64);
        let member = random.below(21);
        let outcome = match member {
            // Few sessions begin and end, so that they are used for a while.
            0 if random.one_in(60) => {
                let attr = nvtxwSessionAttributes_t {
                    structSize: 24,
                    name: name.as_ptr(),
                    configString: ptr::null(),
                };
                program
                    .begin_with(&attr)
                    .map(|session| pool.keep(SESSIONS, number(session)))
            }
            1 if random.one_in(60) => program.end(pool.handle(random, SESSIONS)),
            0..=2 => program
                .domain(
                    pool.handle(random, SESSIONS),
                    if random.one_in(8) { Some(name) } else { None },
                )
                .map(|domain| pool.keep(DOMAINS, number(domain))),
            3 => {
                let category = random.below(3) as u32;
                member!(
                    program,
                    CategoryRegister(pool.handle(random, DOMAINS), category, name.as_ptr())
                )
            }
            4 => program
                .string(pool.handle(random, DOMAINS), name)
                .map(|string| pool.keep(STRINGS, number(string))),
            5 => {
                let attr = nvtxResourceAttributes_t {
                    version: 3,
                    size: 32,
                    identifierType: random.next() as i32,
                    identifier: nvtxResourceIdentifier_t {
                        ullValue: random.next(),
                    },
                    messageType: random.pick(&[0, 3, 4]),
                    message: nvtxMessageValue_t {
                        registered: pool.handle(random, STRINGS),
                    },
                };
                member!(
                    program,
                    ResourceRegister(pool.handle(random, DOMAINS), &attr)
                )
            }
            6 => program
                .scope(
                    pool.handle(random, DOMAINS),
                    pool.scope(random),
                    Some(name),
                    pool.scope(random),
                )
                .map(|scope| pool.keep(SCOPES, scope)),
            7 => {
                let more = random_entry(
                    random,
                    &[NVTX_PAYLOAD_ENTRY_TYPE_INT64, pool.any(random, SCHEMAS)],
                );
                let entries = [mark_entries()[0], more];
                let role = if random.one_in(2) {
                    NVTX_PAYLOAD_SCHEMA_FLAG_MARK
                } else {
                    random.below(10) << 3
                };
                let attr = schema_attr(role, &entries[..1 + random.below(2) as usize]);
                let attr = if random.one_in(3) {
                    with_id(pool.any(random, SCHEMAS), attr)
                } else {
                    attr
                };
                program
                    .schema(pool.handle(random, DOMAINS), &attr)
                    .map(|schema| pool.keep(SCHEMAS, schema))
            }
            8 => {
                let entries = [enum_entry(c"x", random.next())];
                let size = random.below(9) as usize;
                program
                    .enumeration(pool.handle(random, DOMAINS), &enum_attr(&entries, size))
                    .map(|enumeration| pool.keep(SCHEMAS, enumeration))
            }
            9 => {
                let schema = if random.one_in(2) {
                    NVTX_PAYLOAD_ENTRY_TYPE_INT64
                } else {
                    pool.any(random, SCHEMAS)
                };
                let attr = nvtxCounterAttr_t {
                    scopeId: pool.scope(random),
                    ..counter_attr(c"n", schema)
                };
                program
                    .counter(pool.handle(random, DOMAINS), &attr)
                    .map(|counter| pool.keep(COUNTERS, counter))
            }
            10 => {
                let attr = nvtxTimeDomainAttr_t {
                    scopeId: pool.scope(random),
                    timestampTypeId: random.below(20),
                    timeDomainId: 0,
                    timerFlags: random.next(),
                    timerResolution: random.next() as i64,
                    timerStart: random.next(),
                };
                member!(
                    program,
                    TimeDomainRegister(pool.handle(random, DOMAINS), &attr, &mut 0)
                )
            }
            11 => {
                let attr = nvtxwStreamAttributes_t {
                    scopeId: pool.scope(random),
                    timeDomainId: if random.one_in(4) {
                        random.below(20)
                    } else {
                        0
                    },
                    orderingType: random.below(5) as i16,
                    ..stream_attr(name, pool.handle(random, DOMAINS))
                };
                program
                    .open_with(pool.handle(random, SESSIONS), &attr)
                    .map(|stream| pool.keep(STREAMS, number(stream)))
            }
            12 if random.one_in(4) => program.close(pool.handle(random, STREAMS)),
            12 | 13 => {
                let payload = || {
                    payload(
                        pool.any(random, SCHEMAS),
                        &bytes[random.below(60) as usize..],
                    )
                };
                let payloads = [payload(), payload()];
                program.write(
                    pool.handle(random, STREAMS),
                    &payloads[..random.below(3) as usize],
                )
            }
            14 => {
                let attr = nvtxEventBatch_t {
                    scope: pool.scope(random),
                    flags: random.next(),
                    ..batch(pool.any(random, SCHEMAS), &bytes)
                };
                program.write_batch(pool.handle(random, STREAMS), &attr)
            }
            15 => {
                let counter = pool.any(random, COUNTERS);
                program.write_counter(pool.handle(random, STREAMS), 0, counter, &bytes[..8])
            }
            16 => {
                let (counter, reason) = (pool.any(random, COUNTERS), random.below(4) as u8);
                member!(
                    program,
                    CounterNoValueWrite(pool.handle(random, STREAMS), 0, counter, reason)
                )
            }
            17 => {
                let attr = nvtxCounterBatch_t {
                    flags: random.below(4) << 32,
                    ..counter_batch(pool.any(random, COUNTERS), &bytes, Some(&[1; 64]))
                };
                program.write_counters(pool.handle(random, STREAMS), &attr)
            }
            18 => member!(
                program,
                TimeSyncPointWrite(pool.handle(random, STREAMS), random.below(20), 0, 0, 0)
            ),
            19 => member!(
                program,
                TimeSyncPointTableWrite(pool.handle(random, STREAMS), 0, 0, ptr::null(), 5)
            ),
            _ => {
                member!(
                    program,
                    TimestampConversionFactorWrite(
                        pool.handle(random, STREAMS),
                        0,
                        0,
                        f64::NAN,
                        0,
                        0
                    )
                )
            }
        };
        assert_no_panic(&outcome, &format!("step {step}, member {member}"));
        successes[member as usize] += usize::from(outcome.is_ok());
        program.journal.take();
    }
    let rare: Vec<usize> = (0..19).filter(|member| successes[*member] < 50).collect();
    assert!(
        rare.is_empty(),
        "these members hardly ever succeeded: {rare:?} of {successes:?}"
    );
}
