//! What a file tells of the clocks of its session.

use std::fmt;

use nvtxw_backend::{Domain, ScopeRef, TimeDomain, TimerStart, TimestampType};

use super::known;
use super::{Clock, Clocks, State};
use crate::format::Told;

/// So many instants of a relation are told one by one.
const TOLD: usize = 8;

/// The name of a registered clock.
pub(super) fn name(domain: &Domain, registered: &TimeDomain) -> String {
    let id = registered.id();
    match domain.name() {
        None => format!("time domain {id}"),
        Some(domain) => format!("time domain {id} of `{domain}`"),
    }
}

/// The name of the ticks of a domain that belong to no clock.
pub(super) fn default_name(domain: &Domain) -> String {
    match domain.name() {
        None => "time domain 0".to_owned(),
        Some(domain) => format!("time domain 0 of `{domain}`"),
    }
}

impl Clocks {
    /// All that is known of the clocks, by the names of attributes. Nothing of ticks that belong to
    /// no clock and are not related to any.
    pub(crate) fn facts(&self) -> Vec<(String, Told)> {
        let state = self.read();
        let mut facts = Vec::new();
        let told = |clock: &&Clock| !clock.rank.is_none() || clock.is_related();
        for (clock, number) in state.clocks.iter().filter(told).zip(0..) {
            state.tell_clock(clock, &format!("nvtxw.clock.{number}"), &mut facts);
        }
        for number in 0..state.relations.len() {
            state.tell_relation(number, &mut facts);
        }
        facts
    }
}

impl State {
    fn tell_clock(&self, clock: &Clock, key: &str, facts: &mut Vec<(String, Told)>) {
        let mut tell = |what: &str, value| facts.push((format!("{key}{what}"), value));
        tell("", Told::Text(clock.name.clone()));
        if let Some(rate) = clock.known.rate {
            let rate = rate.try_into().unwrap_or(i64::MAX);
            tell(".ticks_per_second", Told::Number(rate));
        }
        if let Some(start) = start(clock.known.start) {
            tell(".start", Told::Text(start.to_owned()));
        }
        if let Some(registered) = &clock.registered {
            if registered.timestamp_type() != TimestampType::None {
                let of_type = known::name(registered.timestamp_type());
                tell(".type", Told::Text(of_type.to_owned()));
            }
            if let ScopeRef::Registered(scope) = registered.scope() {
                tell(".scope", Told::Text(scope.to_string()));
            }
            let properties = match (registered.is_monotonic(), registered.is_steady()) {
                (true, true) => "monotonic, steady",
                (true, false) => "monotonic",
                (false, true) => "steady",
                (false, false) => "",
            };
            if !properties.is_empty() {
                tell(".properties", Told::Text(properties.to_owned()));
            }
        }
        let number = self.related(clock.number);
        if self.clocks[number].is_related() {
            let root = &self.clocks[self.root(number)];
            tell(".time_line", Told::Text(root.name.clone()));
        }
    }

    fn tell_relation(&self, number: usize, facts: &mut Vec<(String, Told)>) {
        let key = format!("nvtxw.relation.{number}");
        let relation = &self.relations[number];
        let [one, other] = relation.clocks.map(|clock| &*self.clocks[clock].name);
        facts.push((key.clone(), Told::Text(format!("{one} = {other}"))));
        facts.push((format!("{key}.points"), Told::Number(relation.len() as i64)));
        for (instant, index) in relation.instants().zip(0..TOLD) {
            let instant = Told::Text(instant.to_string());
            facts.push((format!("{key}.point.{index}"), instant));
        }
        let routes = relation.clocks.map(|clock| self.route(clock));
        // Where one clock's way leads over the other by this relation, each instant is one time.
        if routes[0].begins_with((number, 0), &routes[1])
            || routes[1].begins_with((number, 1), &routes[0])
        {
            return;
        }
        let farthest = relation.instants().filter_map(|instant| {
            let at = |side: usize| routes[side].nanoseconds(instant.at[side], &self.relations);
            Some(at(0)?.abs_diff(at(1)?))
        });
        if let Some(distance) = farthest.max().filter(|distance| *distance != 0) {
            let distance = distance.try_into().unwrap_or(i64::MAX);
            facts.push((format!("{key}.mismatch_ns"), Told::Number(distance)));
        }
    }
}

fn start(start: TimerStart) -> Option<&'static str> {
    match start {
        TimerStart::Unknown => None,
        TimerStart::SystemBoot => Some("system boot"),
        TimerStart::VmBoot => Some("virtual machine boot"),
        TimerStart::UnixEpoch => Some("1970-01-01"),
        TimerStart::WinFiletime => Some("1601-01-01"),
    }
}

/// An instant on both clocks of a relation, for people.
pub(super) struct Instant {
    pub(super) at: [i64; 2],
    /// Ticks of the second clock for each one of the first.
    pub(super) slope: Option<f64>,
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.at[0], self.at[1])?;
        match self.slope {
            Some(slope) => write!(f, ", slope {slope}"),
            None => Ok(()),
        }
    }
}
