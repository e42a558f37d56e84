//! Backends that begin and end sessions of themselves inside of their own functions.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use nvtxw::{Backend, Config, Session};
use nvtxw_backend::{
    Counter, CounterBatch, Event, NoValueReason, Result, SessionRequest, Stream, StreamInfo,
    in_process,
};

/// The backend that is tested, for its own functions.
static OWN: Mutex<Option<Backend>> = Mutex::new(None);
/// Where a further session begins and ends: `begin`, `end` or `drop`, and `elsewhere` if on another thread.
static WHERE: Mutex<&str> = Mutex::new("");
/// Sessions that have ended.
static ENDED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Nested;
struct NestedSession(String);
struct NoStream;

/// Begins and ends a further session, if `function` is where that is to be.
fn run_another(session: &str, function: &str) {
    let place = *WHERE.lock().unwrap();
    if session != "outer" || !place.starts_with(function) {
        return;
    }
    let run = || {
        let own = OWN.lock().unwrap().clone().expect("it is set");
        Session::begin(&own, "inner", &Config::new())
            .and_then(Session::end)
            .expect("it begins and ends");
    };
    match place.ends_with("elsewhere") {
        true => thread::spawn(run).join().expect("no panic"),
        false => run(),
    }
}

impl nvtxw_backend::Backend for Nested {
    type Session = NestedSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<NestedSession> {
        let name = request.name().unwrap_or_default().to_owned();
        run_another(&name, "begin");
        Ok(NestedSession(name))
    }

    fn finalize(&self) {
        run_another("outer", "finalize");
    }
}

impl nvtxw_backend::Session for NestedSession {
    type Stream = NoStream;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<NoStream> {
        Ok(NoStream)
    }

    fn end(&self) -> Result<()> {
        run_another(&self.0, "end");
        ENDED.lock().unwrap().push(self.0.clone());
        Ok(())
    }
}

impl Drop for NestedSession {
    fn drop(&mut self) {
        run_another(&self.0, "drop");
    }
}

impl Stream for NoStream {
    fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
        Ok(())
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

mod library {
    use std::ffi::{c_int, c_void};

    nvtxw_backend::export_backend!(super::Nested);

    unsafe extern "C" {
        pub fn nvtxwGetInterface(version: c_int, out: *mut *const c_void) -> c_int;
        pub fn nvtxwFinalize();
    }
}

/// The backend as that of a library.
fn exported() -> Backend {
    // SAFETY:
    // - Both are functions of this program, and do what the ABI says.
    let backend = unsafe {
        Backend::from_interface(library::nvtxwGetInterface, Some(library::nvtxwFinalize))
    };
    backend.expect("it has a table")
}

fn test(make: impl Fn() -> Backend + Send + 'static, places: &'static [&'static str]) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        for place in places {
            let backend = make();
            let is_last = place.starts_with("finalize");
            *OWN.lock().unwrap() = Some(match is_last {
                // The backend is finalised when nothing of it is left: another one begins the session.
                true => Backend::in_process(in_process(Nested)),
                false => backend.clone(),
            });
            *WHERE.lock().unwrap() = place;
            let session = Session::begin(&backend, "outer", &Config::new()).unwrap();
            session.end().unwrap();
            if !is_last {
                *OWN.lock().unwrap() = None;
            }
            drop(backend);
            *WHERE.lock().unwrap() = "";
            *OWN.lock().unwrap() = None;
            let mut ended = std::mem::take(&mut *ENDED.lock().unwrap());
            ended.sort_unstable();
            assert_eq!(ended, ["inner", "outer"], "{place}");
        }
        done.send(()).unwrap();
    });
    is_done
        .recv_timeout(Duration::from_secs(60))
        .unwrap_or_else(|_| panic!("it waits for itself in `{}`", WHERE.lock().unwrap()));
}

#[test]
fn backends_begin_and_end_sessions_of_themselves() {
    test(
        || Backend::in_process(in_process(Nested)),
        &[
            "begin",
            "end",
            "drop",
            "finalize",
            "begin elsewhere",
            "end elsewhere",
            "drop elsewhere",
            "finalize elsewhere",
        ],
    );
    test(exported, &["begin", "end", "drop", "finalize"]);
    test(|| exported().checked(), &["begin", "end", "drop"]);
}
