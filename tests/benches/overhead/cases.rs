//! What is measured, and on which data.

use std::hint::black_box;

use nvtxw::abi::raw::nvtxwInterface_v2_t;
use nvtxw::{Argb, Backend, Config, NvtxEvent, Session, StreamOptions, StringHandle};

use crate::by_hand::Producer;
use crate::place::PLACES;
use crate::{by_hand, ours, table};

/// How many calls a measured loop makes: more than the instructions around the loop, so that the integer quotient is what
/// one pass through the loop takes.
pub const CALLS: usize = 10_000;

static TABLE: nvtxwInterface_v2_t = table::TABLE;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    #[nvtx(unit = "bytes")]
    shared: u64,
    grid: [u32; 3],
    #[nvtx(color)]
    color: Argb,
}

pub struct Mark {
    pub time: i64,
    pub text: &'static str,
}

pub struct Range {
    pub start: i64,
    pub end: i64,
}

pub struct Sample {
    pub time: i64,
    pub level: u32,
}

/// One kind of call, both ways.
pub struct Case<'a> {
    pub name: &'static str,
    /// The function that has the measured loop, in `ours` and in `by_hand`.
    pub function: &'static str,
    /// The greatest ratio of instructions that is accepted.
    pub limit: f64,
    /// The same loop in each place.
    pub ours: [Box<dyn Fn() + 'a>; PLACES],
    pub by_hand: [Box<dyn Fn() + 'a>; PLACES],
}

/// Runs `run` on all cases, whose loops are bound to one session.
pub fn with_all<R>(run: impl FnOnce(&[Case<'_>]) -> R) -> nvtxw::Result<R> {
    // SAFETY:
    // - The table's functions implement the ABI: they keep nothing, don't unwind and depend on no thread.
    let backend = unsafe { Backend::from_table(&TABLE) }?;
    let mut session = Session::begin(&backend, "overhead", &Config::new())?;
    let mut domain = session.default_domain()?;
    let schema = domain.schema::<Kernel>()?;
    let counter = domain.counter::<f64>("load")?;
    let name = domain.string("launch")?;
    let domain = domain.id();
    let mut stream = session.open_stream("stream", StreamOptions::new(domain))?;
    let out = session.writer(&mut stream)?;
    let kernels = out.events(schema)?;
    let load = out.counter(counter)?;

    // The compiler must not know whose functions they are.
    let raw = Producer::of(black_box(&TABLE));

    let rows: Vec<Kernel> = (0..CALLS as i64)
        .map(|i| Kernel {
            start: i * 10,
            end: i * 10 + 15,
            name: name.handle(),
            shared: 4096,
            grid: [i as u32, 1, 1],
            color: Argb::NONE,
        })
        .collect();
    let slices = |len: usize| -> Vec<&[Kernel]> {
        (0..CALLS)
            .map(|i| &rows[i % (rows.len() - len)..][..len])
            .collect()
    };
    let (ones, dozens, pages) = (slices(1), slices(64), slices(4096));
    let marks: Vec<Mark> = (0..CALLS)
        .map(|i| Mark {
            time: i as i64,
            text: ["load", "decode", "execute", "write back"][i % 4],
        })
        .collect();
    let ranges: Vec<Range> = (0..CALLS as i64)
        .map(|i| Range {
            start: i * 10,
            end: i * 10 + 9,
        })
        .collect();
    let levels: Vec<Sample> = (0..CALLS)
        .map(|i| Sample {
            time: i as i64,
            level: i as u32 % 7,
        })
        .collect();

    macro_rules! places {
        ($module:ident::$function:ident $arguments:tt at $($place:literal)+) => {
            [$(
                Box::new(|| {
                    black_box($module::$function::<$place> $arguments)
                        .expect("the table's functions succeed");
                })
            ),+]
        };
    }
    macro_rules! case {
        ($name:literal, $limit:literal, $function:ident: ours $ours:tt, by hand $by_hand:tt) => {
            Case {
                name: $name,
                function: stringify!($function),
                limit: $limit,
                ours: places!(ours::$function $ours at 0 1 2 3),
                by_hand: places!(by_hand::$function $by_hand at 0 1 2 3),
            }
        };
    }
    Ok(run(&[
        case!("write_batch of 1", 1.00, write_batch: ours (&kernels, &ones), by hand (&raw, &ones)),
        case!("write_batch of 64", 1.00, write_batch: ours (&kernels, &dozens), by hand (&raw, &dozens)),
        case!("write_batch of 4096", 1.00, write_batch: ours (&kernels, &pages), by hand (&raw, &pages)),
        case!("write of one event", 1.10, write: ours (&kernels, &rows), by hand (&raw, &rows)),
        case!("mark with text", 1.10, mark: ours (&out, &marks), by hand (&raw, &marks)),
        case!("pushpop with a registered string", 1.10, pushpop: ours (&out, name, &ranges), by hand (&raw, &ranges)),
        case!("sample of f64", 1.10, sample: ours (&load, &levels), by hand (&raw, &levels)),
    ]))
}
