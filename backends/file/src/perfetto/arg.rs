//! The fields of payloads as annotations, where all of an event's are near and of the kinds that most are of:
//! what doesn't depend on the values is worked out once.
//!
//! They say what those of the [annotator](super::annotation) do, which takes fields of all kinds.

mod builder;

use std::hint::cold_path;
use std::slice;
use std::sync::Arc;

use nvtxw_backend::{Enum, Field, Schema};

use super::annotation::known;
use super::encoder::{Tables, intern};
use super::field::{annotation, event, interned};
use super::quick::{MOST_LONG, most};
use crate::flow::joined;
use crate::plain::{Copied, Load, Loaded, Payload};
use crate::proto::{
    FIXED64, LONG_SLOT, SHORT_SLOT, SMALL, Slot, VARINT, Writer, small_varint, tag, tag_byte,
    varint, varint_len,
};

/// What an annotation begins with, up to its value.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// Lowest byte first. The second one is the length without the value.
    word: u64,
    len: usize,
}

impl Head {
    /// Of an annotation that is this field of what it is in, with the number of its name if it has one there. The tag
    /// is that of the value.
    pub(super) fn new(level: u32, name: Option<u64>, tag: (u64, usize)) -> Self {
        let (mut word, mut len) = (tag_byte(level, true), 2);
        let mut put = |(bytes, count): (u64, usize)| {
            word |= bytes << (8 * len);
            len += count;
        };
        if let Some(name) = name {
            put((tag_byte(annotation::NAME_IID, false), 1));
            // Numbers of texts take three bytes at most.
            put(varint(name));
        }
        put(tag);
        word |= (len as u64 - 2) << 8;
        Self { word, len }
    }

    /// Before a value of so many bytes.
    #[inline(always)]
    pub(super) fn before(self, len: usize) -> (u64, usize) {
        (self.word + ((len as u64) << 8), self.len)
    }
}

/// The annotations of a schema's events but for those of colours, and what joins these with others.
pub(super) struct Args {
    all: Vec<Arg>,
    /// Those of texts that are elsewhere, by their places in all.
    elsewhere: Vec<usize>,
    /// Where the last byte of their fields is at most.
    last: usize,
    /// How many bytes they take at least.
    least: usize,
}

/// An annotation, or something else that comes of a field.
pub(super) struct Arg {
    is_integer: bool,
    /// Whether it is a number, if it is no integer.
    is_float: bool,
    /// Whether that is a double.
    is_double: bool,
    head: Head,
    offset: usize,
    /// The bits of an integer.
    mask: u64,
    /// Those that are set in none that is small, and not negative.
    wide: u64,
    other: Other,
}

/// How what takes more than a few instructions is written.
enum Other {
    /// An integer that is wide, or negative; a truth that is neither.
    Number(Load),
    Truth,
    Choice(Choice),
    /// A registered string, perhaps in an array.
    Handle {
        is_element: bool,
    },
    /// Text of at most so many bytes.
    Text(usize),
    /// Text that is elsewhere, with this index among an event's texts, and the number of that of the event at hand.
    Elsewhere(usize, Option<TextNumber>),
    /// An array or a struct.
    Group(Vec<Arg>),
    /// What joins events: a number that is read so, in a domain.
    Flow(Load, u64),
}

/// A text's number as a varint, lowest byte first, and how many bytes that is; none of a text that is null.
type TextNumber = (u64, usize);

/// Values of an enum, which are read so.
struct Choice {
    load: Load,
    meaning: Arc<Enum>,
    /// What they become, by their low bits.
    known: Vec<Known>,
}

/// What a value becomes: with its tag, lowest byte first.
#[derive(Clone, Copy, Default)]
struct Known {
    value: u64,
    word: u64,
    /// 0 if this is free.
    len: usize,
}

impl Args {
    /// `None` if some field is not of these kinds.
    pub(super) fn of(schema: &Schema, texts: &mut Tables) -> Option<Self> {
        let args = builder::args_of(schema, texts)?;
        let is_elsewhere = |arg: &Arg| matches!(arg.other, Other::Elsewhere(..));
        Some(Self {
            elsewhere: (0..args.len())
                .filter(|at| is_elsewhere(&args[*at]))
                .collect(),
            last: args.iter().map(Arg::last).max().unwrap_or_default(),
            least: args.iter().map(Arg::least).sum(),
            all: args,
        })
    }

