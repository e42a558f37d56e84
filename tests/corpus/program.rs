//! Makes the calls of a case through the table of the built-in backend, as a producer in C would.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::Path;
use std::ptr;

use nvtxw_abi::InProcess;
use nvtxw_abi::layout::{self, constants};
use nvtxw_abi::raw::*;
use serde_json::Value;

use crate::arena::Arena;
use crate::case::{Case, Line};
use crate::payload::{self, Names, Type};

/// A session, and what was registered in it, by the names that the case gives.
pub struct Program {
    pub backend: InProcess,
    pub session: nvtxwSessionHandle_t,
    pub domains: HashMap<String, nvtxDomainHandle_t>,
    /// With the name of their domain.
    pub streams: HashMap<String, (nvtxwStreamHandle_t, String)>,
    /// Scopes, counters and time domains.
    pub ids: HashMap<String, u64>,
    /// Schemas and enums.
    pub types: HashMap<String, (u64, Type)>,
    /// What the samples of a counter are.
    pub samples: HashMap<String, Type>,
}

/// Whether a call was taken, or else why not.
pub type Outcome = Result<(), String>;

/// The number of the constant whose name is `prefix` and `name`.
pub fn constant(prefix: &str, name: &str) -> u64 {
    let found = constants().find(|found| found.name.strip_prefix(prefix) == Some(name));
    match found.map(|found| found.value) {
        Some(layout::Value::Int(value)) => value as u64,
        _ => panic!("{prefix}{name} is no number of the ABI"),
    }
}

/// Calls a member of the table.
macro_rules! call {
    ($program:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        let member = $program.backend.table().$member.expect("a baseline member");
        // SAFETY:
        // - Pointers are null or come from values that live until the call returns, and sizes beside them are those of the
        //   values.
        // - The SDK takes any handle and any ID.
        let code = unsafe { member($($argument),*) };
        $program.outcome(code)
    }};
}

pub(crate) use call;

/// Writes the trace of a case to `path` in a format; returns the calls that did not come out as the case says.
pub fn run(case: &Case, path: &Path, format: &str) -> String {
    let mut arena = Arena::default();
    let path = path.display();
    // The first of two equal keys counts.
    let config = format!("path={path}|format={format}|overwrite=true|{}", case.config);
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: arena.text("corpus"),
        configString: arena.text(&config),
    };
    let scopes = ["NONE", "ROOT", "CURRENT_HW_MACHINE", "CURRENT_VM"];
    let mut program = Program {
        backend: nvtxw_file::in_process(),
        session: ptr::null_mut(),
        domains: HashMap::new(),
        streams: HashMap::new(),
        ids: scopes
            .map(|name| (name.to_owned(), constant("NVTX_SCOPE_", name)))
            .into(),
        types: HashMap::new(),
        samples: HashMap::new(),
    };
    // SAFETY:
    // - Both texts are null-terminated and live until the call returns; the size is right.
    let code = unsafe { program.backend.begin(&attr, &mut program.session) };
    let mut wrong = check(program.outcome(code.get()), None, &case.title);
    for line in &case.calls {
        line.check_options();
        wrong += &check(program.call(line), line.refused.as_deref(), &line.at);
    }
    let outcome = call!(program, SessionEnd(program.session));
    wrong + &check(outcome, case.end.as_deref(), "the session's end")
}

fn check(outcome: Outcome, refused: Option<&str>, at: &str) -> String {
    match (outcome, refused) {
        (Ok(()), None) => String::new(),
        (Err(reason), Some(part)) if reason.contains(part) => String::new(),
        (Ok(()), Some(part)) => format!("{at}: taken, though it must be refused: {part}\n"),
        (Err(reason), _) => format!("{at}: refused: {reason}\n"),
    }
}

impl Program {
    pub fn outcome(&self, code: nvtxwResultCode_t) -> Outcome {
        if code == NVTXW_RESULT_SUCCESS {
            return Ok(());
        }
        let mut reason = format!("result {code} without a reason");
        let tell = self.backend.reason().expect("the SDK tells reasons");
        tell(&mut |_, text| text.clone_into(&mut reason));
        Err(reason)
    }

    pub fn id(&self, name: &str) -> u64 {
        *self
            .ids
            .get(name)
            .unwrap_or_else(|| panic!("`{name}` is not registered"))
    }

    /// The ID of a time domain that was registered, or of one that the ABI has.
    pub fn clock(&self, name: &str) -> u64 {
        self.ids
            .get(name)
            .copied()
            .unwrap_or_else(|| constant("NVTX_TIMESTAMP_TYPE_", name))
    }

    fn stream(&self, line: &Line) -> nvtxwStreamHandle_t {
        self.streams
            .get(line.text(0))
            .unwrap_or_else(|| panic!("{}: no such stream", line.at))
            .0
    }

