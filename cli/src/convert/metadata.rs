//! What a trace says of itself, its processes, threads and counters.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::columns::string;
use super::event::{Bad, Event, text};
use super::json;
use super::trace::Trace;
use super::tracks::{Facts, Part};

/// 2001-09-09, in nanoseconds since 1970.
const YEAR_2001: i64 = 1_000_000_000_000_000_000;

impl Trace {
    /// Takes a member of the trace's outer object, or of its `otherData` or `metadata`.
    pub fn fact(&mut self, name: String, json: String) {
        match &*name {
            "otherData" | "metadata" if json.starts_with('{') => {
                let mut facts = Vec::new();
                json::members(&json, |member| {
                    let name = member.name(&json).into_owned();
                    facts.push((name, member.value.of(&json).to_owned()));
                })
                .expect("it was read before");
                for (name, json) in facts {
                    self.fact(name, json);
                }
            }
            "nvtxw.session" => {
                let name = string(&json).filter(|name| !name.is_empty());
                self.session = name.map(Cow::into_owned);
            }
            "nvtxw.time_base" => self.move_by(&name, &json),
            // How a file of the built-in backend came to be is not of the trace.
            _ if name.starts_with("nvtxw.") => {}
            _ => {
                if name == "distributedInfo" {
                    // An object in all files so far.
                    let _ = json::members(&json, |member| {
                        if member.name(&json) == "rank" {
                            self.rank = text(Some(member.value.of(&json))).map(Cow::into_owned);
                        }
                    });
                }
                self.facts.retain(|(known, _)| *known != name);
                self.facts.push((name, json));
            }
        }
    }

    /// Makes times of PyTorch's profiler count from 1970.
    pub fn move_by_facts(&mut self) {
        const NAME: &str = "baseTimeNanoseconds";
        let base = self.facts.iter().find(|(name, _)| name == NAME);
        // Older files have such times already.
        if let Some((_, json)) = base
            && self.base == 0
            && self.events.earliest() < YEAR_2001
        {
            let json = json.clone();
            self.move_by(NAME, &json);
            self.is_dated = self.base != 0;
        }
    }

    /// Adds a number of nanoseconds to all times.
    fn move_by(&mut self, name: &str, json: &str) {
        let Ok(base) = json.trim_matches('"').parse() else {
            return;
        };
        match self.events.can_move(base) {
            true => self.base = base,
            false => {
                let kind = format_args!(
                    "times are not moved by the trace's own `{name}`, because they would not fit 64-bit nanoseconds"
                );
                self.warnings.add(kind, None);
            }
        }
    }

    /// What the built-in backend says of a counter.
    fn describe(&mut self, event: &Event<'_>) {
        let process = event.process();
        let process = self.tracks.process(process.as_deref(), &mut self.strings);
        let track = self.tracks.track(process, Part::Counters);
        let (mut name, mut description) = (None, None);
        if let Some(args) = event.args() {
            args.each(|key, value| match key {
                "name" => name = string(value).map(Cow::into_owned),
                "description" => description = string(value).map(Cow::into_owned),
                _ => {}
            });
        }
        if let (Some(name), Some(description)) = (name, description) {
            let descriptions = &mut self.counters.descriptions;
            descriptions.insert((track, name), description);
        }
    }

    pub fn metadata(&mut self, event: &Event<'_>) -> Result<(), Bad> {
        let what = event.name().ok_or(Bad::Missing("name"))?;
        let (process, args) = (event.process(), event.args());
        let facts = match &*what {
            "process_name" | "process_labels" | "process_sort_index" => {
                let process = process.as_deref();
                let process = self.tracks.process(process, &mut self.strings);
                &mut self.tracks.processes[process].facts
            }
            "thread_name" | "thread_sort_index" => {
                let track = self.thread(event);
                &mut self.tracks.all[track as usize].facts
            }
            // What the built-in backend adds for itself.
            "nvtxw.epoch" => return Ok(()),
            "counter" => {
                self.describe(event);
                return Ok(());
            }
            other => return Err(Bad::Metadata(other.to_owned())),
        };
        let wanted = what.rsplit_once("process_").or(what.rsplit_once("thread_"));
        let wanted = match wanted.map_or("", |(_, wanted)| wanted) {
            "labels" => "labels",
            "sort_index" => "sort_index",
            _ => "name",
        };
        let mut is_found = false;
        if let Some(args) = args {
            args.each(|name, value| {
                if name == wanted {
                    is_found = facts.set(wanted, value);
                }
            });
        }
        if is_found {
            Ok(())
        } else {
            Err(Bad::Argument(what.into_owned(), wanted))
        }
    }
}

impl Facts {
    /// Whether the value is one that can be.
    fn set(&mut self, what: &str, json: &str) -> bool {
        match what {
            "sort_index" => {
                let index = json.trim_matches('"').parse::<f64>().ok();
                self.sort_index = index.map(|index| index as i64);
                index.is_some()
            }
            "labels" => {
                self.labels = text(Some(json)).map(Cow::into_owned);
                self.labels.is_some()
            }
            _ => {
                self.name = text(Some(json)).map(Cow::into_owned);
                self.name.is_some()
            }
        }
    }
}

/// JSON on one line, without what ends an entry of a config.
pub fn one_line(json: &str) -> String {
    let (mut line, mut is_string, mut is_escaped) = (String::new(), false, false);
    for c in json.chars() {
        match c {
            '|' | '\0'..='\u{1f}' if is_string => {
                let _ = write!(line, "\\u{:04x}", u32::from(c));
            }
            ' ' | '\t' | '\n' | '\r' if !is_string => {}
            _ => line.push(c),
        }
        is_string ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_put_on_one_line() {
        let json = "{ \"a|b\" : [ 1,\r\n\t\"c d\\\" |\n\" ] }";
        let line = r#"{"a\u007cb":[1,"c d\" \u007c\u000a"]}"#;
        assert_eq!(one_line(json), line);
    }
}
