//! A profiler: one long-lived struct that owns backend, session and streams, and is fed by a channel from other threads.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use nvtxw::{Backend, Counter, DomainId, NvtxCounterGroup, Result, Session, Stream, StreamOptions};

use crate::Output;
use crate::reader::Number;

#[derive(NvtxCounterGroup, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Memory {
    #[nvtx(unit = "bytes")]
    used: i64,
    blocks: i64,
}

/// What the program that is profiled reports.
enum Report {
    Enter {
        thread: u32,
        time: i64,
        function: String,
    },
    Leave {
        thread: u32,
        time: i64,
    },
    Memory {
        thread: u32,
        time: i64,
        memory: Memory,
    },
}

/// All of it is owned: it has no lifetime, so that it may live in another struct, a static or a thread.
struct Profiler {
    backend: Backend,
    session: Session,
    domain: DomainId,
    memory: Counter<Memory>,
    threads: HashMap<u32, Stream>,
}

impl Profiler {
    fn new(output: &Output) -> Result<Self> {
        let backend = Backend::embedded();
        let mut session = Session::begin(&backend, "profile", &output.config()?)?;
        let mut domain = session.default_domain()?;
        let (memory, domain) = (domain.counter_group("memory")?, domain.id());
        Ok(Self {
            backend,
            session,
            domain,
            memory,
            threads: HashMap::new(),
        })
    }

    fn take(&mut self, report: Report) -> Result<()> {
        let (Report::Enter { thread, .. }
        | Report::Leave { thread, .. }
        | Report::Memory { thread, .. }) = report;
        if !self.threads.contains_key(&thread) {
            let stream = self
                .session
                .open_stream(&format!("thread {thread}"), StreamOptions::new(self.domain))?;
            self.threads.insert(thread, stream);
        }
        let stream = self.threads.get_mut(&thread).expect("it was opened");
        match report {
            Report::Enter { time, function, .. } => {
                let function = self.session.domain_at(self.domain)?.string(&function)?;
                self.session
                    .writer(stream)?
                    .push(time)
                    .message(function)
                    .write()?;
            }
            Report::Leave { time, .. } => self.session.writer(stream)?.pop(time)?,
            Report::Memory { time, memory, .. } => self
                .session
                .writer(stream)?
                .counter(self.memory)?
                .sample(time, &memory)?,
        }
        Ok(())
    }

    /// Takes reports until no sender is left.
    fn run(mut self, reports: &Receiver<Report>) -> Result<()> {
        for report in reports {
            self.take(report)?;
        }
        self.session.end()?;
        drop(self.backend);
        Ok(())
    }
}

/// Reports calls that nest three deep.
fn work(thread: u32, reports: &Sender<Report>) {
    let send = |report| reports.send(report).expect("the profiler runs");
    for call in 0..50 {
        let time = 1000 * call;
        for depth in 0..3 {
            send(Report::Enter {
                thread,
                time: time + depth,
                function: format!("f{depth}"),
            });
        }
        send(Report::Memory {
            thread,
            time: time + 10,
            memory: Memory {
                used: time,
                blocks: call,
            },
        });
        for depth in 0..3 {
            send(Report::Leave {
                thread,
                time: time + 100 + depth,
            });
        }
    }
}

#[test]
fn a_struct_owns_everything_and_a_channel_feeds_it() {
    fn is_static<T: Send + 'static>(_: &T) {}

    let output = Output::new();
    let profiler = Profiler::new(&output).unwrap();
    is_static(&profiler);
    let (sender, reports) = channel();
    let writer: JoinHandle<Result<()>> = std::thread::spawn(move || profiler.run(&reports));
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let sender = sender.clone();
            std::thread::spawn(move || work(thread, &sender))
        })
        .collect();
    drop(sender);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    writer.join().unwrap().unwrap();

    let trace = output.read();
    let expected: Vec<_> = (0..50_u64)
        .flat_map(|call| {
            [("f0", 0, 102), ("f1", 1, 101), ("f2", 2, 100)]
                .map(|(name, start, end)| (name, 1000 * call + start, 1000 * call + end))
        })
        .collect();
    for thread in 0..3 {
        let name = format!("thread {thread}");
        assert_eq!(crate::ranges(&trace, &[&name]), expected);
        let used: Vec<_> = (0..50)
            .map(|call| (1000 * call as u64 + 10, Number::Int(1000 * call)))
            .collect();
        let blocks: Vec<_> = (0..50)
            .map(|call| (1000 * call as u64 + 10, Number::Int(call)))
            .collect();
        assert_eq!(trace.counter(&[&name, "memory", "used"]), used);
        assert_eq!(trace.counter(&[&name, "memory", "blocks"]), blocks);
    }
    assert!(
        trace
            .ranges
            .iter()
            .all(|range| range.name == format!("f{}", range.depth))
    );
    assert_eq!(
        (trace.ranges.len(), trace.instants.len(), trace.values.len()),
        (450, 0, 300)
    );
}
