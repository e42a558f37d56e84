//! Where findings go.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;

use nvtxw_backend::{Config, Refusal, Result};

use crate::finding::Finding;
use crate::report::Report;

/// What a session's options and the environment say about findings.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) outlet: Outlet,
    /// How many cases of each kind are told in full.
    pub(crate) examples: u64,
}

/// Where findings go.
#[derive(Debug)]
pub(crate) enum Outlet {
    /// Only into the [`Report`].
    Off,
    /// To standard error, at the session's end, and if that is set as they come too.
    Text { live: bool },
    /// JSON lines, as they come.
    Lines(File),
}

impl Options {
    /// By the keys `check.output`, `check.live` and `check.examples`, else by the environment.
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let option = |key: &str, variable: &str| {
            let given = config
                .get(key)
                .map(|value| (key.to_owned(), value.to_owned()));
            given.or_else(|| {
                let value = std::env::var(variable).ok()?;
                (!value.is_empty()).then(|| (variable.to_owned(), value))
            })
        };
        let live = match option("check.live", "NVTXW_CHECK_LIVE") {
            None => false,
            Some((key, value)) => match &*value {
                "1" | "true" => true,
                "0" | "false" => false,
                _ => {
                    return Err(Refusal::invalid(format!(
                        "{key} is {value:?}; it is true or false"
                    )));
                }
            },
        };
        let examples = match option("check.examples", "NVTXW_CHECK_EXAMPLES") {
            None => 3,
            Some((key, value)) => value.parse().map_err(|_| {
                Refusal::invalid(format!(
                    "{key} is {value:?}; it is a number: how many cases of each kind are told in full"
                ))
            })?,
        };
        let outlet = match option("check.output", "NVTXW_CHECK_OUTPUT") {
            None => Outlet::Text { live },
            Some((key, path)) => match &*path {
                "off" => Outlet::Off,
                "stderr" => Outlet::Text { live },
                _ => Outlet::lines(&key, &path)?,
            },
        };
        Ok(Self { outlet, examples })
    }
}

impl Outlet {
    fn lines(key: &str, path: &str) -> Result<Self> {
        // Several sessions, also of several processes, may share the file: each line is one write at its end.
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.map(Self::Lines).map_err(|error| {
            Refusal::failed(format!(
                "{key}: can't write to {path:?}: {error}; name a file that can be written, or `stderr` or `off`"
            ))
        })
    }

    /// A session begins.
    pub(crate) fn begin(&self, session: &str) {
        if let Self::Lines(_) = self {
            self.line(&format!("{{\"begin\":{}}}", json(session)));
        }
    }

    /// One of the first cases of a kind. After the session's end nothing else would tell it.
    pub(crate) fn finding(&self, finding: &Finding, has_ended: bool) {
        match self {
            Self::Off => {}
            Self::Text { live } if !live && !has_ended => {}
            Self::Text { .. } => {
                let kind = finding.kind();
                eprint(&format!(
                    "nvtxw check: {}{kind}: {finding}\n  why: {}\n  fix: {}\n",
                    of(finding.session()),
                    kind.why(),
                    kind.fix()
                ));
            }
            Self::Lines(_) => self.line(&finding_line(finding)),
        }
    }

    /// A session has ended: all that was found in it.
    pub(crate) fn end(&self, session: &str, report: &Report) {
        match self {
            Self::Off => {}
            Self::Text { .. } => {
                let total = report.total();
                let findings = match total {
                    0 => "no findings".to_owned(),
                    1 => "1 finding".to_owned(),
                    _ => format!("{total} findings"),
                };
                eprint(&format!("nvtxw check: {}{findings}\n{report}", of(session)));
            }
            Self::Lines(_) => {
                let mut line = format!("{{\"end\":{},\"findings\":{{", json(session));
                let mut separator = "";
                for kind in report.kinds() {
                    let count = report.count(kind);
                    let _ = write!(line, "{separator}{}:{count}", json(kind.code()));
                    separator = ",";
                }
                line.push_str("}}");
                self.line(&line);
            }
        }
    }

    fn line(&self, line: &str) {
        if let Self::Lines(file) = self {
            // A full disk must not stop the program that is checked.
            let _ = (&*file).write_all(format!("{line}\n").as_bytes());
        }
    }
}

fn finding_line(finding: &Finding) -> String {
    let kind = finding.kind();
    let mut line = format!(
        "{{\"finding\":{},\"session\":{}",
        json(kind.code()),
        json(finding.session())
    );
    if let Some(stream) = finding.stream() {
        let _ = write!(line, ",\"stream\":{}", json(stream));
    }
    if let Some(event) = finding.event() {
        let _ = write!(line, ",\"event\":{event}");
    }
    if let Some(time) = finding.time() {
        let _ = write!(line, ",\"time\":{time}");
    }
    let _ = write!(
        line,
        ",\"what\":{},\"why\":{},\"fix\":{}}}",
        json(finding.what()),
        json(kind.why()),
        json(kind.fix())
    );
    line
}

/// Text as a JSON string.
fn json(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(json, "\\u{:04x}", u32::from(character));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

/// Which session it is about, if that has a name.
fn of(session: &str) -> String {
    match session {
        "" => String::new(),
        _ => format!("session {session:?}: "),
    }
}

/// Unlike `eprint!`, doesn't panic where standard error is closed.
fn eprint(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn any_text_is_json() {
        for text in [
            "",
            "a \"b\" \\ /",
            "\0\n\u{1F}\u{7F}\u{9B}",
            "größe 한강 😀",
        ] {
            let json = json(text);
            assert!(!json.contains(char::is_control), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
