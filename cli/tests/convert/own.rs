//! Files that the built-in backend wrote.

use std::fs;
use std::path::Path;
use std::process::Command;

use nvtxw::{Backend, Config, CounterOptions, Session, StreamOptions};
use serde_json::{Value, json};

use crate::{Scratch, convert, said};

fn write(path: &Path) {
    let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
    let config = config.set("format", "chrome").unwrap();
    let config = config.set("base", "-5000").unwrap();
    let mut session = Session::begin(&Backend::embedded(), "run 7", &config).unwrap();
    let mut domain = session.domain("sim").unwrap();
    let depth = CounterOptions::new().description("Requests that wait.");
    let depth = domain.counter_with::<i64>("depth", depth).unwrap();
    let options = StreamOptions::new(domain.id());
    let mut main = session.open_stream("main", options).unwrap();
    let out = session.writer(&mut main).unwrap();
    out.mark(-4000).message("begin").write().unwrap();
    out.counter(depth).unwrap().sample(-3000, 3).unwrap();
    session.close_stream(main).unwrap();
    session.end().unwrap();
}

fn info(path: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
    let output = command.args(["info", "--json"]).arg(path).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn chrome_json_of_the_built_in_backend_has_nothing_to_warn_of() {
    let scratch = Scratch::new("convert-own");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    write(&input);
    let done = convert(&input, &output, &["--strict"]);
    assert_eq!(said(&done), (0, String::new()));
    let found = info(&output);
    assert_eq!(found["facts"]["nvtxw.session"], "run 7");
    assert_eq!(
        (&found["start_ns"], &found["end_ns"]),
        (&json!(-4000), &json!(-3000))
    );
    assert_eq!(found["counters"][0]["description"], "Requests that wait.");
}

#[test]
fn a_base_by_which_no_time_fits_is_told() {
    let scratch = Scratch::new("convert-base");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    let file = |base: i64| {
        let event = r#"{"ph":"i","name":"a","pid":1,"tid":2,"ts":-0.001}"#;
        format!(r#"{{"otherData":{{"nvtxw.time_base":{base}}},"traceEvents":[{event}]}}"#)
    };
    fs::write(&input, file(i64::MIN)).unwrap();
    let told = "warning: times are not moved by the trace's own `nvtxw.time_base`, because they would not fit 64-bit \
                nanoseconds\n";
    assert_eq!(said(&convert(&input, &output, &[])), (0, told.to_owned()));
    assert_eq!(info(&output)["start_ns"], json!(-1));
    fs::write(&input, file(i64::MIN + 1)).unwrap();
    assert_eq!(
        said(&convert(&input, &output, &["--overwrite"])),
        (0, String::new())
    );
    assert_eq!(info(&output)["start_ns"], json!(i64::MIN));
}
