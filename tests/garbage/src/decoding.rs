//! Any bytes under any schema that the registry accepts.

use std::ffi::CString;
use std::path::PathBuf;
use std::ptr;

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;
use nvtxw_backend::{Domain, ResultCode};

use crate::choices::Choices;
use crate::collector::Kinds;
use crate::entry::FORMS;
use crate::file::{self, Folder};
use crate::known::{Known, Layout, Pointers};
use crate::memory::Memory;
use crate::payload::{self, Piece};
use crate::schema::{self, NAMES};
use crate::show;
use crate::side::{Shared, Side, expect};
use crate::table::{self, Answer, Table, member};

/// What an input came to.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// Accepted schemas by `NVTX_PAYLOAD_SCHEMA_TYPE_*`.
    pub schemas: [u64; 5],
    pub events: u64,
    pub batches: u64,
    pub batches_of_many: u64,
    pub samples: u64,
    /// Events whose pointers lead out of them.
    pub outside: u64,
    /// Events that were decoded in two ways, with the same result.
    pub compared: u64,
    /// Calls that were captured and replayed.
    pub replayed: u64,
    /// By [`FORMS`]: events that were accepted and have such an entry somewhere.
    pub forms: [u64; FORMS.len()],
    /// By [`KINDS`](crate::KINDS): values that reached the backend.
    pub kinds: Kinds,
}

impl Decoded {
    pub fn add(&mut self, other: &Self) {
        fn sum<const N: usize>(all: &mut [u64; N], more: &[u64; N]) {
            all.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        }

        sum(&mut self.schemas, &other.schemas);
        self.events += other.events;
        self.batches += other.batches;
        self.batches_of_many += other.batches_of_many;
        self.samples += other.samples;
        self.outside += other.outside;
        self.compared += other.compared;
        self.replayed += other.replayed;
        sum(&mut self.forms, &other.forms);
        sum(&mut self.kinds, &other.kinds);
    }
}

/// Decodes arbitrary bytes under arbitrary schemas.
///
/// # Panics
/// If a rejected event or sample reaches the backend or an accepted one does not, if the work is out of proportion to the
/// bytes, or if a call fails for another reason than its arguments.
pub fn decode(input: &[u8]) -> Decoded {
    run(input, false)
}

/// Does the same, and writes all of it to the built-in backend too, in any format. Reads the file, or replays the capture.
///
/// # Panics
/// As [`decode`]; and if the built-in backend answers otherwise, or its file is not what it has to be.
pub fn formats(input: &[u8]) -> Decoded {
    run(input, true)
}

fn run(input: &[u8], has_twin: bool) -> Decoded {
    let mut choices = Choices::new(input);
    let mut run = Run::begin(&mut choices, has_twin);
    for _ in 0..8 {
        if choices.is_used_up() {
            break;
        }
        run.schema(&mut choices);
    }
    run.end()
}

/// The config of a capture.
const CAPTURE: &str = "format=capture";

/// The built-in backend, and its file.
pub struct Twin {
    side: Side,
    path: PathBuf,
    is_capture: bool,
    folder: Folder,
}

pub struct Run {
    /// With the collector.
    pub main: Side,
    /// The session of `main`.
    shared: Shared,
    /// With the built-in backend, which gets the same calls.
    pub twin: Option<Twin>,
    pub memory: Memory,
    pub known: Known,
    /// The schema of a mark with nothing but its time.
    pub mark: u64,
    pub decoded: Decoded,
    /// Rejected calls.
    rejected: u64,
}

