//! What is left where a file can't be put in order: all that was written, and why.

use std::fs;

use nvtxw_abi::ResultCode;

use crate::arrivals::{Arrival, Chains, FORMATS, Rows, merged, write, write_to, written};
use crate::reader::{Arg, Trace, text};
use crate::replay::TempDir;
use crate::table::Session;

#[test]
fn who_wants_no_merge_is_told_what_that_leaves() {
    let mut chains = Chains::new(7);
    let disorder = chains.in_disorder();
    for format in FORMATS {
        let run = write(&disorder, &format!("{format}|window=4|merge=false"));
        let before = fs::read(&run.path).unwrap();
        run.session.end().unwrap();
        let after = fs::read(&run.path).unwrap();
        assert!(after.starts_with(written(&before)));
        let reason = "the config key `merge` says so";
        check_unmerged(&Trace::read(&run.path), &disorder, format, reason);
    }
}

/// The end tells why there was no merge, and what to do.
fn check_told(session: Session, reason: &str) {
    let failure = session.end().unwrap_err();
    assert_eq!(failure.code, ResultCode::FAILED);
    assert_eq!(
        failure.reason,
        format!(
            "can't put what was written in order: {reason}; it stays as it is: choose a `path` in a folder that takes \
             new files and has room for two more of that size, or set `merge=false` to do without"
        )
    );
}

/// What is left where no merge can be: all that was written, and why.
fn check_unmerged(trace: &Trace, disorder: &[Arrival], format: &str, reason: &str) {
    assert_eq!(trace.attributes["nvtxw.unmerged"], text(reason));
    let want = Rows::of(&merged(write(disorder, &format!("{format}|window=4"))));
    let mut got: Vec<_> = (trace.ranges.iter())
        .map(|range| (&range.name, range.start))
        .collect();
    let mut wanted: Vec<_> = (want.contents.iter())
        .map(|(_, start, _, name, _)| (name, *start))
        .collect();
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
    assert_eq!(trace.instants.len(), want.instants.len());
    assert_eq!(trace.values.len(), want.values.len());
}

#[test]
fn a_file_that_was_moved_stays_as_it_is() {
    let disorder = Chains::new(3).in_disorder();
    for format in FORMATS {
        let run = write(&disorder, &format!("{format}|window=4"));
        let moved = run.path.with_file_name("moved");
        fs::rename(&run.path, &moved).unwrap();
        let reason = format!(
            "reading {}: No such file or directory (os error 2)",
            run.path.display()
        );
        check_told(run.session, &reason);
        check_unmerged(&Trace::read(&moved), &disorder, format, &reason);
        assert!(!run.path.exists());
    }
}

#[test]
fn a_file_that_someone_changed_is_left_alone() {
    let disorder = Chains::new(8).in_disorder();
    type Damage = fn(&mut Vec<u8>);
    let other = "it has other content than was written";
    let damages: [(Damage, &str); 2] = [
        (
            |file| {
                let at = file.len() / 2;
                file[at..].fill(0xFF);
            },
            other,
        ),
        (|file| file[0] = 0, other),
    ];
    for format in FORMATS {
        for (damage, want) in damages {
            let run = write(&disorder, &format!("{format}|window=4"));
            let mut file = written(&fs::read(&run.path).unwrap()).to_vec();
            damage(&mut file);
            fs::write(&run.path, &file).unwrap();
            let reason = format!("reading {}: {want}", run.path.display());
            check_told(run.session, &reason);
            let after = fs::read(&run.path).unwrap();
            assert!(after.starts_with(&file));
            let found = after
                .windows(reason.len())
                .any(|text| text == reason.as_bytes());
            assert!(found, "{format}: {want}");
            let files = fs::read_dir(run.path.parent().unwrap()).unwrap();
            assert_eq!(files.count(), 1);
        }
    }
}

