//! A program that exits while a call never returns: what else is written, and what is said of the rest.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nvtxw::{Backend, Config, Session, Stream, StreamOptions};
use nvtxw_backend::{
    Counter, CounterBatch, Event, NoValueReason, RefusalCounts, Result, SessionRequest, StreamInfo,
    in_process,
};

/// Says on standard error what is called.
struct Said;
struct SaidStream(String);

/// A call is inside of the backend, and stays there.
static IS_INSIDE: AtomicBool = AtomicBool::new(false);
/// Another stream, and its session.
static FREE: Mutex<Option<(Stream, &Session)>> = Mutex::new(None);

impl nvtxw_backend::Backend for Said {
    type Session = Self;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl nvtxw_backend::Session for Said {
    type Stream = SaidStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<SaidStream> {
        Ok(SaidStream(stream.name().to_owned()))
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        eprintln!("skipped {}", counts.skipped_streams);
    }

    fn end(&self) -> Result<()> {
        let (mut stream, session) = FREE.lock().unwrap().take().expect("it is set");
        let written = session.writer(&mut stream).and_then(|writer| {
            let written = writer.mark(20).write();
            written.map_err(|error| error.at(&writer))
        });
        eprintln!("ended; {}", written.unwrap_err());
        Ok(())
    }
}

impl nvtxw_backend::Stream for SaidStream {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        if event.message().is_some() {
            IS_INSIDE.store(true, Ordering::Relaxed);
            loop {
                thread::park();
            }
        }
        Ok(())
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        eprintln!("closed {}", self.0);
        Ok(())
    }
}

/// Runs in a process of its own, by the test below.
#[test]
#[ignore = "a part of the other test"]
fn leave_while_a_call_is_inside() {
    let backend = Backend::in_process(in_process(Said));
    let mut session = Session::begin(&backend, "run", &Config::new()).unwrap();
    let domain = session.default_domain().unwrap().id();
    let mut open = |name| {
        session
            .open_stream(name, StreamOptions::new(domain))
            .unwrap()
    };
    let (mut stuck, free) = (open("stuck"), open("free"));
    let session: &Session = Box::leak(Box::new(session));
    *FREE.lock().unwrap() = Some((free, session));
    thread::spawn(move || {
        let writer = session.writer(&mut stuck).unwrap();
        writer.mark(10).message("stay").write().unwrap();
    });
    while !IS_INSIDE.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    std::process::exit(0);
}

#[test]
fn an_exit_leaves_out_a_stream_that_a_call_is_inside_of() {
    let start = Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "stuck::leave_while_a_call_is_inside",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "it waited for the call"
    );
    let lines: Vec<_> = said.lines().filter(|line| !line.is_empty()).collect();
    let [first @ .., refused, ended] = &*lines else {
        panic!("{said}")
    };
    assert_eq!(
        first,
        [
            "nvtxw: SessionEnd on \"stuck\" of session \"run\": FAILED (1): the process exits while a call is inside of this \
             stream: what the stream has not written is lost; let calls return before the process exits",
            "closed free",
            "skipped 1",
        ]
    );
    let reason = "the process is exiting, which has ended this stream (handle 0x";
    assert!(refused.starts_with("nvtxw: EventWrite on \"free\"") && refused.contains(reason));
    assert!(
        ended.starts_with("ended; ") && ended.contains(reason),
        "{ended}"
    );
}
