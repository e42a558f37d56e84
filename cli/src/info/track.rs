//! The tracks of a Perfetto file.

use std::collections::HashMap;

use super::packets::{Fields, Value};
use super::summary::unit;

mod field {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT_UUID: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const STATIC_NAME: u32 = 10;
    pub(super) const DESCRIPTION: u32 = 14;

    /// Of the messages in `PROCESS` and `THREAD`.
    pub(super) const PID: u32 = 1;
    pub(super) const PROCESS_NAME: u32 = 6;
    pub(super) const TID: u32 = 2;
    pub(super) const THREAD_NAME: u32 = 5;

    /// Of the message in `COUNTER`.
    pub(super) const UNIT: u32 = 3;
    pub(super) const MULTIPLIER: u32 = 4;
    pub(super) const INCREMENTAL: u32 = 5;
    pub(super) const UNIT_NAME: u32 = 6;
}

/// Readers follow no more ancestors.
const DEEPEST: usize = 100;

/// What the built-in backend calls a stream in a track's description.
pub(super) const STREAM: &str = "Stream: ";

#[derive(Default)]
pub(super) struct Tracks(HashMap<u64, Track>);

#[derive(Default)]
pub(super) struct Track {
    name: Option<String>,
    parent: u64,
    pub(super) description: Option<String>,
    owner: Option<Owner>,
    counter: Option<Scale>,
}

/// A process or a thread.
struct Owner {
    name: Option<String>,
    /// The name with the number.
    shown: String,
    is_thread: bool,
}

#[derive(Default)]
struct Scale {
    unit: Option<String>,
    multiplier: Option<u64>,
    is_delta: bool,
}

fn text(bytes: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(bytes).into_owned())
}

impl Track {
    pub(super) fn is_counter(&self) -> bool {
        self.counter.is_some()
    }

    fn is_thread(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.is_thread)
    }

    /// What its numbers count.
    pub(super) fn unit(&self) -> Option<String> {
        let scale = self.counter.as_ref()?;
        let multiplier = scale.multiplier.filter(|multiplier| *multiplier != 1);
        let multiplier = multiplier.map(|multiplier| multiplier.to_string());
        unit(scale.unit.as_deref(), multiplier.as_deref())
    }
}

impl Tracks {
    /// A track that is described, perhaps once more.
    pub(super) fn add(&mut self, descriptor: &[u8]) {
        let (mut track, mut uuid) = (Track::default(), 0);
        for field in Fields::of(descriptor) {
            match field {
                (field::UUID, Value::Int(value)) => uuid = value,
                (field::NAME | field::STATIC_NAME, Value::Bytes(name)) => track.name = text(name),
                (field::PARENT_UUID, Value::Int(value)) => track.parent = value,
                (field::DESCRIPTION, Value::Bytes(value)) => track.description = text(value),
                (field::PROCESS, Value::Bytes(message)) => {
                    track.owner = Some(owner(
                        message,
                        false,
                        (field::PROCESS_NAME, field::PID, "process"),
                    ));
                }
                (field::THREAD, Value::Bytes(message)) => {
                    track.owner = Some(owner(
                        message,
                        true,
                        (field::THREAD_NAME, field::TID, "thread"),
                    ));
                }
                (field::COUNTER, Value::Bytes(message)) => track.counter = Some(scale(message)),
                _ => {}
            }
        }
        self.0.insert(uuid, track);
    }

    pub(super) fn get(&self, uuid: u64) -> Option<&Track> {
        self.0.get(&uuid)
    }

    /// Whether the values of a counter are differences.
    pub(super) fn is_delta(&self, uuid: u64) -> bool {
        let scale = self.get(uuid).and_then(|track| track.counter.as_ref());
        scale.is_some_and(|scale| scale.is_delta)
    }

    /// The name of a stream whose events are on this track by default.
    pub(super) fn stream_name(&self, uuid: u64) -> Option<String> {
        let track = self.get(uuid)?;
        let described = track.description.as_deref();
        match described.and_then(|text| text.strip_prefix(STREAM)) {
            Some(name) => Some(name.to_owned()),
            None => {
                let owner = || Some(track.owner.as_ref()?.shown.clone());
                track.name.clone().or_else(owner)
            }
        }
    }

    /// The steps of a track's path, outermost first. In files of the built-in backend a thread's name stands for that of its
    /// rows too, and is before the names of what is shown beside these. A main thread has no name, and its rows are those of
    /// the process, and those that have another name.
    pub(super) fn path(&self, uuid: u64, is_ours: bool) -> String {
        let mut steps: Vec<&str> = Vec::new();
        let mut at = uuid;
        for _ in 0..DEEPEST {
            let Some(track) = self.get(at) else { break };
            let parent = self.get(track.parent).filter(|_| at != track.parent);
            let name = track.name.as_deref().filter(|name| !name.is_empty());
            steps.extend(match (&track.owner, parent) {
                (None, Some(parent)) if is_ours && parent.is_thread() => {
                    let owner = parent
                        .owner
                        .as_ref()
                        .and_then(|owner| owner.name.as_deref());
                    name.and_then(|name| match &parent.name {
                        Some(thread) => name.strip_prefix(&**thread)?.strip_prefix(' '),
                        None => Some(name).filter(|name| Some(*name) != owner),
                    })
                }
                (Some(_), _) if is_ours => name,
                (owner, _) => name.or(owner.as_ref().map(|it| &*it.shown)).or(Some("?")),
            });
            if parent.is_none() {
                break;
            }
            at = track.parent;
        }
        if steps.is_empty() {
            return format!("track {uuid}");
        }
        steps.reverse();
        steps.join("/")
    }
}

/// A process or a thread, by the fields of its name and number.
fn owner(message: &[u8], is_thread: bool, (name, number, what): (u32, u32, &str)) -> Owner {
    let (mut named, mut id) = (None, None);
    for (field, value) in Fields::of(message) {
        match value {
            Value::Bytes(value) if field == name => named = text(value),
            Value::Int(value) if field == number => id = Some(value as i32),
            _ => {}
        }
    }
    let name = named.filter(|name| !name.is_empty());
    let shown = match (&name, id) {
        (Some(name), Some(id)) => format!("{name} {id}"),
        (Some(name), None) => name.clone(),
        (None, Some(id)) => format!("{what} {id}"),
        (None, None) => what.to_owned(),
    };
    Owner {
        name,
        shown,
        is_thread,
    }
}

fn scale(message: &[u8]) -> Scale {
    let mut scale = Scale::default();
    for field in Fields::of(message) {
        match field {
            (field::UNIT, Value::Int(unit)) => {
                scale.unit = match unit {
                    1 => Some("ns".to_owned()),
                    2 => Some("count".to_owned()),
                    3 => Some("bytes".to_owned()),
                    _ => None,
                };
            }
            (field::UNIT_NAME, Value::Bytes(name)) => scale.unit = text(name),
            (field::MULTIPLIER, Value::Int(value)) => scale.multiplier = Some(value),
            (field::INCREMENTAL, Value::Int(value)) => scale.is_delta = value != 0,
            _ => {}
        }
    }
    scale
}
