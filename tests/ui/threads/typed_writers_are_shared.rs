use nvtxw::{CounterWriter, EventWriter, NvtxEvent, PlainEvent};

fn is_sync<T: Sync>(_: &T) {}

fn run<E: NvtxEvent + Sync>(events: &EventWriter<'_, E>, counter: &CounterWriter<'_, i64>) {
    is_sync(events);
    is_sync(counter);
}

fn run_plain(event: &PlainEvent<'_>) {
    is_sync(event);
}

fn main() {}