    /// Whether they can be [written](Self::write) into a slot of `N` bytes that has this room for them.
    pub(super) fn fit<const N: usize>(&self, room: usize) -> bool {
        self.last < N && self.least <= room
    }

    /// Whether the numbers of texts have to be found.
    #[inline(always)]
    pub(super) fn have_texts(&self, texts: &[Option<&[u8]>]) -> bool {
        !texts.is_empty() && !self.elsewhere.is_empty()
    }

    /// Finds the numbers of an event's texts that are elsewhere, for when it is [written](Self::write). `None` if one has none.
    #[inline]
    pub(super) fn find_texts(
        &mut self,
        texts: &[Option<&[u8]>],
        tables: &mut Tables,
    ) -> Option<()> {
        for at in &self.elsewhere {
            if let Other::Elsewhere(index, number) = &mut self.all[*at].other {
                *number = Some(match texts.get(*index)? {
                    Some(text) => value_number(text, tables)?,
                    None => (0, 0),
                });
            }
        }
        Some(())
    }

    /// Appends what there is of a payload with these texts. `false`, and appends nothing, if something is not known, or not
    /// usual.
    pub(super) fn write_all(
        &mut self,
        payload: &[u8],
        texts: &[Option<&[u8]>],
        copied: &mut Copied,
        tables: &mut Tables,
        out: &mut Writer,
    ) -> bool {
        let written = if self.fit::<SHORT_SLOT>(most(SHORT_SLOT)) {
            self.write_slot::<SHORT_SLOT>(payload, texts, copied, tables, out)
        } else if self.fit::<LONG_SLOT>(MOST_LONG) {
            self.write_slot::<LONG_SLOT>(payload, texts, copied, tables, out)
        } else {
            None
        };
        written.is_some()
    }

    fn write_slot<const N: usize>(
        &mut self,
        payload: &[u8],
        texts: &[Option<&[u8]>],
        copied: &mut Copied,
        tables: &mut Tables,
        out: &mut Writer,
    ) -> Option<()> {
        let mut slot = out.slot::<N>()?;
        self.find_texts(texts, tables)?;
        self.write(copied.near(payload), tables, &mut slot)?;
        (slot.len() <= Slot::<N>::MOST).then(|| slot.keep())
    }

    /// Appends what there is of a payload. `None` if something is not known, or not usual; then the slot is not to be
    /// kept.
    #[inline(always)]
    pub(super) fn write<const N: usize>(
        &mut self,
        payload: &[u8; N],
        texts: &mut Tables,
        out: &mut Slot<'_, N>,
    ) -> Option<()> {
        let mut args = self.all.iter();
        while let Some(arg) = args.next() {
            if !arg.write_number(payload, out) {
                // There are no others than numbers, mostly.
                cold_path();
                let first = self.all.len() - args.len() - 1;
                let rest = &mut self.all[first..];
                return out.try_with(|room, len| write_some(rest, payload, texts, room, len));
            }
        }
        Some(())
    }
}

impl Arg {
    fn least(&self) -> usize {
        match &self.other {
            Other::Number(Load::F32 | Load::F64) => self.head.len + 8,
            Other::Group(args) => self.head.len + args.iter().map(Self::least).sum::<usize>(),
            // Null is not shown, and joins nothing.
            Other::Handle { .. } | Other::Elsewhere(..) | Other::Flow(..) => 0,
            Other::Number(_) | Other::Truth | Other::Choice(_) | Other::Text(_) => {
                self.head.len + 1
            }
        }
    }

    /// Where the last byte that it may read is, which is eight and more behind the beginning of each field.
    fn last(&self) -> usize {
        match &self.other {
            Other::Group(args) => args.iter().map(Self::last).max().unwrap_or_default(),
            Other::Elsewhere(..) => 0,
            Other::Text(size) => self.offset + (*size).max(8),
            _ => self.offset + 8,
        }
    }

    /// Appends a usual number; `false`, and nothing is done, for anything else.
    #[inline(always)]
    fn write_number<const N: usize>(&self, payload: &[u8; N], out: &mut Slot<'_, N>) -> bool {
        let Self { head, offset, .. } = *self;
        // No enum, for which all would be behind a jump through a table.
        if self.is_integer {
            let word = u64::from_le_bytes(payload.bytes(offset));
            let value = word & self.mask;
            // Neither what is wide nor what is negative, nor the order of bytes of rare machines.
            if !cfg!(target_endian = "little") || value & self.wide != 0 {
                cold_path();
                return false;
            }
            let (value, value_len) = small_varint(value);
            let (word, len) = head.before(value_len);
            out.word(word, len);
            out.word(value, value_len);
            return true;
        }
        if !self.is_float {
            return false;
        }
        let value = match self.is_double {
            true => f64::from_ne_bytes(payload.bytes(offset)),
            false => f32::from_ne_bytes(payload.bytes(offset)).into(),
        };
        let (word, len) = head.before(8);
        out.word(word, len);
        out.word(value.to_bits(), 8);
        true
    }

