use super::*;
use crate::replay::TempDir;
use nvtxw_backend::ResultCode;

/// Lines, closed by a bracket.
const LINES: Framing = Framing {
    whole: |written| {
        let end = written.iter().rposition(|byte| *byte == b'\n');
        end.map_or(0, |at| at + 1)
    },
    events: |lines| lines.iter().filter(|byte| **byte == b'\n').count() as u64,
    tail: b"]",
};

#[test]
fn an_existing_file_is_kept_unless_asked() {
    let dir = TempDir::new();
    let path = dir.path().join("a.pftrace");
    fs::write(&path, "precious").unwrap();
    let refusal = Sink::create(&mut Destination::new(&path, false), LINES)
        .map(drop)
        .unwrap_err();
    assert_eq!(refusal.code(), ResultCode::FAILED);
    assert_eq!(
        refusal.reason(),
        format!(
            "{} exists: remove it, or set `overwrite=true` to replace it",
            path.display()
        )
    );
    assert_eq!(fs::read(&path).unwrap(), b"precious");

    let sink = Sink::create(&mut Destination::new(&path, true), LINES).unwrap();
    sink.append(b"ab").unwrap();
    sink.append(b"c").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"abc]");
}

/// To remove or replace it would not help.
#[test]
fn a_file_that_another_session_writes_is_not_said_to_be_replaceable() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    sink.append(b"ab").unwrap();
    for overwrite in [false, true] {
        let refusal = Sink::create(&mut Destination::new(&path, overwrite), LINES)
            .map(drop)
            .unwrap_err();
        assert_eq!(
            refusal.reason(),
            format!(
                "{} is being written by another session: give each session a `path` of its own",
                path.display()
            )
        );
    }
    assert_eq!(fs::read(&path).unwrap(), b"ab]");
}

#[test]
fn nothing_is_written_behind_what_someone_cut_off() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    sink.append(b"one\n").unwrap();
    let other = OpenOptions::new().write(true).open(&path).unwrap();
    // The tail alone is written anew.
    other.set_len(4).unwrap();
    sink.append(b"two\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n]");
    other.set_len(6).unwrap();
    let shown = path.display();
    assert_eq!(
        sink.check().unwrap_err().reason(),
        format!(
            "{shown}: another program has cut it short; choose a `path` that nobody else writes"
        )
    );
    let failed = sink.append(b"three\n").unwrap_err();
    assert_eq!(failed.kept, 0);
    let want = format!(
        "writing {shown}: another program has cut it short; later events are dropped, the file keeps what came before"
    );
    assert_eq!(failed.refusal.reason(), want);
    assert_eq!(sink.check().unwrap_err().reason(), want);
    assert_eq!(fs::read(&path).unwrap(), b"one\ntw");
}

#[test]
fn a_folder_is_not_said_to_be_replaceable() {
    let dir = TempDir::new();
    for overwrite in [false, true] {
        let refusal = Sink::create(&mut Destination::new(dir.path(), overwrite), LINES).map(drop);
        assert_eq!(
            refusal.unwrap_err().reason(),
            format!(
                "{} is a folder: give the path of a file",
                dir.path().display()
            )
        );
    }
}

#[test]
fn a_file_that_nothing_got_into_does_not_stay() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    for _ in 0..2 {
        Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
        assert!(!path.exists());
    }
    // What somebody else put there does.
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    drop(sink);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    fs::remove_file(&path).unwrap();
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    sink.append(b"a\n").unwrap();
    drop(sink);
    assert_eq!(fs::read(&path).unwrap(), b"a\n]");
}

#[test]
fn a_missing_folder_is_named() {
    let dir = TempDir::new();
    let path = dir.path().join("no/where.pftrace");
    let refusal = Sink::create(&mut Destination::new(&path, false), LINES)
        .map(drop)
        .unwrap_err();
    let want = format!(
        "can't create {}: its folder doesn't exist (",
        path.display()
    );
    assert!(refusal.reason().starts_with(&want), "{refusal}");
}

#[test]
fn a_file_has_one_session_at_a_time() {
    let dir = TempDir::new();
    let path = dir.path().join("a.pftrace");
    let first = Sink::create(&mut Destination::new(&path, true), LINES).unwrap();
    first.append(b"ab").unwrap();
    let refusal = Sink::create(&mut Destination::new(&path, true), LINES)
        .map(drop)
        .unwrap_err();
    assert_eq!(
        refusal.reason(),
        format!(
            "{} is being written by another session: give each session a `path` of its own",
            path.display()
        )
    );
    first.append(b"c").unwrap();
    drop(first);
    assert_eq!(fs::read(&path).unwrap(), b"abc]");
    Sink::create(&mut Destination::new(&path, true), LINES).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn the_file_is_complete_after_each_append() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    for (line, file) in [("a\n", "a\n]"), ("bc\n", "a\nbc\n]")] {
        sink.append(line.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), file);
    }
    sink.finish(b"end.").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nbc\nend.");
}

#[test]
fn after_an_error_the_file_ends_with_a_whole_line_and_its_tail() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    sink.append(b"a\n").unwrap();
    // What such an append leaves behind: some of its lines, and the tail is gone.
    let mut state = sink.lock();
    state.file.write_all(b"bc\nd").unwrap();
    state.mend(b"bc\nd", LINES);
    drop(state);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nbc\n]");
}

#[cfg(unix)]
#[test]
fn a_file_that_was_removed_is_told_at_the_end() {
    let dir = TempDir::new();
    let path = dir.path().join("a");
    let sink = Sink::create(&mut Destination::new(&path, false), LINES).unwrap();
    sink.append(b"a\n").unwrap();
    sink.check().unwrap();
    let moved = dir.path().join("b");
    fs::rename(&path, &moved).unwrap();
    sink.check().unwrap();
    fs::remove_file(&moved).unwrap();
    sink.append(b"b\n").unwrap();
    let want = format!(
        "{} was removed while it was written: nobody can open it any more; choose a `path` where files \
         stay",
        path.display()
    );
    assert_eq!(sink.check().unwrap_err().reason(), want);
}

#[cfg(target_os = "linux")]
#[test]
fn the_first_error_is_kept() {
    let sink = Sink::create(&mut Destination::new(Path::new("/dev/full"), true), LINES).unwrap();
    sink.check().unwrap();
    for _ in 0..2 {
        let Failed { refusal, kept } = sink.append(b"abc").unwrap_err();
        assert_eq!(kept, 0);
        assert_eq!(refusal.code(), ResultCode::FAILED);
        assert_eq!(
            refusal.reason(),
            "writing /dev/full: No space left on device (os error 28); later events are \
             dropped, the file keeps what came before"
        );
    }
    sink.check().unwrap_err();
}
