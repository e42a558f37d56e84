//! From JSON values to the bytes of payloads, laid out as C does.

use nvtxw_abi::EntryType;
use serde_json::Value;

/// The type of an entry.
#[derive(Clone)]
pub enum Type {
    Scalar(EntryType),
    /// An enum of so many bytes.
    Enum(usize),
    Struct(Layout),
}

/// How many elements an entry has.
#[derive(Clone, Copy, PartialEq)]
pub enum Extent {
    One,
    /// So many elements, or code units.
    Fixed(usize),
    /// Up to an element of zeros.
    Zero,
    /// Another entry or payload says how many.
    Elsewhere,
}

#[derive(Clone)]
pub struct Entry {
    pub name: String,
    pub ty: Type,
    pub extent: Extent,
    pub at: Option<usize>,
    /// It is an offset or a pointer.
    pub refers: bool,
}

/// A schema.
#[derive(Clone)]
pub struct Layout {
    pub entries: Vec<Entry>,
    pub is_static: bool,
    pub is_union: bool,
    /// 0: none.
    pub pack: usize,
    /// At least, if it is static.
    pub size: usize,
}

/// What a value refers to by name.
pub trait Names {
    fn string(&mut self, text: &str) -> u64;
    fn id(&self, name: &str) -> u64;
}

impl Type {
    /// Size and alignment of one element; of text, those of a code unit.
    fn extent(&self) -> (usize, usize) {
        match self {
            Self::Scalar(ty) => match unit(*ty) {
                Some(unit) => (unit, unit),
                // A union's selector has the size that the backend takes for unsaid.
                None => ty.layout().unwrap_or((4, 4)),
            },
            Self::Enum(size) => (*size, *size),
            Self::Struct(layout) => (layout.size(), layout.align()),
        }
    }

    /// Appends one value.
    pub fn write(&self, value: &Value, names: &mut impl Names, out: &mut Vec<u8>) {
        match self {
            Self::Scalar(ty) if unit(*ty).is_some() => out.extend(text(*ty, value)),
            _ if value.get("hex").is_some() => out.extend(hex(value)),
            Self::Scalar(ty) => scalar(*ty, value, names, out),
            Self::Enum(size) => out.extend(&integer(value).to_le_bytes()[..*size]),
            Self::Struct(layout) => layout.write(value, names, out),
        }
    }
}

impl Entry {
    fn align(&self, pack: usize) -> usize {
        let natural = if self.refers { 8 } else { self.ty.extent().1 };
        if pack == 0 {
            natural
        } else {
            natural.min(pack)
        }
    }

    fn size(&self) -> usize {
        match self.extent {
            _ if self.refers => 8,
            Extent::One | Extent::Zero | Extent::Elsewhere => self.ty.extent().0,
            Extent::Fixed(count) => self.ty.extent().0 * count,
        }
    }

    fn write(&self, value: &Value, names: &mut impl Names, out: &mut Vec<u8>) {
        if self.refers {
            out.extend(&integer(value).to_le_bytes()[..8]);
            return;
        }
        let start = out.len();
        match (&self.ty, self.extent) {
            (_, Extent::One) => self.ty.write(value, names, out),
            (Type::Scalar(ty), _) if unit(*ty).is_some() => out.extend(text(*ty, value)),
            _ if value.get("hex").is_some() => out.extend(hex(value)),
            _ => self.elements(value, names, out),
        }
        match self.extent {
            Extent::Fixed(_) => {
                assert!(
                    out.len() - start <= self.size(),
                    "{value} is too long for `{}`",
                    self.name
                );
                out.resize(start + self.size(), 0);
            }
            Extent::Zero if value.get("hex").is_none() => {
                out.resize(out.len() + self.ty.extent().0, 0)
            }
            _ => {}
        }
    }
}

impl Entry {
    /// Appends the elements of a list, also those of rows in it.
    fn elements(&self, list: &Value, names: &mut impl Names, out: &mut Vec<u8>) {
        let elements = list.as_array();
        for element in elements.unwrap_or_else(|| panic!("{list} is no list")) {
            match (&self.ty, element) {
                (Type::Scalar(_) | Type::Enum(_), Value::Array(_)) => {
                    self.elements(element, names, out)
                }
                _ => self.ty.write(element, names, out),
            }
        }
    }
}

impl Layout {
    fn align(&self) -> usize {
        self.entries
            .iter()
            .map(|entry| entry.align(self.pack))
            .max()
            .unwrap_or(1)
    }

    /// Of a static one.
    pub fn size(&self) -> usize {
        let mut end = 0;
        let mut largest = 0;
        for (index, entry) in self.entries.iter().enumerate() {
            let at = self.place(index, if self.is_union { 0 } else { end });
            end = at + entry.size();
            largest = largest.max(end);
        }
        largest.next_multiple_of(self.align()).max(self.size)
    }

