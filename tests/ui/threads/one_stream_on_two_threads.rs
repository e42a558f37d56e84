use nvtxw::{Session, Stream};

fn run(session: &Session, stream: &mut Stream) {
    std::thread::scope(|scope| {
        scope.spawn(|| session.writer(stream).map(drop));
        scope.spawn(|| session.writer(stream).map(drop));
    });
}

fn main() {}
