//! Tables.

use std::fs;

use crate::{Scratch, command, piped, said, shown};

fn becomes(table: &str, options: &[&str], want: &[&str], says: &str) {
    let output = piped(table.as_bytes(), options);
    assert_eq!(said(&output), (0, says.to_owned()));
    assert_eq!(shown(&output.stdout), want);
}

#[test]
fn columns_are_found_by_their_names() {
    becomes(
        "name,Start_us,end,thread,rows,ok,note\n\
         \"a, b\",1.5,2.5,main,7,true,\n\
         c,3,,main,0.5,false,\"x\n\"\"y\"\"\"\n",
        &[],
        &[
            r#"(no process)/main {"args":{"note":"x\n\"y\"","ok":false,"rows":0.5},"name":"c","ph":"i","s":"t","ts":3.0}"#,
            r#"(no process)/main {"args":{"ok":true,"rows":7},"dur":1.0,"name":"a, b","ph":"X","ts":1.5}"#,
        ],
        "",
    );
}

#[test]
fn columns_and_unit_may_be_named() {
    becomes(
        "\u{FEFF}what\twhen\tlong\tstart\nq\t1\t2\tz\n",
        &[
            "--from",
            "csv",
            "--start",
            "when",
            "--duration",
            "long",
            "--name",
            "what",
            "--unit",
            "ms",
        ],
        &[
            r#"(no process)/(no process) {"args":{"start":"z"},"dur":2000.0,"name":"q","ph":"X","ts":1000.0}"#,
        ],
        "",
    );
}

#[test]
fn tabs_are_found_too() {
    becomes(
        "start\tend\tname\n1\t2\ta, b\n",
        &[],
        &[r#"(no process)/(no process) {"args":{},"dur":0.001,"name":"a, b","ph":"X","ts":0.001}"#],
        "",
    );
}

#[test]
fn each_column_of_times_has_its_own_unit() {
    let want = [
        r#"(no process)/Stream 7 {"args":{},"dur":12.5,"name":"conv","ph":"X","ts":250000.0}"#,
        r#"(no process)/Stream 7 {"args":{},"dur":3.0,"name":"add","ph":"X","ts":250020.0}"#,
    ];
    let rows = "0.250000,12.5,conv,7\n0.250020,3.0,add,7\n";
    becomes(
        &format!("Start (s),Duration (us),Name,Stream\n{rows}"),
        &[],
        &want,
        "",
    );
    becomes(
        &format!("Start,Duration,Name,Stream\ns,us,,\n{rows}"),
        &[],
        &want,
        "",
    );
    becomes(
        "start_us,end\n1,2\n",
        &[],
        &[r#"(no process)/(no process) {"args":{},"dur":1.0,"name":"","ph":"X","ts":1.0}"#],
        "",
    );
}

#[test]
fn ends_of_rows_are_rounded_once() {
    becomes(
        "name,start_us,duration\nouter,10.0004,5.0004\ninner,12.0008,3.0000\n",
        &[],
        &[
            r#"(no process)/(no process) {"args":{},"dur":3.0,"name":"inner","ph":"X","ts":12.001}"#,
            r#"(no process)/(no process) {"args":{},"dur":5.001,"name":"outer","ph":"X","ts":10.0}"#,
        ],
        "",
    );
}

#[test]
fn dates_are_times() {
    becomes(
        "start,end,name\n1970-01-01 00:00:01.000000500,1970-01-01T01:00:02+01:00,a\n",
        &[],
        &[
            r#"(no process)/(no process) {"args":{},"dur":999999.5,"name":"a","ph":"X","ts":1000000.5}"#,
        ],
        "",
    );
    becomes(
        "start,duration_ms,name\n1970-01-01T00:00:01Z,1.5,a\n",
        &[],
        &[
            r#"(no process)/(no process) {"args":{},"dur":1500.0,"name":"a","ph":"X","ts":1000000.0}"#,
        ],
        "",
    );
}

#[test]
fn bad_utf8_of_tables_is_told_too() {
    let output = piped(b"start,end,name\n1000,2000,\xE9t\xE9\n", &[]);
    assert_eq!(
        said(&output),
        (
            0,
            "warning: bytes that are not UTF-8 are U+FFFD in the trace (line 2, byte 16)\n"
                .to_owned()
        )
    );
    assert_eq!(
        shown(&output.stdout),
        [
            "(no process)/(no process) {\"args\":{},\"dur\":1.0,\"name\":\"\u{FFFD}t\u{FFFD}\",\"ph\":\"X\",\"ts\":1.0}"
        ]
    );
}

#[test]
fn bad_rows_are_told_and_left_out() {
    becomes(
        "start,end\n1,x\n,2\n5,4\n1,2,3\n9e99,9e99\n1000,2000\n",
        &[],
        &[
            r#"(no process)/(no process) {"args":{},"dur":0.001,"name":"","ph":"X","ts":0.001}"#,
            r#"(no process)/(no process) {"args":{},"dur":1.0,"name":"","ph":"X","ts":1.0}"#,
        ],
        "warning: a row whose `end` is not a number or a date is left out (line 2, byte 11)\n\
         warning: a row whose `start` does not fit 64-bit nanoseconds is left out (line 6, byte 28)\n\
         warning: a row whose range ends before it starts is left out (line 4, byte 18)\n\
         warning: a row without `start` is left out (line 3, byte 15)\n\
         warning: the cells of a row that have no column are left out (line 5, byte 22)\n",
    );
}

#[test]
fn a_table_without_times_says_which_columns_there_are() {
    let (code, text) = said(&piped(b"a,b\n1,2\n", &[]));
    assert_eq!(
        (code, &*text),
        (
            2,
            "error: -: no column tells when ranges start; those that there are: a, b; name one with `--start`\n"
        )
    );
    let (code, text) = said(&piped(b"a,b\n1,2\n", &["--start", "c"]));
    assert_eq!(
        (code, &*text),
        (
            2,
            "error: -: there is no column `c`; those that there are: a, b; give one of them to `--start`\n"
        )
    );
}

#[test]
fn tracks_stand_under_the_name_of_the_file() {
    let scratch = Scratch::new("convert-table");
    let (input, output) = (scratch.path("queries.csv"), scratch.path("out.json"));
    fs::write(&input, "start,end,name,thread\n1,2,a,main\n3,4,b,\n").unwrap();
    let done = command().arg(&input).arg("-o").arg(&output).output();
    assert_eq!(said(&done.unwrap()), (0, String::new()));
    assert_eq!(
        shown(&fs::read(&output).unwrap()),
        [
            r#"queries.csv/main {"args":{},"dur":0.001,"name":"a","ph":"X","ts":0.001}"#,
            r#"queries.csv/queries.csv {"args":{},"dur":0.001,"name":"b","ph":"X","ts":0.003}"#,
        ]
    );
}

#[test]
fn options_of_tables_are_for_tables() {
    let output = piped(b"[{\"ph\":\"i\",\"ts\":1}]", &["--unit", "ms"]);
    assert_eq!(
        said(&output),
        (
            2,
            "error: `--unit` is for tables, and - is Chrome's JSON: leave it out, or say `--from csv`\n".to_owned()
        )
    );
    let output = piped(b"NVTXWCAP", &["--name", "what", "--track", "lane"]);
    assert_eq!(
        said(&output),
        (
            2,
            "error: `--name` is for tables, and - is a capture: leave it out, or say `--from csv`\n".to_owned()
        )
    );
}
