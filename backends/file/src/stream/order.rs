//! What a stream is told of the order of its events, and whether it is so.

use nvtxw_backend::{Refusal, Skid, StreamInfo, StreamOrdering};

use super::StreamIn;
use crate::format::Format;
use crate::timeline::Break;

impl<F: Format> StreamIn<F> {
    /// Tells the log of the first event that isn't where it should be by what was said of the stream,
    /// and of the first one by what was said of a batch that `member` writes.
    #[inline]
    pub(super) fn tell_breaks(&mut self, member: &'static str) {
        if self.timeline.has_news() {
            self.tell(member);
        }
    }

    #[cold]
    fn tell(&mut self, member: &'static str) {
        let [stream, batch] = self.timeline.take_breaks();
        if let Some(found) = stream {
            self.info
                .report("StreamOpen", &stream_break(&self.info, found));
        }
        if let Some(found) = batch {
            self.info.report(member, &batch_break(found));
        }
    }
}

/// What becomes of the events, whatever was said.
const STILL: &str = "the events are taken and put in order all the same, and counted";

fn stream_break(info: &StreamInfo, Break { time, bound }: Break) -> Refusal {
    let Some(bound) = bound else {
        return Refusal::invalid(format!(
            "attr.orderingType says that all events are points in time, but a range came that starts at \
             {time} ns: say PACKED_RANGE_START if ranges come in the order of their starts; {STILL}"
        ));
    };
    let by = match info.ordering() {
        StreamOrdering::PackedRangeEnd => "ranges by their ends",
        _ => "ranges by their starts",
    };
    let lag = match info.skid() {
        Skid::TimeNs => format!(", and at most {} ns late", info.skid_amount()),
        Skid::EventCount => format!(", and at most {} events late", info.skid_amount()),
        _ => String::new(),
    };
    Refusal::invalid(format!(
        "attr.orderingType says that events come in order, {by}{lag}, but one of {time} ns came when none \
         before {bound} ns was to come any more: say UNKNOWN, or how late they may be; {STILL}"
    ))
}

fn batch_break(Break { time, bound }: Break) -> Refusal {
    let bound = bound.unwrap_or(time);
    Refusal::invalid(format!(
        "flags say that the batch is in order, but what is of {time} ns stands where nothing before {bound} \
         ns was to come any more: say NVTX_BATCH_FLAG_UNSORTED; {STILL}"
    ))
}
