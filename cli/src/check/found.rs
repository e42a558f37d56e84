//! What the checker wrote down.

use std::collections::BTreeMap;

use nvtxw_check::FindingKind;
use serde::Deserialize;

/// All findings of one run.
#[derive(Default)]
pub(super) struct Found {
    /// Sessions that began.
    pub(super) sessions: usize,
    /// By their codes.
    pub(super) kinds: BTreeMap<String, Kind>,
}

#[derive(Default)]
pub(super) struct Kind {
    pub(super) count: u64,
    pub(super) meaning: String,
    pub(super) why: String,
    pub(super) fix: String,
    /// The first cases.
    pub(super) examples: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Begin {
        begin: String,
    },
    Finding {
        finding: String,
        session: String,
        stream: Option<String>,
        event: Option<u64>,
        time: Option<i64>,
        what: String,
        why: String,
        fix: String,
    },
    End {
        end: String,
        findings: BTreeMap<String, u64>,
    },
}

/// Sessions of one name that haven't ended, as those of several processes may be.
#[derive(Default)]
struct Running {
    sessions: u64,
    /// The codes of what was found in them: an end counts them.
    findings: Vec<String>,
}

impl Running {
    /// One ends, in which so many findings were.
    fn end(&mut self, findings: &BTreeMap<String, u64>) {
        self.sessions -= 1;
        let mut counted = findings.clone();
        self.findings.retain(|code| match counted.get_mut(code) {
            Some(count @ 1..) => {
                *count -= 1;
                false
            }
            _ => true,
        });
    }
}

impl Found {
    /// From the lines of the checker. One that a killed program has left half is let go.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        let mut running: BTreeMap<String, Running> = BTreeMap::new();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Err(_) => {}
                Ok(Line::Begin { begin }) => {
                    found.sessions += 1;
                    running.entry(begin).or_default().sessions += 1;
                }
                Ok(Line::End { end, findings }) => {
                    if let Some(running) = running.get_mut(&end) {
                        running.end(&findings);
                    }
                    running.retain(|_, running| running.sessions > 0);
                    for (code, count) in findings {
                        found.kind(code).count += count;
                    }
                }
                Ok(Line::Finding {
                    finding,
                    session,
                    stream,
                    event,
                    time,
                    what,
                    why,
                    fix,
                }) => {
                    let kind = found.kind(finding.clone());
                    (kind.why, kind.fix) = (why, fix);
                    let mut place = Vec::new();
                    place.extend((!session.is_empty()).then(|| format!("session {session:?}")));
                    place.extend(stream.map(|stream| format!("stream {stream:?}")));
                    place.extend(event.map(|event| format!("event {event}")));
                    place.extend(time.map(|time| format!("at {time}")));
                    place.push(String::new());
                    let place = place.join(", ");
                    let place = place.strip_suffix(", ").unwrap_or(&place);
                    let colon = if place.is_empty() { "" } else { ": " };
                    kind.examples.push(format!("{place}{colon}{what}"));
                    match running.get_mut(&session) {
                        Some(running) => running.findings.push(finding),
                        // Nothing else counts it.
                        None => kind.count += 1,
                    }
                }
            }
        }
        found.add_sessions_without_end(running);
        found
    }

    /// What is known of this code: all, if no case of it is told.
    fn kind(&mut self, code: String) -> &mut Kind {
        let known = FindingKind::from_code(&code);
        let text =
            |of: fn(FindingKind) -> &'static str| known.map(of).unwrap_or_default().to_owned();
        self.kinds.entry(code).or_insert_with(|| Kind {
            meaning: text(FindingKind::meaning),
            why: text(FindingKind::why),
            fix: text(FindingKind::fix),
            ..Kind::default()
        })
    }

    /// The sessions that were not ended, with the findings that were told of them.
    fn add_sessions_without_end(&mut self, running: BTreeMap<String, Running>) {
        for (session, Running { sessions, findings }) in running {
            for code in findings {
                self.kinds.entry(code).or_default().count += 1;
            }
            let kind = self
                .kinds
                .entry("session-without-end".to_owned())
                .or_default();
            kind.count += sessions;
            kind.meaning = "a session was begun and not ended".to_owned();
            kind.why = "SessionEnd says that all data is in: until then some of it may be nowhere, and the findings of the \
                        session that only its end shows are missing"
                .to_owned();
            kind.fix = "end the session on all paths that leave the program".to_owned();
            kind.examples.push(format!("session {session:?}"));
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.kinds.values().map(|kind| kind.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn findings_are_counted_once() {
        let finding = |session: &str| {
            format!(
                "{{\"finding\":\"stream-order\",\"session\":\"{session}\",\"event\":3,\"what\":\"w\",\"why\":\"y\",\"fix\":\"f\"}}\n"
            )
        };
        let end = "{\"end\":\"a\",\"findings\":{\"stream-order\":7}}\n";
        let text = [
            "{\"begin\":\"a\"}\n",
            &finding("a"),
            "{\"begin\":\"b\"}\n",
            &finding("b"),
            end,
            // After its end.
            &finding("a"),
            // Of none.
            &finding(""),
            "{\"finding\":\"cut",
        ];
        let found = Found::read(&text.concat());
        assert_eq!((found.sessions, found.total()), (2, 7 + 1 + 1 + 1 + 1));
        let order = &found.kinds["stream-order"];
        assert_eq!(order.count, 10);
        assert_eq!(order.examples[0], "session \"a\", event 3: w");
        assert_eq!(order.examples[3], "event 3: w");
        assert_eq!(
            found.kinds["session-without-end"].examples,
            ["session \"b\""]
        );
    }

    #[test]
    fn sessions_of_several_processes_may_have_one_name() {
        let finding = "{\"finding\":\"name-twice\",\"session\":\"a\",\"what\":\"w\",\"why\":\"y\",\"fix\":\"f\"}\n";
        let begin = "{\"begin\":\"a\"}\n";
        let end = "{\"end\":\"a\",\"findings\":{\"name-twice\":1}}\n";
        let text = [begin, begin, begin, finding, finding, end];
        let found = Found::read(&text.concat());
        assert_eq!(found.sessions, 3);
        assert_eq!(found.kinds["name-twice"].count, 2);
        assert_eq!(found.kinds["session-without-end"].count, 2);
    }
}
