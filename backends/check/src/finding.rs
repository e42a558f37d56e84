//! What can be wrong, and one case of it.

use std::fmt;
use std::sync::Arc;

/// Declares the kinds: code, what is wrong, why it matters, how to fix it.
macro_rules! kinds {
    ($($variant:ident $code:literal: $meaning:literal, $why:literal, $fix:literal;)*) => {
        /// What can be wrong.
        ///
        /// Its [code](Self::code) stays the same in all versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $(
                #[doc = concat!("`", $code, "`: ", $meaning, ".")]
                $variant,
            )*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name that the kind has in reports.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What is wrong.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// Why it matters.
            pub const fn why(self) -> &'static str {
                match self { $(Self::$variant => $why,)* }
            }

            /// What to do about it.
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)* }
            }
        }
    };
}

kinds! {
    UnknownHandle "unknown-handle":
        "a handle is null, stale or made up, or is that of another kind, domain or session",
        "a backend may follow a handle as a pointer: such a call crashes some programs, and is refused or mixed up in others",
        "use the handle that the register, open or begin call of the same session gave, and none after its end";
    UnknownId "unknown-id":
        "an ID is used where nothing is registered under it",
        "a backend can't know the layout or the meaning of the data, so that the call is refused or the data is shown as bytes",
        "register it in the domain of the stream first, and use the ID that the call returned";
    LateRegistration "late-registration":
        "something is registered after data has referred to it",
        "a backend that writes data out as it comes has written what it knew until then",
        "register all that data refers to before the first write that does";
    StreamOrder "stream-order":
        "data is not in the order that its stream was opened with",
        "a tool relies on the claim and does not sort: events are misplaced or lost without a word",
        "open the stream with the ordering type UNKNOWN, or with a skid that is large enough, or write in order";
    BatchOrder "batch-order":
        "events or samples of a batch are not in the order that its flags say",
        "a tool relies on the flags and does not sort: events are misplaced or lost without a word",
        "set NVTX_BATCH_FLAG_UNSORTED (the flags 0 say sorted), or sort the batch by the first timestamp of each item";
    PopWithoutPush "pop-without-push":
        "a range is popped where none is open in its stream and scope",
        "the event ends nothing, or ends a range that was meant for a later pop",
        "write as many pops as pushes, in the same stream and scope";
    PushWithoutPop "push-without-pop":
        "a range that was pushed is still open when its stream closes",
        "the range has no end: it is shown up to the trace's end, or not at all, and all later ones are inside it",
        "write a pop for each push, also where an error leaves the code between them";
    EndWithoutStart "end-without-start":
        "a range ends that was not started, or has ended already",
        "the event ends nothing, so that its fields are lost",
        "use the range ID of the start, once";
    StartWithoutEnd "start-without-end":
        "a range that was started has not ended when its session ends",
        "the range has no end: it is shown up to the trace's end, or not at all",
        "write an end with the same range ID for each start";
    StartedTwice "started-twice":
        "a range starts under an ID that is open in its stream",
        "the end can't tell which of the ranges it ends",
        "give ranges that are open at once different IDs";
    EndBeforeStart "end-before-start":
        "a range ends before it starts",
        "a range has no negative length: backends refuse it, or show nonsense",
        "look for swapped fields, and for start and end that come from different clocks";
    OverlappingCalls "overlapping-calls":
        "calls overlap that must not: two on one stream, or one that registers, opens, closes or ends and any other",
        "a backend needs no lock against such calls: they corrupt its memory, or data is lost",
        "give each thread its own stream, and hold a lock around what registers, opens, closes and ends";
    TinyBatches "tiny-batches":
        "a stream gets many batches of very few items",
        "the cost of a batch is that of the call: batches of a few items are as slow as single writes",
        "collect some hundreds of events or samples before a batch is written";
    BatchSize "batch-size":
        "the size of a batch is no multiple of its items'",
        "the layout that was registered is not that of the data, or the size is not in bytes: nothing of the batch is written",
        "set the size to the number of items times the static size of the schema, or the size of the counter's type";
    CategoryZero "category-zero":
        "the category 0 is given a name",
        "0 in an event means that it has no category, so that nothing can be in this one",
        "number categories from 1 on";
    UnnamedCategory "unnamed-category":
        "events are in a category that never gets a name",
        "a reader sees a number",
        "name it by CategoryRegister in the domain of the stream";
    ReservedFlags "reserved-flags":
        "a flag or field is set that the ABI reserves",
        "a later version may give it a meaning, and a backend may refuse it today",
        "zero the struct before its fields are set, and use the constants of the ABI";
    NotUtf8 "not-utf8":
        "text is not UTF-8",
        "names are stored as UTF-8: such bytes are replaced, or the tool refuses the file",
        "convert the text, and cut it between characters only";
    NameTwice "name-twice":
        "a name or an ID is given to a second object",
        "a reader can't tell the two apart, and some backends take them for one",
        "register once and keep the ID, or choose different names";
    ImplicitOffset "implicit-offset":
        "an entry of a schema has the offset 0, but is not the first, and others have offsets of their own",
        "0 in a later entry means the place after the entry before it: the value is read from there, and not from the start",
        "put the entry that is at offset 0 first in the schema (of a NumPy dtype, in its `names`)";
    CounterLimit "counter-limit":
        "a value is outside of the limits that its counter was registered with",
        "tools scale graphs by the limits: the value is cut off, or makes the limits pointless",
        "correct the limits in the counter's semantics, or leave them out; look for values in another unit";
    UndatedStream "undated-stream":
        "a stream has timestamps of no clock, and those of another stream tell the date",
        "both are on one time line: the first view of a trace spans decades, and all events look like two dots in it",
        "open the stream with the time domain of its clock, or relate its timestamps to a clock that tells the date";
    RefusedCall "refused-call":
        "a call is refused as invalid for another reason",
        "what it said is not in the trace",
        "see what the finding says, and check the result code of each call";
}

impl FindingKind {
    /// The kind of this [code](Self::code).
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// One case of something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub(crate) kind: FindingKind,
    pub(crate) session: Arc<str>,
    pub(crate) place: Place,
    pub(crate) what: String,
}

/// Where something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stream: Option<Arc<str>>,
    pub(crate) event: Option<u64>,
    pub(crate) time: Option<i64>,
}

impl Finding {
    /// What kind of thing is wrong: that tells why it matters and how to fix it.
    pub fn kind(&self) -> FindingKind {
        self.kind
    }

    /// The name of the session; empty if it has none, or if the call was on none.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The name of the stream, if it is about one.
    pub fn stream(&self) -> Option<&str> {
        self.place.stream.as_deref()
    }

    /// The number of the event or sample in its stream, counted from 0, if it is about one.
    pub fn event(&self) -> Option<u64> {
        self.place.event
    }

    /// The timestamp of that event or sample, in ticks of its time domain. Of a range it is the start.
    pub fn time(&self) -> Option<i64> {
        self.place.time
    }

    /// What is wrong with what.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Where, and what: `stream "gpu", event 3, at 90: …`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place {
            stream,
            event,
            time,
        } = &self.place;
        let mut separator = "";
        if let Some(stream) = stream {
            write!(f, "stream {stream:?}")?;
            separator = ", ";
        }
        if let Some(event) = event {
            write!(f, "{separator}event {event}")?;
            separator = ", ";
        }
        if let Some(time) = time {
            write!(f, "{separator}at {time}")?;
            separator = ", ";
        }
        let colon = if separator.is_empty() { "" } else { ": " };
        write!(f, "{colon}{}", self.what)
    }
}
