//! `docs/coverage.md`: every item and every test that it names exists, and every member of the table is in it.
//! `docs/decoding.md`, `docs/rules.md`: every test that they name exists.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nvtxw_abi::raw::{
    NVTXW_FINALIZE_SYMBOL_NAME, NVTXW_GET_INTERFACE_SYMBOL_NAME, nvtxwInterface_v2_t,
};
use nvtxw_tests::workspace_root;

/// A row of the tables: what it is about, and the Rust items.
#[derive(Debug)]
struct Row {
    subjects: Vec<String>,
    items: Vec<String>,
}

fn document() -> PathBuf {
    workspace_root().join("docs/coverage.md")
}

fn rows() -> Vec<Row> {
    cells(&document())
        .into_iter()
        .map(|[subjects, items, _]| Row {
            subjects: spans(&subjects),
            items: spans(&items),
        })
        .collect()
}

/// The rows of a document's tables, without their heads.
fn cells(document: &Path) -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(document).unwrap();
    text.lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|---"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").collect();
            let [a, b, c] = cells[..] else {
                panic!("not three columns: {line}")
            };
            [a, b, c].map(str::to_owned)
        })
        .filter(|[.., tests]| tests.trim() != "shown by")
        .collect()
}

/// What stands between backticks.
fn spans(cell: &str) -> Vec<String> {
    let spans: Vec<_> = cell
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert!(
        cell.matches('`').count() == 2 * spans.len() && !spans.is_empty(),
        "no names, or a lost backtick: {cell}"
    );
    spans
}

/// The links `[name](path)`, with the path from the workspace's root.
fn links(cell: &str) -> Vec<(String, PathBuf)> {
    let links: Vec<_> = cell
        .split(", ")
        .map(|link| {
            let parts = link
                .trim()
                .strip_prefix('[')
                .and_then(|link| link.strip_suffix(')'))
                .and_then(|link| link.split_once("](../"));
            let (name, path) = parts.unwrap_or_else(|| panic!("not a link to a test: {link}"));
            (name.to_owned(), PathBuf::from(path))
        })
        .collect();
    links
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The first identifier of `text`, and what follows it.
fn word(text: &str) -> (&str, &str) {
    text.split_at(
        text.find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len()),
    )
}

/// The public items of a source: `Type`, `Type::function`, `Type::CONSTANT`, `Enum::Variant`, `function`.
fn items(source: &str, found: &mut BTreeSet<String>) {
    let mut owner = String::new();
    for line in source.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code.starts_with("//") {
            continue;
        }
        if let Some(rest) = code.strip_prefix("impl") {
            // Of `impl<T: Bound> Type<T>`, the type; nothing of `impl Trait for Type`.
            let rest = rest.strip_prefix('<').map_or(rest, |rest| {
                rest.split_once("> ").map_or("", |(_, rest)| rest)
            });
            owner = if rest.contains(" for ") {
                String::new()
            } else {
                word(rest.trim_start()).0.to_owned()
            };
            continue;
        }
        // The enums of a vocabulary: `Name: u64;` or `Name: u64 in MASK;`.
        if indent == 4
            && let (name, rest) = word(code)
            && let Some(ty) = rest.strip_prefix(": ")
            && matches!(word(ty).0, "u64" | "i64" | "u8" | "i16" | "i32")
            && line.ends_with(';')
        {
            owner = name.to_owned();
            found.insert(owner.clone());
        }
        let Some(mut rest) = code
            .strip_prefix("pub ")
            .or_else(|| code.starts_with("fn ").then_some(code))
        else {
            let (name, rest) = word(code);
            let is_variant = name.starts_with(char::is_uppercase)
                && [",", "(", " {", " = "]
                    .iter()
                    .any(|end| rest.starts_with(end));
            if is_variant && !owner.is_empty() {
                found.insert(format!("{owner}::{name}"));
            }
            continue;
        };
        let is_public = code.starts_with("pub ");
        // A public field.
        let (name, after) = word(rest);
        if is_public && after.starts_with(": ") && !owner.is_empty() {
            found.insert(format!("{owner}::{name}"));
            continue;
        }
        for qualifier in [
            "const fn ",
            "unsafe fn ",
            "fn ",
            "const ",
            "struct ",
            "enum ",
            "unsafe trait ",
            "trait ",
            "type ",
        ] {
            if let Some(named) = rest.strip_prefix(qualifier) {
                rest = named;
                let name = word(rest).0;
                if qualifier.ends_with("fn ") || qualifier == "const " {
                    // Without `pub`, it is of a trait or private.
                    if indent == 0 && is_public {
                        found.insert(name.to_owned());
                    } else if !owner.is_empty() && is_public {
                        found.insert(format!("{owner}::{name}"));
                    }
                } else if is_public {
                    owner = name.to_owned();
                    found.insert(owner.clone());
                }
                break;
            }
        }
    }
}

