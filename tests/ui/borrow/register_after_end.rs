use nvtxw::{Result, Session};

fn run(mut session: Session) -> Result<()> {
    session.end()?;
    session.domain("late")?;
    Ok(())
}

fn main() {}