    fn place(&self, index: usize, free: usize) -> usize {
        let entry = &self.entries[index];
        entry
            .at
            .unwrap_or_else(|| free.next_multiple_of(entry.align(self.pack)))
    }

    /// Appends a list of values; of a union, its one member as an object.
    pub fn write(&self, value: &Value, names: &mut impl Names, out: &mut Vec<u8>) {
        let start = out.len();
        if self.is_union {
            let (name, value) = value
                .as_object()
                .and_then(|members| members.iter().next())
                .expect("the union's member");
            let index = self
                .entries
                .iter()
                .position(|entry| entry.name == *name)
                .expect("a member");
            let mut bytes = vec![0; self.size()];
            let selector =
                |entry: &&Entry| matches!(entry.ty, Type::Scalar(EntryType::UnionSelector));
            let selected = self
                .entries
                .iter()
                .find(selector)
                .map(|entry| (entry, Value::from(index)));
            for (entry, value) in [(&self.entries[index], value)]
                .into_iter()
                .chain(selected.as_ref().map(|(e, v)| (*e, v)))
            {
                let mut member = Vec::new();
                entry.write(value, names, &mut member);
                bytes[entry.at.unwrap_or(0)..][..member.len()].copy_from_slice(&member);
            }
            out.extend(bytes);
            return;
        }
        let values = value.as_array().expect("a list of values");
        assert_eq!(
            values.len(),
            self.entries.len(),
            "{value}: one value for each entry"
        );
        for (index, (entry, value)) in self.entries.iter().zip(values).enumerate() {
            out.resize(start + self.place(index, out.len() - start), 0);
            entry.write(value, names, out);
        }
        if self.is_static {
            out.resize(start + self.size(), 0);
        }
    }
}

/// The size of a code unit, of text.
fn unit(ty: EntryType) -> Option<usize> {
    match ty {
        EntryType::CString | EntryType::CStringUtf8 => Some(1),
        EntryType::CStringUtf16 => Some(2),
        EntryType::CStringUtf32 => Some(4),
        _ => None,
    }
}

fn text(ty: EntryType, value: &Value) -> Vec<u8> {
    let Some(text) = value.as_str() else {
        return hex(value);
    };
    match unit(ty) {
        Some(2) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Some(4) => text
            .chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect(),
        _ => text.as_bytes().to_vec(),
    }
}

fn scalar(ty: EntryType, value: &Value, names: &mut impl Names, out: &mut Vec<u8>) {
    let size = ty.layout().map_or(4, |(size, _)| size);
    let number = match (ty, value) {
        (EntryType::RegisteredString, Value::Null) => 0,
        (EntryType::RegisteredString, Value::String(text)) => names.string(text).into(),
        (EntryType::ScopeId, Value::String(name)) => names.id(name).into(),
        (EntryType::ColorArgb, Value::String(color)) => {
            i128::from_str_radix(&color[1..], 16).expect("#AARRGGBB")
        }
        (EntryType::Float32 | EntryType::Float | EntryType::TensorFloat32, _) => {
            (float(value) as f32).to_bits().into()
        }
        (EntryType::Float64 | EntryType::Double, _) => float(value).to_bits().into(),
        (_, Value::String(text))
            if text.chars().count() == 1 && !text.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            text.chars().map(u32::from).sum::<u32>().into()
        }
        _ if ty.is_float() => panic!("{value}: give the bytes of a {} in hexadecimal", ty.name()),
        _ => integer(value),
    };
    out.extend(&number.to_le_bytes()[..size]);
}

/// A number, or its digits where JSON's numbers end.
fn integer(value: &Value) -> i128 {
    match value {
        Value::String(digits) => digits
            .parse::<i128>()
            .or_else(|_| digits.parse().map(u128::cast_signed))
            .expect("digits"),
        _ => value
            .as_i64()
            .map(i128::from)
            .or(value.as_u64().map(i128::from))
            .unwrap_or_else(|| panic!("{value} is no integer")),
    }
}

fn float(value: &Value) -> f64 {
    match value.as_str() {
        Some(name) => name.parse().expect("nan, inf or -inf"),
        None => value
            .as_f64()
            .unwrap_or_else(|| panic!("{value} is no number")),
    }
}

/// The bytes of `{"hex": "…"}`, as they are in memory.
pub fn hex(value: &Value) -> Vec<u8> {
    let digits = value["hex"]
        .as_str()
        .unwrap_or_else(|| panic!("{value} has no bytes"));
    assert!(digits.len().is_multiple_of(2), "{value}");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits"))
        .collect()
}
