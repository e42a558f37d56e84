//! What tracks are called.

use std::collections::{HashMap, HashSet};

use super::columns::visible;
use super::names::unique;
use super::trace::Trace;
use super::tracks::{Part, Process, Track};

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
    let parts = [facts.name.as_deref(), id, labels.as_deref()];
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
            [name, text(id), "(no thread)"]
        }
        Part::Async(category) => [category.map_or("", text), "async", ""],
    };
    let label = parts.into_iter().find(|part| !part.is_empty());
    label.map(|label| visible(label).into_owned())
}
