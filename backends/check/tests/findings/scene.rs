//! A program in front of the checker, in front of the recorder.

use std::ffi::CStr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{Backend, in_process};
use nvtxw_check::{Checked, FindingKind, Report};

use crate::program::*;
use crate::recorder::{Journal, Recorder};

pub struct Scene {
    pub program: Program,
    pub session: Session,
    pub domain: Domain,
    pub stream: Stream,
    pub report: Report,
    /// What reached the backend behind the checker.
    pub journal: Journal,
}

impl Scene {
    /// With a stream `gpu` that claims no order.
    pub fn new() -> Self {
        Self::with(c"check.output=off", |_| {})
    }

    /// With this config, and a stream that is opened like this.
    pub fn with(config: &CStr, change: impl FnOnce(&mut nvtxwStreamAttributes_t)) -> Self {
        let journal = Journal::default();
        Self {
            journal: journal.clone(),
            ..Self::before(Recorder(journal), config, change)
        }
    }

    /// With this backend behind the checker; the journal stays empty.
    pub fn before(
        backend: impl Backend,
        config: &CStr,
        change: impl FnOnce(&mut nvtxwStreamAttributes_t),
    ) -> Self {
        let checked = Checked::new(backend);
        let report = checked.report();
        let program = Program::of(in_process(checked));
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: c"run".as_ptr(),
            configString: config.as_ptr(),
        };
        let session = program.begin_with(&attr).expect("a session");
        let domain = program.domain(session, None).expect("a domain");
        let mut attr = stream_attr(c"gpu", domain);
        change(&mut attr);
        let stream = program.open_with(session, &attr).expect("a stream");
        Self {
            program,
            session,
            domain,
            stream,
            report,
            journal: Journal::default(),
        }
    }

    pub fn schema(&self, flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        let attr = schema_attr(flags, entries);
        self.program.schema(self.domain, &attr).expect("a schema")
    }

    /// A schema of marks that have nothing but their time.
    pub fn marks(&self) -> u64 {
        self.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries())
    }

    /// A schema of whole ranges.
    pub fn whole_ranges(&self) -> u64 {
        self.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, &pushpop_entries())
    }

    pub fn write(&self, schema: u64, bytes: &[u8]) -> Outcome {
        self.program.write(self.stream, &[payload(schema, bytes)])
    }

    /// Writes marks, one by one.
    pub fn write_marks(&self, schema: u64, times: &[i64]) {
        for time in times {
            self.write(schema, &bytes![time]).expect("written");
        }
    }

    /// Ends the session; all that was found, as `code: where and what`.
    pub fn found(&self) -> Vec<String> {
        self.program.end(self.session).expect("ended");
        self.so_far()
    }

    /// All that is found so far.
    pub fn so_far(&self) -> Vec<String> {
        let kinds = FindingKind::ALL.iter();
        let findings = kinds.flat_map(|kind| self.report.examples(*kind));
        findings
            .map(|finding| format!("{}: {finding}", finding.kind()))
            .collect()
    }
}
