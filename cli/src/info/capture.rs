//! Reads captures: their calls are made on the built-in backend, and what it writes of them is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use indicatif::ProgressBar;
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::Ending;
use nvtxw_file::capture::replay::Replayed;
use tempfile::NamedTempFile;

use super::perfetto;
use super::summary::Summary;
use crate::error::{Error, Result};
use crate::{progress, replay};

/// What is in a capture.
///
/// # Errors
/// If there is nothing to show, or no room for what is written. `reading` counts what was read.
pub(super) fn read(source: impl Read, path: &Path, reading: &ProgressBar) -> Result<Summary> {
    let trace = NamedTempFile::new()
        .map_err(|error| Error::io("write in", &std::env::temp_dir(), error))?;
    let replayed = write(source, path, trace.path())?;
    reading.finish_and_clear();
    let bar = progress::bytes("summing up");
    // The backend may have put another file in its place.
    let file = File::open(trace.path()).map_err(|error| Error::io("read", trace.path(), error))?;
    bar.set_length(file.metadata().map_or(0, |metadata| metadata.len()));
    let mut summary = perfetto::read(bar.wrap_read(file));
    bar.finish_and_clear();
    summary.format = "capture";
    // The file's, which the capture has not.
    summary.facts.0.remove("nvtxw.time_base");
    summary.damage = damage(&replayed).or(summary.damage);
    summary.warnings = warnings(&replayed);
    Ok(summary)
}

/// Makes the calls for a file `trace`.
fn write(source: impl Read, path: &Path, trace: &Path) -> Result<Replayed> {
    let name = trace.to_str().ok_or_else(|| {
        let path = trace.display();
        Error::Usage(format!(
            "the path {path} is not UTF-8: set TMPDIR to another folder"
        ))
    })?;
    let config = [
        ("path", name),
        ("format", "perfetto"),
        ("overwrite", "true"),
        // Whatever the captured session had. Only what is in order has all ends where they are.
        ("merge", "true"),
        // -2^61: timestamps before 0 may come late, and those of the next 150 years have room too.
        ("base", "-2305843009213693952"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let relay = Relay::to_instance(nvtxw_file::in_process());
    let replayed = replay::replay(source, path, relay, &config)?;
    match &replayed.end {
        Ok(()) => Ok(replayed),
        Err(refusal) => Err(Error::Input {
            path: path.to_owned(),
            problem: format!(
                "its calls can't be written to a file in {}, which is read then: {refusal}",
                std::env::temp_dir().display()
            ),
        }),
    }
}

/// Why not all of the capture could be read.
fn damage(replayed: &Replayed) -> Option<String> {
    match &replayed.ending {
        Ok(Ending::Cut { offset, bytes }) => Some(format!(
            "the capture ends inside a record: its last {bytes} bytes, from byte {offset} on, are left out"
        )),
        Ok(Ending::Open | Ending::Whole) => None,
        Err(error) => Some(format!("{error}; it and all that follows is left out")),
    }
}

/// What is not shown, though it was read.
fn warnings(replayed: &Replayed) -> Vec<String> {
    let mut all = Vec::new();
    if let Ok(Ending::Open) = replayed.ending {
        all.push("the capture ends without its session's end, as after a kill".to_owned());
    }
    for refused in &replayed.refusals {
        let (count, member, refusal) = (refused.count, refused.member, &refused.refusal);
        all.push(format!(
            "{} of {member} can't be shown: {refusal}",
            calls(count)
        ));
    }
    if replayed.refused_before > 0 {
        let count = calls(replayed.refused_before);
        all.push(format!("{count} refused when captured, and not shown"));
    }
    all
}

fn calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    }
}

#[cfg(test)]
mod tests {
    use nvtxw_backend::Refusal;
    use nvtxw_file::capture::replay::Refused;

    use super::*;

    #[test]
    fn what_is_not_shown_is_counted() {
        let refused = |member, count| Refused {
            member,
            refusal: Refusal::invalid("of no use"),
            count,
        };
        let mut replayed = Replayed {
            calls: 9,
            refusals: vec![refused("EventWrite", 1), refused("CounterWrite", 5)],
            refused_before: 3,
            ending: Ok(Ending::Open),
            end: Ok(()),
        };
        let want = [
            "the capture ends without its session's end, as after a kill",
            "1 call of EventWrite can't be shown: INVALID_ARGUMENT (2): of no use",
            "5 calls of CounterWrite can't be shown: INVALID_ARGUMENT (2): of no use",
            "3 calls refused when captured, and not shown",
        ];
        assert_eq!(warnings(&replayed), want);
        replayed.ending = Ok(Ending::Whole);
        assert_eq!(warnings(&replayed), want[1..]);
    }
}