    fn call(&mut self, line: &Line) -> Outcome {
        match &*line.word {
            "domain" => {
                self.domain(line.text(0));
                Ok(())
            }
            "category" => {
                let (domain, name) = (self.domain_of(line), CString::new(line.text(1)).unwrap());
                call!(
                    self,
                    CategoryRegister(domain, line.int(0) as u32, name.as_ptr())
                )
            }
            "resource" => self.resource(line),
            "scope" => self.scope(line),
            "clock" => self.time_domain(line),
            "enum" => self.enumeration(line),
            "schema" => self.schema(line),
            "counter" => self.counter(line),
            "stream" => self.open(line),
            "close" => call!(self, StreamClose(self.stream(line))),
            "event" => self.event(line.text(0), line.lists(1)),
            "batch" => self.batch(line),
            "sample" => self.sample(line),
            "samples" => self.sample_batch(line),
            "novalue" => {
                let reason = constant("NVTX_COUNTER_SAMPLE_", line.text(3)) as u8;
                let counter = self.id(line.text(1));
                call!(
                    self,
                    CounterNoValueWrite(self.stream(line), line.int(2), counter, reason)
                )
            }
            "sync" => self.sync(line),
            "factor" => {
                let (source, destination) = (self.clock(line.text(1)), self.clock(line.text(2)));
                let (slope, at) = (line.any(3).as_f64().unwrap(), (line.int(4), line.int(5)));
                call!(
                    self,
                    TimestampConversionFactorWrite(
                        self.stream(line),
                        source,
                        destination,
                        slope,
                        at.0,
                        at.1
                    )
                )
            }
            _ => self.plain(line),
        }
    }

    /// The bytes of a value of `ty`.
    fn bytes(&mut self, ty: &Type, value: &Value, domain: &str) -> Vec<u8> {
        let mut out = Vec::new();
        ty.write(
            value,
            &mut Registered {
                program: self,
                domain,
            },
            &mut out,
        );
        out
    }

