//! What tracks are called.

use std::collections::{HashMap, HashSet};

use super::columns::visible;
use super::names::unique;
use super::trace::Trace;
use super::tracks::{Facts, Part, Process, Track};

/// What a track and its process are called.
pub struct Label {
    pub process: String,
    /// `None`: the process itself.
    pub track: Option<String>,
}

/// The labels of the tracks in `order`; no two tracks have the same.
pub fn labels(trace: &Trace, order: &[usize]) -> Vec<Label> {
    let tracks = &trace.tracks;
    let mut namesakes = HashMap::new();
    for &index in order {
        let track = &tracks.all[index];
        *namesakes
            .entry((track.process, track_label(track, trace)))
            .or_insert(0) += 1;
    }
    let (mut processes, mut used) = (HashMap::new(), HashSet::new());
    let mut used_in: HashMap<usize, HashSet<String>> = HashMap::new();
    let mut labels = Vec::new();
    for &index in order {
        let track = &tracks.all[index];
        let process = processes.entry(track.process).or_insert_with(|| {
            let label = process_label(&tracks.processes[track.process], trace);
            unique(&mut used, &label)
        });
        let label = track_label(track, trace).map(|mut label| {
            if let Part::Thread(id) = track.part
                && namesakes[&(track.process, Some(label.clone()))] > 1
            {
                label = format!("{label} {}", visible(trace.strings.text(id)));
            }
            unique(used_in.entry(track.process).or_default(), &label)
        });
        labels.push(Label {
            process: process.clone(),
            track: label,
        });
    }
    labels
}

/// `python 4711 (CPU)`: the name, the id, the labels.
fn process_label(process: &Process, trace: &Trace) -> String {
    let facts = &process.facts;
    let labels = facts.labels.as_ref().map(|labels| labels.trim());
    let labels = labels.filter(|labels| !labels.is_empty());
    let labels = labels.map(|labels| format!("({labels})"));
    let id = process.id.map(|id| trace.strings.text(id));
    let word = match (&facts.name, id) {
        (None, Some(id)) if is_number(id) => Some("Process"),
        (name, _) => name.as_deref(),
    };
    let parts = [word, id, labels.as_deref()];
    let parts = parts.into_iter().flatten().map(str::trim);
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "(no process)".to_owned()
    } else {
        visible(&parts.join(" ")).into_owned()
    }
}

/// The name of a thread, else its id; `None` if the track is the process itself.
fn track_label(track: &Track, trace: &Trace) -> Option<String> {
    let text = |id| trace.strings.text(id).trim();
    let parts = match track.part {
        Part::Whole | Part::Counters => return None,
        Part::Thread(id) => {
            let name = track.facts.name.as_deref().unwrap_or_default().trim();
            let (word, number) = if is_number(text(id)) {
                ("Thread", text(id))
            } else {
                (text(id), "")
            };
            match (name, word) {
                ("", "") => ["(no thread)", ""],
                ("", _) => [word, number],
                _ => [name, ""],
            }
        }
        Part::Async(category, id) => [category.map_or("async", text), text(id)],
    };
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Some(visible(&parts.join(" ")).into_owned())
}

pub fn is_number(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The tracks that have events, in the order of processes and threads: by their sort indices, then by their names. Those without a
/// sort index follow, and last are instants of the whole trace.
pub fn order(trace: &Trace) -> Vec<usize> {
    let tracks = &trace.tracks;
    let processes: Vec<_> = tracks
        .processes
        .iter()
        .map(|process| process_label(process, trace))
        .collect();
    let place = |index: usize| {
        let track = &tracks.all[index];
        let process = &tracks.processes[track.process];
        let part = match track.part {
            Part::Whole => 0,
            Part::Thread(_) => 1,
            Part::Async(..) => 2,
            Part::Counters => 3,
        };
        let sort_index = |facts: &Facts| (facts.sort_index.is_none(), facts.sort_index);
        (
            (process.is_whole_trace, sort_index(&process.facts)),
            natural(&processes[track.process]),
            (track.process, part, sort_index(&track.facts)),
            natural(&track_label(track, trace).unwrap_or_default()),
            index,
        )
    };
    let used = (0..tracks.all.len()).filter(|&index| tracks.all[index].is_used);
    let mut order: Vec<_> = used.collect();
    order.sort_by_cached_key(|&index| place(index));
    order
}

/// The parts of a text by which `Thread 2` comes before `Thread 10`: text, and numbers by their lengths and digits.
fn natural(text: &str) -> Vec<(String, usize, String)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (before, from) = rest.split_at(digits);
        let end = from
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let number = number.trim_start_matches('0');
        parts.push((before.to_owned(), number.len(), number.to_owned()));
        rest = after;
    }
    parts
}
