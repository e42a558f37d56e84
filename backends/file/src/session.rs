//! A session: one file.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::call::Registration;
use nvtxw_backend::log::Report;
use nvtxw_backend::{Domain, Refusal, RefusalCounts, Result, Session, SessionRequest, StreamInfo};

use crate::budget::Budget;
use crate::capture::CaptureSession;
use crate::chrome::Chrome;
use crate::clock::{Clocks, Past, TimeMap};
use crate::config::{FormatName, Settings};
use crate::domains::Domains;
use crate::flusher::{Flush, Flusher};
use crate::format::{Again, Fact, Format, FormatStream};
use crate::ids::IdSet;
#[cfg(feature = "parquet")]
use crate::parquet::Parquet;
use crate::perfetto::Perfetto;
use crate::ranges::OpenRanges;
use crate::stream::{AnyStream, FileStream, Lingering, StreamIn};
use crate::tally::{Cost, Tally};
use crate::timeline::{Limits, Written};
use crate::track::Tracks;

/// A session: a file that its streams append to.
pub struct FileSession {
    session: AnySession,
    /// What flushes its streams now and then, until it ends.
    lingering: Arc<Mutex<Lingering>>,
    flusher: Mutex<Option<Flusher>>,
}

enum AnySession {
    Perfetto(SessionIn<Perfetto>),
    Chrome(SessionIn<Chrome>),
    Capture(CaptureSession),
    #[cfg(feature = "parquet")]
    Parquet(SessionIn<Parquet>),
}

/// A session in one format.
struct SessionIn<F: Format>(Arc<Shared<F>>);

/// What the streams of a session share.
pub(crate) struct Shared<F: Format> {
    pub(crate) format: Arc<F>,
    pub(crate) tracks: Arc<Tracks>,
    pub(crate) clocks: Arc<Clocks>,
    pub(crate) ranges: OpenRanges,
    domains: Domains,
    pub(crate) limits: Limits,
    /// For the windows of all streams.
    pub(crate) budget: Arc<Budget>,
    merge: bool,
    streams: AtomicU32,
    closed: Mutex<AllClosed<Left<F>>>,
}

/// What the streams tell that are closed.
struct AllClosed<L> {
    tally: Tally,
    /// What errors cost.
    lost: Cost,
    /// Those that have events in another order than was said, by their numbers: of all, and of batches.
    broken: BTreeMap<u32, (Arc<StreamInfo>, [u64; 2])>,
    streams: Vec<Closed<L>>,
}

/// What is kept of a stream that is closed. There may be very many.
pub(crate) struct Closed<L> {
    /// Among the streams of the session, from 0.
    pub(crate) number: u32,
    /// What depends on whether it is written once more: nesting ranges that overlap another one by part.
    pub(crate) overlapping_pushpop: u64,
    /// What was written by which clocks, as they were known then.
    pub(crate) history: Box<[(Past, Written)]>,
    /// The clocks that the marks in the output tell, of starts and of ends, as they were known then.
    pub(crate) marks: Box<[[Past; 2]]>,
    /// Whether it is out of order.
    pub(crate) is_unsettled: bool,
    /// What is needed to write it once more.
    pub(crate) left: Option<L>,
}

type Left<F> = <<F as Format>::Stream as FormatStream>::Left;

impl FileSession {
    pub(crate) fn begin(request: &SessionRequest<'_>) -> Result<Self> {
        let mut settings = Settings::new(request)?;
        let name = request.name();
        let flusher = settings.flush_interval.map(Flusher::start).transpose()?;
        let session = match settings.format {
            FormatName::Perfetto => AnySession::Perfetto(SessionIn::begin(&mut settings, name)?),
            FormatName::Chrome => AnySession::Chrome(SessionIn::begin(&mut settings, name)?),
            FormatName::Capture => {
                AnySession::Capture(CaptureSession::begin(&mut settings, request)?)
            }
            #[cfg(feature = "parquet")]
            FormatName::Parquet => AnySession::Parquet(SessionIn::begin(&mut settings, name)?),
        };
        if let Some(note) = settings.destination.number_note() {
            request.report(&note);
        }
        Ok(Self {
            session,
            flusher: Mutex::new(flusher),
            lingering: Arc::default(),
        })
    }

    /// The stream as it is, if nothing flushes it but itself.
    fn held<S: Flush>(&self, stream: S, plain: impl FnOnce(S) -> AnyStream) -> FileStream {
        let stream = match &*self.flusher() {
            None => plain(stream),
            Some(flusher) => AnyStream::Timed(flusher.add(stream)),
        };
        FileStream::new(stream, &self.lingering)
    }

