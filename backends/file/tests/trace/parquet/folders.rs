//! The files and folders of a dataset.

use super::*;

#[test]
fn sessions_share_a_dataset_and_replace_only_themselves() {
    let dir = TempDir::new();
    let path = dir.path().join("data");
    let begin = |session: &str, more: &str| {
        let config = format!("path={}|format=parquet|{more}", path.display());
        Session::begin(session, &config)
    };
    let write = |session: &str, more: &str, time: i64| {
        let session = begin(session, more).unwrap();
        let domain = session.domain("");
        let entries = [mark_time(), entry(EntryType::Int64, c"a")];
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 16, &entries);
        let mut stream = session.stream("a/b=..", domain, 0);
        stream.event(&[(mark, &words(&[time, 1]))]).unwrap();
        stream.close().unwrap();
        // The name is free again.
        let mut stream = session.stream("a/b=..", domain, 0);
        stream.event(&[(mark, &words(&[time + 1, 1]))]).unwrap();
        session.end().unwrap();
    };
    let long = "../".repeat(300);
    for (session, time) in [("rank-0", 0), ("rank-1", 10), (&*long, 20), ("", 30)] {
        write(session, "", time);
    }
    let times = || {
        let rows = read(path.join("events"));
        let mut times: Vec<_> = columns(&rows, ["start_ns"]).concat();
        times.sort_by_key(Value::as_i64);
        json!(times)
    };
    assert_eq!(times(), json!([0, 1, 10, 11, 20, 21, 30, 31]));
    let folder = path.join("events/nvtxw_session=rank-0/nvtxw_stream=a%2Fb%3D.%2E");
    assert_eq!(read(&folder).rows.len(), 2);
    assert_eq!(
        read(path.join("typed/tick/nvtxw_session=__HIVE_DEFAULT_PARTITION__"))
            .rows
            .len(),
        2
    );

    assert_eq!(
        names(&path.join("metadata/nvtxw_session=rank-0")),
        ["part-0.parquet", "part-1.parquet"]
    );
    let refused = begin("rank-0", "").map(drop).unwrap_err();
    assert_eq!(refused.code, ResultCode::FAILED);
    let own = path.join("metadata/nvtxw_session=rank-0");
    assert_eq!(
        refused.reason,
        format!(
            "{} exists: the dataset has this session already; give this one another name, or set \
             `overwrite=true` to replace it",
            own.display()
        )
    );
    // Another file stays.
    fs::write(folder.join("notes.txt"), "precious").unwrap();
    write("rank-0", "overwrite=true", 40);
    assert_eq!(times(), json!([10, 11, 20, 21, 30, 31, 40, 41]));
    assert_eq!(read(path.join("typed/tick")).rows.len(), 8);
    assert!(folder.join("notes.txt").exists());

    let running = begin("rank-0", "overwrite=true").unwrap();
    let refused = begin("rank-0", "overwrite=true").map(drop).unwrap_err();
    assert_eq!(
        refused.reason,
        format!(
            "{} is being written by another session: give each session a name of its own",
            own.display()
        )
    );
    running.end().unwrap();
    assert_eq!(times(), json!([10, 11, 20, 21, 30, 31]));
    // What is empty now is gone, down to the first folder with something in it.
    assert!(folder.join("notes.txt").exists());
    assert!(!path.join("typed/tick/nvtxw_session=rank-0").exists());

    // Nobody made these for a session.
    fs::create_dir(path.join("typed/mine")).unwrap();
    for session in ["rank-1", &long, ""] {
        begin(session, "overwrite=true").unwrap().end().unwrap();
    }
    assert_eq!(names(&path), ["events", "metadata", "typed"]);
    assert_eq!(names(&path.join("typed")), ["mine"]);
    fs::remove_file(folder.join("notes.txt")).unwrap();
    fs::remove_dir(path.join("typed/mine")).unwrap();
    begin("rank-0", "overwrite=true").unwrap().end().unwrap();
    assert_eq!(names(&path), ["metadata"]);
}

/// What is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn parts_and_row_groups_close_as_they_fill() {
    let run = parquet("window=2|row_group=30|part=100");
    let path = run.path.clone();
    let mut out = Writer::new(&run);
    let (mut before, mut steps) = (0, 0);
    for time in 0..1000 {
        out.mark(time, "tick").unwrap();
        if time % 20 != 19 {
            continue;
        }
        let found = read(path.join("events")).rows.len();
        assert!(found >= before && found <= time as usize + 1);
        steps += usize::from(found > before);
        before = found;
    }
    // All but the open part is there before the end.
    assert_eq!((before, steps), (900, 9));
    run.session.end().unwrap();
    let events = read(path.join("events"));
    assert_eq!(events.rows.len(), 1000);
    let mut groups = vec![vec![30, 30, 30, 10]; 9];
    groups.push(vec![30, 30, 30, 10]);
    assert_eq!(events.groups, groups);
    let left = fs::read_dir(path.join("events/nvtxw_session=run/nvtxw_stream=main"));
    assert_eq!(left.unwrap().count(), 10);
}

