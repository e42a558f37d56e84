use nvtxw::Session;

fn run(session: &mut Session) {
    std::thread::scope(|scope| {
        scope.spawn(|| session.domain("a").map(drop));
        scope.spawn(|| session.domain("b").map(drop));
    });
}

fn main() {}
