//! Case files: the calls that a producer makes, and the rows that a reader has to find then.
//!
//! A case begins with `## title`. `config …` is more of the session's config. Each other line is a word and JSON values: a
//! call, or after `= ` a row. `refused "text" call …` is a call that must be refused with a reason that has the text in it.

use std::path::Path;

use serde_json::{Map, Value};

use crate::arena::MEANING;

/// One case.
pub struct Case {
    /// `file-number`, by which its trace is called.
    pub id: String,
    pub title: String,
    pub config: String,
    pub calls: Vec<Line>,
    pub rows: Vec<Line>,
    /// What the reason of the refused end of the session has in it.
    pub end: Option<String>,
}

/// A word and its values.
pub struct Line {
    /// File and line, for messages.
    pub at: String,
    pub word: String,
    pub values: Vec<Value>,
    /// What the reason of the refusal has in it.
    pub refused: Option<String>,
}

/// All cases of a folder, by file name.
pub fn read_all(folder: &Path) -> Vec<Case> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|found| found == "case"))
        .collect();
    files.sort();
    files.iter().flat_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let topic = path.file_stem().unwrap().to_str().unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for (number, text) in (1..).zip(std::fs::read_to_string(path).unwrap().lines()) {
        let at = format!("{topic}.case:{number}");
        if let Some(title) = text.strip_prefix("## ") {
            cases.push(Case {
                id: format!("{topic}-{:02}", cases.len() + 1),
                title: title.to_owned(),
                config: String::new(),
                calls: Vec::new(),
                rows: Vec::new(),
                end: None,
            });
        } else if !text.is_empty() && !text.starts_with('#') {
            let case = cases
                .last_mut()
                .unwrap_or_else(|| panic!("{at}: `## title` comes first"));
            match (text.strip_prefix("= "), text.strip_prefix("config ")) {
                (Some(row), _) => case.rows.push(Line::parse(row, at)),
                (_, Some(config)) => config.clone_into(&mut case.config),
                _ => {
                    let call = Line::parse(text, at);
                    match &*call.word {
                        "end" if call.values.is_empty() => case.end = call.refused,
                        _ => case.calls.push(call),
                    }
                }
            }
        }
    }
    cases
}

impl Line {
    /// Reads a line of a case file; `at` is where it stands.
    pub fn parse(text: &str, at: String) -> Self {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        if word == "refused" {
            let mut reason = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let found = reason.next().and_then(Result::ok);
            let found = found.unwrap_or_else(|| panic!("{at}: the reason is missing"));
            let call = rest[reason.byte_offset()..].trim_start();
            return Self {
                refused: Some(found),
                ..Self::parse(call, at)
            };
        }
        let values = serde_json::Deserializer::from_str(rest).into_iter();
        let values = values
            .map(|value| value.unwrap_or_else(|error| panic!("{at}: {error}")))
            .collect();
        Self {
            at,
            word: word.to_owned(),
            values,
            refused: None,
        }
    }

    fn value(&self, index: usize) -> &Value {
        self.values
            .get(index)
            .unwrap_or_else(|| panic!("{}: value {index} is missing", self.at))
    }

    pub fn text(&self, index: usize) -> &str {
        self.value(index)
            .as_str()
            .unwrap_or_else(|| panic!("{}: value {index} is no text", self.at))
    }

    pub fn int(&self, index: usize) -> i64 {
        self.value(index)
            .as_i64()
            .unwrap_or_else(|| panic!("{}: value {index} is no 64-bit integer", self.at))
    }

    pub fn list(&self, index: usize) -> &[Value] {
        self.value(index)
            .as_array()
            .unwrap_or_else(|| panic!("{}: value {index} is no list", self.at))
    }

    pub fn any(&self, index: usize) -> &Value {
        self.value(index)
    }

    /// The values from `index` on that are lists.
    pub fn lists(&self, index: usize) -> impl Iterator<Item = &Value> {
        self.values[index..].iter().filter(|value| value.is_array())
    }

    /// The object at the end, by key.
    pub fn option(&self, key: &str) -> &Value {
        static NONE: Value = Value::Null;
        self.options()
            .and_then(|options| options.get(key))
            .unwrap_or(&NONE)
    }

    pub fn options(&self) -> Option<&Map<String, Value>> {
        self.values.last()?.as_object()
    }

    /// Fails for an option that the call doesn't have: it would say nothing.
    pub fn check_options(&self) {
        const EVENT: &[&str] = &["color", "category"];
        let keys: &[&[&str]] = match &*self.word {
            "category" | "resource" => &[&["domain"]],
            "scope" => &[&["domain", "parent"]],
            "clock" => &[&["domain", "scope", "type", "ticks_per_second", "start"]],
            "enum" => &[&["domain"]],
            "schema" => &[&["domain", "name", "type", "pack", "size"]],
            "counter" => &[&["domain", "name", "description", "scope"], MEANING],
            "stream" => &[&[
                "domain",
                "scope",
                "clock",
                "interleaving",
                "ordering",
                "skid",
            ]],
            "batch" => &[&["scope", "ordering", "flex", "cut"]],
            "samples" => &[&["times", "begin", "end", "ordering"]],
            "mark" | "pushpop" | "startend" | "push" | "start" => &[EVENT],
            // The last value of a sample may be that of a union.
            _ => return,
        };
        if let Some(options) = self.options() {
            check_keys(options, keys, &self.at);
        }
    }
}

/// Fails for a key that is none of these.
pub fn check_keys(options: &Map<String, Value>, keys: &[&[&str]], at: &impl std::fmt::Display) {
    for key in options.keys() {
        assert!(
            keys.iter().any(|keys| keys.contains(&&**key)),
            "{at}: no option is called `{key}`"
        );
    }
}
