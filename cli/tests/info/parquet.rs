//! Parquet datasets.

use std::fs;

use crate::scratch::Scratch;
use crate::{run, text};

#[test]
fn what_is_no_dataset_is_said() {
    let scratch = Scratch::new("folders");
    let folder = scratch.path("run");
    fs::create_dir(&folder).unwrap();
    let part = scratch.path("part-0-0.parquet");
    fs::write(&part, b"PAR1....").unwrap();
    for (path, problem) in [
        (
            &folder,
            "this is a folder, and no Parquet dataset of ours: there is no `metadata` in it",
        ),
        (
            &part,
            "this is a part of a Parquet dataset: name the dataset's folder, the one with `events` and `metadata` in it",
        ),
    ] {
        let output = run(&[path.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            text(&output.stderr),
            format!("error: {}: {problem}\n", path.display())
        );
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_that_can_not_read_datasets_says_so() {
    let scratch = Scratch::new("unbuilt");
    fs::create_dir(scratch.path("metadata")).unwrap();
    let path = scratch.path("");
    let output = run(&[path.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        format!(
            "error: {}: this is a Parquet dataset, which this build of `nvtxw` can't read: build it with `--features parquet`\n",
            path.display()
        )
    );
}

#[cfg(feature = "parquet")]
mod with_parquet {
    use std::path::Path;

    use nvtxw::{Backend, Config, Session, StreamOptions};
    use serde_json::{Value, json};

    use super::*;
    use crate::{check_streams, info, only, scene};

    #[test]
    fn all_of_a_dataset_is_shown() {
        let scratch = Scratch::new("parquet");
        // Parts of a few rows too.
        for settings in [&[][..], &[("row_group", "7"), ("part", "13")]] {
            let path = scratch.path(format!("{}.parquet", settings.len()));
            scene::write(&path, &[settings, &[("format", "parquet")]].concat());
            let info = info(&path);
            check_streams(&info);
            assert_eq!(info["format"], "parquet");
            let depth = only(&info["counters"], "path", "GPU[0]/Engine/depth");
            assert!(
                depth["description"]
                    .as_str()
                    .unwrap()
                    .contains("what waits"),
                "{depth}"
            );
        }
    }

    #[test]
    fn sessions_of_one_dataset_are_told_apart() {
        let scratch = Scratch::new("sessions");
        let path = scratch.path("job.parquet");
        for (name, marks) in [("rank 0", 3), ("rank 1", 5)] {
            mark(&path, name, marks).end().unwrap();
        }
        let found = info(&path);
        assert_eq!(found["counts"]["marks"], 8);
        assert_eq!(found["facts"]["rank 1: nvtxw.session"], "rank 1");
        assert_eq!(only(&found["streams"], "name", "rank 1: 100%")["marks"], 5);
        assert_eq!(found["names"][0]["marks"], 8);
    }

    #[test]
    fn parts_that_are_not_complete_are_told() {
        let scratch = Scratch::new("parts");
        let path = scratch.path("job.parquet");
        let session = mark(&path, "unfinished", 1);
        let hidden = path.join("events/nvtxw_session=unfinished/nvtxw_stream=100%25");
        fs::create_dir_all(&hidden).unwrap();
        fs::write(hidden.join(".part-9-0.parquet.open"), "PAR1").unwrap();
        session.end().unwrap();
        let output = run(&["--json", path.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            text(&output.stderr),
            format!(
                "error: {}: a part is not complete, and left out: a session writes there, or was killed\n",
                path.display()
            )
        );
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&found["complete"], &found["counts"]["marks"]),
            (&json!(false), &json!(1))
        );

        fs::write(hidden.join("part-9-0.parquet"), "PAR1PAR1").unwrap();
        let output = run(&[path.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(
            said.contains("part-9-0.parquet: it is no Parquet file that can be read: "),
            "{said}"
        );
    }

    /// A session with so many marks in a stream `100%`.
    fn mark(path: &Path, name: &str, marks: i64) -> Session {
        let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
        let config = config.set("format", "parquet").unwrap();
        let mut session = Session::begin(&Backend::embedded(), name, &config).unwrap();
        let domain = session.default_domain().unwrap().id();
        let mut stream = session
            .open_stream("100%", StreamOptions::new(domain))
            .unwrap();
        let out = session.writer(&mut stream).unwrap();
        for time in 0..marks {
            out.mark(time).message("tick").write().unwrap();
        }
        session.close_stream(stream).unwrap();
        session
    }
}
