//! What is checked of the data of one stream.

use std::collections::HashSet;
use std::sync::Arc;

use nvtxw_backend::call::WriteCall;
use nvtxw_backend::{
    Counter, CounterBatch, Event, EventBatch, EventKind, Refusal, ResultCode, StreamInfo, Text,
    Time, TimeRelation,
};

use crate::finding::{FindingKind, Place};
use crate::order::{BatchOrder, Broken, StreamOrder};
use crate::ranges::{Half, Pushed};
use crate::reserved;
use crate::shared::Shared;
use crate::values::{self, Watched, Wrong};

/// Fewer batches than this are no habit.
const MANY_BATCHES: u64 = 64;

/// Fewer items than this, on average, are few.
const FEW_ITEMS: u64 = 2;

/// The state of one stream's checks.
pub(crate) struct Checks {
    shared: Arc<Shared>,
    info: Arc<StreamInfo>,
    name: Arc<str>,
    /// The stream's number in its session.
    stream: u32,
    /// Events and samples so far.
    items: u64,
    /// Findings so far.
    findings: u64,
    order: StreamOrder,
    pushed: Pushed,
    watched: Watched,
    /// The categories that events were in.
    categories: HashSet<u32>,
    category: u32,
    /// The time domains that timestamps are of, and the last one of them.
    time_domains: HashSet<u64>,
    time_domain: Option<u64>,
    batches: u64,
    batch_items: u64,
}

impl Checks {
    pub(crate) fn new(shared: Arc<Shared>, info: &Arc<StreamInfo>, stream: u32) -> Self {
        Self {
            shared,
            info: Arc::clone(info),
            name: info.name().into(),
            stream,
            items: 0,
            findings: 0,
            order: StreamOrder::new(info),
            pushed: Pushed::default(),
            watched: Watched::default(),
            categories: HashSet::new(),
            category: 0,
            time_domains: HashSet::new(),
            time_domain: None,
            batches: 0,
            batch_items: 0,
        }
    }

