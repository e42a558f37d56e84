//! Sequences of calls.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Barrier;

use nvtxw_backend::ResultCode;

use crate::call::{Call, Expect, Made};
use crate::choices::Choices;
use crate::collector::{self, Fate};
use crate::file::Folder;
use crate::table::Table;
use crate::world::World;
use crate::{events, registration, samples, sessions};

/// How often each member of the table succeeded, by the order of [`MEMBERS`].
pub type Successes = [u64; MEMBERS.len()];

pub const MEMBERS: [&str; 21] = [
    "SessionBegin",
    "SessionEnd",
    "DomainRegister",
    "CategoryRegister",
    "StringRegister",
    "ResourceRegister",
    "ScopeRegister",
    "SchemaRegister",
    "EnumRegister",
    "CounterRegister",
    "TimeDomainRegister",
    "StreamOpen",
    "StreamClose",
    "EventWrite",
    "EventBatchWrite",
    "CounterWrite",
    "CounterNoValueWrite",
    "CounterBatchWrite",
    "TimeSyncPointWrite",
    "TimeSyncPointTableWrite",
    "TimestampConversionFactorWrite",
];

/// So many calls of one input.
const STEPS: usize = 400;

/// Makes an arbitrary sequence of calls on the collecting backend.
///
/// # Panics
/// If a call answers another code than it must, if what is refused reaches the backend or what is accepted does not, or if a
/// call fails for another reason than that the backend was told to, or that another call was inside.
pub fn calls(input: &[u8]) -> Successes {
    run(input, Table::of_collector(), None)
}

/// The same on the built-in backend. The files that it writes are read back.
///
/// # Panics
/// As [`calls`]; and if a file can't be read, or does not hold what was accepted.
pub fn files(input: &[u8]) -> Successes {
    run(input, Table::of_file_backend(), Some(Folder::new()))
}

fn run(input: &[u8], table: Table, folder: Option<Folder>) -> Successes {
    collector::pass_over_panics();
    let mut choices = Choices::new(input);
    let mut sequence = Sequence {
        world: World {
            table,
            folder,
            sessions: Vec::new(),
            domains: Vec::new(),
            streams: Vec::new(),
        },
        successes: Default::default(),
    };
    // Without choices, a call is the plainest of its kind.
    let mut plain = Choices::new(&[]);
    for start in [
        sessions::begin,
        sessions::domain,
        sessions::open,
        registration::schema,
    ] {
        let call = start(&mut plain, &sequence.world);
        assert_eq!(call.expect, Expect::Success);
        sequence.make(call, None);
    }
    for _ in 0..STEPS {
        if choices.is_used_up() {
            break;
        }
        sequence.step(&mut choices);
        sequence.world.check_files();
    }
    sequence.end()
}

struct Sequence {
    world: World,
    successes: Successes,
}