impl Run {
    fn begin(choices: &mut Choices<'_>, has_twin: bool) -> Self {
        let pointers = match choices.below(3) {
            0 | 1 => Pointers::Any,
            _ => Pointers::Held,
        };
        let shared = Shared::take(pointers == Pointers::Held);
        // It has the same promise of its producer, so that it must agree.
        let twin = has_twin.then(|| {
            let folder = Folder::new();
            let options: &[_] = match pointers {
                Pointers::Held => &[CAPTURE],
                _ => &[
                    "",
                    "window=2",
                    "window=2|merge=no",
                    "format=chrome",
                    "compression=zlib",
                    file::PARQUET,
                    CAPTURE,
                ],
            };
            let path = folder.file();
            let options = choices.pick(options);
            let config = format!("path={}|{options}", path.display());
            let config = CString::new(config).expect("no null");
            let table = match pointers {
                Pointers::Held => Table::of_file_library(),
                _ => Table::of_file_backend(),
            };
            let side = Side::begin(table, &config);
            Twin {
                side,
                path,
                is_capture: options == CAPTURE,
                folder,
            }
        });
        let mut run = Self {
            main: shared.side(),
            shared,
            twin,
            known: Known {
                pointers,
                ..Known::default()
            },
            mark: 0,
            decoded: Decoded::default(),
            rejected: 0,
            memory: Memory::default(),
        };

        for text in &NAMES[..3] {
            let mut string = ptr::null_mut();
            run.register(|side| {
                let text = text.as_ptr();
                member!(side.table, StringRegister(side.domain, text, &mut string))
            });
            // Of the two sessions each has handles of its own.
            if run.twin.is_none() {
                run.known.strings.push(string.addr() as u64);
            }
        }
        let scope = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: c"a/b[1]".as_ptr(),
            parentScope: NVTX_SCOPE_ROOT,
            scopeId: 0,
        };
        let mut id = 0;
        expect(
            &run.register(|side| member!(side.table, ScopeRegister(side.domain, &scope, &mut id))),
        );
        run.known.scopes.extend([id, NVTX_SCOPE_ROOT]);
        run.known.time_domains.push(NVTX_TIMESTAMP_TYPE_CPU_TSC);
        let entries = schema::times(4, EntryType::Int64);
        let mark = schema::of_entries(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
        expect(
            &run.register(|side| member!(side.table, SchemaRegister(side.domain, &mark, &mut id))),
        );
        run.mark = id;
        for _ in 0..choices.below(3) {
            let size = choices.pick(&[1, 2, 4, 8]);
            let attr = schema::enumeration(choices, &mut run.memory, size, 0);
            expect(
                &run.register(|side| member!(side.table, EnumRegister(side.domain, attr, &mut id))),
            );
            run.known.layouts.push(Layout {
                id,
                ..Layout::default()
            });
        }
        run
    }

    fn end(mut self) -> Decoded {
        self.shared.give_back(&self.main, self.rejected);
        if let Some(twin) = self.twin
            && twin.side.end().is_success()
        {
            match twin.is_capture {
                true => self.decoded.replayed += file::replay(&twin.path, &twin.folder),
                false => drop(file::read(&twin.path)),
            }
        }
        self.decoded
    }

    pub fn domain(&self) -> &Domain {
        let info = self.main.info.as_ref();
        info.expect("the collector has a stream").domain()
    }

    /// Makes a call that registers something, with the same result on both sides.
    pub fn register(&mut self, mut call: impl FnMut(&Side) -> i32) -> Answer {
        let registered = self.answer(&mut call);
        if let Some(Twin { side, .. }) = &self.twin {
            let other = table::answer(None, || call(side));
            assert_eq!(
                registered.code, other.code,
                "{} {}",
                registered.reason, other.reason
            );
        }
        registered
    }

    /// Makes a call that writes. What is wrong is so for every backend; other calls one may refuse for reasons of its own.
    pub fn write(&mut self, mut call: impl FnMut(&Side) -> i32) -> Answer {
        let written = self.answer(&mut call);
        if let Some(twin) = &self.twin {
            let other = table::answer(None, || call(&twin.side));
            // A capture takes batches as they are.
            assert!(
                written.is_success() || !other.is_success() || twin.is_capture,
                "taken although {}",
                written.reason
            );
        }
        written
    }

    /// Makes a call, which does not fail: it succeeds, or its arguments are wrong.
    fn answer(&mut self, call: &mut impl FnMut(&Side) -> i32) -> Answer {
        let answer = table::answer(None, || call(&self.main));
        assert_ne!(answer.code, ResultCode::FAILED, "{}", answer.reason);
        self.rejected += u64::from(!answer.is_success());
        answer
    }

    /// Registers a schema, and if it is accepted writes by it.
    fn schema(&mut self, choices: &mut Choices<'_>) {
        let made = schema::schema(choices, &mut self.memory, &self.known, 0);
        show::show(|| show::schema(&made));
        let mut id = 0;
        let registered = self
            .register(|side| member!(side.table, SchemaRegister(side.domain, made.attr, &mut id)));
        if !registered.is_success() {
            return;
        }
        let schema = self.domain().schema(id).expect("it is registered");
        self.decoded.schemas[made.kind as usize] += 1;
        let Some(layout) = Layout::new(&schema, &made, &self.known) else {
            return;
        };
        if layout.outward.is_empty() {
            self.known.layouts.push(layout.clone());
        }
        if choices.one_in(2) {
            self.compare(choices, &made, &layout);
        }
        for _ in 0..choices.below(6) {
            match choices.below(8) {
                0..3 => self.event(choices, &layout),
                // Of a dynamic schema, an event in the middle may have its pointers anywhere.
                3..8 if !layout.is_static && !layout.outward.is_empty() => {
                    self.event(choices, &layout);
                }
                3..7 if layout.is_event => self.batch(choices, &layout),
                3..7 if layout.is_static => self.counter(choices, &layout),
                3..7 => self.event(choices, &layout),
                _ if choices.one_in(2) => self.batch(choices, &layout),
                _ => self.counter(choices, &layout),
            }
        }
    }