#[test]
fn every_item_exists() {
    let root = workspace_root();
    let mut found = BTreeSet::new();
    let mut exported = String::new();
    for folder in ["nvtxw/src", "nvtxw-abi/src"] {
        for path in sources(&root.join(folder)) {
            items(&std::fs::read_to_string(path).unwrap(), &mut found);
        }
        exported += &std::fs::read_to_string(root.join(folder).join("lib.rs")).unwrap();
    }
    // The finder itself can fail.
    for item in [
        "Session::begin",
        "Argb",
        "StreamOrdering::Strict",
        "escape_segment",
        "ScopeParent::CurrentVm",
        "Argb::NONE",
    ] {
        assert!(found.contains(item), "{item}");
    }
    for item in [
        "Session::begins",
        "Session::live",
        "StreamOrdering::Loose",
        "Mark",
    ] {
        assert!(!found.contains(item), "{item}");
    }
    let derive: String = sources(&root.join("nvtxw-derive/src"))
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let is_exported = |name: &str| {
        exported
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|known| known == name)
    };
    let mut missing = Vec::new();
    for row in rows() {
        for item in row.items {
            let exists = match item
                .strip_prefix("#[nvtx(")
                .and_then(|attribute| attribute.strip_suffix(")]"))
            {
                Some(attribute) => derive.contains(&format!("\"{}\"", word(attribute).0)),
                None => found.contains(&item) && is_exported(word(&item).0),
            };
            if !exists {
                missing.push(format!("{item}, for {:?}", row.subjects));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} names what isn't there:\n{}",
        document().display(),
        missing.join("\n")
    );
}

#[test]
fn every_test_exists() {
    let root = workspace_root();
    let others = ["docs/decoding.md", "docs/rules.md"].map(|path| root.join(path));
    for document in [document()].into_iter().chain(others) {
        let mut missing = Vec::new();
        for [subjects, _, tests] in cells(&document) {
            for (name, path) in links(&tests) {
                let source = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
                let at = source.find(&format!("fn {name}("));
                // Its attributes stand between it and what ends before it.
                let is_test = at.is_some_and(|at| {
                    source[..at]
                        .rsplit("}\n")
                        .next()
                        .is_some_and(|before| before.contains("#[test]"))
                });
                if !is_test {
                    missing.push(format!("{name} in {}, for {subjects}", path.display()));
                }
            }
        }
        assert!(
            missing.is_empty(),
            "{} names what isn't there:\n{}",
            document.display(),
            missing.join("\n")
        );
    }
}

#[test]
fn every_member_of_the_table_is_there_once() {
    let subjects: Vec<_> = rows().into_iter().flat_map(|row| row.subjects).collect();
    let exports = [NVTXW_GET_INTERFACE_SYMBOL_NAME, NVTXW_FINALIZE_SYMBOL_NAME];
    for member in nvtxwInterface_v2_t::MEMBERS.into_iter().chain(exports) {
        assert_eq!(
            subjects.iter().filter(|subject| *subject == member).count(),
            1,
            "{member}"
        );
    }
}
