//! `docs/check.md`: its table is what the code says, and the tests that it names exist.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use nvtxw_check::FindingKind;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_table_is_what_the_code_says() {
    let document = std::fs::read_to_string(workspace().join("docs/check.md")).unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Vec<_>> = rows
        .map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let (findings, options): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() == 4);
    assert!(options.iter().all(|row| row[0].starts_with("`check.")));
    assert_eq!(findings.len(), FindingKind::ALL.len());
    for (row, kind) in findings.iter().zip(FindingKind::ALL) {
        let expected = [&*format!("`{kind}`"), kind.meaning(), kind.fix()];
        assert_eq!(row[..3], expected);
        assert_eq!(FindingKind::from_code(kind.code()), Some(*kind));
        for link in row[3].split(", ") {
            let (name, path) = link
                .strip_prefix('[')
                .and_then(|link| link.strip_suffix(')'))
                .and_then(|link| link.split_once("](../"))
                .unwrap_or_else(|| panic!("not a link to a test: {link}"));
            let source = std::fs::read_to_string(workspace().join(path)).unwrap();
            assert!(source.contains(&format!("fn {name}()")), "{link}");
        }
    }
}
