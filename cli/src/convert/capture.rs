//! Captures, whose calls are made once more.

use std::io::Read;

use nvtxw_backend::relay::Relay;

use super::{Options, output};
use crate::error::Result;
use crate::replay;

/// Makes the calls of a capture on what takes the trace.
pub fn write(input: impl Read, options: &Options) -> Result<()> {
    let output = output::open(options, None, &[])?;
    let relay = match &options.backend {
        None => Relay::to_instance(nvtxw_file::in_process()),
        Some(_) => replay::relay(&output.backend)?,
    };
    let replayed = replay::replay(input, &options.input, relay, &output.settings)?;
    replay::warn(&replayed);
    output.end()?;
    replay::judge(&replayed, &options.input)
}
