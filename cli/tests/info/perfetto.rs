//! Perfetto files.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::scratch::Scratch;
use crate::{check_streams, info, only, run, scene, text};

fn check(info: &Value) {
    assert_eq!(info["format"], "perfetto");
    check_figures(info);
}

/// What only this format tells, and captures.
pub fn check_figures(info: &Value) {
    check_streams(info);
    assert_eq!(info["facts"]["nvtxw.left_open"], 1);
    assert_eq!(info["facts"]["nvtxw.domain.0"], "sim");
    let host = only(&info["streams"], "name", "host");
    assert_eq!(
        (&host["marks"], &host["scopes"][0]["path"]),
        (&json!(12), &json!("host"))
    );
    let sent = only(&info["counters"], "path", "GPU[0]/Engine/sent");
    assert_eq!(sent["is_delta"], true);
}

#[test]
fn all_of_a_file_is_shown() {
    let scratch = Scratch::new("perfetto");
    for (name, settings) in [
        ("plain", &[][..]),
        ("zlib", &[("compression", "zlib")]),
        // Times that are not those of the file.
        ("base", &[("base", "-5000")]),
        // Which ends were written with their starts is another matter.
        ("window", &[("window", "2")]),
        ("unmerged", &[("window", "2"), ("merge", "false")]),
    ] {
        let path = scratch.path(format!("{name}.pftrace"));
        scene::write(&path, settings);
        check(&info(&path));
    }
}

#[test]
fn a_file_in_gzip_and_one_on_standard_input_are_the_same() {
    let scratch = Scratch::new("gzip");
    let path = scratch.path("run.pftrace");
    scene::write(&path, &[]);
    let plain = fs::read(&path).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&plain).unwrap();
    let zipped = gzip.finish().unwrap();
    for input in [&plain, &zipped] {
        let output = run(&["--json", "-"], input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["file"] = json!(path);
        assert_eq!(found, info(&path));
    }
}

#[test]
fn a_file_that_was_cut_is_shown_up_to_there() {
    let scratch = Scratch::new("cut");
    let path = scratch.path("run.pftrace");
    for settings in [&[][..], &[("compression", "zlib")]] {
        scene::write(&path, &[settings, &[("overwrite", "true")]].concat());
        let whole = fs::read(&path).unwrap();
        let all = info(&path);
        let mut before = 0;
        for tenth in 1..10 {
            let cut = whole.len() * tenth / 10;
            let output = run(&["--json", "-"], &whole[..cut]);
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            let packets = packet_ends(&whole);
            if packets.contains(&cut) {
                assert_eq!(output.status.code(), Some(0));
                continue;
            }
            let last = packets
                .iter()
                .filter(|end| **end <= cut)
                .max()
                .unwrap_or(&0);
            let damage = format!(
                "the file ends inside a packet: the last {} bytes, from byte {last} on, are left out",
                cut - last
            );
            assert_eq!(text(&output.stderr), format!("error: -: {damage}\n"));
            assert_eq!(output.status.code(), Some(1));
            assert_eq!(found["damage"], damage);
            assert_eq!(found["complete"], false);
            let ranges = found["counts"]["ranges"].as_u64().unwrap();
            assert!(ranges >= before && ranges <= all["counts"]["ranges"].as_u64().unwrap());
            before = ranges;
        }
        if settings.is_empty() {
            assert!(before > 100, "{before}");
            check_fields_as_seen(&whole[..whole.len() * 9 / 10]);
        }
    }
}

/// Schemas are told at a file's end: without it, what is in the events.
fn check_fields_as_seen(file: &[u8]) {
    let output = run(&["--json", "-"], file);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schemas = found["schemas"].as_array().unwrap();
    let is_it = |schema: &&Value| {
        schema["examples"]
            .as_array()
            .unwrap()
            .contains(&json!("gemm"))
    };
    let kernel = schemas.iter().find(is_it).unwrap();
    assert_eq!(
        (&kernel["name"], &kernel["kind"]),
        (&Value::Null, &Value::Null)
    );
    let fields = [
        ("shared (bytes)", "unsigned"),
        ("waited (1/1000 s)", "float"),
        ("grid", "list"),
        ("launch", "int"),
    ];
    let fields = fields.map(|(name, ty)| json!({ "name": name, "types": [ty], "unit": null }));
    assert_eq!(kernel["fields"], json!(fields));
}

/// Where packets end.
fn packet_ends(file: &[u8]) -> Vec<usize> {
    let (mut ends, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let (mut size, mut shift) = (0, 0);
        at += 1;
        loop {
            let byte = file[at];
            at += 1;
            size |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        at += size;
        ends.push(at);
    }
    ends
}

#[test]
fn what_follows_damage_is_left_out() {
    let scratch = Scratch::new("damage");
    let path = scratch.path("run.pftrace");
    scene::write(&path, &[]);
    let mut file = fs::read(&path).unwrap();
    let at = packet_ends(&file)[100];
    file[at..at + 12].fill(0xFF);
    let output = run(&["-"], &file);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!(
            "error: -: what stands at byte {at} is no packet: it and all that follows is left out\n"
        )
    );
    assert!(text(&output.stdout).contains("NOT COMPLETE"));

    scene::write(&path, &[("compression", "zlib"), ("overwrite", "true")]);
    let mut file = fs::read(&path).unwrap();
    let len = file.len();
    // Not its last bundle's end: that is the sum that zlib checks.
    file[len / 2] ^= 0x10;
    let output = run(&["-"], &file);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: -: a packet of compressed packets is damaged ("),
        "{said}"
    );
}

#[test]
fn a_file_of_another_tool_shows_what_it_has_in_common() {
    // A thread's track without a name; a range with fields that we don't know, texts in the event itself, in a packet
    // that interns too; its end; a counter in half floats that nobody has; an end too much.
    let file = [
        packet(b"\x50\x05\x68\x01\xe2\x03\x10\x08\x09\x22\x0c\x08\x07\x10\x2a\x2a\x06worker"),
        packet(b"\x50\x05\x68\x02\x40\x64\x82\x7f\x03abc\x62\x09\x12\x07\x08\x01\x12\x03one\x5a\x06\x48\x01\x50\x01\x58\x09"),
        packet(b"\x50\x05\x68\x02\x40\xc8\x01\x5a\x04\x48\x02\x58\x09"),
        packet(b"\x50\x05\x40\xc8\x01\x5a\x04\x48\x02\x58\x09"),
        packet(b"\x50\x05\x40\x96\x01\x5a\x0b\x48\x03\x58\x63\xba\x01\x04\xff\x74wo"),
        packet(b"\x0b\x0c"),
        b"\x1d1234\x12\x02xy".to_vec(),
    ]
    .concat();
    let output = run(&["--json", "-"], &file);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = &found["counts"];
    assert_eq!(
        (
            &counts["ranges"],
            &counts["unmatched_ends"],
            &counts["marks"]
        ),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(
        (&counts["pushpop"], &counts["startend"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&found["start_ns"], &found["end_ns"]),
        (&json!(100), &json!(200))
    );
    assert_eq!(only(&found["names"], "name", "one")["total_ns"], 100);
    assert_eq!(only(&found["names"], "name", "\u{fffd}two")["marks"], 1);
    let paths: Vec<_> = found["streams"][0]["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scope| &scope["path"])
        .collect();
    assert_eq!(paths, ["worker 42", "track 99"]);
}

fn packet(content: &[u8]) -> Vec<u8> {
    [&[0x0A, content.len() as u8][..], content].concat()
}
