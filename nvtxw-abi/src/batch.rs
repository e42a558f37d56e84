//! The numbers in a batch's flags.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// In which order the events or samples of a batch stand, by the first timestamp of each.
    BatchOrdering: u64 in raw::NVTX_BATCH_FLAG_UNSORTED;
    /// Sorted.
    Sorted = raw::NVTX_BATCH_FLAG_TIME_SORTED,
    /// Sorted up to the skid of the stream.
    SortedPartially = raw::NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY,
    /// Sorted within each scope.
    SortedPerScope = raw::NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE,
    /// In any order.
    Unsorted = raw::NVTX_BATCH_FLAG_UNSORTED,
}

vocabulary! {
    /// The one pair {time, interval} from which the times of all samples of a counter batch follow.
    /// A batch with the number 0 there has a timestamp for each sample.
    IntervalPlacement: u64 in 3 << 32;
    /// The pair's time is that of the first sample.
    BeginTime = raw::NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR,
    /// The pair's time is that of the last sample.
    EndTime = raw::NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR,
}

#[cfg(test)]
mod tests {
    use super::{BatchOrdering, IntervalPlacement};

    #[test]
    fn one_number_does_not_disturb_the_other() {
        for &ordering in BatchOrdering::ALL {
            assert_eq!(IntervalPlacement::from_raw(ordering.to_raw()), None);
            for &placement in IntervalPlacement::ALL {
                let flags = ordering.to_raw() | placement.to_raw();
                assert_eq!(BatchOrdering::from_raw(flags), Some(ordering));
                assert_eq!(IntervalPlacement::from_raw(flags), Some(placement));
            }
        }
    }

    #[test]
    fn a_shared_bit_is_not_a_shared_value() {
        let both = BatchOrdering::SortedPartially.to_raw() | BatchOrdering::SortedPerScope.to_raw();
        assert_eq!(BatchOrdering::from_raw(both), Some(BatchOrdering::Unsorted));
        let both = IntervalPlacement::BeginTime.to_raw() | IntervalPlacement::EndTime.to_raw();
        assert_eq!(IntervalPlacement::from_raw(both), None);
    }
}
