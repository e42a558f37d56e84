//! A session: one file.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::{Refusal, RefusalCounts, Result, Session, SessionRequest, StreamInfo};

use crate::base::TimeBase;
use crate::config::Settings;
use crate::perfetto::Header;
use crate::sink::Sink;
use crate::stream::{FileStream, outside_base};
use crate::tally::Tally;
use crate::timeline::Limits;
use crate::track::Tracks;

/// A session: a file that its streams append to.
pub struct FileSession(Arc<Shared>);

/// What the streams of a session share.
pub(crate) struct Shared {
    pub(crate) sink: Arc<Sink>,
    pub(crate) tracks: Arc<Tracks>,
    pub(crate) base: TimeBase,
    pub(crate) limits: Limits,
    streams: AtomicU32,
    /// Of the streams that are closed, with the number of events that an error cost.
    tally: Mutex<(Tally, u64)>,
}

impl FileSession {
    pub(crate) fn begin(request: &SessionRequest<'_>) -> Result<Self> {
        let settings = Settings::new(request)?;
        let sink = Sink::create(&settings.path, settings.overwrite)?;
        let mut header = Header::first();
        if let Some(name) = request.name() {
            header = header.text("nvtxw.session", name);
        }
        header = header.text(
            "nvtxw.producer",
            concat!("nvtxw-file ", env!("CARGO_PKG_VERSION")),
        );
        if let Some(base) = settings.base {
            header = header.number("nvtxw.time_base", base);
        }
        header.append_to(&sink)?;
        Ok(Self(Arc::new(Shared {
            sink: Arc::new(sink),
            tracks: Arc::default(),
            base: TimeBase::new(settings.base),
            limits: settings.limits,
            streams: AtomicU32::new(0),
            tally: Mutex::default(),
        })))
    }
}

impl Session for FileSession {
    type Stream = FileStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<FileStream> {
        Ok(FileStream::new(&self.0, stream))
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        let mut header = Header::more();
        for (key, count) in [
            ("nvtxw.refused_calls", counts.calls),
            ("nvtxw.left_out", counts.left_out),
        ] {
            if count != 0 {
                header = header.number(key, count as i64);
            }
        }
        // An error is kept for the append at the end.
        let _ = header.append_to(&self.0.sink);
    }

    fn end(&self) -> Result<()> {
        let (tally, lost) = *self.0.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let base = self.0.decide_base();
        let mut header = Header::more();
        for (key, count) in tally.attributes() {
            header = header.number(key, count as i64);
        }
        header
            .append_to(&self.0.sink)
            .and_then(|()| self.0.sink.check())
            .map_err(|refusal| {
                Refusal::failed(format!("{}; {lost} events were dropped", refusal.reason()))
            })?;
        match tally.outside_base {
            0 => Ok(()),
            count => Err(Refusal::failed(outside_base(count, base))),
        }
    }
}

impl Shared {
    /// Counts the streams, from 0.
    pub(crate) fn next_stream(&self) -> u32 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// The time base; the file tells it from now on.
    pub(crate) fn decide_base(&self) -> i64 {
        let (base, first) = self.base.decide();
        if first {
            // An error is kept for the append that follows.
            let _ = Header::more()
                .number("nvtxw.time_base", base)
                .append_to(&self.sink);
        }
        base
    }

    /// Adds what a stream met, and how many of its events an error cost.
    pub(crate) fn add(&self, tally: Tally, lost: u64) {
        let mut all = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        all.0 += tally;
        all.1 += lost;
    }
}
