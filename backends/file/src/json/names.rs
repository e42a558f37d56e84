//! The names of an event's arguments: no two are alike.

use super::text;
use crate::intern::hash;
use crate::proto::Writer;

/// The names that were used.
#[derive(Default)]
pub(super) struct Names {
    /// Whether names may repeat.
    check: bool,
    /// Hashes of the names, as they are written.
    used: Vec<u64>,
}

impl Names {
    /// Begins an event; with `Some` its names are made unique, among those of these arguments too.
    #[inline]
    pub(super) fn begin(&mut self, first: Option<&[u8]>) {
        self.check = first.is_some();
        if let Some(first) = first {
            self.used.clear();
            self.used.extend(keys(first).map(hash));
        }
    }

    /// Appends a name, changed if it would repeat.
    pub(super) fn write(&mut self, name: &str, out: &mut Writer) {
        if self.write_new(name, out) {
            return;
        }
        for copy in 2.. {
            if self.write_new(&format!("{name} ({copy})"), out) {
                return;
            }
        }
    }

    /// Appends a name if it was not used.
    fn write_new(&mut self, name: &str, out: &mut Writer) -> bool {
        let before = out.len();
        text(name, out);
        if !self.check {
            return true;
        }
        let hash = hash(&out.as_bytes()[before..]);
        if self.used.contains(&hash) {
            out.truncate(before);
            return false;
        }
        self.used.push(hash);
        true
    }
}

/// The names of the arguments that are written, with their quotes.
fn keys(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut depth = 0;
    std::iter::from_fn(move || {
        loop {
            let (&byte, after) = rest.split_first()?;
            match byte {
                b'"' => {
                    let (key, after) = rest.split_at(string_len(rest));
                    rest = after;
                    if depth == 0 && after.first() == Some(&b':') {
                        return Some(key);
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            rest = after;
        }
    })
}

/// The length of the string that `text` begins with, with its quotes.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_arguments_are_found() {
        let args = r#""a":"x\",\"no\":","b\\":{"no":[{"no":1}]},"c":[],"d":2"#;
        let found: Vec<_> = keys(args.as_bytes())
            .map(|key| str::from_utf8(key).unwrap())
            .collect();
        assert_eq!(found, [r#""a""#, r#""b\\""#, r#""c""#, r#""d""#]);
        assert_eq!(keys(b"").count(), 0);
    }

    #[test]
    fn names_that_repeat_are_numbered() {
        let mut names = Names::default();
        let mut out = Writer::default();
        names.begin(Some(br#""a":1,"a (2)":2"#));
        for name in ["a", "b", "b"] {
            names.write(name, &mut out);
        }
        names.begin(None);
        names.write("a", &mut out);
        assert_eq!(out.as_bytes(), br#""a (3)""b""b (2)""a""#);
    }
}
