use nvtxw::{Result, Session, Stream};

fn run(session: &Session, stream: &mut Stream) -> Result<()> {
    let out = session.writer(stream)?;
    std::thread::scope(|scope| {
        scope.spawn(|| out.mark(1).write());
        scope.spawn(|| out.mark(2).write());
    });
    Ok(())
}

fn main() {}
