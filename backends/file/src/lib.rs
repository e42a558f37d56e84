//! The built-in NVTXW backend: writes trace files that open in [Perfetto](https://ui.perfetto.dev), and others.
//!
//! A producer in the same program gets it from [`in_process`]; programs in other languages load it
//! as the library `libnvtxw3.so`. Each session is one file (or, in the format `parquet`, a part of a dataset).
//!
//! # Config keys
//!
//! `docs/configuration.md` in the repository lists the keys with their values and defaults; [`CONFIG_KEYS`] has their names.
//!
//! # What is in a Perfetto file
//!
//! - **Processes and threads.** The first step of a scope's path is a process of Perfetto, and the second one a thread of it;
//!   further ones are tracks below the thread's. Events of the process itself are on its main thread. A stream without a
//!   scope, or in the root, is a thread of a process that has the session's name (`nvtxw` without one), and counters of the root
//!   are in that process. `Process[1234]` and `PID[1234]`, `Thread[42]` and `TID[42]`, and bare numbers keep their numbers, which
//!   are from 1 to 2^31-1; other processes and threads get small made-up ones. Of two places with one number the second gets a
//!   made-up one, and its name still shows the other. A bare number as a name gets a word: `Process 3914`, `Thread 7`.
//!   A resource that is a native thread names the thread with that number, and a process by its main thread.
//! - **Events that name a process or a thread**, by an ID in a field of its own (of the types for that, and not inside a struct),
//!   belong there if they name no scope: to the track of that process or thread, or to `Process[1234]` and `Thread[42]`. A thread
//!   without a process belongs to the process of the scope that counts else, or to the session's.
//! - **Tracks.** The first domain that registers a scope writes directly there; each further one has a level below, with the
//!   domain's name (the default domain has none). Where no scope is registered, the first domain is that of the first stream. A
//!   scope's track has the name of its stream in the description; streams that share one are shown together, each on lanes of its
//!   own. Tracks that have one name but are different places stay apart. They are in the order in which scopes are registered and
//!   streams without scope are opened, whichever is written first; then come those that only events name, in the order of their
//!   numbers, and counters, in that of theirs. Paths deeper than 90 end in one track with the rest of the path as name.
//! - **Ranges.** Ranges that nest share a track; what overlaps by part, and what has 511 others
//!   around it (readers show no more), gets a further one, which is shown together with the first.
//!   Whatever the order in which they come, both keep their times.
//!   A push or a start without its other half stays open; a pop or an end without one is refused. A
//!   push ends with the next pop of its stream and scope. A start ends with the end of its ID, in
//!   whatever stream, also when its own is closed: of several that are open, that of the stream itself
//!   is meant, else the one of its domain, else the only one. The range stands where it was started.
//!   A range has name, category and colour of its start; those of its end are annotations where they
//!   differ.
//! - **Names** are messages, else the name of the schema, else that of the kind. An empty message
//!   counts as none, if it is not a registered string. Bad UTF-8 becomes U+FFFD.
//! - **Times** are nanoseconds, whatever the clocks that they were read from: see [below](#clocks). Ranges of a
//!   stream that follow one another on a track tell them as steps, which take fewer bytes: by a clock of the
//!   stream's packets (ID 64) that counts on, as those of Perfetto's own library do. If a clock tells the
//!   date, a clock snapshot (of `BOOTTIME`, the file's clock, and `REALTIME`) says which dates the times are, so that Perfetto
//!   shows absolute times; it is written once, as soon as the first such clock is known. Files without dates have none.
//! - **Categories** have their registered names, else their numbers.
//! - **Colours**: the format has none, and Perfetto picks a colour by a hash of an event's correlation ID. That is the colour
//!   `#AARRGGBB` with the number behind it (none, or 1 to 500) whose hash is shown in the nearest colour. Grey, white and
//!   black are out of reach: events of such a colour have no correlation ID, and are coloured by their names like those
//!   without a colour. So are all shades next to grey (of a chroma below 20 in CIELUV). After 256 colours, others have no number,
//!   and any colour. The true value is an annotation.
//! - **Fields** are annotations: integers, floats (NaN and infinities too), text, addresses, nested
//!   lists and dictionaries; 128-bit integers as decimal text, enums as the value's name, bytes as
//!   hexadecimal text. An array of bytes that is UTF-8 text without control characters, filled up with nulls, is that text, as
//!   NumPy's `S8` is. The unit of a field is a part of its name, `size (bytes)`, with the scale if it has one,
//!   `wait (1/1000 ms)`; the config key `field_units` leaves units out. A struct with a single field that has no name, or the name
//!   of its type (`int64`, NumPy's `bytes64` and `str96`), is shown as the value of that. Hidden fields are left out, and so are null registered strings; in a list those are
//!   `null` as text. Empty lists, and dictionaries in which nothing is shown, are `[]` and `{}` as text.
//!   Names that repeat across payloads get ` (2)`, ` (3)`…. An event that would take more than 64 MiB is
//!   refused.
//! - **Correlated** events, those with one value in one correlation domain, are joined by a flow.
//! - **Counters** are tracks where their scope is, else where the stream is; groups are folders of
//!   them, whose members of one unit share an axis. Perfetto shows those of a thread beside its rows: the thread's name is before
//!   theirs, `Engine[0] queue depth`. Unsigned values from 2^63 are the nearest doubles. Values are in the counter's unit: a
//!   whole scale is the track's, any other is in the values, which stay integers where they can; of a
//!   normalised integer the value is the fraction. Limits and what holds between samples are in the
//!   description. Differences to the sample before are marked as such, so that readers sum them up;
//!   each stream has a sum and a track of its own. A sample without a value is 0 if it is zero, and the
//!   value before if it is unchanged (nothing if there is none). Viewers can't draw what is not finite, and no gaps: the counter
//!   keeps its last value there, and an instant marks the place, on the track where ranges of the counter's scope are. It is called
//!   `power: NaN`, `power: +Inf`, `power: -Inf` or, for a sample whose value is unavailable, `power: unavailable`; a member of a
//!   group is `traffic/read`. Values of one time stay in the order in which they came, also of a stream that is closed and opened
//!   again.
//! - **Attributes** of the file: those that the [config](#config-keys) gives as `metadata.NAME`; `nvtxw.session`, `nvtxw.producer`, `nvtxw.time_base` (add it to the
//!   file's times to get the original ones); the domains that streams were opened in, `nvtxw.domain.0`,
//!   their resources, `nvtxw.resource.0` with `.type`, `.identifier` and `.domain`, and their schemas
//!   that have fields to show, `nvtxw.schema.0` with `.kind` (as `range_startend`; none of what stands
//!   beside events), `.domain` and `.fields` (a JSON array of objects with `name`, `type` as Rust
//!   writes it, and if there are any, `role`, `unit`, `scale` (`1/1000`: what the number, which is as it was written, is
//!   multiplied by to be in the unit) and `description`); and how often something irregular was met, if it was:
//!   `nvtxw.late` (whole ranges that came too late for the window), `nvtxw.broken_ordering` and
//!   `nvtxw.broken_batch_ordering` (events that come earlier than was [said](#when-it-is-written) of
//!   their stream or their batch; `nvtxw.broken_ordering.0` is the name of such a stream, with
//!   `.events` and `.batch_events`), `nvtxw.overlapping_pushpop`
//!   (ranges that were declared to nest and don't; in Parquet, and
//!   in a file that could not be put in order, as far as the window showed), `nvtxw.pop_without_push`,
//!   `nvtxw.end_without_start`, `nvtxw.contradicting_relations`, `nvtxw.before_sync`, `nvtxw.refused`,
//!   `nvtxw.outside_base`, `nvtxw.left_open`; and
//!   `nvtxw.refused_calls` (all calls of the session that were refused, whatever they were about) and
//!   `nvtxw.left_out` (bad events and samples in batches whose good ones were taken), and
//!   `nvtxw.skipped_streams` (streams that a call was inside of when the process exited without ending the session).
//!
//! # Clocks
//!
//! Each time domain is a clock. Those that the ABI predefines are the same clocks in the whole
//! session; registered ones belong to their domain, and so do the timestamps without a clock (time
//! domain 0).
//!
//! Ticks are nanoseconds by the clock's resolution, rounded down. Of an unknown resolution, ticks are
//! taken for nanoseconds: that is so without a clock, and for those of the tool, of the processor
//! (`TSC`) and of `QueryPerformanceCounter`, unless they are registered with one. Zero is zero, but
//! clocks that count from 1601 are moved to 1970, so that all that tell the date line up. When a
//! clock started plays no other part.
//!
//! **Related clocks** line up on one time line, whichever streams they were related on: that of the
//! least of them. Clocks that tell the date, with a known resolution, come before others with one,
//! these before the timestamps without a clock, and these before clocks of unknown resolution;
//! predefined ones before registered ones; then by their numbers. Clocks that are not related to
//! each other keep their own nanoseconds. A registered clock without relations, of no scope or of
//! the root, follows those of the predefined one that it says it is.
//!
//! Relations become exact conversions: integers, rounded down. Between two sync points the line is
//! straight. Outside of all of them it has the slope of the conversion factor that was given for the
//! outermost instant; else that of the resolutions, if both are known; else that of the two outermost
//! points; with only one of them, a tick is a nanosecond. Over several clocks the way with the fewest
//! relations counts, with times rounded up to 2^-32 of a tick on the way.
//!
//! A sync point that says of two instants that one comes first on one clock and the other on the
//! other, or two slopes at one instant, are refused and counted as
//! `nvtxw.contradicting_relations`; the good points of a table are taken.
//!
//! What is in the window when a relation comes, gets the times that are known when it is written. What
//! was written before gets them when the session ends, and the file is [put in
//! order](#when-it-is-written): each by its own clock, those of its start and its end if these are two. It
//! keeps the times that it got, and is counted as `nvtxw.before_sync`, if the file can't hold the time (the
//! base of a Perfetto file is decided by then), or 64 bits can't, without `merge`, and in Parquet if its
//! stream has events of several clocks. So is a range of two clocks that would end before it starts: it has
//! no length then. Of ticks that were less than a nanosecond long by what was known when an event came, the first
//! one of its nanosecond counts.
//!
//! Attributes tell each clock: `nvtxw.clock.0` is its name, with `.ticks_per_second`, `.start`,
//! `.type`, `.scope`, `.properties`, and `.time_line`, the clock whose time line it is on, if it is
//! related to any. `nvtxw.relation.0` names two clocks, with `.points`, the number of instants, and
//! `.point.0` to `.point.7`, the first of these; `.mismatch_ns` is how far the two clocks are apart at
//! most at these instants, if they are, as they get to the time line by other relations.
//!
//! # The format `chrome`
//!
//! Chrome's trace-event format, for tools that read only that: a JSON object with `traceEvents`, one event per line. It holds
//! the same, told like this:
//!
//! - The first step of a scope's path is a **process**, and the rest of the path, joined by `/`, a **thread**. Streams without
//!   scope are threads of a process that has the session's name. Lanes are threads of one name with ` (2)`, ` (3)`… appended.
//!   Metadata events name them, and at the end tell their order, which is that of the paths.
//! - **Ranges** are complete events (`X`), or a `B` and an `E` if the file had to get the one before the other was known, or
//!   only a `B` if the range stays open; marks are instants (`i`). Outer ranges stand before those that start at the same time.
//!   At one time viewers put complete events before a `B`, so that what starts together with that is a `B` and an `E` too.
//! - **Times** are microseconds with three digits after the point, which is exact for all 64 bits, negative ones too. Many readers
//!   take them for doubles, and so see nanoseconds in the first 104 days after 0 only: for greater timestamps set `base`, and for
//!   negative ones too, which Perfetto leaves out.
//! - **Fields** are `args`: integers beyond ±2^53 as strings of decimal digits, for readers that take numbers for doubles; floats
//!   in their shortest form, `"NaN"`, `"Infinity"` and `"-Infinity"` as strings; text in bytes, units and structs of one value as
//!   in a Perfetto file; addresses as strings `0x…`, colours as
//!   strings `#AARRGGBB`; arrays and structs nested. Text is escaped strictly.
//! - **Correlated** ranges name one number (`bind_id`), by which viewers join each with the next one in time, from `flow_out` to
//!   `flow_in`: these very ranges, also where others begin together with them. Ranges that are correlated in several ways name none: arrows (`s` and `f`) join
//!   these, and viewers take them to what is innermost at their times. What is out of order is joined by arrows too until the
//!   file is [put in order](#when-it-is-written), which it is then; what would join a range with one that was written more than
//!   131072 correlation values before may be missing before that. Marks are not joined: an arrow would end at a range around them.
//! - **Counters** (`C`) belong to their process. What a value is called is the counter's unit. Integers are never strings here.
//!   Instants mark values that are not finite or unavailable, as in a Perfetto file.
//!   Differences are added up, in the order in which the file has them.
//! - **Attributes** are `otherData` if they are known at the start, else `metadata` at the file's end.
//! - **For who puts the file in order** events have what viewers pass over: `tid` stands before `pid` in ranges that were not
//!   declared to nest, and in ends that were moved; `flow` names what arrows join, `source` a counter of one stream, `delta`
//!   a difference before it was added up; and a metadata event `nvtxw.epoch` says that a stream's clock is known better from
//!   there on.
//!
//! Between two appends the file is valid JSON, whatever becomes of the program: each append writes over the closing brackets
//! and adds new ones. A program that is killed in the middle of an append leaves an array that is not closed, and perhaps a
//! last line that is cut. (Into a pipe the brackets are written at the end only.)
//!
//! # The format `parquet`
//!
//! For builds with the feature `parquet`. `path` is a folder of tables, which many sessions may share (the ranks of a job, or
//! runs), each with a name of its own: DuckDB, Polars, Spark or pandas read them as one.
//!
//! ```text
//! <path>/events/nvtxw_session=rank-0/nvtxw_stream=GPU%5B0%5D/part-0-0.parquet
//! <path>/typed/Kernel/nvtxw_session=rank-0/nvtxw_stream=GPU%5B0%5D/part-0-0.parquet
//! <path>/counters/…   <path>/metadata/nvtxw_session=rank-0/part-0.parquet
//! <path>/open/events/…   <path>/open/typed/…
//! ```
//!
//! Names are escaped as readers of partitions decode them: `%XX` for all but ASCII letters, digits, `-`, `_` and points inside;
//! `__HIVE_DEFAULT_PARTITION__` for an empty one; of very long ones the end is a hash. A session that is there already is
//! refused, or with `overwrite` its parts are replaced; other sessions stay.
//!
//! | table | columns |
//! |---|---|
//! | `events` | all events: `event_id` (numbers the stream's events from 0, and from a multiple of 2^40 if its name was opened before), `kind` (`mark`, `range_pushpop`, `range_startend`), `name`, `category`, `color` (`0xAARRGGBB`), `start_ns`, `end_ns` (null for marks and for ranges that stay open), `domain`, `scope` (path), `correlation` (numbers that correlated events share), `args` (a JSON object, as in Chrome's format but without units: fields that are in no typed table) |
//! | `typed/<schema name>` | events of one schema: `event_id`, `name`, `category`, `start_ns`, `end_ns`, `scope`, and the fields of the schema, each with its type |
//! | `counters` | a row for each value: `time_ns`, `name`, `group`, `unit`, `domain`, `scope`, `description`, `is_delta`, `value`, and `value_i64` and `value_u64` if it is such an integer; all three are null where there is a gap |
//! | `metadata` | what is known of the session and, with `stream`, of its streams: `key`, `value`. The first part comes at once, the second at the end |
//!
//! - **Fields**: integers and floats of their width; enums as dictionaries of their values' names (other values as digits), those of
//!   `bool` as booleans; arrays as lists of their fixed size; structs as structs; text, characters and 128-bit integers as UTF-8;
//!   bytes as binary. Units, scales and descriptions are metadata of the columns. A field with the name of another column gets ` (2)`
//!   appended. Schemas of one name and the same fields share a table, those of other fields have their own, `<name>~<hash>`.
//! - Schemas without a name, and those whose payloads vary in size, have no table: their fields are `args`, and so are those of
//!   further payloads, and what a range's end says.
//! - **Times** are the timestamps in nanoseconds; order and lanes play no part.
//! - **Row groups** (Snappy) close when they have `row_group` rows, **parts** when they have `part` rows, or at each
//!   `flush_interval`. Until then a part is hidden (`.part-….open`), and a kill loses it; a complete one stays readable, whatever
//!   comes. All row groups that are open take about 64 MiB, and at most 128 parts stay open: more streams write smaller ones.
//!   Where the process can open no further file, the part that was used least recently is closed, and its table continues in
//!   another one.
//! - **Ranges that are open** are rows when they end, or when their stream is closed. Until then they are held in memory, and for
//!   who reads what a kill left they are in tables of their own, in the folder `open`, whose parts are complete when the others
//!   are at a `flush_interval`. What has ended meanwhile has the same `event_id` in both; when the stream is closed, its part of
//!   `open` goes.
//!
//! # The format `capture`
//!
//! All calls of the session as the producer made them, to be [replayed](capture::replay::Replay) on any backend, or
//! [read](capture::Reader): each with all its numbers and bytes; those that were refused as notes with the reason. Registrations
//! go to the file at once. What is written to a stream gathers in memory up to 256 KiB (less if more than 64 streams are opened,
//! which gather 16 MiB together, or 8 KiB each if that is more; or until `flush_interval` is over) and is appended then; batches of 16 KiB and more are appended
//! as they are. Those of one stream keep their order; between streams there is none, but what is referred to stands before.
//! `window`, `memory`, `merge` and `base` mean nothing here, and timestamps are as they are. What pointers lead to is kept with
//! them, as far as it is [read](nvtxw_backend#what-is-read) at all.
//!
//! # When it is written
//!
//! A stream keeps a window of its latest events in memory, writes the older half when it is full,
//! and the rest when it is closed or the session ends. Whole packets or lines are appended. A half of 256 KiB and more that
//! is due while another stream is being written waits for that, at most until the next half is due; that
//! takes memory beside the windows.
//!
//! **Claimed orders** make the window small. A stream that is opened as ordered by starts, or as one of points in time, holds
//! 2048 events, or more where that is not enough: what may still be passed by its skid (in time, or in
//! events; more than 64 of these are rounded up by less than 2 of 100), all of one instant, and what comes after a range of
//! two halves has begun, until that ends. If the order is that of each scope, scopes may be ahead of each
//! other. Ranges in the order of their ends leave the outer ones for last, and need the whole window.
//! What is said is compared with what comes, of batches too. An event that is earlier than it may be is
//! put in order all the same; it is counted, the log tells the first one of each stream, and from there
//! on the stream has the whole window. Streams with timestamps of several clocks have it too.
//!
//! With `flush_interval` a thread of the session writes, twice in that time, all that streams hold,
//! also if nothing more comes. A range whose end has not come begins in the file then, and ends there
//! later. What comes next and is earlier than what was written is out of order, as it is behind a
//! window. Errors that the thread meets are told by the stream's next call.
//!
//! **Threads.** Streams that are still open when their session ends are finished by several threads, if several wrote more
//! than a window. Where one thread wrote all, the file is the same in each run, byte for byte.
//!
//! **Compressed**, what is appended at once becomes packets of about a megabyte that hold others, each
//! of which is complete in itself: readers open such a file as it is, and after a kill too. Typed ranges
//! take about a quarter of the space and four times as long to write (`zlib`, which is `zlib:3`), or a
//! third and twice (`zlib:1`). Each thread compresses what it writes, while others go on.
//!
//! **Out of order.** A range that comes later than the window stands on a track of its own at first,
//! shown together with the others, where it can't disturb them; one in which a push is open holds only
//! what surely nests; and a push that ends before a nested range that was written already ends with
//! that (counted as overlapping), and has an annotation `nvtxw.end` with its own end, in the file's
//! times. All other times are right. Readers sum up the differences of a counter in the order in which
//! they stand in the file. So is the file when the program is killed.
//!
//! When the session ends, a file of the formats `perfetto` and `chrome` where full knowledge would have
//! changed anything is put in order, so that it is what it would have been if all had come in order. (So is one of Chrome's
//! format with a `B` and an `E` of one time: viewers put ends first, so that the range is a nanosecond long until then, with
//! `nvtxw.end`.)
//! That reads and writes it once more, to a new file beside it, which then takes its place with one
//! step; it takes up to two times the space of the file meanwhile, and about as much memory as a window
//! (half as much more for the arrows of Chrome's JSON). Parquet has no order: where rows have other
//! times by then, their parts are written once more, beside the old ones, whose places they then take
//! one after the other. If it can't be, the file stays as it is, and its attribute `nvtxw.unmerged` tells
//! why, and so does the error of the session's end: there is no space, the folder takes no new file, the file was moved, or has
//! more names. Only the attribute does if it is a pipe, or `merge` is `false`.
//!
//! # When something goes wrong
//!
//! - **An exit without an end.** The exit of the process ends the session: the file is complete, as after `SessionEnd`. Only a
//!   stream that a call is still inside of loses its window; it is counted in `nvtxw.skipped_streams`.
//! - **A kill, an abort.** The file opens, and has all that was written: of
//!   each stream at most the window is missing, with the half that was waiting for another stream, and with `flush_interval` only what came within that
//!   time. A packet at the end of the file may be cut: readers
//!   skip it. Ranges whose end was not written yet are open. While the session's end puts the file in
//!   order it stays as it was; what is beside it then, `<file>.merge-…`, nobody needs.
//! - **A panic** in a thread that writes costs nothing that was written before. A Rust program that
//!   unwinds past its session ends it.
//! - **An I/O error**, as when the disk is full. The call that met it returns it, so does each later
//!   one that had something to write, and so do the closing of the stream and the end of the
//!   session, with the number of events that it cost the stream, or all streams (in Parquet also of those
//!   whose fields are lost; of some of these the rest may be there). The file keeps what came before, and
//!   ends with a whole packet, that of a write that was cut short too.
//!   Later events are dropped, and take no memory. Writes that are interrupted or cut short go on
//!   where they were.
//! - **A file that was removed** while it was written, or the folder that it was in: the end of the
//!   session tells it. A folder that gets another name while a file is put in order keeps a `<file>.merge-…` too.
//! - **A named pipe** is opened when somebody reads it: until then the begin of the session waits.
//! - **A file that another program cut short**: the next call that has something to write tells it, or the end of the
//!   session. Nothing is written behind what is missing. Parts of a dataset that another program removed or changed are
//!   told by the end of the session.
//! - **A fork.** The child has copies of the parent's streams and no right to its file: what it
//!   writes and ends is refused, at the latest when it would get into the file, and the parent's file
//!   is as if there were no child. A child that lives on when the parent's session has ended is not in the way of the
//!   next one.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod argument;
mod attribute;
mod base;
mod budget;
pub mod capture;
mod chrome;
mod clock;
mod config;
mod counter;
mod destination;
mod domains;
mod flow;
mod flusher;
mod format;
mod ids;
mod intern;
mod json;
mod lane;
mod merge;
mod metadata;
mod open_files;
mod outlet;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod plain;
mod plans;
mod proto;
mod ranges;
#[cfg(test)]
mod replay;
mod scratch;
mod session;
mod sink;
mod sorter;
mod stream;
mod sync;
mod tally;
mod timeline;
mod track;

use nvtxw_backend::{Backend, InProcess, Result, SessionRequest};

pub use self::config::CONFIG_KEYS;
use session::FileSession;

/// The built-in backend. Each of its sessions is one file; the [crate's page](crate) tells what is
/// in it, and the config keys.
///
/// ```
/// use nvtxw_file::FileBackend;
///
/// let backend = nvtxw_backend::in_process(FileBackend::new());
/// assert_eq!(backend.table().missing().next(), None);
/// ```
#[derive(Debug, Default)]
pub struct FileBackend(());

impl FileBackend {
    /// The backend. Instances share nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for FileBackend {
    type Session = FileSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<FileSession> {
        FileSession::begin(request)
    }
}

/// The backend as a producer in the same program takes it.
///
/// ```
/// let backend = nvtxw_file::in_process();
/// assert_eq!(backend.table().missing().next(), None);
/// ```
pub fn in_process() -> InProcess {
    nvtxw_backend::in_process(FileBackend::new())
}
