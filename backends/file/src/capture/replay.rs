//! Replaying captures: the same calls on another backend.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io::Read;

use nvtxw_backend::relay::{Origin, Relay, RelaySession, RelayStream};
use nvtxw_backend::{Refusal, Result};

use super::error::CaptureError;
use super::reader::{Ending, Reader};
use super::record::Record;

/// The options of a session that say how it was captured, and so not how it is to be replayed.
const OWN: [&str; 4] = ["format", "path", "overwrite", "flush_interval"];

/// What makes the calls of a capture on another backend.
///
/// ```
/// use std::fs::File;
///
/// use nvtxw_backend::relay::Relay;
/// use nvtxw_file::capture::{Reader, replay::Replay};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("nvtxw-replay-{}.nvtxw", std::process::id()));
/// # let config = std::ffi::CString::new(format!("format=capture|path={}", path.display()))?;
/// # let relay = Relay::to_instance(nvtxw_file::in_process());
/// # let session = relay.begin(Some(c"run"), Some(&config), nvtxw_backend::relay::Origin::Live)?;
/// # session.end()?;
/// # let trace = path.with_extension("pftrace");
/// let mut reader = Reader::new(File::open(&path)?)?;
/// let replayed = Replay::new(Relay::to_instance(nvtxw_file::in_process()))
///     .set("path", trace.to_str().ok_or("a path of text")?)
///     .run(&mut reader, |_| ())?;
/// assert_eq!(replayed.refused(), 0);
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(&trace)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Replay {
    relay: Relay,
    config: Vec<(String, String)>,
}

/// What came of a replay.
#[derive(Debug)]
pub struct Replayed {
    /// How many calls were made, without those that began and ended the session.
    pub calls: u64,
    /// What the other backend refused: each kind of call with the first refusal that has a code, and how many had it.
    pub refusals: Vec<Refused>,
    /// How many calls were refused when they were captured, and so are not made.
    pub refused_before: u64,
    /// How the capture ends. All before that was replayed, also before where it is damaged.
    pub ending: std::result::Result<Ending, CaptureError>,
    /// What the other backend says to the session's end.
    pub end: Result<()>,
}

/// Calls that the other backend refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The function of its table.
    pub member: &'static str,
    /// The first refusal.
    pub refusal: Refusal,
    /// How many there were with its code.
    pub count: u64,
}

impl Replayed {
    /// How many calls the other backend refused.
    pub fn refused(&self) -> u64 {
        self.refusals.iter().map(|refused| refused.count).sum()
    }

    fn note(&mut self, member: &'static str, result: Result<()>) {
        self.calls += 1;
        let Err(refusal) = result else {
            return;
        };
        let known = self
            .refusals
            .iter_mut()
            .find(|refused| refused.member == member && refused.refusal.code() == refusal.code());
        match known {
            Some(refused) => refused.count += 1,
            None => self.refusals.push(Refused {
                member,
                refusal,
                count: 1,
            }),
        }
    }
}

/// A replay that has begun.
struct Running {
    session: RelaySession,
    streams: HashMap<u32, RelayStream>,
    replayed: Replayed,
}

impl Replay {
    /// On this backend, with the options that the captured session had but for those that said how it was captured: `format`,
    /// `path`, `overwrite` and `flush_interval`.
    pub fn new(relay: Relay) -> Self {
        Self {
            relay,
            config: Vec::new(),
        }
    }

    /// With this option, whatever the captured session had.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.config.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Makes the calls, one after the other. What is refused is left out; `progress` gets how many bytes of the capture are
    /// done, after each call.
    ///
    /// # Errors
    /// If no session could be begun: [`CaptureError::Begin`], or what is wrong with the capture.
    pub fn run<R: Read>(
        &self,
        reader: &mut Reader<R>,
        mut progress: impl FnMut(u64),
    ) -> std::result::Result<Replayed, CaptureError> {
        let begun = reader.next(|record| match record {
            Record::Begin { name, config, .. } => Some(self.begin(*name, *config)),
            _ => None,
        })?;
        let mut running = match begun {
            Some(Some(begun)) => begun.map_err(CaptureError::Begin)?,
            Some(None) | None => return Err(CaptureError::NoSession),
        };
        loop {
            match reader.next(|record| running.record(record)) {
                Ok(Some(())) => progress(reader.offset()),
                Ok(None) => break,
                Err(error) => {
                    running.replayed.ending = Err(error);
                    break;
                }
            }
        }
        let mut replayed = running.replayed;
        if let Some(ending) = reader.ending().filter(|_| replayed.ending.is_ok()) {
            replayed.ending = Ok(ending);
        }
        drop(running.streams);
        replayed.end = running.session.end();
        Ok(replayed)
    }

    fn begin(&self, name: Option<&CStr>, config: Option<&CStr>) -> Result<Running> {
        let config = self.config(config)?;
        Ok(Running {
            session: self
                .relay
                .begin(name, config.as_deref(), Origin::Recorded)?,
            streams: HashMap::new(),
            replayed: Replayed {
                calls: 0,
                refusals: Vec::new(),
                refused_before: 0,
                ending: Ok(Ending::Open),
                end: Ok(()),
            },
        })
    }

    /// The options of the replayed session. Of a key that comes twice the first counts.
    fn config(&self, captured: Option<&CStr>) -> Result<Option<CString>> {
        let mut entries: Vec<Vec<u8>> = Vec::new();
        for (key, value) in &self.config {
            entries.push(format!("{key}={value}").into_bytes());
        }
        let captured = captured.map_or(&[][..], CStr::to_bytes);
        for entry in captured.split(|byte| matches!(byte, b'\n' | b'\r' | b'|')) {
            let key = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            let is_own = OWN.iter().any(|own| key.trim_ascii() == own.as_bytes());
            if !is_own && !entry.trim_ascii().is_empty() {
                entries.push(entry.to_vec());
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        CString::new(entries.join(&b'|'))
            .map(Some)
            .map_err(|_| Refusal::invalid("a config entry holds a null: leave it out"))
    }
}

impl Running {
    fn record(&mut self, record: &Record<'_>) {
        match record {
            Record::Begin { .. } | Record::End | Record::Refusals(_) => {}
            Record::Refused { .. } => self.replayed.refused_before += 1,
            Record::Registration {
                domain,
                registration,
            } => {
                let registered = self.session.register(*domain, registration);
                self.replayed.note(registration.member(), registered);
            }
            Record::Open { stream, attributes } => {
                let opened = self.session.open_stream(attributes);
                let opened = opened.map(|opened| {
                    self.streams.insert(*stream, opened);
                });
                self.replayed.note("StreamOpen", opened);
            }
            Record::Write { stream, call } => {
                let written = self.stream(*stream).and_then(|stream| stream.write(call));
                self.replayed.note(call.member(), written);
            }
            Record::Close { stream } => {
                let closed = self.stream(*stream).and_then(RelayStream::close);
                self.streams.remove(stream);
                self.replayed.note("StreamClose", closed);
            }
        }
    }

    fn stream(&mut self, number: u32) -> Result<&mut RelayStream> {
        self.streams.get_mut(&number).ok_or_else(|| {
            Refusal::invalid(format!(
                "stream {number} is not open: its StreamOpen was refused, or is not in the capture"
            ))
        })
    }
}
