//! What reaches a backend of a rich trace, call by call: `rich.jsonl`.

mod damaged;
mod layer;
mod pointers;
mod rich;
mod types;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw::{Backend, Config};
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::replay::Replay;
use nvtxw_file::capture::{Ending, Reader};

use crate::layer::Layer;

fn blessed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recording/rich.jsonl")
}

/// Compares line by line with the file, or rewrites that if `BLESS` is set.
#[track_caller]
fn compare(lines: &[String]) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(blessed(), lines.join("\n") + "\n").unwrap();
        return;
    }
    let text = std::fs::read_to_string(blessed()).unwrap();
    for (index, (found, expected)) in lines.iter().zip(text.lines()).enumerate() {
        assert!(
            found == expected,
            "line {} differs:\n  found {found}\nblessed {expected}\nIf that is meant: `BLESS=1 cargo test -p nvtxw-tests --test recording`, and read the difference.",
            index + 1
        );
    }
    assert_eq!(
        lines.len(),
        text.lines().count(),
        "the number of calls differs"
    );
}

/// Held by who records: the recorder knows sessions by their names, and all are called alike.
fn recorder() -> MutexGuard<'static, ()> {
    static RECORDER: Mutex<()> = Mutex::new(());

    RECORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_rich_trace_is_as_it_was_blessed() {
    let _held = recorder();
    // SAFETY:
    // - The recorder implements the ABI, takes calls from any thread, doesn't unwind, and never follows a handle.
    let backend = unsafe { Backend::from_table(&nvtxw_recorder::TABLE) }.unwrap();
    assert_eq!(rich::write(&backend, Config::new()).unwrap(), [""; 0]);
    compare(&nvtxw_recorder::take("rich").unwrap());
}

#[test]
fn a_layer_passes_all_calls_on() {
    let _held = recorder();
    // SAFETY:
    // - As above; what the rich trace says of pointers holds.
    let relay = unsafe { Relay::to_table(&nvtxw_recorder::TABLE) }.unwrap();
    let backend = Backend::in_process(nvtxw_backend::in_process(Layer(relay)));
    assert_eq!(rich::write(&backend, Config::new()).unwrap(), [""; 0]);
    compare(&nvtxw_recorder::take("rich").unwrap());
}

/// What was recorded, apart for each stream, and for what is on none: between streams there is no order.
fn by_stream(lines: &[String]) -> BTreeMap<String, Vec<&str>> {
    let mut streams = BTreeMap::<_, Vec<_>>::new();
    for line in lines {
        let call: serde_json::Value = serde_json::from_str(line).unwrap();
        let stream = call["stream"].as_str().unwrap_or_default().to_owned();
        streams.entry(stream).or_default().push(&**line);
    }
    streams
}

#[test]
fn a_capture_replays_call_for_call() {
    let _held = recorder();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rich.nvtxw");
    let config = [
        ("format", "capture"),
        ("path", path.to_str().unwrap()),
        ("overwrite", "true"),
    ];
    let set = |config: Config, (key, value): (&str, &str)| config.set(key, value).unwrap();
    let config = config.into_iter().fold(Config::new(), set);
    assert_eq!(rich::write(&Backend::embedded(), config).unwrap(), [""; 0]);
    let mut reader = Reader::new(File::open(&path).unwrap()).unwrap();
    // SAFETY:
    // - As above.
    let relay = unsafe { Relay::to_table(&nvtxw_recorder::TABLE) }.unwrap();
    let replayed = Replay::new(relay).run(&mut reader, |_| ()).unwrap();
    assert_eq!(replayed.refused(), 0, "{:?}", replayed.refusals);
    assert_eq!(replayed.refused_before, 0);
    assert_eq!(replayed.ending.unwrap(), Ending::Whole);
    replayed.end.unwrap();
    let lines = nvtxw_recorder::take("rich").unwrap();
    assert_eq!(lines.len() as u64, replayed.calls + 2);
    let text = std::fs::read_to_string(blessed()).unwrap();
    let direct: Vec<_> = text.lines().map(str::to_owned).collect();
    assert_eq!(by_stream(&lines), by_stream(&direct));
}

/// The recorder as a library: Cargo puts it beside the test programs.
fn library() -> PathBuf {
    let name = format!(
        "{}nvtxw_recorder{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    std::env::current_exe().unwrap().with_file_name(name)
}

#[test]
#[ignore = "run by `the_library_records_the_same`, which sets NVTXW_RECORD"]
fn write_through_the_library() {
    // SAFETY:
    // - As for the table.
    let backend = unsafe { Backend::load(library()) }.unwrap();
    assert_eq!(rich::write(&backend, Config::new()).unwrap(), [""; 0]);
}

#[test]
fn the_library_records_the_same() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recording.jsonl");
    let _ = std::fs::remove_file(&path);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["write_through_the_library", "--exact", "--ignored"])
        .env("NVTXW_RECORD", &path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    // The last user of a library finalizes it; a table has nothing to finalize.
    assert_eq!(lines.pop().as_deref(), Some(r#"{"call":"nvtxwFinalize"}"#));
    compare(&lines);
}

#[test]
fn the_embedded_backend_refuses_nothing() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rich.pftrace");
    let config = Config::new()
        .set("path", path.to_str().unwrap())
        .unwrap()
        .set("overwrite", "true")
        .unwrap()
        .set("base", "-2000000")
        .unwrap();
    let missed = rich::write(&Backend::embedded(), config).unwrap();
    assert!(missed.is_empty(), "{missed:?}");
}
