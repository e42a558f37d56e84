//! A session: one file.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::{Refusal, RefusalCounts, Result, Session, SessionRequest, StreamInfo};

use crate::config::{FormatName, Settings};
use crate::format::{Fact, Format};
use crate::perfetto::Perfetto;
use crate::stream::{AnyStream, FileStream, StreamIn};
use crate::tally::Tally;
use crate::timeline::Limits;
use crate::track::Tracks;

/// A session: a file that its streams append to.
pub struct FileSession(AnySession);

enum AnySession {
    Perfetto(SessionIn<Perfetto>),
}

/// A session in one format.
struct SessionIn<F>(Arc<Shared<F>>);

/// What the streams of a session share.
pub(crate) struct Shared<F> {
    pub(crate) format: Arc<F>,
    pub(crate) tracks: Arc<Tracks>,
    pub(crate) limits: Limits,
    streams: AtomicU32,
    /// Of the streams that are closed, with the number of events that an error cost.
    tally: Mutex<(Tally, u64)>,
}

impl FileSession {
    pub(crate) fn begin(request: &SessionRequest<'_>) -> Result<Self> {
        let settings = Settings::new(request)?;
        let name = request.name();
        Ok(Self(match settings.format {
            FormatName::Perfetto => AnySession::Perfetto(SessionIn::begin(&settings, name)?),
        }))
    }
}

impl Session for FileSession {
    type Stream = FileStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<FileStream> {
        Ok(FileStream(match &self.0 {
            AnySession::Perfetto(session) => AnyStream::Perfetto(session.open_stream(stream)),
        }))
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        match &self.0 {
            AnySession::Perfetto(session) => session.note_refusals(counts),
        }
    }

    fn end(&self) -> Result<()> {
        match &self.0 {
            AnySession::Perfetto(session) => session.end(),
        }
    }
}

impl<F: Format> SessionIn<F> {
    fn begin(settings: &Settings, name: Option<&str>) -> Result<Self> {
        let producer = concat!("nvtxw-file ", env!("CARGO_PKG_VERSION"));
        let mut facts = Vec::new();
        facts.extend(name.map(|name| Fact::text("nvtxw.session", name)));
        facts.push(Fact::text("nvtxw.producer", producer));
        Ok(Self(Arc::new(Shared {
            format: Arc::new(F::create(settings, &facts)?),
            tracks: Arc::default(),
            limits: settings.limits,
            streams: AtomicU32::new(0),
            tally: Mutex::default(),
        })))
    }

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> StreamIn<F> {
        let number = self.0.streams.fetch_add(1, Ordering::Relaxed);
        StreamIn::new(&self.0, stream, number)
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        self.note_counts([
            ("nvtxw.refused_calls", counts.calls),
            ("nvtxw.left_out", counts.left_out),
        ]);
    }

    fn end(&self) -> Result<()> {
        let (tally, lost) = *self.0.tally.lock().unwrap_or_else(PoisonError::into_inner);
        self.note_counts(tally.attributes());
        self.0.format.end().map_err(|refusal| match lost {
            0 => refusal,
            _ => Refusal::failed(format!("{}; {lost} events were dropped", refusal.reason())),
        })?;
        self.0.format.check_outside(tally.outside_base)
    }

    /// Notes what was met at all.
    fn note_counts(&self, counts: impl IntoIterator<Item = (&'static str, u64)>) {
        let met = counts.into_iter().filter(|(_, count)| *count != 0);
        let facts: Vec<_> = met
            .map(|(key, count)| Fact::number(key, count as i64))
            .collect();
        if !facts.is_empty() {
            self.0.format.note(&facts);
        }
    }
}

impl<F> Shared<F> {
    /// Adds what a stream met, and how many of its events an error cost.
    pub(crate) fn add(&self, tally: Tally, lost: u64) {
        let mut all = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        all.0 += tally;
        all.1 += lost;
    }
}
