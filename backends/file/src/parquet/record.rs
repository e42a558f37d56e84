//! What a timeline keeps of an event: what is in its rows, but for its times.

use crate::proto::Writer;

/// What an event says, or the second half of one.
#[derive(Clone, Copy, Default)]
pub(super) struct Record<'a> {
    /// The table that has the fields, by its number in the stream, and these.
    pub(super) typed: Option<(u32, &'a [u8])>,
    /// Of the first half.
    pub(super) name: &'a str,
    pub(super) category: Option<&'a str>,
    pub(super) color: Option<u32>,
    /// All other fields, as the fields of a JSON object; a second half's follow those of the first.
    pub(super) args: &'a str,
    /// Of a record that was read: eight bytes each.
    flows: &'a [u8],
}

impl<'a> Record<'a> {
    pub(super) fn write(&self, flows: &[u64], out: &mut Writer) {
        let (table, fields) = self
            .typed
            .map_or((0, &[][..]), |(table, fields)| (table + 1, fields));
        out.raw(&table.to_le_bytes());
        bytes(fields, out);
        bytes(self.name.as_bytes(), out);
        optional(self.category, out);
        out.raw(&[u8::from(self.color.is_some())]);
        out.raw(&self.color.unwrap_or_default().to_le_bytes());
        bytes(self.args.as_bytes(), out);
        out.raw(&(size_of_val(flows) as u32).to_le_bytes());
        flows.iter().for_each(|flow| out.raw(&flow.to_le_bytes()));
    }

    /// Takes a record off the bytes; the default one of no bytes.
    pub(super) fn read(from: &mut Reader<'a>) -> Self {
        let table = from.u32();
        let fields = from.bytes();
        Self {
            typed: table.checked_sub(1).map(|table| (table, fields)),
            name: from.text().unwrap_or_default(),
            category: from.text(),
            color: {
                let (is_some, color) = (from.u8() != 0, from.u32());
                is_some.then_some(color)
            },
            args: from.text().unwrap_or_default(),
            flows: from.bytes(),
        }
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = u64> {
        let (flows, _) = self.flows.as_chunks();
        flows.iter().copied().map(u64::from_le_bytes)
    }
}

/// The length that stands for no text.
const NONE: u32 = u32::MAX;

/// Events are shorter than 2^32 bytes.
pub(super) fn bytes(bytes: &[u8], out: &mut Writer) {
    out.raw(&(bytes.len() as u32).to_le_bytes());
    out.raw(bytes);
}

pub(super) fn optional(text: Option<&str>, out: &mut Writer) {
    match text {
        Some(text) => bytes(text.as_bytes(), out),
        None => out.raw(&NONE.to_le_bytes()),
    }
}

/// Takes back what was written. Where nothing is left, all is 0 and empty.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((bytes, rest)) => {
                self.0 = rest;
                *bytes
            }
            None => [0; N],
        }
    }

    pub(super) fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(super) fn bytes(&mut self) -> &'a [u8] {
        let len = self.u32() as usize;
        let (bytes, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let mut after = *self;
        if after.u32() == NONE {
            *self = after;
            return None;
        }
        Some(str::from_utf8(self.bytes()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let first = Record {
            typed: Some((0, b"abc")),
            name: "한",
            category: Some(""),
            color: Some(0xFF00_0000),
            args: "\"a\":1",
            flows: &[],
        };
        let mut out = Writer::default();
        first.write(&[7, u64::MAX], &mut out);
        Record::default().write(&[], &mut out);
        let mut reader = Reader(out.as_bytes());
        let read = Record::read(&mut reader);
        assert_eq!(read.typed, first.typed);
        assert_eq!(
            (read.name, read.category, read.color, read.args),
            (first.name, first.category, first.color, first.args)
        );
        assert_eq!(read.flows().collect::<Vec<_>>(), [7, u64::MAX]);
        let read = Record::read(&mut reader);
        assert_eq!((read.typed, read.name, read.category), (None, "", None));
        assert_eq!((read.color, read.args, read.flows.len()), (None, "", 0));
        assert!(reader.0.is_empty());
    }
}
