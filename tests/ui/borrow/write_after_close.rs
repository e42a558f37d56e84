use nvtxw::{Result, Session, Stream};

fn run(session: &mut Session, mut stream: Stream) -> Result<()> {
    session.close_stream(stream).ok();
    session.writer(&mut stream)?.mark(1).write()?;
    Ok(())
}

fn main() {}