    /// Takes the parts of a slot.
    #[inline]
    fn write_other<const N: usize>(
        &mut self,
        payload: &[u8; N],
        texts: &mut Tables,
        room: &mut [u8; N],
        len: usize,
    ) -> Option<usize> {
        let (head, offset) = (self.head, self.offset);
        let (word, word_len) = match &mut self.other {
            Other::Number(load) => {
                let value = bits(*load, payload, offset)?;
                return Some(Slot::at(room, len, |out| {
                    let (word, len) = head.before(varint_len(value));
                    out.word(word, len);
                    out.varint(value);
                }));
            }
            Other::Truth => return None,
            Other::Choice(choice) => choice.find(bits(choice.load, payload, offset)?, texts)?,
            Other::Handle { is_element } => match u64::from_ne_bytes(payload.bytes(offset)) {
                0 => return (!*is_element).then_some(len),
                handle => texts.values.recent_varint(handle)?,
            },
            Other::Text(size) => {
                let text = &payload[offset..offset + *size];
                let end = text.iter().position(|byte| *byte == 0);
                value_number(&text[..end.unwrap_or(*size)], texts)?
            }
            // Each is of one event.
            Other::Elsewhere(_, number) => match number.take()? {
                (_, 0) => return Some(len),
                number => number,
            },
            Other::Group(args) => {
                let start = Slot::at(room, len, |out| out.word(head.word, head.len));
                let end = write_some(args, payload, texts, room, start)?;
                if end == start {
                    // A struct in which nothing is shown is told otherwise.
                    return None;
                }
                return close(room, len + 1, end);
            }
            Other::Flow(load, domain) => {
                const TAG: (u64, usize) = tag(event::FLOW_IDS, FIXED64);
                let value = bits(*load, payload, offset)?;
                let flow = joined(value.into(), *domain);
                return Some(flow.map_or(len, |flow| {
                    Slot::at(room, len, |out| {
                        out.word(TAG.0, TAG.1);
                        out.word(flow, 8);
                    })
                }));
            }
        };
        Some(Slot::at(room, len, |out| {
            let (head, len) = head.before(word_len);
            out.word(head, len);
            out.word(word, word_len);
        }))
    }
}

/// As [`Args::write`] for some of them. Takes the parts of a slot, which stay in registers so.
#[inline(never)]
fn write_some<const N: usize>(
    args: &mut [Arg],
    payload: &[u8; N],
    texts: &mut Tables,
    room: &mut [u8; N],
    mut len: usize,
) -> Option<usize> {
    for arg in args {
        let mut is_number = false;
        let end = Slot::at(room, len, |out| is_number = arg.write_number(payload, out));
        len = match is_number {
            true => end,
            false => arg.write_other(payload, texts, room, len)?,
        };
    }
    Some(len)
}

/// The bits of an integer, if this reads one, with its sign.
fn bits(load: Load, payload: &impl Payload, offset: usize) -> Option<u64> {
    match load.read(payload, offset) {
        Loaded::Signed(value) => Some(value as u64),
        Loaded::Unsigned(value) | Loaded::Address(value) => Some(value),
        Loaded::Single(_) | Loaded::Double(_) => None,
    }
}

/// Sets the length that is at `at`, of what ends at `end`. Returns where that is then.
fn close<const N: usize>(room: &mut [u8; N], at: usize, end: usize) -> Option<usize> {
    // The rest of what goes on behind the slot is at its start.
    if end > Slot::<N>::MOST {
        return None;
    }
    let len = end - at - 1;
    if len < 0x80 {
        room[at] = len as u8;
        return Some(end);
    }
    room.copy_within(at + 1..end, at + 2);
    room[at] = len as u8 | 0x80;
    room[at + 1] = (len >> 7) as u8;
    Some(end + 1)
}

