//! A backend that keeps nothing.

use std::sync::Arc;

use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, EventBatch, NoValueReason, Result, Session,
    SessionRequest, Stream, StreamInfo, TimeRelation,
};

/// A backend that takes everything and keeps nothing: for who wants the findings alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Backend for Nothing {
    type Session = Self;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Session for Nothing {
    type Stream = Self;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Self> {
        Ok(Self)
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

impl Stream for Nothing {
    fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
        Ok(())
    }

    fn write_batch(&mut self, _: &EventBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn write_relation(&mut self, _: &TimeRelation<'_>) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
