//! What all properties are tested with: a session, and checks of what comes out of it.

use nvtxw::{
    Backend, CompleteEvent, Config, Domain, EventKind, EventWriter, FixedEvent, NvtxEvent, Schema,
    Session, Stream, StreamOptions, WriteError,
};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config as Runs, TestRunner};

use crate::data::{Registered, Values, refer_to};
use crate::seen::{Eyes, Seen, SeenEvent, Shown};

/// A derived event, with what a backend must see of each value of it.
pub trait Case: NvtxEvent + FixedEvent + Values {
    const KIND: EventKind;
    const NAME: &'static str;

    /// The start or the only time, and the end if it has both.
    fn times(&self) -> (i64, Option<i64>);

    /// The attributes of the event; by default none.
    fn attributes(&self) -> Attributes {
        Attributes::default()
    }

    /// Its fields, without those that hold its attributes.
    fn fields(&self) -> Vec<Shown>;

    fn seen(&self) -> Seen {
        let (start, end) = self.times();
        let attributes = self.attributes();
        Seen::Event(SeenEvent {
            schema: Self::NAME.to_owned(),
            kind: <Self as Case>::KIND,
            start,
            end,
            message: attributes.message,
            color: Some(attributes.color).filter(|color| *color != 0),
            category: Some(attributes.category).filter(|category| *category != 0),
            range_id: attributes.range_id,
            scope: attributes.scope,
            fields: self.fields(),
        })
    }
}

#[derive(Default)]
pub struct Attributes {
    pub message: Option<String>,
    pub color: u32,
    pub category: u32,
    pub range_id: Option<u64>,
    pub scope: u64,
}

pub struct Stage {
    pub eyes: Eyes,
    pub session: Session,
    pub stream: Stream,
}

impl Stage {
    /// A session with one stream, and what `register` registers.
    pub fn with<T>(register: impl FnOnce(&mut Domain<'_>) -> nvtxw::Result<T>) -> (Self, T) {
        let eyes = Eyes::default();
        let backend = Backend::in_process(nvtxw_backend::in_process(eyes.clone()));
        let mut session = Session::begin(&backend, "run", &Config::new()).expect("a session");
        let mut domain = session.domain("properties").expect("a domain");
        let mut strings = Vec::new();
        for text in [
            "",
            "gemm",
            "\u{20AC} \u{1F980}",
            "a name of more than a few bytes",
        ] {
            strings.push((domain.string(text).expect("a string"), text));
        }
        let categories = ["one", "two"].map(|name| domain.category(name).expect("a category"));
        let scopes = ["a/b", "c[1]"].map(|path| domain.scope(path).expect("a scope").id());
        refer_to(Registered {
            strings,
            categories: categories.into(),
            scopes: scopes.into(),
        });
        let registered = register(&mut domain).expect("all is registered");
        let domain = domain.id();
        let options = StreamOptions::new(domain);
        let stream = session.open_stream("main", options).expect("a stream");
        let stage = Self {
            eyes,
            session,
            stream,
        };
        (stage, registered)
    }
}

/// Runs `check` on many values of a strategy, which may refer to what is registered.
pub fn for_all<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, mut check: impl FnMut(T)) {
    let runs = Runs {
        cases: 300,
        failure_persistence: None,
        ..Runs::default()
    };
    let all = std::cell::RefCell::new(&mut check);
    TestRunner::new(runs)
        .run(&strategy, |value| {
            (all.borrow_mut())(value);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn check<E: Case>(write_all: impl Fn(&EventWriter<'_, E>, &[E]) -> Result<(), WriteError>) {
    let (mut stage, schema): (_, Schema<E>) = Stage::with(|domain| domain.schema::<E>());
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.events(schema).expect("events");
    for_all(proptest::collection::vec(E::values(), 1..6), |events| {
        // What ends before it starts is refused, and nothing else is.
        let is_good = |event: &&E| event.times().1.is_none_or(|end| event.times().0 <= end);
        let expected: Vec<Seen> = events.iter().filter(is_good).map(E::seen).collect();
        for event in &events {
            assert_eq!(out.write(event).is_ok(), is_good(&event));
        }
        assert_eq!(stage.eyes.take(), expected, "one by one");
        let written = write_all(&out, &events);
        assert_eq!(written.is_ok(), expected.len() == events.len());
        assert_eq!(stage.eyes.take(), expected, "all at once");
    });
}

/// Any values of a kind of event come back, written singly.
pub fn round_trip<E: Case>() {
    check::<E>(|out, events| events.iter().try_for_each(|event| out.write(event)));
}

/// Any values of a kind of event come back, written singly and in batches.
pub fn round_trip_in_batches<E: Case + CompleteEvent>() {
    check::<E>(|out, events| out.write_batch(events));
}
