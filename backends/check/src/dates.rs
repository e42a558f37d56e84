//! Streams with timestamps of no clock, next to streams whose timestamps tell the date.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use nvtxw_backend::{Domain, StreamInfo, TimeRelation, TimerStart, TimestampType};

use crate::finding::Place;

/// The clocks that streams of a session use, as far as they tell the date or are none.
#[derive(Default)]
pub(crate) struct Dates {
    /// The first stream with timestamps that tell the date.
    dated: Option<Arc<str>>,
    /// Where streams have the first timestamp of no clock, by the number of the stream, and the number of its domain.
    clockless: BTreeMap<u32, (u32, Place)>,
    /// The domains whose timestamps of no clock are related to a clock.
    related: HashSet<u32>,
}

impl Dates {
    /// A stream has timestamps of a time domain, the first one at this place.
    pub(crate) fn add(&mut self, number: u32, stream: &StreamInfo, time_domain: u64, place: Place) {
        let domain = stream.domain();
        if is_no_clock(time_domain) {
            let first = self.clockless.entry(number);
            first.or_insert((domain.index(), place));
        } else if self.dated.is_none() && tells_date(domain, time_domain) {
            self.dated = Some(stream.name().into());
        }
    }

    pub(crate) fn relate(&mut self, domain: &Domain, relation: &TimeRelation<'_>) {
        if [relation.source(), relation.destination()]
            .into_iter()
            .any(is_no_clock)
        {
            self.related.insert(domain.index());
        }
    }

    /// The streams that don't fit those that tell the date, and what is wrong with each.
    pub(crate) fn take(&mut self) -> Vec<(Place, String)> {
        let Self {
            dated,
            clockless,
            related,
        } = std::mem::take(self);
        let Some(dated) = dated else {
            return Vec::new();
        };
        let mut unrelated = clockless.into_values().collect::<Vec<_>>();
        unrelated.retain(|(domain, _)| !related.contains(domain));
        let what =
            format!("its timestamps are of no clock, those of stream {dated:?} tell the date");
        unrelated
            .into_iter()
            .map(|(_, place)| (place, what.clone()))
            .collect()
    }
}

fn is_no_clock(time_domain: u64) -> bool {
    TimestampType::from_raw(time_domain) == Some(TimestampType::None)
}

fn tells_date(domain: &Domain, time_domain: u64) -> bool {
    let registered = domain.time_domain(time_domain);
    match registered.as_ref().map(|registered| registered.start()) {
        Some(TimerStart::UnixEpoch | TimerStart::WinFiletime) => return true,
        Some(TimerStart::SystemBoot | TimerStart::VmBoot) => return false,
        Some(TimerStart::Unknown) | None => {}
    }
    let of_type = match registered {
        Some(registered) => Some(registered.timestamp_type()),
        None => TimestampType::from_raw(time_domain),
    };
    matches!(
        of_type,
        Some(
            TimestampType::ClockRealtime
                | TimestampType::ClockRealtimeCoarse
                | TimestampType::CTime
                | TimestampType::CTimespecGet
                | TimestampType::CppSystemClock
                | TimestampType::WinGstaft
                | TimestampType::WinGstaftp
        )
    )
}