/// Nothing is written behind what is missing, where nobody could read it.
#[test]
fn a_file_that_someone_cut_short_stays_so() {
    let disorder = Chains::new(8).in_disorder();
    for format in FORMATS {
        let run = write(&disorder, &format!("{format}|window=4"));
        let mut file = fs::read(&run.path).unwrap();
        file.truncate(file.len() / 2);
        let cut = fs::OpenOptions::new().write(true).open(&run.path).unwrap();
        cut.set_len(file.len() as u64).unwrap();
        let failure = run.session.end().unwrap_err();
        let want = format!(
            "writing {}: another program has cut it short; later events are dropped, the file keeps what came before",
            run.path.display()
        );
        assert_eq!(failure.reason, want);
        assert_eq!(fs::read(&run.path).unwrap(), file);
        let files = fs::read_dir(run.path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_takes_no_new_file_keeps_the_old_one() {
    use std::os::unix::fs::PermissionsExt;

    let disorder = Chains::new(4).in_disorder();
    let run = write(&disorder, "window=4");
    let folder = run.path.parent().unwrap().to_owned();
    let allow = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    if fs::write(folder.join("probe"), "").is_ok() {
        println!("skipped: this user may write to any folder");
        allow(0o755);
        return;
    }
    let failure = run.session.end().unwrap_err();
    allow(0o755);
    let trace = Trace::read(&run.path);
    let Arg::Text(reason) = &trace.attributes["nvtxw.unmerged"] else {
        panic!("no text");
    };
    let begin = format!("creating {}.merge-", run.path.display());
    assert!(reason.starts_with(&begin), "{reason}");
    assert!(
        reason.ends_with(": Permission denied (os error 13)"),
        "{reason}"
    );
    assert!(failure.reason.contains(reason), "{failure:?}");
    check_unmerged(&trace, &disorder, "", reason);
}

/// The test is a process of its own here, as the limit holds for all of its files.
#[cfg(target_os = "linux")]
#[test]
fn without_room_for_a_new_file_the_old_one_stays() {
    use std::process::{self, Command};
    use std::{env, path::Path};

    const SELF: &str = "unmerged::without_room_for_a_new_file_the_old_one_stays";
    const PATH: &str = "NVTXW_FILE_TEST_LIMITED";
    const FORMAT: &str = "NVTXW_FILE_TEST_FORMAT";
    let disorder = Chains::new(6).in_disorder();
    if let Some(path) = env::var_os(PATH) {
        let (path, format) = (Path::new(&path), env::var(FORMAT).unwrap());
        let config = format!("path={}|window=4|{format}", path.display());
        let session = Session::begin("x", &config).unwrap();
        write_to(&session, &disorder);
        let limit = fs::metadata(path).unwrap().len() / 2;
        let set = Command::new("prlimit")
            .arg(format!("--pid={}", process::id()))
            .arg(format!("--fsize={limit}"))
            .status();
        assert!(set.unwrap().success());
        // The counts have no room either.
        let failure = session.end().unwrap_err();
        let want = format!("writing {}: File too large (os error 27)", path.display());
        assert!(failure.reason.starts_with(&want), "{failure:?}");
        return;
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: prlimit is not here");
        return;
    }
    for format in FORMATS {
        let dir = TempDir::new();
        let path = dir.path().join("run.pftrace");
        let child = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
            .arg(env::current_exe().unwrap())
            .args(["--exact", SELF])
            .env(PATH, &path)
            .env(FORMAT, format)
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let trace = Trace::read(&path);
        let want = merged(write(&disorder, &format!("window=4|{format}")));
        assert_eq!(trace.ranges.len(), want.ranges.len());
        assert_eq!(trace.instants.len(), want.instants.len());
        assert_eq!(trace.values.len(), want.values.len());
    }
}

#[cfg(unix)]
#[test]
fn what_went_into_a_pipe_stays_as_it_was() {
    use std::io::Read;

    let disorder = Chains::new(5).in_disorder();
    for format in FORMATS {
        let dir = TempDir::new();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        let config = format!("path={}|overwrite=true|window=4|{format}", path.display());
        let written = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut written = Vec::new();
                let mut pipe = fs::File::open(&path).unwrap();
                pipe.read_to_end(&mut written).unwrap();
                written
            });
            let session = Session::begin("x", &config).unwrap();
            write_to(&session, &disorder);
            session.end().unwrap();
            reader.join().unwrap()
        });
        let copy = dir.path().join("copy");
        fs::write(&copy, written).unwrap();
        let reason = format!("reading {}: it is not a file", path.display());
        check_unmerged(&Trace::read(&copy), &disorder, format, &reason);
    }
}
