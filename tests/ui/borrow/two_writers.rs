use nvtxw::{Result, Session, Stream};

fn run(session: &Session, stream: &mut Stream) -> Result<()> {
    let first = session.writer(stream)?;
    let second = session.writer(stream)?;
    first.mark(1).write()?;
    second.mark(2).write()?;
    Ok(())
}

fn main() {}
