//! A backend that writes each event, and each sample of a counter, as a line of JSON.
//!
//! The config key `path` says where; without it, `<session name>.jsonl` in the working directory. An older file is replaced.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, NoValueReason, Refusal, Result, ScopeRef, Session,
    SessionRequest, Stream, StreamInfo, Text, export_backend,
};
use serde_json::{Value, json};

export_backend!(Jsonl);

/// The backend.
struct Jsonl;

impl Backend for Jsonl {
    type Session = JsonlSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<JsonlSession> {
        let path = match request.config().get("path") {
            Some(path) => path.to_owned(),
            None => format!("{}.jsonl", request.name().unwrap_or("nvtxw")),
        };
        match File::create(&path) {
            Ok(file) => Ok(JsonlSession(Arc::new(file))),
            Err(error) => Err(Refusal::failed(format!(
                "can't create {path}: {error}; the config key `path` says where the file goes"
            ))),
        }
    }
}

/// Each session is a file.
struct JsonlSession(Arc<File>);

impl Session for JsonlSession {
    type Stream = JsonlStream;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<JsonlStream> {
        Ok(JsonlStream {
            info: Arc::clone(stream),
            lines: BufWriter::new(Arc::clone(&self.0)),
        })
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

/// Streams meet only in the file, to which each appends whole lines.
struct JsonlStream {
    info: Arc<StreamInfo>,
    lines: BufWriter<Arc<File>>,
}

impl JsonlStream {
    fn append(&mut self, scope: ScopeRef, mut line: Value) -> Result<()> {
        line["stream"] = self.info.name().into();
        line["domain"] = self.info.domain().name().into();
        line["scope"] = scope.to_string().into();
        let written = self.lines.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| Refusal::failed(format!("can't write a line: {error}")))
    }
}

impl Stream for JsonlStream {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        let category = |id| match self.info.domain().category(id) {
            Some(name) => json!(*name),
            None => json!(id),
        };
        let line = json!({
            "kind": event.kind().name(),
            "schema": event.schema().name(),
            "name": event.message().map(Text::to_string_lossy),
            "time": event.time().start(),
            "end": event.time().end(),
            "category": event.category().map(category),
            "color": event.color().map(|argb| format!("#{argb:08x}")),
            "range_id": event.range_id(),
            "fields": event.fields(),
        });
        self.append(event.scope(), line)
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        let name = samples.counter().name();
        for sample in samples.samples() {
            let (time, fields) = (sample.time(), sample.fields());
            let line = json!({ "kind": "counter", "name": name, "time": time, "fields": fields });
            self.append(sample.scope(), line)?;
        }
        Ok(())
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        let (name, reason) = (counter.name(), format!("{reason:?}"));
        let line = json!({ "kind": "counter", "name": name, "time": time, "no_value": reason });
        self.append(counter.scope_in(&self.info), line)
    }

    fn close(&mut self) -> Result<()> {
        let flushed = self.lines.flush();
        flushed.map_err(|error| Refusal::failed(format!("can't write the last lines: {error}")))
    }
}