impl Sequence {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let is_collector = self.world.table.is_collector();
        match choices.below(32) {
            0..25 => {
                let call = any(choices, &self.world);
                self.make(call, None);
            }
            25 | 26 => self.elsewhere(choices),
            27 => self.at_once(choices),
            28 if is_collector => {
                let call = any(choices, &self.world);
                self.make(call, Some(Fate::Refuse));
            }
            29 if is_collector => {
                let call = any(choices, &self.world);
                self.make(call, Some(Fate::Panic));
            }
            30 if is_collector => self.inside(choices),
            _ if choices.one_in(8) => self.world.table.finalize(),
            _ => {
                let call = any(choices, &self.world);
                self.make(call, None);
            }
        }
    }

    fn make(&mut self, call: Call, fate: Option<Fate>) {
        let made = call.make(&self.world.table, fate);
        self.finish(made, false);
    }

    fn finish(&mut self, made: Made, is_disturbed: bool) -> ResultCode {
        let member = made.member();
        let code = match is_disturbed {
            true => made.finish_disturbed(&mut self.world),
            false => made.finish(&mut self.world),
        };
        let index = MEMBERS.iter().position(|known| *known == member);
        self.successes[index.expect("a member")] += u64::from(code.is_success());
        code
    }

    /// A call from another thread.
    fn elsewhere(&mut self, choices: &mut Choices<'_>) {
        let call = any(choices, &self.world);
        let table = &self.world.table;
        let made = std::thread::scope(|scope| scope.spawn(|| call.make(table, None)).join());
        self.finish(made.expect("no panic"), false);
    }

    /// Calls on two threads at the same time: each is as if it came before, or after, or during those of the other.
    fn at_once(&mut self, choices: &mut Choices<'_>) {
        let mut some = || -> Vec<Call> {
            let count = choices.pick(&[1, 1, 2, 5]);
            (0..count).map(|_| any(choices, &self.world)).collect()
        };
        let (here, there) = (some(), some());
        let (table, start) = (&self.world.table, Barrier::new(2));
        let make = |calls: Vec<Call>| -> Vec<Made> {
            start.wait();
            calls
                .into_iter()
                .map(|call| call.make(table, None))
                .collect()
        };
        let made = std::thread::scope(|scope| {
            let there = scope.spawn(|| make(there));
            let mut made = make(here);
            made.extend(there.join().expect("no panic"));
            made
        });
        for made in made {
            self.finish(made, true);
        }
    }

    /// A call from inside the backend, in the course of another one.
    fn inside(&mut self, choices: &mut Choices<'_>) {
        let outer = any(choices, &self.world);
        let inner = match choices.below(3) {
            0 => sessions::end(choices, &self.world),
            1 => sessions::close(choices, &self.world),
            _ => any(choices, &self.world),
        };
        // No call gets into a stream that another one is in, nor does its session end.
        let is_stopped = self.world.stream(outer.on).is_some_and(|stream| {
            let session = self.world.streams[stream].session;
            [outer.on, self.world.sessions[session].handle].contains(&inner.on)
        });
        let made = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&made);
        // The table is that of the collector, of which there is one.
        let fate = Fate::Call(Box::new(move || {
            let made = inner.make(&Table::of_collector(), None);
            *slot.borrow_mut() = Some(made);
        }));
        let outer = outer.make(&self.world.table, Some(fate));
        let inner = made.take();
        let was_inside = inner.is_some();
        if let Some(inner) = inner {
            let code = self.finish(inner, true);
            assert!(!is_stopped || !code.is_success());
        }
        self.finish(outer, was_inside);
    }

    /// Ends all sessions.
    fn end(mut self) -> Successes {
        for index in 0..self.world.sessions.len() {
            if self.world.sessions[index].is_alive {
                let handle = self.world.sessions[index].handle;
                self.make(sessions::end_of(&self.world, handle), None);
                assert!(!self.world.sessions[index].is_alive);
            }
        }
        self.world.check_files();
        self.world.table.finalize();
        self.successes
    }
}

/// A call of any member.
fn any(choices: &mut Choices<'_>, world: &World) -> Call {
    match choices.below(64) {
        0..8 => events::event(choices, world),
        8..16 => events::batch(choices, world),
        16..20 => samples::sample(choices, world),
        20..22 => samples::no_value(choices, world),
        22..27 => samples::samples(choices, world),
        27..31 => samples::relation(choices, world),
        31..34 => sessions::open(choices, world),
        34..36 => sessions::close(choices, world),
        36 => sessions::begin(choices, world),
        37 => sessions::end(choices, world),
        38..41 => sessions::domain(choices, world),
        41..43 => registration::category(choices, world),
        43..47 => registration::string(choices, world),
        47..49 => registration::resource(choices, world),
        49..52 => registration::scope(choices, world),
        52..57 => registration::schema(choices, world),
        57..59 => registration::enumeration(choices, world),
        59..62 => registration::counter(choices, world),
        _ => registration::time_domain(choices, world),
    }
}
