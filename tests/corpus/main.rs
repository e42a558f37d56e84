//! Small traces, each with the rows that a reader has to find in it. Calls and rows are written by hand, in the `.case`
//! files: the rows from the rules, not from what the backend did. `interop/corpus.py` compares the same with what another
//! reader finds.

mod arena;
mod case;
mod payload;
mod program;
// The reader of the file backend's own tests; they use more of it.
#[allow(dead_code)]
#[path = "../../backends/file/tests/trace/reader.rs"]
mod reader;
mod register;
#[allow(dead_code)]
#[path = "../../backends/file/src/replay.rs"]
mod replay;
mod rows;

use std::path::Path;

use reader::Trace;

/// Other formats of the file backend, and what the names of their files end with.
fn others() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parquet = cfg!(feature = "parquet").then_some(("parquet", "parquet"));
    [("chrome", "json")].into_iter().chain(parquet)
}

#[test]
fn every_case_has_its_rows() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
    // Cases that have gone since must not be compared.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    let cases = case::read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"));
    let mut wrong = Vec::new();
    for case in &cases {
        let path = folder.join(format!("{}.pftrace", case.id));
        let calls = program::run(case, &path, "perfetto");
        // `interop/formats.py` compares what other formats have of the same cases.
        for (format, extension) in others() {
            let path = folder.join(format!("{}.{extension}", case.id));
            let _ = program::run(case, &path, format);
        }
        let differences = calls + &rows::differences(case, &Trace::read(&path));
        if !differences.is_empty() {
            wrong.push(format!("{} ({}):\n{differences}", case.id, case.title));
        }
    }
    println!(
        "{} cases, {} rows",
        cases.len(),
        cases.iter().map(|case| case.rows.len()).sum::<usize>()
    );
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    assert!(cases.len() >= 60, "{} cases are too few", cases.len());
}
