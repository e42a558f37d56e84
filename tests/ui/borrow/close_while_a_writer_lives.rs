use nvtxw::{Result, Session, Stream};

fn run(session: &mut Session, mut stream: Stream) -> Result<()> {
    let out = session.writer(&mut stream)?;
    session.close_stream(stream).ok();
    out.mark(1).write()?;
    Ok(())
}

fn main() {}
