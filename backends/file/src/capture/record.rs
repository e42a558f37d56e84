//! What a capture holds.

use std::ffi::CStr;

use nvtxw_backend::call::{Registration, StreamAttributes, WriteCall};
use nvtxw_backend::{RefusalCounts, ResultCode};

/// One record of a capture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Record<'a> {
    /// The session begins. The first record.
    Begin {
        /// Its name.
        name: Option<&'a CStr>,
        /// Its options.
        config: Option<&'a CStr>,
        /// What has written the file.
        writer: &'a str,
    },
    /// A registration. It comes before all that refers to it.
    Registration {
        /// The [number](nvtxw_backend::Domain::index) of the domain.
        domain: u32,
        /// What was registered.
        registration: Registration<'a>,
    },
    /// A stream was opened.
    Open {
        /// Its number in the file, which no other stream of it has.
        stream: u32,
        /// What it was opened with.
        attributes: StreamAttributes<'a>,
    },
    /// Something was written to a stream. Those of one stream are in order; between streams they are in none.
    Write {
        /// The stream's number.
        stream: u32,
        /// What was written.
        call: WriteCall<'a>,
    },
    /// The producer closed a stream. Those that it left open have no such record.
    Close {
        /// The stream's number.
        stream: u32,
    },
    /// A call was refused, and had no effect; or of a batch some was left out, and the call is there too.
    Refused {
        /// The function of the table.
        member: &'a str,
        /// The name of the stream, domain or session that it was called on.
        object: &'a str,
        /// What the producer got.
        code: ResultCode,
        /// Why.
        reason: &'a str,
    },
    /// How much was refused, if anything was.
    Refusals(RefusalCounts),
    /// The session has ended. The last record.
    End,
}
