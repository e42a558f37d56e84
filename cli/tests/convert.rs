//! What `nvtxw convert` says and does, as its users meet it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, process};

/// A folder of one test, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = env::temp_dir().join(format!("nvtxw-convert-{test}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn convert(input: &Path, output: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .arg("convert")
        .args([input, Path::new("-o"), output])
        .args(options)
        .output()
        .unwrap()
}

/// The exit code and what was said on standard error.
fn said(output: &Output) -> (i32, String) {
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr.clone()).unwrap(),
    )
}

#[test]
fn an_existing_file_is_refused() {
    let scratch = Scratch::new("existing");
    let input = scratch.file("in.json", "[]");
    let output = scratch.file("out.pftrace", "precious");
    let want = format!(
        "error: {} exists already: name another OUT, or add `--overwrite` to replace it\n",
        output.display()
    );
    assert_eq!(said(&convert(&input, &output, &[])), (2, want));
    assert_eq!(fs::read(&output).unwrap(), b"precious");
}

#[test]
fn an_input_that_is_not_there_is_named() {
    let scratch = Scratch::new("absent");
    let input = scratch.0.join("in.json");
    let (code, text) = said(&convert(&input, &scratch.0.join("out"), &[]));
    assert_eq!(code, 2);
    assert!(
        text.starts_with(&format!("error: can't read {}: ", input.display())),
        "{text}"
    );
}

#[test]
fn what_is_no_trace_is_said() {
    let scratch = Scratch::new("text");
    let input = scratch.file("in.txt", "hello");
    let want = format!(
        "error: {}: this is no trace that `nvtxw convert` knows\n",
        input.display()
    );
    let output = scratch.0.join("out");
    assert_eq!(said(&convert(&input, &output, &[])), (2, want));
    assert!(!output.exists());
}
