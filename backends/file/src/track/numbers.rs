//! Numbers of processes and threads: those of the operating system, and made-up ones.

use std::collections::HashSet;

use nvtxw_backend::Segment;

/// A process, or a thread of one, by the numbers that the file has for them: from 1 to 2^31-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OwnerId {
    Process(u32),
    Thread { process: u32, thread: u32 },
}

/// The numbers in use in a session.
#[derive(Default)]
pub(super) struct Numbers {
    owners: HashSet<OwnerId>,
    /// Numbers of processes and of threads alike: made-up ones differ from all of them.
    used: HashSet<u32>,
    last_made_up: u32,
}

impl Numbers {
    /// Takes a number for a process and its main thread: `wanted`, or a made-up one if that is in use.
    pub(super) fn process(&mut self, wanted: Option<u32>) -> u32 {
        let process = self.take(wanted, OwnerId::Process);
        self.thread(process, Some(process))
    }

    /// Takes a number for a thread of `process`: `wanted`, or a made-up one if that is in use there.
    pub(super) fn thread(&mut self, process: u32, wanted: Option<u32>) -> u32 {
        self.take(wanted, |thread| OwnerId::Thread { process, thread })
    }

    fn take(&mut self, wanted: Option<u32>, id: impl Fn(u32) -> OwnerId) -> u32 {
        let free = wanted.filter(|number| !self.owners.contains(&id(*number)));
        let number = free.unwrap_or_else(|| self.make_up());
        self.owners.insert(id(number));
        self.used.insert(number);
        number
    }

    /// Small, as viewers show numbers after names.
    fn make_up(&mut self) -> u32 {
        loop {
            self.last_made_up += 1;
            if !self.used.contains(&self.last_made_up) {
                return self.last_made_up;
            }
        }
    }
}

/// The number of a process or a thread, if the operating system may have it.
pub(super) fn os_number(number: u64) -> Option<u32> {
    let number = u32::try_from(number).ok()?;
    (1..=i32::MAX as u32).contains(&number).then_some(number)
}

/// A process or thread, as a step of a path names it.
pub(super) struct Step {
    pub(super) name: String,
    /// With a word before a bare number, which says nothing in a viewer.
    pub(super) shown: String,
    /// The number that it is to have.
    pub(super) wanted: Option<u32>,
    /// True for a number of the operating system, as in `Process[1234]`.
    pub(super) is_os: bool,
}

impl Step {
    pub(super) fn process(segment: &Segment) -> Self {
        Self::of(segment, "Process", ["process", "pid"])
    }

    pub(super) fn thread(segment: &Segment) -> Self {
        Self::of(segment, "Thread", ["thread", "tid"])
    }

    fn of(segment: &Segment, what: &str, names: [&str; 2]) -> Self {
        let Some(key) = segment.key() else {
            return Self::named(segment.name(), what);
        };
        let is_meant = |name: &str| segment.name().eq_ignore_ascii_case(name);
        let wanted = key.parse().ok().filter(|_| names.into_iter().any(is_meant));
        let wanted = wanted.and_then(os_number);
        Self {
            name: segment.to_string(),
            shown: segment.to_string(),
            wanted,
            is_os: wanted.is_some(),
        }
    }

    /// A process or thread of any name. A bare number is its number, too.
    pub(super) fn named(name: &str, what: &str) -> Self {
        let digits = name.strip_prefix('-').unwrap_or(name);
        let is_bare = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            name: name.to_owned(),
            shown: match is_bare {
                true => format!("{what} {name}"),
                false => name.to_owned(),
            },
            wanted: name.parse().ok().filter(|_| is_bare).and_then(os_number),
            is_os: false,
        }
    }

    /// A number of the operating system that an event has.
    pub(super) fn os(number: u64, what: &str) -> Self {
        Self {
            name: format!("{what}[{number}]"),
            shown: format!("{what}[{number}]"),
            wanted: os_number(number),
            is_os: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_numbers_are_small_and_differ_from_all_others() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.process(Some(2)), 2);
        assert_eq!(numbers.process(None), 1);
        assert_eq!(numbers.thread(1, None), 3);
        assert_eq!(numbers.thread(1, Some(7)), 7);
        // Each process has its own threads.
        assert_eq!(numbers.thread(2, Some(7)), 7);
        assert_eq!(numbers.thread(2, Some(3)), 3);
        // In use there, by a thread with a made-up number too.
        assert_eq!(numbers.thread(1, Some(7)), 4);
        assert_eq!(numbers.thread(1, Some(3)), 5);
        assert_eq!(numbers.process(Some(1)), 6);
        assert_eq!(numbers.process(None), 8);
    }

    #[test]
    fn bare_numbers_get_a_word() {
        for (name, shown, wanted) in [
            ("7", "Thread 7", Some(7)),
            ("-7", "Thread -7", None),
            ("0", "Thread 0", None),
            ("2147483648", "Thread 2147483648", None),
            ("7a", "7a", None),
            ("-", "-", None),
            ("", "", None),
        ] {
            let step = Step::named(name, "Thread");
            assert_eq!((&*step.shown, step.wanted), (shown, wanted));
        }
    }
}
