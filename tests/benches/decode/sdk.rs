//! The backend on the SDK: it shows each event and sample to its sink.

use std::ptr;
use std::sync::{Arc, Mutex};

use nvtxw_abi::raw::*;
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, EventBatch, Field, InProcess, NoValueReason, Result,
    Schema, Session, SessionRequest, Stream, StreamInfo, Text, Time, Value, Visitor, in_process,
};

use crate::producer::Calls;
use crate::shapes::{Registrar, Shape, TIME};
use crate::sink::{Sink, sink};

type Found = Arc<Mutex<Vec<u8>>>;

struct Taping(Found);

impl Backend for Taping {
    type Session = Taping;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Taping> {
        Ok(Taping(Arc::clone(&self.0)))
    }
}

impl Session for Taping {
    type Stream = TapingStream;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<TapingStream> {
        Ok(TapingStream {
            sink: sink(),
            found: Arc::clone(&self.0),
        })
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

struct TapingStream {
    sink: Box<dyn Sink>,
    found: Found,
}

impl TapingStream {
    #[inline(always)]
    fn take(&mut self, event: &Event<'_>) {
        let sink = &mut *self.sink;
        match event.time() {
            Time::Point(time) => sink.number(TIME, time as u64),
            Time::Range { start, end } => {
                sink.number(TIME, start as u64);
                sink.number(TIME, end as u64);
            }
        }
        match event.message() {
            Some(Text::Inline(text)) => sink.text(1, text),
            Some(Text::Registered(string)) => sink.text(1, string.text().as_bytes()),
            Some(Text::Wide(_)) | None => {}
        }
        event.visit(&mut Shown(sink));
    }
}

impl Stream for TapingStream {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.take(event);
        Ok(())
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        batch.for_each(|event| self.take(event));
        Ok(())
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        for sample in samples.samples() {
            self.sink.number(TIME, sample.time() as u64);
            sample.visit(&mut Shown(&mut *self.sink));
        }
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        *self.found.lock().expect("nobody panics") = self.sink.tape().to_vec();
        Ok(())
    }
}

struct Shown<'a>(&'a mut dyn Sink);

impl Visitor for Shown<'_> {
    #[inline(always)]
    fn value(&mut self, field: &Field, value: Value<'_>) {
        let value = match value {
            Value::I64(value) => value as u64,
            Value::U64(value) | Value::Address(value) | Value::Enum { value, .. } => value,
            Value::F32(value) => value.to_bits().into(),
            Value::F64(value) => value.to_bits(),
            Value::Text(text) => return self.0.text(field.index(), text),
            Value::Registered(Some(string)) => {
                return self.0.text(field.index(), string.text().as_bytes());
            }
            _ => return,
        };
        self.0.number(field.index(), value);
    }

    fn begin_array(&mut self, field: &Field, len: usize) {
        self.0.open(field.index(), len);
    }

    fn end_array(&mut self, field: &Field) {
        self.0.close(field.index());
    }

    fn begin_struct(&mut self, field: &Field, _: &Schema) {
        self.0.open(field.index(), 1);
    }

    fn end_struct(&mut self, field: &Field) {
        self.0.close(field.index());
    }
}

/// An open stream of the backend.
pub struct Opened {
    backend: InProcess,
    session: nvtxwSessionHandle_t,
    stream: nvtxwStreamHandle_t,
    id: u64,
    handles: Vec<u64>,
    found: Found,
}

impl Opened {
    pub fn new(shape: &Shape) -> Self {
        let found = Found::default();
        let backend = in_process(Taping(Arc::clone(&found)));
        let table = backend.table();
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: c"decode".as_ptr(),
            configString: ptr::null(),
        };
        let (mut session, mut domain, mut stream) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY:
        // - The attributes and what they point to live through the call.
        let code = unsafe { backend.begin(&attr, &mut session) };
        assert!(code.is_success());
        let register = table.DomainRegister.expect("the table is complete");
        // SAFETY:
        // - Null is the default domain.
        let code = unsafe { register(session, ptr::null(), &mut domain) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        let registrar = Registrar { table, domain };
        let (id, handles) = ((shape.register)(&registrar), registrar.strings());
        let attr = nvtxwStreamAttributes_t {
            structSize: size_of::<nvtxwStreamAttributes_t>(),
            name: c"stream".as_ptr(),
            domain,
            scopeId: NVTX_SCOPE_NONE,
            timeDomainId: 0,
            orderInterleaving: 0,
            orderingType: 0,
            orderingSkid: 0,
            orderingSkidAmount: 0,
        };
        let open = table.StreamOpen.expect("the table is complete");
        // SAFETY:
        // - The attributes and what they point to live through the call.
        let code = unsafe { open(session, &attr, &mut stream) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        Self {
            backend,
            session,
            stream,
            id,
            handles,
            found,
        }
    }

    /// Those of the strings that are registered.
    pub fn handles(&self) -> &[u64] {
        &self.handles
    }

    pub fn calls(&self) -> Calls {
        Calls {
            table: *self.backend.table(),
            stream: self.stream,
            id: self.id,
        }
    }

    /// Ends the session, and returns the tape of its stream's sink.
    pub fn close(self) -> Vec<u8> {
        let end = self
            .backend
            .table()
            .SessionEnd
            .expect("the table is complete");
        // SAFETY:
        // - The session is open, and nothing of it is used any more.
        let code = unsafe { end(self.session) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        std::mem::take(&mut self.found.lock().expect("nobody panics"))
    }
}
