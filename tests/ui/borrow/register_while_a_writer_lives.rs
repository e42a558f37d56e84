use nvtxw::{Result, Session, Stream};

fn run(session: &mut Session, stream: &mut Stream) -> Result<()> {
    let out = session.writer(stream)?;
    let late = session.default_domain()?.string("late")?;
    out.mark(1).message(late).write()?;
    Ok(())
}

fn main() {}
