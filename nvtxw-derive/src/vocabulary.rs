//! The words that attributes are made of: kinds, roles and the values of the semantics.

use proc_macro2::Ident;
use quote::format_ident;

/// Declares an enum whose variants have a spelling in attributes.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $spelling:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum $name { $($(#[$variant_doc])* $variant,)* }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn spelling(self) -> &'static str {
                match self { $(Self::$variant => $spelling,)* }
            }

            fn variant(self) -> Ident {
                match self { $(Self::$variant => format_ident!(stringify!($variant)),)* }
            }
        }
    };
}

/// One of a fixed set of words.
pub(crate) trait Word: Copy + 'static {
    /// Every word of the set.
    const ALL: &'static [Self];

    /// As it is written in an attribute.
    fn spelling(self) -> &'static str;

    /// The variant of the enum of the same name in `nvtxw`.
    fn variant(self) -> Ident;

    /// The word that is spelled so.
    fn find(spelling: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|word| word.spelling() == spelling)
    }
}

words! {
    /// The kinds of events.
    EventKind {
        Mark = "mark",
        RangePushPop = "range_pushpop",
        RangeStartEnd = "range_startend",
        RangePush = "range_push",
        RangePop = "range_pop",
        RangeStart = "range_start",
        RangeEnd = "range_end",
    }
}

words! {
    /// What a field is to the event, beyond data.
    Role {
        Timestamp = "timestamp",
        TimestampStart = "timestamp_start",
        TimestampEnd = "timestamp_end",
        RangeId = "range_id",
        Message = "message",
        Color = "color",
        Category = "category",
        Scope = "scope",
        Correlation = "correlation",
    }
}

words! {
    /// How a counter runs between its samples.
    Interpolation {
        Point = "point",
        SinceLast = "since_last",
        UntilNext = "until_next",
        Linear = "linear",
    }
}

words! {
    /// What a counter's numbers are.
    ValueType {
        Absolute = "absolute",
        Delta = "delta",
        DeltaSinceStart = "delta_since_start",
    }
}

words! {
    /// The clocks that timestamps can be of.
    TimestampType {
        ToolProvided = "tool_provided",
        CpuTsc = "cpu_tsc",
        CpuTscNonvirtualized = "cpu_tsc_nonvirtualized",
        ClockRealtime = "clock_realtime",
        ClockRealtimeCoarse = "clock_realtime_coarse",
        ClockMonotonic = "clock_monotonic",
        ClockMonotonicRaw = "clock_monotonic_raw",
        ClockMonotonicCoarse = "clock_monotonic_coarse",
        ClockBoottime = "clock_boottime",
        ClockProcessCputime = "clock_process_cputime",
        ClockThreadCputime = "clock_thread_cputime",
        WinQpc = "win_qpc",
        WinGstaft = "win_gstaft",
        WinGstaftp = "win_gstaftp",
        CTime = "c_time",
        CClock = "c_clock",
        CTimespecGet = "c_timespec_get",
        CppSteadyClock = "cpp_steady_clock",
        CppHighResolutionClock = "cpp_high_resolution_clock",
        CppSystemClock = "cpp_system_clock",
        CppUtcClock = "cpp_utc_clock",
        CppTaiClock = "cpp_tai_clock",
        CppGpsClock = "cpp_gps_clock",
        CppFileClock = "cpp_file_clock",
        GpuGlobaltimer = "gpu_globaltimer",
    }
}

impl EventKind {
    /// Whether one event says all: a mark or a whole range.
    pub(crate) fn is_complete(self) -> bool {
        matches!(self, Self::Mark | Self::RangePushPop | Self::RangeStartEnd)
    }

    /// The roles without which an event of this kind says nothing.
    pub(crate) fn needs(self) -> &'static [Role] {
        match self {
            Self::Mark => &[Role::Timestamp],
            Self::RangePushPop | Self::RangeStartEnd => &[Role::TimestampStart, Role::TimestampEnd],
            Self::RangePush => &[Role::TimestampStart],
            Self::RangePop => &[Role::TimestampEnd],
            Self::RangeStart => &[Role::TimestampStart, Role::RangeId],
            Self::RangeEnd => &[Role::TimestampEnd, Role::RangeId],
        }
    }
}

impl Role {
    /// Whether some kinds need the role and the others must not have it. Any event may have the
    /// other roles.
    pub(crate) fn depends_on_kind(self) -> bool {
        self.is_time() || self == Self::RangeId
    }

    /// Whether the field is a timestamp.
    pub(crate) fn is_time(self) -> bool {
        matches!(
            self,
            Self::Timestamp | Self::TimestampStart | Self::TimestampEnd
        )
    }
}

/// What people write for other words.
const SYNONYMS: [(&str, &str); 6] = [
    ("start", "timestamp_start"),
    ("end", "timestamp_end"),
    ("msg", "message"),
    ("time", "timestamp"),
    ("duration", "timestamp_end"),
    ("flow", "correlation"),
];

/// The word of `known` that `word` is probably another word for, or a misspelling of.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let meant = SYNONYMS.iter().find(|(other, _)| *other == word);
    let word = meant.map_or(word, |(_, meant)| meant);
    known
        .into_iter()
        .map(|known| (distance(word, known), known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// How many letters must be inserted, removed or replaced to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, from) in from.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[row.len() - 1]
}

/// `a`, `b` and `c`, for a message; `joint` stands before the last.
pub(crate) fn list<'a>(words: impl IntoIterator<Item = &'a str>, joint: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => String::new(),
        [word] => word.clone(),
        [before @ .., last] => format!("{} {joint} {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("colour", "color"), 1);
        assert_eq!(distance("tiemstamp", "timestamp"), 2);
        assert_eq!(distance("größe", "größe"), 0);
    }

    #[test]
    fn nearest_finds_typos_and_nothing_else() {
        let roles = || Role::ALL.iter().map(|role| role.spelling());
        assert_eq!(nearest("colour", roles()), Some("color"));
        assert_eq!(nearest("timestamp_strat", roles()), Some("timestamp_start"));
        assert_eq!(nearest("scoep", roles()), Some("scope"));
        assert_eq!(nearest("start", roles()), Some("timestamp_start"));
        assert_eq!(nearest("end", roles()), Some("timestamp_end"));
        assert_eq!(nearest("msg", roles()), Some("message"));
        assert_eq!(nearest("time", roles()), Some("timestamp"));
        assert_eq!(nearest("duration", roles()), Some("timestamp_end"));
        assert_eq!(nearest("flow", roles()), Some("correlation"));
        assert_eq!(nearest("volume", roles()), None);
        assert_eq!(nearest("id", roles()), None);
    }

    #[test]
    fn spellings_are_found_again() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::find(kind.spelling()), Some(*kind));
        }
        assert_eq!(EventKind::find("Mark"), None);
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(list(["a"], "and"), "`a`");
        assert_eq!(list(["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