    fn flusher(&self) -> MutexGuard<'_, Option<Flusher>> {
        self.flusher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same for a session in any format.
macro_rules! each {
    ($any:expr, $session:ident => $call:expr) => {
        match $any {
            AnySession::Perfetto($session) => $call,
            AnySession::Chrome($session) => $call,
            AnySession::Capture($session) => $call,
            #[cfg(feature = "parquet")]
            AnySession::Parquet($session) => $call,
        }
    };
}

impl Session for FileSession {
    type Stream = FileStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<FileStream> {
        Ok(match &self.session {
            AnySession::Perfetto(session) => {
                self.held(session.open_stream(stream), AnyStream::Perfetto)
            }
            AnySession::Chrome(session) => {
                self.held(session.open_stream(stream), AnyStream::Chrome)
            }
            AnySession::Capture(session) => {
                self.held(session.open_stream(stream)?, AnyStream::Capture)
            }
            #[cfg(feature = "parquet")]
            AnySession::Parquet(session) => {
                self.held(session.open_stream(stream), AnyStream::Parquet)
            }
        })
    }

    fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        each!(&self.session, session => session.note_registration(domain, registration))
    }

    fn note_refusal(&self, report: &Report<'_>) {
        if let AnySession::Capture(session) = &self.session {
            session.note_refusal(report);
        }
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        each!(&self.session, session => session.note_refusals(counts));
    }

    fn end(&self) -> Result<()> {
        drop(self.flusher().take());
        let lingering = mem::take(
            &mut *self
                .lingering
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let finished = lingering.finish();
        // The session knows what an error has cost in all streams.
        each!(&self.session, session => session.end()).and(finished)
    }
}

impl<F: Format> SessionIn<F> {
    fn begin(settings: &mut Settings, name: Option<&str>) -> Result<Self> {
        let producer = concat!("nvtxw-file ", env!("CARGO_PKG_VERSION"));
        let mut facts = Vec::new();
        facts.extend(name.map(|name| Fact::text("nvtxw.session", name)));
        facts.push(Fact::text("nvtxw.producer", producer));
        let metadata = mem::take(&mut settings.metadata);
        facts.extend(metadata.iter().map(|(name, value)| Fact::text(name, value)));
        Ok(Self(Arc::new(Shared {
            format: Arc::new(F::create(settings, &facts)?),
            tracks: Arc::new(Tracks::of_session(name)),
            clocks: Arc::default(),
            ranges: OpenRanges::default(),
            domains: Domains::default(),
            limits: settings.limits,
            budget: Arc::new(Budget::new(settings.memory)),
            merge: settings.merge,
            streams: AtomicU32::new(0),
            closed: Mutex::default(),
        })))
    }

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> StreamIn<F> {
        let number = self.0.streams.fetch_add(1, Ordering::Relaxed);
        self.0.domains.note(stream.domain());
        StreamIn::new(&self.0, stream, number)
    }

    fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        self.0.tracks.note(domain, registration);
        Ok(())
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        self.note_counts([
            ("nvtxw.refused_calls", counts.calls),
            ("nvtxw.left_out", counts.left_out),
            ("nvtxw.skipped_streams", counts.skipped_streams),
        ]);
    }

    fn end(&self) -> Result<()> {
        let AllClosed {
            tally,
            lost,
            broken,
            streams,
        } = mem::take(&mut *self.0.closed());
        self.note_breaks(&broken);
        let mut left = streams.iter().filter_map(|stream| stream.left.as_ref());
        let checked = left.try_for_each(F::Stream::check);
        let (tally, settled) = self.settle(streams, tally);
        self.note_counts(tally.attributes());
        self.note_facts();
        self.0.note_dates();
        self.0
            .format
            .end()
            .map_err(|refusal| with_cost(refusal, lost))?;
        self.0.format.check_outside(tally.outside_base)?;
        checked.and(settled)
    }