    /// Checks what was written by so many bytes, and counts it.
    fn check_work(&mut self, answer: &Answer, bytes: usize) {
        let visits = answer.reached.visits;
        assert!(
            visits <= 64 * bytes as u64 + 8192,
            "{visits} visits for {bytes} bytes"
        );
        for (sum, kind) in self.decoded.kinds.iter_mut().zip(answer.reached.kinds) {
            *sum += kind;
        }
    }

    fn count_forms(&mut self, schema: &Layout) {
        for (index, count) in self.decoded.forms.iter_mut().enumerate() {
            *count += u64::from(schema.forms >> index & 1);
        }
    }

    /// Bytes for about as many payloads of the schema as asked for.
    fn piece(
        &mut self,
        choices: &mut Choices<'_>,
        schema: &Layout,
        count: usize,
        blob: Option<Piece>,
    ) -> Piece {
        let size = schema.size.min(1 << 12) * count;
        let more = match choices.below(4) {
            0 | 1 if schema.is_static => 0,
            0..3 => choices.below(64) as usize,
            _ => choices.below(4) as usize,
        };
        let less = usize::from(choices.one_in(16));
        let len = (size + more).saturating_sub(less);
        payload::piece(choices, &mut self.memory, &self.known, blob, schema, len)
    }

    pub fn blob(&mut self, choices: &mut Choices<'_>) -> Piece {
        let len = choices.below(72) as usize;
        payload::piece(
            choices,
            &mut self.memory,
            &self.known,
            None,
            &Layout::default(),
            len,
        )
    }

    fn event(&mut self, choices: &mut Choices<'_>, schema: &Layout) {
        let blob = self.blob(choices);
        let piece = self.piece(choices, schema, 1, Some(blob));
        let mut payloads = vec![payload::of_piece(schema.id, piece, piece.len)];
        for _ in 0..choices.pick(&[0, 0, 1, 3, 9]) {
            let beside = payload::beside(choices, &mut self.memory, &self.known, blob);
            let place = choices.below(payloads.len() as u64 + 1);
            payloads.insert(place as usize, beside);
        }
        if !schema.is_event ^ choices.one_in(16) {
            let time = payload::piece(
                choices,
                &mut self.memory,
                &self.known,
                None,
                &Layout::default(),
                8,
            );
            payloads.insert(0, payload::of_piece(self.mark, time, 8));
        }
        let bytes = payloads.iter().map(|payload| match payload.size {
            _ if payload.payload.is_null() => 0,
            // Its null is not far.
            usize::MAX => 40,
            size => size,
        });
        let bytes: usize = bytes.sum();
        payloads
            .iter()
            .for_each(|payload| show::show(|| show::payload(payload)));
        let count = payloads.len();
        let payloads = self.memory.items(payloads);
        let wrote =
            self.write(|side| member!(side.table, EventWrite(side.stream, payloads, count)));
        match wrote.is_success() {
            true => assert_eq!(wrote.reached.events.len(), 1, "it came once"),
            false => assert!(wrote.reached.is_nothing(), "{}", wrote.reason),
        }
        self.check_work(&wrote, bytes + schema.outside());
        if wrote.is_success() {
            self.decoded.events += 1;
            self.decoded.outside += u64::from(!schema.outward.is_empty());
            self.count_forms(schema);
        }
    }

