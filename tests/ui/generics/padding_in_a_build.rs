use nvtxw::{Domain, NvtxEvent, Result};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Value<T> {
    #[nvtx(timestamp)]
    time: i64,
    value: T,
}

fn register(domain: &mut Domain<'_>) -> Result<()> {
    domain.schema::<Value<u64>>()?;
    domain.schema::<Value<u16>>()?;
    Ok(())
}

fn main() {
    std::hint::black_box(register as fn(&mut Domain<'_>) -> Result<()>);
}