#[test]
fn an_interval_completes_parts() {
    let run = parquet("flush_interval=20");
    let path = run.path.clone();
    let mut out = Writer::new(&run);
    out.mark(1, "tick").unwrap();
    while read(path.join("events")).rows.is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    out.mark(2, "tick").unwrap();
    run.session.end().unwrap();
    assert_eq!(read(path.join("events")).rows.len(), 2);
}

#[test]
fn more_streams_than_parts_may_be_open() {
    let run = parquet("window=2");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let name = domain.string("tick") as i64;
    let mut streams: Vec<_> = (0..300)
        .map(|index| run.session.stream(&format!("s{index}"), domain, 0))
        .collect();
    for time in 0..6 {
        for stream in &mut streams {
            stream
                .event(&[(plain.mark, &words(&[time, name]))])
                .unwrap();
        }
    }
    run.session.end().unwrap();
    assert_eq!(read(path.join("events")).rows.len(), 1800);
}

#[test]
fn folders_that_can_not_be_made_and_those_that_go_are_told() {
    let dir = TempDir::new();
    let refusal = |path: &Path| {
        let config = format!("path={}|format=parquet", path.display());
        Session::begin("x", &config).map(drop).unwrap_err().reason
    };
    let path = dir.path().join("no/where");
    let want = format!(
        "can't create the folder {}: what it is in doesn't exist (",
        path.display()
    );
    assert!(refusal(&path).starts_with(&want), "{}", refusal(&path));
    let file = dir.path().join("file");
    fs::write(&file, "precious").unwrap();
    let want = format!(
        "{} exists and is no folder, as a Parquet dataset is: give another `path`, or remove it",
        file.display()
    );
    assert_eq!(refusal(&file), want);
    assert_eq!(fs::read(&file).unwrap(), b"precious");

    let run = parquet("window=2|part=10");
    let path = run.path.clone();
    let mut out = Writer::new(&run);
    for time in 0..6 {
        out.mark(time, "tick").unwrap();
    }
    fs::remove_dir_all(&path).unwrap();
    let told = (6..100).find_map(|time| out.mark(time, "tick").err());
    let want = format!(
        "{} was removed while it was written: choose a `path` where files stay",
        path.display()
    );
    let told = told.unwrap().reason;
    assert!(told.starts_with(&want), "{told}");
    let told = run.session.end().unwrap_err().reason;
    assert!(told.contains(&want), "{told}");
    assert!(told.ends_with(" events were dropped"), "{told}");

    let run = parquet("");
    fs::remove_dir_all(&run.path).unwrap();
    let want = format!(
        "{} was removed while it was written: choose a `path` where files stay",
        run.path.display()
    );
    assert_eq!(run.session.end().unwrap_err().reason, want);
}

/// The test is a process of its own here, as the limit holds for all of its files.
#[cfg(target_os = "linux")]
#[test]
fn a_session_that_can_not_begin_leaves_what_was_there() {
    use std::env;
    use std::process::{self, Command};

    const SELF: &str = "parquet::folders::a_session_that_can_not_begin_leaves_what_was_there";
    const PATH: &str = "NVTXW_FILE_TEST_NOT_BEGUN";
    let begin = |path: &Path, session: &str| {
        let config = format!("path={}|format=parquet", path.display());
        Session::begin(session, &config)
    };
    if let Some(path) = env::var_os(PATH) {
        let set = Command::new("prlimit")
            .arg(format!("--pid={}", process::id()))
            .arg("--fsize=10")
            .status();
        assert!(set.unwrap().success());
        let failure = begin(Path::new(&path), "new").map(drop).unwrap_err();
        let want = "metadata/nvtxw_session=new/part-0.parquet: File too large (os error 27)";
        assert!(failure.reason.ends_with(want), "{failure:?}");
        return;
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: prlimit is not here");
        return;
    }
    let dir = TempDir::new();
    let path = dir.path().join("data");
    let fail = || {
        let child = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
            .arg(env::current_exe().unwrap())
            .args(["--exact", SELF])
            .env(PATH, &path)
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
    };
    fail();
    assert!(names(dir.path()).is_empty());
    begin(&path, "old").unwrap().end().unwrap();
    fail();
    assert_eq!(names(&path), ["metadata"]);
    assert_eq!(names(&path.join("metadata")), ["nvtxw_session=old"]);
    begin(&path, "new").unwrap().end().unwrap();
}
