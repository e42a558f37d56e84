//! Loading a backend library: what is wrong with it is named, and the current directory is never searched.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use nvtxw::{Backend, Config, Error, Session};
use nvtxw_tests::skip;

/// A folder for this test program.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("load");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// Compiles `source` into the shared library `name`. `None`, said aloud, without a C compiler.
fn library(name: &str, source: &str) -> Option<PathBuf> {
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|compiler| {
        Command::new(compiler)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    });
    let Some(compiler) = compiler else {
        skip(
            "no C compiler is here (tried cc, gcc, clang); install one to test the loading of libraries",
        );
        return None;
    };
    let (c_file, library) = (
        folder().join(format!("{name}.c")),
        folder().join(format!("lib{name}.so")),
    );
    std::fs::write(&c_file, source).unwrap();
    let output = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&c_file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(library)
}

/// A backend that notes in a file when sessions begin and end and when it is finalized, with a number that goes up as long
/// as the library is mapped. `missing` is the index of a member to leave null.
fn backend(name: &str, missing: Option<usize>) -> Option<PathBuf> {
    let members: String = (0..21)
        .map(|index| match index {
            _ if Some(index) == missing => "0, ",
            0 => "(function)session_begin, ",
            1 => "(function)session_end, ",
            _ => "(function)no, ",
        })
        .collect();
    let notes = notes_file(name);
    let _ = std::fs::remove_file(&notes);
    let source = format!(
        "#include <stdint.h>
        #include <stdio.h>
        typedef void (*function)(void);
        static int count;
        static void note(const char* what) {{
            FILE* notes = fopen({notes:?}, \"a\");
            if (notes) {{ fprintf(notes, \"%s %d\\n\", what, ++count); fclose(notes); }}
        }}
        static int32_t session_begin(const void* attr, void** out) {{ note(\"begin\"); *out = &count; return 0; }}
        static int32_t session_end(void* session) {{ note(\"end\"); return 0; }}
        static int32_t no(void) {{ return 7; }}
        static const function table[64] = {{ {members} }};
        int32_t nvtxwGetInterface(int32_t version, const void** out) {{
            if (version != 2) return 6;
            *out = table;
            return 0;
        }}
        void nvtxwFinalize(void) {{ note(\"finalize\"); }}"
    );
    library(name, &source)
}

fn notes_file(name: &str) -> PathBuf {
    folder().join(format!("{name}.notes"))
}

/// What the backend `name` noted so far.
fn notes(name: &str) -> String {
    std::fs::read_to_string(notes_file(name))
        .unwrap_or_default()
        .replace('\n', "; ")
}

fn load(path: &Path) -> Result<Backend, Error> {
    // SAFETY:
    // - The libraries here are those that this file compiles: they implement the ABI as far as they are called, hold no
    //   state of a session, and don't unwind.
    unsafe { Backend::load(path) }
}

fn refused(path: &Path) -> Error {
    load(path).unwrap_err()
}

#[test]
fn a_missing_file_is_named() {
    let path = folder().join("none/libnone.so");
    let error = refused(&path);
    assert!(matches!(&error, Error::LibraryNotFound { path: found } if *found == path));
    assert_eq!(
        error.to_string(),
        format!(
            "can't load the backend library `{}`: there is no such file",
            path.display()
        )
    );
    // A relative path is shown as it was looked for.
    let error = refused(Path::new("./none/libnone.so")).to_string();
    let absolute = std::path::absolute("./none/libnone.so").unwrap();
    assert_eq!(
        error,
        format!(
            "can't load the backend library `{}`: there is no such file",
            absolute.display()
        )
    );
}

#[test]
fn a_bare_file_name_is_refused() {
    assert_eq!(
        refused(Path::new("libnvtxw3.so")).to_string(),
        "can't load the backend library `libnvtxw3.so`: that is a file name without a place, and no folder is searched; give \
         its path, such as `./libnvtxw3.so` for the current folder"
    );
    assert!(matches!(refused(Path::new("")), Error::BareFileName { .. }));
}

#[test]
fn what_the_loader_says_is_kept() {
    let path = folder().join("libtext.so");
    std::fs::write(&path, "this is no library\n").unwrap();
    let error = refused(&path);
    let Error::LibraryLoad {
        path: found,
        reason,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(*found, path);
    assert!(!reason.is_empty());
    assert_eq!(
        error.to_string(),
        format!(
            "can't load the backend library `{}`: {reason}",
            path.display()
        )
    );
}

#[test]
fn a_library_without_the_entry_point_is_no_backend() {
    let Some(path) = library("other", "int other(void) { return 0; }") else {
        return;
    };
    let error = refused(&path);
    assert!(
        matches!(&error, Error::SymbolMissing { library, symbol: "nvtxwGetInterface" } if *library == path)
    );
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is not an NVTXW backend: it doesn't export `nvtxwGetInterface`; check that the path names a backend \
             library",
            path.display()
        )
    );
}

#[test]
fn a_library_of_the_first_abi_is_recognised() {
    let Some(path) = library("v1", "int nvtxwLoadImplementation(void) { return 0; }") else {
        return;
    };
    let error = refused(&path);
    assert!(matches!(&error, Error::OldAbi { library, .. } if *library == path));
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` has version 1 of the NVTXW ABI (it exports `nvtxwLoadImplementation` instead of `nvtxwGetInterface`), and \
             this library speaks version 2: use a newer release of that backend",
            path.display()
        )
    );
}

#[test]
fn another_version_is_named() {
    let source =
        "int nvtxwGetInterface(int version, const void** out) { return version == 3 ? 0 : 6; }";
    let Some(path) = library("version", source) else {
        return;
    };
    let error = refused(&path);
    assert!(matches!(
        error,
        Error::VersionNotSupported { version: 2, .. }
    ));
    assert_eq!(
        error.to_string(),
        format!(
            "the backend `{}` doesn't support version 2 of the NVTXW ABI: use a release of it that does",
            path.display()
        )
    );
}

#[test]
fn success_without_a_table_is_a_broken_backend() {
    let Some(path) = library(
        "null",
        "int nvtxwGetInterface(int version, const void** out) { return 0; }",
    ) else {
        return;
    };
    let error = refused(&path);
    assert!(matches!(error, Error::NullTable { .. }));
    assert_eq!(
        error.to_string(),
        format!(
            "the backend `{}` is broken: its entry point succeeded and gave no function table; report it to its makers",
            path.display()
        )
    );
}

#[test]
fn each_null_member_is_named() {
    for (index, member) in nvtxw_abi::raw::nvtxwInterface_v2_t::MEMBERS
        .into_iter()
        .enumerate()
    {
        let Some(path) = backend(&format!("member{index}"), Some(index)) else {
            return;
        };
        let error = refused(&path);
        assert!(matches!(&error, Error::NullMembers { members, .. } if *members == [member]));
        assert_eq!(
            error.to_string(),
            format!(
                "the backend `{}` is broken: its function table has null for `{member}`, which every backend must have (one that \
                 doesn't do a call answers NOT_SUPPORTED); report it to its makers",
                path.display()
            )
        );
    }
}

#[test]
fn a_library_is_one_backend_by_whatever_path_and_stays_mapped() {
    let Some(path) = backend("good", None) else {
        return;
    };
    let link = folder().join("libgood_link.so");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let (first, second) = (load(&path).unwrap(), load(&link).unwrap());
    let session = Session::begin(&first, "run", &Config::new()).unwrap();
    drop(first);
    session.end().unwrap();
    assert_eq!(notes("good"), "begin 1; end 2; ");
    drop(second);
    assert_eq!(notes("good"), "begin 1; end 2; finalize 3; ");
    // Were it unmapped meanwhile, it would count from 1 again.
    drop(load(&path).unwrap());
    assert_eq!(notes("good"), "begin 1; end 2; finalize 3; finalize 4; ");
}

#[test]
fn an_exclusive_backend_has_one_session_at_a_time() {
    let Some(path) = backend("exclusive", None) else {
        return;
    };
    // SAFETY:
    // - As in `load`.
    let exclusive = unsafe { Backend::load_exclusive(&path) }.unwrap();
    let shared = load(&path).unwrap();
    let begin = |backend: &Backend, name| Session::begin(backend, name, &Config::new());
    let first = begin(&exclusive, "first").unwrap();
    for backend in [&exclusive, &shared] {
        let error = begin(backend, "second").unwrap_err();
        assert!(matches!(&error, Error::Busy { .. }));
        assert_eq!(
            error.to_string(),
            format!(
                "can't begin session `second`: the backend `{}` was loaded for one session at a time, and one lives; end that \
                 one before",
                path.display()
            )
        );
    }
    first.end().unwrap();
    drop(begin(&exclusive, "second").unwrap());
    // Several on the other one, and none beside them on the exclusive one.
    let third = begin(&shared, "third").unwrap();
    let fourth = begin(&shared, "fourth").unwrap();
    assert!(matches!(
        begin(&exclusive, "fifth"),
        Err(Error::Busy { .. })
    ));
    drop((third, fourth));
    begin(&exclusive, "fifth").unwrap().end().unwrap();
    drop((exclusive, shared));
    assert_eq!(
        notes("exclusive"),
        "begin 1; end 2; begin 3; end 4; begin 5; begin 6; end 7; end 8; begin 9; end 10; finalize 11; "
    );
}

/// Runs [`from_env_here`] alone, in a process of its own, in the folder of the libraries, with the variable set or not.
fn from_env(value: Option<&Path>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["from_env_here", "--exact", "--ignored", "--nocapture"])
        .current_dir(folder());
    match value {
        Some(value) => command.env("NVTXW3_LIBRARY", value),
        None => command.env_remove("NVTXW3_LIBRARY"),
    };
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.split_once("from_env: "))
        .map(|(_, answer)| answer.to_owned());
    line.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
#[ignore = "run by `the_variable_names_the_library`, which sets the variable"]
fn from_env_here() {
    // SAFETY:
    // - As in `load`.
    match unsafe { Backend::from_env() } {
        Ok(_) => println!("from_env: a backend"),
        Err(error) => println!("from_env: {error}"),
    }
}

#[test]
fn the_variable_names_the_library() {
    let unset = "no backend library is named: the environment variable NVTXW3_LIBRARY is unset or empty; set it to the path \
                 of one, or use the embedded backend";
    assert_eq!(from_env(None), unset);
    assert_eq!(from_env(Some(Path::new(""))), unset);
    let missing = folder().join("libmissing.so");
    assert_eq!(
        from_env(Some(&missing)),
        format!(
            "can't load the backend library `{}`: there is no such file",
            missing.display()
        )
    );
    let Some(path) = backend("env", None) else {
        return;
    };
    assert_eq!(from_env(Some(&path)), "a backend");
    // A bare file name is for the loader, which doesn't look in the current directory.
    let error = from_env(Some(Path::new("libenv.so")));
    assert!(
        error.starts_with("can't load the backend library `libenv.so`: "),
        "{error}"
    );
}
