use nvtxw::{Result, Session, Stream, StreamOptions};

fn run(session: &mut Session, stream: &mut Stream, options: StreamOptions) -> Result<()> {
    let out = session.writer(stream)?;
    let mut other = session.open_stream("other", options)?;
    out.mark(1).write()?;
    session.writer(&mut other)?.mark(2).write()?;
    Ok(())
}

fn main() {}
