//! A backend that passes all calls on to another one.

use std::sync::Arc;

use nvtxw_backend::call::{EventCall, Registration, WriteCall};
use nvtxw_backend::relay::{Origin, Relay, RelaySession, RelayStream};
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Domain, Event, EventBatch, NoValueReason, Result, Session,
    SessionRequest, Stream, StreamInfo, TimeRelation,
};

pub struct Layer(pub Relay);
pub struct LayerSession(RelaySession);
pub struct LayerStream(RelayStream);

impl Backend for Layer {
    type Session = LayerSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<LayerSession> {
        let (name, config) = (request.name_text(), request.config_text());
        Ok(LayerSession(self.0.begin(name, config, Origin::Live)?))
    }
}

impl Session for LayerSession {
    type Stream = LayerStream;

    fn note_registration(&self, domain: &Arc<Domain>, call: &Registration<'_>) -> Result<()> {
        self.0.register(domain.index(), call)
    }

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<LayerStream> {
        Ok(LayerStream(self.0.open_stream(&stream.attributes())?))
    }

    fn end(&self) -> Result<()> {
        self.0.end()
    }
}

impl Stream for LayerStream {
    fn take_event(&mut self, _event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        self.0.write(&WriteCall::Event(*call))
    }

    fn write_event(&mut self, _event: &Event<'_>) -> Result<()> {
        unreachable!("events come with their calls, or in batches")
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        self.0.write(&batch.call())
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        self.0.write(&samples.call())
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        self.0.write(&WriteCall::NoValue {
            time,
            counter: counter.id(),
            reason: reason.to_raw(),
        })
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        self.0.write(&relation.call())
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        self.0.write(call)
    }

    // The other backend closes what is open when the session ends.
    fn close_at_end(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.0.close()
    }
}
