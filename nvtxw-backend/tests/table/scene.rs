//! A program in the middle of things.

use nvtxw_abi::raw::*;

use crate::program::*;

/// A program with a stream, and what its tests need.
pub struct Scene {
    pub program: Program,
    pub session: Session,
    pub domain: Domain,
    pub stream: Stream,
    /// The message schema of the C helpers.
    pub message: u64,
}

impl Scene {
    pub fn new() -> Self {
        Self::of(Program::new())
    }

    /// With the backend in a library.
    pub fn loaded() -> Self {
        Self::of(Program::loaded())
    }

    pub fn of(program: Program) -> Self {
        let (session, domain, stream) = program.ready();
        let message = program
            .schema(domain, &message_attr(&[message_entry()]))
            .expect("a schema");
        Self {
            program,
            session,
            domain,
            stream,
            message,
        }
    }

    pub fn schema(&self, flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        self.program
            .schema(self.domain, &schema_attr(flags, entries))
            .expect("a schema")
    }

    pub fn write(&self, payloads: &[nvtxPayloadData_t]) -> Outcome {
        self.program.write(self.stream, payloads)
    }

    /// Writes, and returns the one line that the backend noted.
    #[track_caller]
    pub fn written(&self, payloads: &[nvtxPayloadData_t]) -> String {
        self.write(payloads).expect("written");
        let [line] = &*self.program.journal.take() else {
            panic!("one line")
        };
        line.clone()
    }

    #[track_caller]
    pub fn refused(&self, payloads: &[nvtxPayloadData_t], reason: &str) {
        assert_invalid(
            self.write(payloads),
            &format!("EventWrite on \"gpu\": {reason}"),
        );
        assert_eq!(self.program.journal.take(), [""; 0]);
    }
}
