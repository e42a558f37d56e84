use nvtxw::{Domain, Result};

#[derive(Clone, Copy)]
#[repr(C)]
struct Channel {
    reads: u64,
}

fn run(mut domain: Domain<'_>) -> Result<()> {
    domain.schema::<Channel>()?;
    domain.counter_group::<Channel>("channel")?;
    Ok(())
}

fn main() {}
