//! What stands behind a checker that is no backend of this crate's SDK: another one's table, or nothing.

use std::any::Any;
use std::sync::Arc;

use nvtxw_backend::call::{EventCall, Registration, WriteCall};
use nvtxw_backend::relay::{Origin, Relay, RelaySession, RelayStream};
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Domain, Event, EventBatch, NoValueReason, Result, Session,
    SessionRequest, Stream, StreamInfo, TimeRelation,
};

/// The backend behind a [`Checked`](crate::Checked) one: another, which gets the same calls, or none at all.
pub struct Behind {
    relay: Option<Relay>,
    /// What that one needs for as long as this lives.
    _kept: Box<dyn Any + Send + Sync>,
}

impl Behind {
    /// Nothing: for who wants the findings alone.
    pub fn nothing() -> Self {
        Self {
            relay: None,
            _kept: Box::new(()),
        }
    }

    /// The backend of this relay. `kept` is dropped after its last session.
    pub fn relay(relay: Relay, kept: impl Any + Send + Sync) -> Self {
        Self {
            relay: Some(relay),
            _kept: Box::new(kept),
        }
    }
}

impl Backend for Behind {
    type Session = BehindSession;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<BehindSession> {
        let (name, config) = (request.name_text(), request.config_text());
        let relay = self.relay.as_ref();
        let session = relay.map(|relay| relay.begin(name, config, Origin::Live));
        Ok(BehindSession(session.transpose()?))
    }
}

/// A session of a [`Behind`].
pub struct BehindSession(Option<RelaySession>);

impl Session for BehindSession {
    type Stream = BehindStream;

    fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        match &self.0 {
            Some(session) => session.register(domain.index(), registration),
            None => Ok(()),
        }
    }

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<BehindStream> {
        let session = self.0.as_ref();
        let stream = session.map(|session| session.open_stream(&stream.attributes()));
        Ok(BehindStream(stream.transpose()?))
    }

    fn end(&self) -> Result<()> {
        self.0.as_ref().map_or(Ok(()), RelaySession::end)
    }
}

/// A stream of a [`Behind`].
pub struct BehindStream(Option<RelayStream>);

impl BehindStream {
    fn write(&mut self, call: &WriteCall<'_>) -> Result<()> {
        match &mut self.0 {
            Some(stream) => stream.write(call),
            None => Ok(()),
        }
    }
}

impl Stream for BehindStream {
    fn take_event(&mut self, _: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        self.write(&WriteCall::Event(*call))
    }

    fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
        unreachable!("events come with their calls, or in batches")
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        self.write(&batch.call())
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        self.write(&samples.call())
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        let (counter, reason) = (counter.id(), reason.to_raw());
        self.write(&WriteCall::NoValue {
            time,
            counter,
            reason,
        })
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        self.write(&relation.call())
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        self.write(call)
    }

    // The other backend closes what is open when the session ends.
    fn close_at_end(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), RelayStream::close)
    }
}
