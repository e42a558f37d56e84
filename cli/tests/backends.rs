//! What `nvtxw backends` finds, with libraries made for it.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs, process};

use nvtxw_tests::skip;
use serde_json::{Value, json};

/// A folder for this test program, with a folder for each library. Those of earlier runs, which keep old programs, are removed.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("backends");
        let folder = all.join(process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        for other in fs::read_dir(&all).unwrap().flatten() {
            if !Path::new("/proc").join(other.file_name()).exists() {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        folder
    })
}

/// The command, in a folder of its own: beside the built one there may be a `libnvtxw3.so`, which would win.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let alone = folder().join("program");
        fs::create_dir_all(&alone).unwrap();
        let program = alone.join("nvtxw");
        fs::hard_link(env!("CARGO_BIN_EXE_nvtxw"), &program).unwrap();
        program
    })
}

/// Compiles `source` to `<name>/libnvtxw3.so`. `None`, said aloud, without a C compiler.
fn library(name: &str, source: &str) -> Option<PathBuf> {
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|compiler| {
        let answer = Command::new(compiler).arg("--version").output();
        answer.is_ok_and(|output| output.status.success())
    });
    let Some(compiler) = compiler else {
        skip(
            "no C compiler is here (tried cc, gcc, clang); install one to test what backends are found",
        );
        return None;
    };
    let folder = folder().join(name);
    fs::create_dir_all(&folder).unwrap();
    let (source_file, library) = (folder.join("backend.c"), folder.join("libnvtxw3.so"));
    fs::write(&source_file, source).unwrap();
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source_file])
        .status()
        .unwrap();
    assert!(status.success());
    Some(library)
}

/// A table of 21 members, but for those that are missing, for who asks for `version`.
fn backend(name: &str, version: i32, missing: &[usize]) -> Option<PathBuf> {
    let member = |index| match missing.contains(&index) {
        true => "0,",
        false => "no,",
    };
    let members: String = (0..21).map(member).collect();
    library(
        name,
        &format!(
            "#include <stdio.h>
            static int no(void) {{ return 7; }}
            static int (*const table[64])(void) = {{ {members} }};
            int nvtxwGetInterface(int version, const void** out) {{
                puts(\"a backend that talks\");
                if (version != {version}) return 6;
                *out = table;
                return 0;
            }}"
        ),
    )
}

struct Run<'a> {
    arguments: Vec<&'a str>,
    variable: Option<&'a Path>,
    loader: Option<&'a Path>,
    working: &'a Path,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            arguments: Vec::new(),
            variable: None,
            loader: None,
            working: folder(),
        }
    }
}

