//! A converter: finds out while it reads which names, places and streams there are, and writes what it has read meanwhile,
//! to several open streams, on one thread.

use std::collections::HashMap;

use nvtxw::{
    Backend, Counter, NvtxEvent, Result, Schema, Session, Stream, StreamOptions, StringHandle,
};

use crate::Output;
use crate::reader::{Arg, Number};

/// What is read, a line each: thread, start, duration, name; or a counter's thread, time, `=value` and name.
const INPUT: &str = "\
main 0 100 boot
main 10 20 load
io 15 50 read
main 40 30 load
io 20 =3 pending
gpu 60 500 gemm
io 70 =0 pending
gpu 60 200 read
main 90 5 write
main 95 =17 heap
";

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Call {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    line: u64,
}

/// Everything that lives as long as the conversion.
struct Converter {
    session: Session,
    call: Schema<Call>,
    domain: nvtxw::DomainId,
    streams: HashMap<String, Stream>,
    counters: HashMap<String, Counter<i64>>,
}

impl Converter {
    fn new(output: &Output) -> Result<Self> {
        let mut session = Session::begin(&Backend::embedded(), "converted", &output.config()?)?;
        let mut domain = session.domain("threads")?;
        let (call, domain) = (domain.schema()?, domain.id());
        Ok(Self {
            session,
            call,
            domain,
            streams: HashMap::new(),
            counters: HashMap::new(),
        })
    }

    /// Converts one line: registers what is new in it, then writes.
    fn line(&mut self, number: u64, line: &str) -> Result<()> {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().expect("a line has four words");
        let (thread, time, amount, name) =
            (word(), word().parse().expect("a time"), word(), word());
        if !self.streams.contains_key(thread) {
            let stream = self
                .session
                .open_stream(thread, StreamOptions::new(self.domain).plain_events(false))?;
            self.streams.insert(thread.to_owned(), stream);
        }
        let mut domain = self.session.domain_at(self.domain)?;
        let stream = self.streams.get_mut(thread).expect("it was opened");
        match amount.strip_prefix('=') {
            Some(value) => {
                let counter = match self.counters.get(name) {
                    Some(&counter) => counter,
                    None => domain.counter(name)?,
                };
                self.counters.insert(name.to_owned(), counter);
                self.session
                    .writer(stream)?
                    .counter(counter)?
                    .sample(time, value.parse().expect("a number"))?;
            }
            None => {
                let name = domain.string(name)?.handle();
                let end = time + amount.parse::<i64>().expect("a duration");
                self.session
                    .writer(stream)?
                    .events(self.call)?
                    .write(&Call {
                        start: time,
                        end,
                        name,
                        line: number,
                    })?;
            }
        }
        Ok(())
    }
}

#[test]
fn registration_and_writes_interleave_over_open_streams() {
    let output = Output::new();
    let mut converter = Converter::new(&output).unwrap();
    for (number, line) in (1..).zip(INPUT.lines()) {
        converter.line(number, line).unwrap();
    }
    assert_eq!((converter.streams.len(), converter.counters.len()), (3, 2));
    // One stream is closed before the end, the others with it.
    let io = converter.streams.remove("io").unwrap();
    converter.session.close_stream(io).unwrap();
    converter.session.end().unwrap();

    let trace = output.read();
    assert_eq!(
        crate::ranges(&trace, &["main"]),
        [
            ("boot", 0, 100),
            ("load", 10, 30),
            ("load", 40, 70),
            ("write", 90, 95)
        ]
    );
    assert_eq!(crate::ranges(&trace, &["io"]), [("read", 15, 65)]);
    assert_eq!(
        crate::ranges(&trace, &["gpu"]),
        [("gemm", 60, 560), ("read", 60, 260)]
    );
    let mut lines: Vec<_> = trace
        .ranges
        .iter()
        .map(|range| range.arg("line").clone())
        .collect();
    lines.sort_by_key(|line| format!("{line:?}"));
    assert_eq!(lines, [1, 2, 3, 4, 6, 8, 9].map(Arg::Uint));
    assert_eq!(
        trace.counter(&["io", "pending"]),
        [(20, Number::Int(3)), (70, Number::Int(0))]
    );
    assert_eq!(trace.counter(&["main", "heap"]), [(95, Number::Int(17))]);
    assert_eq!(
        (trace.ranges.len(), trace.instants.len(), trace.values.len()),
        (7, 0, 3)
    );
}
