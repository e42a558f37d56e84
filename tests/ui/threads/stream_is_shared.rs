use nvtxw::Stream;

fn is_sync<T: Sync>(_: &T) {}

fn run(stream: &Stream) {
    is_sync(stream);
}

fn main() {}
