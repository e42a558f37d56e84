//! Lines as they were written, read again.

use super::arrow::{BOUND, FLOW_NAME, FOLLOWS, LEADS, NAME_END};

/// What is left of a line.
#[derive(Clone, Copy)]
pub(super) struct Text<'l>(pub(super) &'l [u8]);

impl<'l> Text<'l> {
    /// Takes what has to stand here.
    pub(super) fn skip(&mut self, what: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(what)?;
        Some(())
    }

    /// The phase of an event, and what follows it.
    pub(super) fn phase(mut self) -> Option<(u8, Self)> {
        self.skip(b",\n{\"ph\":\"")?;
        let (phase, rest) = self.0.split_first()?;
        self.0 = rest;
        self.skip(b"\"")?;
        Some((*phase, self))
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let len = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.0.split_at(len);
        self.0 = rest;
        str::from_utf8(digits).ok()?.parse().ok()
    }

    /// The thread of an event, and whether that stands before the process.
    pub(super) fn thread(&mut self) -> Option<(u64, bool)> {
        let is_turned = self.skip(b",\"tid\":").is_some();
        if is_turned {
            let thread = self.number()?;
            self.skip(b",\"pid\":")?;
            self.number()?;
            return Some((thread, true));
        }
        self.skip(b",\"pid\":")?;
        self.number()?;
        self.skip(b",\"tid\":")?;
        Some((self.number()?, false))
    }

    /// The number of what an event is joined by, or that of a flow of its own.
    pub(super) fn flow(&mut self) -> Option<u64> {
        let (digits, radix) = match self.skip(BOUND) {
            Some(()) => (u8::is_ascii_hexdigit as fn(&u8) -> bool, 16),
            None => {
                self.skip(FLOW_NAME)?;
                (u8::is_ascii_digit as fn(&u8) -> bool, 10)
            }
        };
        let len = self.0.iter().take_while(|byte| digits(byte)).count();
        let (number, rest) = self.0.split_at(len);
        self.0 = rest;
        self.skip(NAME_END)?;
        if radix == 16 {
            let follows = self.skip(FOLLOWS);
            self.skip(LEADS).or(follows)?;
        }
        u64::from_str_radix(str::from_utf8(number).ok()?, radix).ok()
    }

    /// The time behind a name, which counts from `base`.
    pub(super) fn time(&mut self, name: &[u8], base: i64) -> Option<i64> {
        self.skip(name)?;
        let is_negative = self.skip(b"-").is_some();
        let micros = i128::from(self.number()?);
        self.skip(b".")?;
        let rest = self
            .0
            .get(..3)
            .filter(|rest| rest.iter().all(u8::is_ascii_digit))?;
        let rest = rest
            .iter()
            .fold(0, |all, digit| all * 10 + i128::from(digit - b'0'));
        self.0 = &self.0[3..];
        let span = micros * 1000 + rest;
        let time = i128::from(base) + if is_negative { -span } else { span };
        time.try_into().ok()
    }
}
