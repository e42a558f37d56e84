//! What a trace says of itself, its processes, threads and counters.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::columns::string;
use super::event::{Bad, Event, text};
use super::trace::Trace;
use super::tracks::{Facts, Part};

impl Trace {
    /// Takes what the built-in backend says of a file of its own; `false` if there is anything else. Most of it tells how that
    /// file came to be, and is not of the trace.
    pub fn own_facts(&mut self, json: &str) -> bool {
        let facts: HashMap<String, Value> = serde_json::from_str(json).unwrap_or_default();
        if facts.keys().any(|key| !key.starts_with("nvtxw.")) {
            return false;
        }
        let name = facts.get("nvtxw.session").and_then(Value::as_str);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.session = Some(name.to_owned());
        }
        if let Some(base) = facts.get("nvtxw.time_base").and_then(Value::as_i64) {
            match self.events.can_move(base) {
                true => self.base = base,
                false => {
                    let kind = "times are not moved by the trace's own `nvtxw.time_base`, because they would not fit 64-bit nanoseconds";
                    self.warnings.add(kind, None);
                }
            }
        }
        true
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