    /// An event that is written by itself.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        self.check_event(event);
        self.items += 1;
    }

    pub(crate) fn batch(&mut self, batch: &EventBatch<'_>) {
        let mut order = BatchOrder::new(
            batch.ordering(),
            &self.info,
            batch
                .schema()
                .time_domain()
                .unwrap_or(self.info.time_domain()),
        );
        self.reserved(&batch.call());
        let first = self.items;
        batch.for_each(|event| {
            let start = event.time().start();
            if let Some(after) = order.take(event.scope_id(), start) {
                let within = self.items - first;
                self.note(FindingKind::BatchOrder, self.items, start, || {
                    format!(
                        "event {within} of the batch comes after one at {after}; the flags say {:?}",
                        batch.ordering()
                    )
                });
            }
            self.check_event(event);
            self.items += 1;
        });
        self.batches += 1;
        self.batch_items += self.items - first;
    }

    pub(crate) fn samples(&mut self, samples: &CounterBatch<'_>) {
        let counter = samples.counter();
        let time_domain = samples.time_domain();
        let has_limits = self.watched.has_limits(counter);
        let mut order = BatchOrder::new(samples.ordering(), &self.info, time_domain);
        let call = samples.call();
        self.reserved(&call);
        let first = self.items;
        for sample in samples.samples() {
            let (time, scope) = (sample.time(), sample.scope_id());
            if let Some(after) = order.take(scope, time) {
                let within = self.items - first;
                self.note(FindingKind::BatchOrder, self.items, time, || {
                    format!(
                        "sample {within} of the batch of counter `{}` comes after one at {after}; the flags say {:?}",
                        counter.name(),
                        samples.ordering()
                    )
                });
            }
            self.check_order(scope, (time_domain, time_domain), Time::Point(time));
            if has_limits {
                let wrong = values::sample(counter, &sample);
                self.note_wrong(time, wrong, Some(counter));
            }
            self.items += 1;
        }
        if let WriteCall::CounterBatch(_) = call {
            self.batches += 1;
            self.batch_items += self.items - first;
        }
    }

    /// Flags of a batch.
    pub(crate) fn reserved(&mut self, call: &WriteCall<'_>) {
        if let Some(reserved) = reserved::of_batch(call) {
            self.findings += 1;
            let place = self.place();
            self.shared
                .account
                .note(FindingKind::ReservedFlags, place, || {
                    format!("{}: {reserved}", call.member())
                });
        }
    }

    pub(crate) fn no_value(&mut self, counter: &Counter, time: i64) {
        let time_domain = counter.time_domain().unwrap_or(self.info.time_domain());
        let scope = counter.scope_in(&self.info).id();
        self.check_order(scope, (time_domain, time_domain), Time::Point(time));
        self.items += 1;
    }

    /// The stream closes.
    pub(crate) fn close(&mut self) {
        for half in self.pushed.take() {
            self.shared
                .account
                .note(FindingKind::PushWithoutPop, half.place, || {
                    "pushed, and open when the stream closes".to_owned()
                });
        }
        if self.batches >= MANY_BATCHES && self.batch_items < FEW_ITEMS * self.batches {
            let (batches, items) = (self.batches, self.batch_items);
            let place = self.place();
            self.shared
                .account
                .note(FindingKind::TinyBatches, place, || {
                    format!("{items} events and samples came in {batches} batches")
                });
        }
    }

    /// The call overlaps another.
    #[cold]
    pub(crate) fn overlap(&mut self, member: &str) {
        let place = self.place();
        self.shared
            .account
            .note(FindingKind::OverlappingCalls, place, || {
                format!(
                    "{member} runs while another call registers, opens, closes or ends something"
                )
            });
    }

    /// How many findings there are so far: [`refused`](Self::refused) wants to know how many a call added.
    pub(crate) fn findings(&self) -> u64 {
        self.findings
    }

    /// What the backend behind refuses, and what the SDK need not tell any more then.
    #[cold]
    pub(crate) fn refused(&mut self, member: &str, refusal: Refusal, before: u64) -> Refusal {
        let place = self.place();
        let has_told = self.findings > before;
        self.shared.refused_behind(member, refusal, place, has_told)
    }

    fn check_event(&mut self, event: &Event<'_>) {
        let (time, scope) = (event.time(), event.scope_id());
        self.check_order(scope, (event.time_domain(), event.end_time_domain()), time);
        match event.kind() {
            EventKind::RangePush => {
                let half = self.half(event);
                self.pushed.push(scope, half);
            }
            EventKind::RangePop => match self.pushed.pop(scope) {
                Some(push) => self.check_end(event, &push, "pushed"),
                None => self.note(
                    FindingKind::PopWithoutPush,
                    self.items,
                    time.start(),
                    || "popped, but nothing is pushed in this scope of the stream".to_owned(),
                ),
            },
            EventKind::RangeStart => {
                if let Some(id) = event.range_id() {
                    let half = self.half(event);
                    if let Some(open) = self.shared.started.start(id, self.stream, half) {
                        self.note(FindingKind::StartedTwice, self.items, time.start(), || {
                            format!("starts the range {id}, which is open since {}", open.time)
                        });
                    }
                }
            }
            EventKind::RangeEnd => {
                if let Some(id) = event.range_id() {
                    match self.shared.started.end(id, self.stream) {
                        Some(start) => self.check_end(event, &start, "started"),
                        None => {
                            self.note(
                                FindingKind::EndWithoutStart,
                                self.items,
                                time.start(),
                                || format!("ends the range {id}, which is not open"),
                            );
                        }
                    }
                }
            }
            EventKind::Mark | EventKind::RangePushPop | EventKind::RangeStartEnd => {}
        }
        match event.category() {
            Some(category) if category != self.category => self.check_category(category, time),
            _ => {}
        }
        if let Some(Text::Inline(bytes)) = event.message()
            && let Some(bad) = values::not_utf8(bytes)
        {
            self.note(FindingKind::NotUtf8, self.items, time.start(), || {
                format!("the message is {bad}")
            });
        }
        let wrong = self.watched.event(event);
        self.note_wrong(time.start(), wrong, None);
    }

    #[inline]
    fn check_order(&mut self, scope: u64, time_domains: (u64, u64), time: Time) {
        if self.time_domain != Some(time_domains.0) {
            self.use_clock(time_domains.0, time);
        }
        let domain = self.info.domain();
        let Some(broken) = self.order.take(domain, scope, time_domains, time) else {
            return;
        };
        let ordering = self.info.ordering();
        let skid = (self.info.skid(), self.info.skid_amount());
        self.note(FindingKind::StreamOrder, self.items, time.start(), || {
            match broken {
                Broken::Range => format!("a whole range in a stream of ordering {ordering:?}: all are points in time there"),
                Broken::Late { time, after } => format!(
                    "{time} comes after {after} in a stream of ordering {ordering:?}, skid {:?} {}",
                    skid.0, skid.1
                ),
            }
        });
    }

    fn check_end(&mut self, event: &Event<'_>, first: &Half, began: &str) {
        let end = event.time().start();
        if end < first.time && event.time_domain() == first.time_domain {
            self.note(FindingKind::EndBeforeStart, self.items, end, || {
                format!("ends at {end} what was {began} at {}", first.time)
            });
        }
    }

    #[cold]
    fn use_clock(&mut self, time_domain: u64, time: Time) {
        self.time_domain = Some(time_domain);
        if self.time_domains.insert(time_domain) {
            let place = self.place_of(self.items, time.start());
            self.shared
                .use_clock(self.stream, &self.info, time_domain, place);
        }
    }

    pub(crate) fn relation(&mut self, relation: &TimeRelation<'_>) {
        self.shared.relate(self.info.domain(), relation);
    }

    #[cold]
    fn check_category(&mut self, category: u32, time: Time) {
        self.category = category;
        if self.categories.insert(category) {
            let place = self.place_of(self.items, time.start());
            self.shared
                .use_category(self.info.domain(), category, place);
        }
    }

    #[inline]
    fn note_wrong(&mut self, time: i64, wrong: Wrong, counter: Option<&Counter>) {
        if let Some(text) = wrong.text {
            self.note(FindingKind::NotUtf8, self.items, time, || text);
        }
        if let Some(limit) = wrong.limit {
            self.note(
                FindingKind::CounterLimit,
                self.items,
                time,
                || match counter {
                    Some(counter) => format!("counter `{}`: {limit}", counter.name()),
                    None => limit,
                },
            );
        }
    }

    fn half(&self, event: &Event<'_>) -> Half {
        let time = event.time().start();
        Half {
            place: self.place_of(self.items, time),
            time,
            time_domain: event.time_domain(),
        }
    }

    #[cold]
    fn note(&mut self, kind: FindingKind, event: u64, time: i64, what: impl FnOnce() -> String) {
        self.findings += 1;
        let place = self.place_of(event, time);
        self.shared.account.note(kind, place, what);
    }

    fn place(&self) -> Place {
        Place {
            stream: Some(Arc::clone(&self.name)),
            ..Place::default()
        }
    }

    fn place_of(&self, event: u64, time: i64) -> Place {
        Place {
            event: Some(event),
            time: Some(time),
            ..self.place()
        }
    }
}

/// Whether a refusal is the producer's fault.
pub(crate) fn is_invalid(refusal: &Refusal) -> bool {
    refusal.code() == ResultCode::INVALID_ARGUMENT
}