/// The number of a text that is a value.
#[inline(always)]
fn value_number(text: &[u8], texts: &mut Tables) -> Option<TextNumber> {
    let number = texts.values.known_varint(text);
    number.or_else(|| new_value(text, texts))
}

/// The number of a text that is new.
#[inline(never)]
fn new_value(text: &[u8], texts: &mut Tables) -> Option<TextNumber> {
    if !texts.values.takes(text.len()) {
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    let Tables { values, new, .. } = texts;
    intern(values, new, interned::STRING_VALUES, text).map(varint)
}

impl Choice {
    fn new(load: Load, meaning: &Arc<Enum>) -> Self {
        let count = meaning.entries().len().next_power_of_two().min(64);
        Self {
            load,
            meaning: Arc::clone(meaning),
            known: vec![Known::default(); count],
        }
    }

    /// What a value becomes.
    fn find(&mut self, value: u64, texts: &mut Tables) -> Option<(u64, usize)> {
        let index = value as usize & (self.known.len() - 1);
        let known = &mut self.known[index];
        if known.len == 0 || known.value != value {
            let (word, len) = learn(value, &self.meaning, texts)?;
            *known = Known { value, word, len };
        }
        Some((known.word, known.len))
    }
}

#[inline(never)]
fn learn(value: u64, meaning: &Enum, texts: &mut Tables) -> Option<(u64, usize)> {
    let ((tag, tag_len), (number, len)) = match meaning.describe(value) {
        Some(words) => (
            tag(annotation::STRING_IID, VARINT),
            new_value(words.as_bytes(), texts)?,
        ),
        // Of a greater one it is not all in a word.
        None if value < SMALL => (tag(annotation::UINT, VARINT), small_varint(value)),
        None => return None,
    };
    Some((tag | number << (8 * tag_len), tag_len + len))
}

impl Arg {
    fn other(head: Head, offset: usize, other: Other) -> Self {
        Self {
            is_integer: false,
            is_float: false,
            is_double: false,
            head,
            offset,
            mask: 0,
            wide: 0,
            other,
        }
    }

    /// A number of any kind.
    fn number(head: Head, offset: usize, load: Load) -> Self {
        let (bits, is_signed) = match load {
            Load::I8 => (8, true),
            Load::I16 => (16, true),
            Load::I32 => (32, true),
            Load::I64 => (64, true),
            Load::U8 => (8, false),
            Load::U16 => (16, false),
            Load::U32 | Load::F32 => (32, false),
            Load::U64 | Load::Address | Load::F64 => (64, false),
        };
        let is_float = matches!(load, Load::F32 | Load::F64);
        let mask = u64::MAX >> (64 - bits);
        let sign = u64::from(is_signed) << (bits - 1);
        Self {
            is_integer: !is_float,
            is_float,
            is_double: load == Load::F64,
            mask,
            wide: mask & !(SMALL - 1) | sign,
            ..Self::other(head, offset, Other::Number(load))
        }
    }

    /// A byte that is 0 or 1.
    fn truth(head: Head, offset: usize) -> Self {
        Self {
            wide: 0xFE,
            other: Other::Truth,
            ..Self::number(head, offset, Load::U8)
        }
    }

    /// As [`Args::write`] for one, with the parts of a slot.
    pub(super) fn write<const N: usize>(
        &mut self,
        payload: &[u8; N],
        texts: &mut Tables,
        room: &mut [u8; N],
        len: usize,
    ) -> Option<usize> {
        write_some(slice::from_mut(self), payload, texts, room, len)
    }

    /// The annotation that tells an attribute of this field; `None` if it is not near, or its name has no number.
    pub(super) fn attribute(field: &Field, load: Load, texts: &mut Tables) -> Option<Self> {
        let offset = Some(field.offset()).filter(|offset| *offset < SHORT_SLOT - 8)?;
        let name = known(field.name(), texts)?;
        let head = Head::new(event::ANNOTATIONS, Some(name), load_tag(load));
        Some(Self::number(head, offset, load))
    }
}

/// The tag of a number's value.
pub(super) fn load_tag(load: Load) -> (u64, usize) {
    match load {
        Load::I8 | Load::I16 | Load::I32 | Load::I64 => tag(annotation::INT, VARINT),
        Load::U8 | Load::U16 | Load::U32 | Load::U64 => tag(annotation::UINT, VARINT),
        Load::Address => tag(annotation::POINTER, VARINT),
        Load::F32 | Load::F64 => tag(annotation::DOUBLE, FIXED64),
    }
}