    /// Payloads are a schema or a type, and its values.
    fn event<'a>(&mut self, stream: &str, payloads: impl Iterator<Item = &'a Value>) -> Outcome {
        let (handle, domain) = self
            .streams
            .get(stream)
            .unwrap_or_else(|| panic!("no stream {stream}"))
            .clone();
        let mut made: Vec<(u64, Vec<u8>, bool)> = Vec::new();
        for payload in payloads {
            let values = &payload[1];
            made.push(match &payload[0] {
                Value::Number(id) => (id.as_u64().unwrap(), payload::hex(values), false),
                name => {
                    let (id, ty) = self.ty(name.as_str().unwrap());
                    match (&ty, values) {
                        (_, Value::Null) => (id, Vec::new(), false),
                        (Type::Scalar(_), Value::Object(text))
                            if text.contains_key("up_to_null") =>
                        {
                            (id, self.bytes(&ty, &text["up_to_null"], &domain), true)
                        }
                        (Type::Scalar(_), Value::Array(all)) => {
                            let bytes = all
                                .iter()
                                .flat_map(|value| self.bytes(&ty, value, &domain))
                                .collect();
                            (id, bytes, false)
                        }
                        _ => (id, self.bytes(&ty, values, &domain), false),
                    }
                }
            });
        }
        for (_, bytes, up_to_null) in &mut made {
            if *up_to_null {
                bytes.push(0);
            }
        }
        let payloads = made
            .iter()
            .map(|(schema, bytes, up_to_null)| nvtxPayloadData_t {
                schemaId: *schema,
                size: if *up_to_null { usize::MAX } else { bytes.len() },
                payload: bytes.as_ptr().cast(),
            });
        let payloads: Vec<_> = payloads.collect();
        call!(self, EventWrite(handle, payloads.as_ptr(), payloads.len()))
    }

    fn batch(&mut self, line: &Line) -> Outcome {
        let (schema, ty) = self.ty(line.text(1));
        let domain = self.streams[line.text(0)].1.clone();
        let mut bytes = Vec::new();
        for event in line.lists(2) {
            bytes.extend(self.bytes(&ty, event, &domain));
        }
        let cut = line.option("cut").as_u64().unwrap_or(0);
        bytes.truncate(bytes.len() - cut as usize);
        let flex = match line.option("flex") {
            Value::Null => Vec::new(),
            Value::String(text) => text.as_bytes().to_vec(),
            bytes => payload::hex(bytes),
        };
        let batch = nvtxEventBatch_t {
            eventSchemaId: schema,
            size: bytes.len(),
            events: bytes.as_ptr().cast(),
            scope: line
                .option("scope")
                .as_str()
                .map_or(0, |name| self.id(name)),
            flags: ordering(line, "UNSORTED"),
            flexData: if flex.is_empty() {
                ptr::null()
            } else {
                flex.as_ptr().cast()
            },
            flexDataSize: flex.len(),
            flexDataOffset: 0,
        };
        call!(self, EventBatchWrite(self.stream(line), &batch))
    }

    fn sample(&mut self, line: &Line) -> Outcome {
        let (ty, domain) = (
            self.samples[line.text(1)].clone(),
            self.streams[line.text(0)].1.clone(),
        );
        let (counter, bytes) = (self.id(line.text(1)), self.bytes(&ty, line.any(3), &domain));
        call!(
            self,
            CounterWrite(
                self.stream(line),
                line.int(2),
                counter,
                bytes.as_ptr().cast(),
                bytes.len()
            )
        )
    }

    fn sample_batch(&mut self, line: &Line) -> Outcome {
        let (ty, domain) = (
            self.samples[line.text(1)].clone(),
            self.streams[line.text(0)].1.clone(),
        );
        let samples = line
            .list(2)
            .iter()
            .flat_map(|sample| self.bytes(&ty, sample, &domain));
        let samples: Vec<u8> = samples.collect();
        let keys = [
            ("times", 0),
            ("begin", NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR),
            ("end", NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR),
        ];
        let mut given = keys
            .iter()
            .filter_map(|(key, flag)| Some((line.option(key).as_array()?, flag)));
        let (times, flag) = given.next().map_or((Vec::new(), 0), |(times, flag)| {
            (
                times.iter().map(|time| time.as_i64().unwrap()).collect(),
                *flag,
            )
        });
        let batch = nvtxCounterBatch_t {
            counterId: self.id(line.text(1)),
            counters: samples.as_ptr().cast(),
            countersSize: samples.len(),
            flags: ordering(line, "TIME_SORTED") | flag,
            timestamps: if times.is_empty() {
                ptr::null()
            } else {
                times.as_ptr()
            },
            timestampsSize: size_of_val(&times[..]),
        };
        call!(self, CounterBatchWrite(self.stream(line), &batch))
    }

    fn sync(&self, line: &Line) -> Outcome {
        let points = line.lists(3).map(|point| nvtxSyncPoint_t {
            src: point[0].as_i64().unwrap(),
            dst: point[1].as_i64().unwrap(),
        });
        let points: Vec<_> = points.collect();
        let (source, destination) = (self.clock(line.text(1)), self.clock(line.text(2)));
        match points[..] {
            [point] => call!(
                self,
                TimeSyncPointWrite(self.stream(line), source, destination, point.src, point.dst)
            ),
            _ => call!(
                self,
                TimeSyncPointTableWrite(
                    self.stream(line),
                    source,
                    destination,
                    points.as_ptr(),
                    points.len()
                )
            ),
        }
    }

    /// A plain event, by the schema that it has in its domain.
    fn plain(&mut self, line: &Line) -> Outcome {
        let domain = self
            .streams
            .get(line.text(0))
            .unwrap_or_else(|| panic!("{}: no such stream", line.at))
            .1
            .clone();
        let id = r#"["range_id","range_id"]"#;
        let (begin, end) = (r#"["start","begin"]"#, r#"["end","end"]"#);
        let attributes = r#"["color","color_argb"] ["category","category"] ["message","message"]"#;
        let (kind, entries, numbers) = match &*line.word {
            "mark" => ("MARK", [r#"["time","time"]"#, attributes].join(" "), 1),
            "pushpop" => ("RANGE_PUSHPOP", [begin, end, attributes].join(" "), 2),
            "startend" => ("RANGE_STARTEND", [begin, end, attributes].join(" "), 2),
            "push" => ("RANGE_PUSH", [begin, attributes].join(" "), 1),
            "pop" => ("RANGE_POP", end.to_owned(), 1),
            "start" => ("RANGE_START", [id, begin, attributes].join(" "), 2),
            "end" => ("RANGE_END", [id, end].join(" "), 2),
            other => panic!("{}: no call is called `{other}`", line.at),
        };
        let schema = format!("{kind} of {domain}");
        if !self.types.contains_key(&schema) {
            let options = serde_json::json!({"domain": domain, "name": ""});
            let text = format!(
                "schema {} {} {entries} {options}",
                Value::from(&*schema),
                Value::from(kind)
            );
            self.schema(&Line::parse(&text, line.at.clone()))?;
        }
        let mut values: Vec<_> = (1..=numbers).map(|index| line.any(index).clone()).collect();
        if !matches!(kind, "RANGE_POP" | "RANGE_END") {
            let or_zero = |value: &Value| {
                if value.is_null() {
                    Value::from(0)
                } else {
                    value.clone()
                }
            };
            values.extend([
                or_zero(line.option("color")),
                or_zero(line.option("category")),
            ]);
            values.push(
                line.values
                    .get(1 + numbers)
                    .filter(|name| name.is_string())
                    .cloned()
                    .unwrap_or_default(),
            );
        }
        let payload = Value::from(vec![Value::from(schema), Value::from(values)]);
        self.event(line.text(0), [&payload].into_iter())
    }
}

/// The order that a batch claims.
fn ordering(line: &Line, default: &str) -> u64 {
    constant(
        "NVTX_BATCH_FLAG_",
        line.option("ordering").as_str().unwrap_or(default),
    )
}

/// What values refer to by name.
struct Registered<'a> {
    program: &'a mut Program,
    domain: &'a str,
}

impl Names for Registered<'_> {
    fn string(&mut self, text: &str) -> u64 {
        let domain = self.program.domain(self.domain);
        let text = CString::new(text).unwrap();
        let mut handle = ptr::null_mut();
        call!(
            self.program,
            StringRegister(domain, text.as_ptr(), &mut handle)
        )
        .unwrap();
        handle.addr() as u64
    }

    fn id(&self, name: &str) -> u64 {
        self.program.id(name)
    }
}
