//! Why a backend in this program refused a call is told by the error.

use std::path::PathBuf;
use std::sync::Arc;

use nvtxw::{
    Backend, Config, Error, NoValueReason, ResultCode, Session, StaticId, StreamOptions, SyncPoint,
    TimeDomainOptions, TimestampType,
};
use nvtxw_backend::{
    Counter, CounterBatch, Event, Refusal, Result, SessionRequest, StreamInfo, in_process,
};

/// Refuses all but the beginning of sessions and streams, and their end.
struct Picky;

impl nvtxw_backend::Backend for Picky {
    type Session = Picky;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Picky> {
        if request.name() == Some("full") {
            return Err(Refusal::failed("the disk is full: delete something"));
        }
        Ok(Picky)
    }
}

impl nvtxw_backend::Session for Picky {
    type Stream = Picky;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Picky> {
        Ok(Picky)
    }

    fn end(&self) -> Result<()> {
        Err(Refusal::failed("the trace is worth nothing: it is empty"))
    }
}

impl nvtxw_backend::Stream for Picky {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        Err(Refusal::unsupported(format!("no {:?} here", event.kind())))
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Err(Refusal::invalid("no samples here"))
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

fn picky() -> Session {
    let backend = Backend::in_process(in_process(Picky));
    Session::begin(&backend, "run", &Config::new()).unwrap()
}

#[test]
fn of_a_session() {
    let backend = Backend::in_process(in_process(Picky));
    let error = Session::begin(&backend, "full", &Config::new()).unwrap_err();
    let text = "can't begin session `full`: the backend answered FAILED (1): the disk is full: delete something";
    assert_eq!(error.to_string(), text);
    // What a `main` that returns it prints.
    assert_eq!(format!("{error:?}"), text);
    assert!(matches!(
        error,
        Error::Call { code: ResultCode::FAILED, reason: Some(reason), .. } if reason == "the disk is full: delete something"
    ));

    let error = picky().end().unwrap_err();
    assert_eq!(
        error.to_string(),
        "can't end session `run`: the backend answered FAILED (1): the trace is worth nothing: it is empty"
    );
}

#[test]
fn of_a_registration() {
    let mut session = picky();
    let mut domain = session.domain("sim").unwrap();
    let options = TimeDomainOptions::new().static_id(StaticId::new(1 << 24).unwrap());
    domain.time_domain(options).unwrap();
    let error = domain.time_domain(options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "can't register a time domain (None) in domain `sim` of session `run`: the backend answered INVALID_ARGUMENT (2): the \
         static time domain ID 16777216 is taken already in this domain; choose another one"
    );
}

#[test]
fn of_a_stream() {
    let mut session = picky();
    let domain = session.domain("sim").unwrap().id();
    let _first = session
        .open_stream("s", StreamOptions::new(domain))
        .unwrap();
    let error = session
        .open_stream("s", StreamOptions::new(domain))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "can't open stream `s` on domain `sim` of session `run`: the backend answered INVALID_ARGUMENT (2): attr.name \"s\" \
         is that of an open stream of this session; names of streams must differ"
    );
}

#[test]
fn of_a_write() {
    let mut session = picky();
    let mut domain = session.domain("sim").unwrap();
    let depth = domain.counter::<i64>("depth").unwrap();
    let options = StreamOptions::new(domain.id());
    let mut stream = session.open_stream("s", options).unwrap();
    let out = session.writer(&mut stream).unwrap();

    let refused = out.mark(1).write().unwrap_err();
    assert_eq!(
        refused.at(&out).to_string(),
        "can't write an event to stream `s` of domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7): no Mark here"
    );
    // It is told once: another error doesn't get the reason of this one.
    assert_eq!(
        refused.at(&out).to_string(),
        "can't write an event to stream `s` of domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7), which means that it doesn't offer this; do without it, or use another backend"
    );

    let refused = out.mark(1).write().unwrap_err();
    let depth = out.counter(depth).unwrap();
    let sample = depth.sample(1, 5).unwrap_err();
    // The last refusal was another one.
    assert_eq!(
        refused.at(&out).to_string(),
        "can't write an event to stream `s` of domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7), which means that it doesn't offer this; do without it, or use another backend"
    );
    let sample = depth.sample(1, 5).and(Err::<(), _>(sample)).unwrap_err();
    assert_eq!(
        sample.at(&depth).to_string(),
        "can't write samples of counter `depth` to stream `s` of domain `sim` of session `run`: the backend answered INVALID_ARGUMENT (2): no samples here"
    );

    let error = depth.write_batch(&[1], &[5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "can't write samples of counter `depth` to stream `s` of domain `sim` of session `run`: the backend answered INVALID_ARGUMENT (2): no samples here"
    );

    // Another thread was refused nothing.
    let refused = out.mark(1).write().unwrap_err();
    let text = std::thread::scope(|scope| {
        scope
            .spawn(|| Error::from(refused).to_string())
            .join()
            .unwrap()
    });
    assert!(
        text.starts_with("a write failed: the backend answered NOT_SUPPORTED (7), which means"),
        "{text}"
    );
}

#[test]
fn of_the_embedded_backend() {
    let folder = std::env::temp_dir().join(format!("nvtxw-reason-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join("run.pftrace");
    std::fs::write(&path, "precious").unwrap();
    let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
    let error = Session::begin(&Backend::embedded(), "run", &config).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "can't begin session `run`: the backend answered FAILED (1): {} exists: remove it, or set `overwrite=true` to \
             replace it",
            path.display()
        )
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");

    let config = config.set("overwrite", "true").unwrap();
    let mut session = Session::begin(&Backend::embedded(), "run", &config).unwrap();
    let domain = session.domain("sim").unwrap().id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain))
        .unwrap();
    let out = session.writer(&mut stream).unwrap();
    let sync = |source, destination| {
        let point = SyncPoint {
            source,
            destination,
        };
        out.sync_point(TimestampType::CpuTsc, TimestampType::ClockRealtime, point)
    };
    sync(1, 2).unwrap();
    assert_eq!(
        sync(1, 3).unwrap_err().to_string(),
        "can't write a sync point to stream `s` of domain `sim` of session `run`: the backend answered INVALID_ARGUMENT (2): CPU \
         TSC at 1 is CLOCK_REALTIME at 3: that contradicts an earlier sync point, which says 1 is 2; of two instants the same one \
         comes first on both clocks"
    );
    session.end().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}
