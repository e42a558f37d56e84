//! How a track is described.

use super::field::{counter, process, thread, track};
use crate::proto::Writer;
use crate::track::{Owner, OwnerId, Scale, Track, TrackId};

pub(super) fn descriptor(out: &mut Writer, id: TrackId, track: &Track) {
    let label = &track.label;
    // A negative rank would be taken too, but no producer has so many tracks.
    let rank = u64::from(track.rank.min(i32::MAX as u32));
    out.uint(track::UUID, id);
    let name = label.shown();
    if !name.is_empty() {
        out.text(track::NAME, name);
    }
    if track.parent != 0 {
        out.uint(track::PARENT_UUID, track.parent);
    }
    if let Some(description) = label.description_of_sums() {
        out.text(track::DESCRIPTION, &description);
    }
    out.uint(track::RANK, rank);
    match (&label.counter, &label.owner) {
        (Some(scale), _) => {
            out.uint(track::MERGE_BEHAVIOR, track::MERGE_NONE);
            let open = out.open(track::COUNTER, 0);
            unit(out, scale);
            out.close(open);
        }
        (None, Some(owner)) => {
            out.uint(track::CHILD_ORDERING, track::EXPLICIT);
            self::owner(out, owner, rank);
        }
        (None, None) => {
            out.uint(track::CHILD_ORDERING, track::EXPLICIT);
            // Readers merge siblings of one name by default; but that may be two places.
            out.uint(track::MERGE_BEHAVIOR, track::MERGE_BY_KEY);
            out.uint(track::MERGE_KEY, track.place);
        }
    }
}

/// A process or a thread. Which of the two indices counts depends on the viewer: the rank, the sort index, or that only with
/// an ordering.
fn owner(out: &mut Writer, owner: &Owner, rank: u64) {
    let name = &owner.name;
    match owner.id {
        OwnerId::Process(number) => {
            let open = out.open(track::PROCESS, name.len());
            out.uint(process::PID, number.into());
            out.uint(process::SORT_INDEX, rank);
            out.text(process::NAME, name);
            out.close(open);
            out.uint(track::PROCESS_ORDERING, track::BY_SORT_INDEX);
            out.uint(track::THREAD_ORDERING, track::BY_SORT_INDEX);
        }
        OwnerId::Thread {
            process,
            thread: number,
        } => {
            let open = out.open(track::THREAD, name.len());
            out.uint(thread::PID, process.into());
            out.uint(thread::TID, number.into());
            out.uint(thread::SORT_INDEX, rank);
            out.text(thread::NAME, name);
            out.close(open);
        }
    }
}

fn unit(out: &mut Writer, scale: &Scale) {
    if let Some(unit) = scale.unit.as_deref() {
        // Their case means nothing.
        match &*unit.to_ascii_lowercase() {
            "byte" | "bytes" => out.uint(counter::UNIT, counter::SIZE_BYTES),
            "ns" | "nanosecond" | "nanoseconds" => out.uint(counter::UNIT, counter::TIME_NS),
            "count" => out.uint(counter::UNIT, counter::COUNT),
            _ if unit == "B" => out.uint(counter::UNIT, counter::SIZE_BYTES),
            _ => out.text(counter::UNIT_NAME, unit),
        }
        if let Some(group) = scale.group {
            out.text(counter::Y_AXIS, &format!("{group} {unit}"));
        }
    }
    if scale.multiplier != 1 {
        out.uint(counter::MULTIPLIER, scale.multiplier);
    }
    if scale.is_delta {
        out.bool(counter::INCREMENTAL, true);
    }
}
