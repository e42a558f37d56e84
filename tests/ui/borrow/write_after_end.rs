use nvtxw::{Result, Session, Stream};

fn run(session: Session, mut stream: Stream) -> Result<()> {
    let out = session.writer(&mut stream)?;
    session.end()?;
    out.mark(1).write()?;
    Ok(())
}

fn main() {}
