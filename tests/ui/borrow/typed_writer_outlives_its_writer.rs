use nvtxw::{EventWriter, NvtxEvent, Result, Schema, Session, Stream};

fn run<'w, E: NvtxEvent>(session: &'w Session, stream: &'w mut Stream, schema: Schema<E>) -> Result<EventWriter<'w, E>> {
    let out = session.writer(stream)?;
    out.events(schema)
}

fn main() {}