    /// Puts streams in order that are not, and gives events the times that they have by now. Returns
    /// `all` that streams met, with what they meet here; and the error that this met, if it was to be expected that it can be.
    fn settle(&self, mut closed: Vec<Closed<Left<F>>>, mut all: Tally) -> (Tally, Result<()>) {
        let mut streams = Vec::new();
        // One that is opened once more goes on where it was.
        closed.sort_by_key(|stream| stream.number);
        for stream in closed {
            let history = stream.history.iter();
            let moved =
                history.filter(|(past, written)| self.0.clocks.has_moved(past, written.times));
            let moved: u64 = moved.map(|(_, written)| written.count).sum();
            let is_known = moved > 0 && !stream.marks.is_empty();
            let times = is_known.then(|| TimeMap::new(&self.0.clocks, stream.marks));
            let met = Tally {
                overlapping_pushpop: stream.overlapping_pushpop,
                before_sync: moved,
                ..Tally::default()
            };
            if let Some(left) = stream.left {
                let is_settled = !(F::IS_ORDERED && stream.is_unsettled) && times.is_none();
                streams.push((is_settled, met, Again { left, times }));
            } else {
                all += met;
            }
        }
        // What others have at one time on a counter stays behind what it was behind.
        let mut counters = IdSet::default();
        for (is_settled, _, Again { left, .. }) in &mut streams {
            let of_stream = || F::Stream::counters(left);
            *is_settled &= !of_stream().any(|counter| counters.contains(&counter));
            if !*is_settled {
                counters.extend(of_stream());
            }
        }
        let is_any_again = streams.iter().any(|(is_settled, ..)| !is_settled);
        if self.0.format.is_unsettled() || self.0.format.joins_streams() && is_any_again {
            streams.iter_mut().for_each(|stream| stream.0 = false);
        }
        let (mut again, mut before) = (Vec::new(), Tally::default());
        for (is_settled, met, stream) in streams {
            if is_settled {
                all += met;
            } else {
                before += met;
                again.push(stream);
            }
        }
        if again.is_empty() {
            return (all, Ok(()));
        }
        let merged = match self.0.merge {
            true => self.0.format.merge(again, self.0.limits.bytes),
            false => Err(io::Error::other("the config key `merge` says so")),
        };
        let mut settled = Ok(());
        let met = merged.unwrap_or_else(|error| {
            self.note(&[Fact::text("nvtxw.unmerged", &error.to_string())]);
            // Who writes into a pipe, or wants no merge, expects none.
            if self.0.merge && error.kind() != io::ErrorKind::NotSeekable {
                settled = Err(unmerged(&error));
            }
            before
        });
        all.overlapping_pushpop += met.overlapping_pushpop;
        all.before_sync += met.before_sync;
        (all, settled)
    }

    /// Notes which streams have events in another order than was said.
    fn note_breaks(&self, broken: &BTreeMap<u32, (Arc<StreamInfo>, [u64; 2])>) {
        for ((stream, counts), number) in broken.values().zip(0..) {
            let key = format!("nvtxw.broken_ordering.{number}");
            self.note(&[Fact::text(&key, stream.name())]);
            for (what, &count) in ["events", "batch_events"].into_iter().zip(counts) {
                let key = format!("{key}.{what}");
                self.note_counts([(&*key, count)]);
            }
        }
    }

    /// Notes what is known of domains and clocks.
    fn note_facts(&self) {
        for told in [self.0.domains.facts(), self.0.clocks.facts()] {
            self.note(&told.iter().map(Fact::told).collect::<Vec<_>>());
        }
    }

    /// Notes what was met at all.
    fn note_counts<'k>(&self, counts: impl IntoIterator<Item = (&'k str, u64)>) {
        let met = counts.into_iter().filter(|(_, count)| *count != 0);
        let facts: Vec<_> = met
            .map(|(key, count)| Fact::number(key, count as i64))
            .collect();
        self.note(&facts);
    }

    fn note(&self, facts: &[Fact<'_>]) {
        if !facts.is_empty() {
            self.0.format.note(facts);
        }
    }
}

/// Why what was written is not in order.
fn unmerged(error: &io::Error) -> Refusal {
    Refusal::failed(format!(
        "can't put what was written in order: {error}; it stays as it is: choose a `path` in a folder that takes new files \
         and has room for two more of that size, or set `merge=false` to do without"
    ))
}

/// An error, and what it cost.
pub(crate) fn with_cost(refusal: Refusal, Cost { events, fields }: Cost) -> Refusal {
    let dropped = match (events, fields) {
        (0, 0) => return refusal,
        (_, 0) => format!("{events} events were dropped"),
        (0, _) => format!("the fields of {fields} events were dropped"),
        _ => format!("{events} events were dropped, and the fields of {fields}"),
    };
    Refusal::failed(format!("{}; {dropped}", refusal.reason()))
}

impl<L> Default for AllClosed<L> {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            lost: Cost::default(),
            broken: BTreeMap::new(),
            streams: Vec::new(),
        }
    }
}

impl<F: Format> Shared<F> {
    /// Lets the file tell that its times are dates, once that is known.
    pub(crate) fn note_dates(&self) {
        if self.clocks.have_dates() {
            self.format.note_dates();
        }
    }

    /// Notes what a stream tells when it is closed: with all that it met, and what an error cost.
    pub(crate) fn close(
        &self,
        info: &Arc<StreamInfo>,
        tally: Tally,
        lost: Cost,
        stream: Closed<Left<F>>,
    ) {
        let mut all = self.closed();
        all.tally += tally;
        all.lost += lost;
        let broken = [tally.broken_ordering, tally.broken_batch_ordering];
        if broken != [0; 2] {
            (all.broken).insert(stream.number, (Arc::clone(info), broken));
        }
        all.streams.push(stream);
    }

    fn closed(&self) -> MutexGuard<'_, AllClosed<Left<F>>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
