use nvtxw::{Result, Session};

fn run(session: &mut Session) -> Result<()> {
    let mut first = session.domain("first")?;
    let mut second = session.domain("second")?;
    first.string("a")?;
    second.string("b")?;
    Ok(())
}

fn main() {}