impl Run<'_> {
    fn output(&self, more: &[&str]) -> Output {
        let mut command = Command::new(program());
        command.arg("backends").args(&self.arguments).args(more);
        command.current_dir(self.working);
        for (name, value) in [
            ("NVTXW3_LIBRARY", self.variable),
            ("LD_LIBRARY_PATH", self.loader),
        ] {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().unwrap()
    }

    /// The candidates, the exit code, and what was said of it.
    fn json(&self) -> (Vec<Value>, i32, String) {
        let output = self.output(&["--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["version"], 2);
        let candidates = document["candidates"].as_array().unwrap().clone();
        let said = String::from_utf8(output.stderr).unwrap();
        (candidates, output.status.code().unwrap(), said)
    }
}

/// The place of the one that wins.
fn winner(candidates: &[Value]) -> Option<&str> {
    let mut all = candidates.iter().filter(|it| it["wins"] == true);
    let winner = all.next()?["place"].as_str();
    assert!(all.next().is_none(), "two win: {candidates:#?}");
    winner
}

#[test]
fn the_places_are_looked_at_in_the_order_of_nvtxws_own_search() {
    let Some(library) = backend("good", 2, &[]) else {
        return;
    };
    let here = library.parent().unwrap();
    let program = here.join("program");
    fs::write(&program, "").unwrap();
    let program = program.to_str().unwrap();

    let everywhere = Run {
        arguments: vec!["--program", program],
        loader: Some(here),
        working: here,
        ..Run::default()
    };
    let (candidates, code, said) = everywhere.json();
    assert_eq!(
        (winner(&candidates), code, &*said),
        (Some("program_folder"), 0, "")
    );
    let places: Vec<_> = candidates
        .iter()
        .map(|it| it["place"].as_str().unwrap())
        .collect();
    assert_eq!(
        places,
        ["variable", "program_folder", "loader", "working_folder"]
    );
    assert_eq!(candidates[0]["library"], Value::Null);
    for candidate in &candidates[1..] {
        assert_eq!(candidate["abi_version"], 2, "{candidate:#}");
        assert_eq!(candidate["file"], json!(library), "{candidate:#}");
        assert_eq!(candidate["problem"], Value::Null);
    }

    let by_loader = Run {
        loader: Some(here),
        working: here,
        ..Run::default()
    };
    assert_eq!(winner(&by_loader.json().0), Some("loader"));
    let here_only = Run {
        working: here,
        ..Run::default()
    };
    assert_eq!(winner(&here_only.json().0), Some("working_folder"));
    // With the variable nothing else is looked at, whatever comes of it.
    let absent = folder().join("absent.so");
    let by_variable = Run {
        variable: Some(&absent),
        loader: Some(here),
        working: here,
        ..Run::default()
    };
    let (candidates, code, said) = by_variable.json();
    assert_eq!((winner(&candidates), code), (None, 1));
    assert_eq!(
        said,
        "error: NVTXW's own search finds no backend: set NVTXW3_LIBRARY to the path of one\n"
    );
    let searched: Vec<_> = candidates
        .iter()
        .map(|it| it["searched"].as_bool().unwrap())
        .collect();
    assert_eq!(searched, [true, false, false, false]);
    assert_eq!(
        (&candidates[0]["exists"], &candidates[3]["abi_version"]),
        (&json!(false), &json!(2))
    );

    let output = Run {
        variable: Some(&library),
        ..Run::default()
    }
    .output(&[]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
    let has = |line: &str| assert!(lines.contains(&line), "no {line:?} in\n{shown}");
    has(&format!(
        "wins  NVTXW3_LIBRARY        {}: a backend, ABI version 2",
        library.display()
    ));
    has(
        "      the working folder    ./libnvtxw3.so: not there; not looked at, because NVTXW3_LIBRARY is set",
    );
    has(&format!("Backend::from_env()  {}", library.display()));
    assert!(output.status.success());
}

#[test]
fn what_is_wrong_with_a_library_is_told() {
    let cases = [
        (
            backend("lacking", 2, &[2, 16, 20]),
            "a broken backend: its function table has null for `DomainRegister`, `CounterNoValueWrite`, \
             `TimestampConversionFactorWrite`; report it to its makers",
            &[
                "DomainRegister",
                "CounterNoValueWrite",
                "TimestampConversionFactorWrite",
            ][..],
        ),
        (backend("newer", 3, &[]), "version 2", &[]),
        (
            library("old", "int nvtxwLoadImplementation(void) { return 0; }"),
            "`nvtxwLoadImplementation`",
            &[],
        ),
        (
            library("other", "int f(void) { return 0; }"),
            "doesn't export `nvtxwGetInterface`",
            &[],
        ),
        (
            library(
                "crashes",
                "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }",
            ),
            "loading it ends the process (signal: 6 (SIGABRT)",
            &[],
        ),
    ];
    for (library, problem, missing) in cases {
        let Some(library) = library else { return };
        let name = library.to_str().unwrap();
        let (candidates, code, said) = Run {
            arguments: vec![name],
            ..Run::default()
        }
        .json();
        assert_eq!(code, 1);
        assert_eq!(said, format!("error: {name} can't be used as a backend\n"));
        let given = &candidates[0];
        assert_eq!(
            (&given["place"], &given["exists"]),
            (&json!("argument"), &json!(true))
        );
        assert_eq!(given["abi_version"], Value::Null);
        assert!(
            given["problem"].as_str().unwrap().contains(problem),
            "{given:#}"
        );
        assert_eq!(given["missing_members"], json!(missing), "{given:#}");
    }
}

#[test]
fn a_library_is_shown_as_it_was_given() {
    // A file name without a place is of the working folder.
    for (given, shown) in [("./x", "./x"), ("x", "./x"), ("../x", "../x")] {
        let run = Run {
            arguments: vec![given],
            ..Run::default()
        };
        let output = run.output(&[]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(&format!("{shown}: not there\n")), "{text}");
    }
}

#[test]
fn library_that_is_no_backend_is_named_once() {
    let text = folder().join("text.so");
    fs::write(&text, "no library").unwrap();
    let name = text.to_str().unwrap();
    let run = Run {
        arguments: vec![name],
        variable: Some(&text),
        ..Run::default()
    };
    let shown = String::from_utf8(run.output(&[]).stdout).unwrap();
    let line = shown.lines().next().unwrap();
    assert!(
        line.starts_with(&format!("{name}: can't load it: ")),
        "{shown}"
    );
    for line in shown.lines() {
        assert!(line.matches(name).count() <= 1, "{shown}");
    }
}

#[test]
fn option_backend_says_what_it_takes() {
    let text = folder().join("text.so");
    fs::write(&text, "no library").unwrap();
    let input = folder().join("trace.csv");
    fs::write(&input, "start,end,name\n1,2,a\n").unwrap();
    let absent = folder().join("absent.so");
    for (library, problem) in [
        (text.to_str().unwrap(), "can't load it: "),
        (absent.to_str().unwrap(), "there is no such file"),
        (
            "libnvtxw3.so",
            "no folder is searched for a file name: give its path, such as `./libnvtxw3.so`",
        ),
    ] {
        for command in ["convert", "replay"] {
            let output = Command::new(program())
                .args([command, input.to_str().unwrap(), "--backend", library])
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(2));
            let said = String::from_utf8(output.stderr).unwrap();
            let start = format!("error: `--backend {library}`: {problem}");
            assert!(said.starts_with(&start), "{said}");
            assert!(
                said.ends_with(
                    "; `--backend` takes the path of an NVTXW backend's library, which a tool such as Nsight Systems brings \
                     (libnvtxw3.so); `nvtxw backends` lists those that are found\n"
                ),
                "{said}"
            );
            assert!(!said.contains("Backend::"), "{said}");
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let output = Run {
        arguments: vec!["--program", "/nowhere/simulator"],
        ..Run::default()
    }
    .output(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: can't find /nowhere/simulator: No such file or directory (os error 2)\n"
    );
}
