//! A simulator: registers all it needs, then writes from four threads that share the session.

use std::sync::Barrier;

use nvtxw::{
    Argb, Backend, Counter, NvtxEvent, Result, Schema, Session, Stream, StreamOptions, StringHandle,
};

use crate::Output;
use crate::reader::{Arg, Number};

const CORES: usize = 4;
const STEPS: i64 = 100;
const BATCHES: i64 = 5;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Instruction {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    address: u64,
}

#[derive(Clone, Copy)]
struct Ids {
    instruction: Schema<Instruction>,
    retired: Counter<i64>,
    load: StringHandle,
}

/// What one core does: all cores begin at once, so that their writes overlap.
fn run(
    core: usize,
    session: &Session,
    stream: &mut Stream,
    ids: Ids,
    start: &Barrier,
) -> Result<()> {
    let out = session.writer(stream)?;
    let instructions = out.events(ids.instruction)?;
    let retired = out.counter(ids.retired)?;
    start.wait();
    out.mark(0).message("reset").color(Argb::RED).write()?;
    for batch in 0..BATCHES {
        let first = batch * STEPS;
        let step = |at: i64| Instruction {
            start: 10 * at,
            end: 10 * at + 7,
            name: ids.load,
            address: (core as u64) << 32 | at as u64,
        };
        let batch: Vec<_> = (first..first + STEPS).map(step).collect();
        instructions.write_batch(&batch)?;
        retired.sample(10 * (first + STEPS), first + STEPS)?;
    }
    Ok(())
}

fn simulate(output: &Output) -> Result<()> {
    let mut session = Session::begin(&Backend::embedded(), "simulator", &output.config()?)?;
    let mut domain = session.domain("core")?;
    let ids = Ids {
        instruction: domain.schema()?,
        retired: domain.counter("retired")?,
        load: domain.string("load")?.handle(),
    };
    let domain = domain.id();
    let mut streams = Vec::new();
    for core in 0..CORES {
        streams.push(session.open_stream(&format!("core {core}"), StreamOptions::new(domain))?);
    }

    let (shared, start) = (&session, &Barrier::new(CORES));
    std::thread::scope(|scope| {
        let threads: Vec<_> = streams
            .iter_mut()
            .enumerate()
            .map(|(core, stream)| scope.spawn(move || run(core, shared, stream, ids, start)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no core panics"))
    })?;
    session.end()
}

#[test]
fn four_threads_share_the_session() {
    let output = Output::new();
    simulate(&output).unwrap();
    let trace = output.read();
    let steps = BATCHES * STEPS;
    assert_eq!(trace.ranges.len(), CORES * steps as usize);
    for core in 0..CORES {
        let name = format!("core {core}");
        let expected: Vec<_> = (0..steps)
            .map(|at| ("load", 10 * at as u64, 10 * at as u64 + 7))
            .collect();
        assert_eq!(crate::ranges(&trace, &[&name]), expected);
        let mut addresses: Vec<_> = trace
            .ranges
            .iter()
            .filter(|range| range.track == [&*name])
            .map(|range| range.arg("address").clone())
            .collect();
        addresses.sort_by_key(|address| match address {
            Arg::Uint(address) => *address,
            other => panic!("{other:?}"),
        });
        let expected: Vec<_> = (0..steps)
            .map(|at| Arg::Uint((core as u64) << 32 | at as u64))
            .collect();
        assert_eq!(addresses, expected);
        assert_eq!(crate::instants(&trace, &[&name]), [("reset", 0)]);
        let expected: Vec<_> = (1..=BATCHES)
            .map(|batch| (10 * (batch * STEPS) as u64, Number::Int(batch * STEPS)))
            .collect();
        assert_eq!(trace.counter(&[&name, "retired"]), expected);
    }
    assert_eq!(
        (trace.instants.len(), trace.values.len()),
        (CORES, CORES * BATCHES as usize)
    );
}
