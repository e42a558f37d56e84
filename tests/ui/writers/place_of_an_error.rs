use nvtxw::{Result, Writer};

fn tick(out: &Writer<'_>) -> Result<()> {
    out.mark(0).write().map_err(|error| error.at(&"gpu 0"))
}

fn main() {}