    fn batch(&mut self, choices: &mut Choices<'_>, schema: &Layout) {
        let count = choices.pick(&[1, 3, 2, 5]);
        let has_flex = choices.one_in(2);
        let flex = if has_flex {
            Some(self.blob(choices))
        } else {
            None
        };
        let offset = choices.below(20) as usize;
        let piece = self.piece(choices, schema, count, flex);
        let mut batch = nvtxEventBatch_t {
            eventSchemaId: schema.id,
            size: piece.len,
            events: piece.start.cast(),
            scope: if choices.one_in(8) {
                choices.number()
            } else {
                0
            },
            flags: choices.below(5) << 1,
            flexData: ptr::null(),
            flexDataSize: choices.number() as usize,
            flexDataOffset: choices.number() as usize,
        };
        if let Some(flex) = flex {
            // The usable region is a part of what is there.
            let start = choices.below(flex.len as u64 + 1) as usize;
            batch.flexData = flex.start.wrapping_add(start).wrapping_sub(offset).cast();
            batch.flexDataOffset = offset;
            batch.flexDataSize = flex.len - start;
            if flex.len == 0 {
                batch.flexData = ptr::null();
            }
        }
        let flex_len = flex.map_or(0, |flex| flex.len);
        let place = self.memory.place(batch);
        let wrote = self.write(|side| member!(side.table, EventBatchWrite(side.stream, place)));
        let reached = wrote.reached.events.len();
        if schema.is_static {
            let len = piece.len / schema.size;
            match wrote.is_success() {
                true => assert_eq!(reached, len, "all came once"),
                false => assert!(reached < len.max(1), "{}", wrote.reason),
            }
        }
        self.check_work(&wrote, piece.len + flex_len + count * schema.outside());
        if wrote.is_success() && reached > 0 {
            self.decoded.batches += 1;
            self.decoded.batches_of_many += u64::from(reached > 1);
            self.count_forms(schema);
        }
        if schema.is_static && piece.len == schema.size && flex.is_none() && batch.scope == 0 {
            // Alone it is the same event.
            let payload = self
                .memory
                .place(payload::of_piece(schema.id, piece, piece.len));
            let alone = self.write(|side| member!(side.table, EventWrite(side.stream, payload, 1)));
            assert_eq!(alone.code, wrote.code, "{} {}", alone.reason, wrote.reason);
            assert_eq!(alone.reached.events, wrote.reached.events);
            assert_eq!(alone.reached.kinds, wrote.reached.kinds);
        }
    }

    fn counter(&mut self, choices: &mut Choices<'_>, schema: &Layout) {
        let mut attr = nvtxCounterAttr_t {
            structSize: size_of::<nvtxCounterAttr_t>(),
            schemaId: schema.id,
            name: c"n".as_ptr(),
            description: schema::name(choices, &mut self.memory),
            scopeId: choices.pick_or(&self.known.scopes, 0),
            semantics: crate::semantics::list(choices, &mut self.memory, &self.known),
            counterId: 0,
        };
        if choices.one_in(4) {
            attr.schemaId = choices.pick(EntryType::ALL).to_raw();
        }
        let mut id = 0;
        let registered =
            self.register(|side| member!(side.table, CounterRegister(side.domain, &attr, &mut id)));
        if !registered.is_success() {
            return;
        }
        let size = self
            .domain()
            .counter(id)
            .expect("it is registered")
            .sample_size();
        if size > 1 << 12 {
            return;
        }
        let count = 1 + choices.below(3) as usize;
        // Behind a struct there may be what it refers to.
        let more = choices.pick(&[0, 0, 0, 8, 40]);
        let piece = payload::piece(
            choices,
            &mut self.memory,
            &self.known,
            None,
            schema,
            size * count + more,
        );
        let len = choices.pick(&[size, piece.len]);
        let wrote = self.write(|side| {
            member!(
                side.table,
                CounterWrite(side.stream, 5, id, piece.start.cast(), len)
            )
        });
        match wrote.is_success() {
            true => assert_eq!(wrote.reached.samples, [5]),
            false => assert!(wrote.reached.samples.is_empty(), "{}", wrote.reason),
        }
        self.check_work(&wrote, len + schema.outside());

        let mut batch = nvtxCounterBatch_t {
            counterId: id,
            counters: piece.start.cast(),
            countersSize: piece.len,
            flags: choices.below(4) << 32 | choices.below(4) << 1,
            timestamps: ptr::null(),
            timestampsSize: choices.number() as usize,
        };
        if choices.one_in(2) {
            let len = 8 * choices.pick(&[count, 2, 1, count + 1]);
            let times = payload::piece(
                choices,
                &mut self.memory,
                &self.known,
                None,
                &Layout::default(),
                len,
            );
            batch.timestamps = times.start.cast();
            batch.timestampsSize = len;
        }
        let place = self.memory.place(batch);
        let wrote = self.write(|side| member!(side.table, CounterBatchWrite(side.stream, place)));
        let count = piece.len / size.max(1);
        let reached = wrote.reached.samples.len();
        match wrote.is_success() {
            // How many there are of a dynamic schema is up to the bytes.
            true if !schema.is_static => assert_eq!(reached == 0, piece.len == 0),
            true => assert_eq!(reached, count, "all came once"),
            false => assert!(
                reached < count.max(1) || !schema.is_static,
                "{}",
                wrote.reason
            ),
        }
        self.check_work(&wrote, piece.len + count * schema.outside());
        self.decoded.samples += reached as u64;
    }
}
