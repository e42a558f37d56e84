//! Names of a sample's values, where samples of a group differ: a value's name says which track it goes to.

use std::collections::HashMap;

use nvtxw_backend::{CounterSemantics, EntryType, Field, FieldKind};

/// Names the values of samples, in the manner of `group.fields[2].value`.
#[derive(Default)]
pub(crate) struct Naming {
    /// Numbers of the names, in the order in which they came up.
    known: HashMap<Box<str>, usize>,
    /// The number of each value of the sample.
    numbers: Vec<usize>,
    /// Names that came up with the sample.
    fresh: Vec<Named>,
    path: String,
    frames: Vec<Frame>,
}

/// A value that has a name.
pub(crate) struct Named {
    pub(crate) name: Box<str>,
    pub(crate) description: Option<String>,
    /// Those of its field, or of one that it is in.
    pub(crate) semantics: Option<CounterSemantics>,
    /// If it is a plain number.
    pub(crate) ty: Option<EntryType>,
}

/// A struct or an array that is open.
struct Frame {
    /// Bytes of the path around it.
    outer: usize,
    /// How many elements there were, of an array.
    elements: Option<usize>,
    semantics: Option<CounterSemantics>,
}

impl Naming {
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }

    /// The number of the value at `index` of the sample: that of its name.
    pub(crate) fn number(&self, index: usize) -> usize {
        self.numbers[index]
    }

    /// Names that are new, in the order of their numbers.
    pub(crate) fn take_fresh(&mut self) -> Vec<Named> {
        std::mem::take(&mut self.fresh)
    }

    /// A value of `field`.
    pub(super) fn value(&mut self, field: &Field) {
        let outer = self.enter(field);
        let number = match self.known.get(&*self.path) {
            Some(number) => *number,
            None => self.add(field),
        };
        self.numbers.push(number);
        self.path.truncate(outer);
    }

    pub(super) fn begin(&mut self, field: &Field, is_array: bool) {
        let outer = self.enter(field);
        self.frames.push(Frame {
            outer,
            elements: is_array.then_some(0),
            semantics: field.counter_semantics().cloned(),
        });
    }

    pub(super) fn end(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.path.truncate(frame.outer);
        }
    }

    /// Extends the path by a field, or by an element of the array that is open. Returns where it ended before.
    fn enter(&mut self, field: &Field) -> usize {
        use std::fmt::Write;

        let outer = self.path.len();
        match self.frames.last_mut() {
            Some(Frame {
                elements: Some(count),
                ..
            }) => {
                write!(self.path, "[{count}]").expect("a string takes all");
                *count += 1;
            }
            Some(_) => {
                self.path.push('.');
                self.path.push_str(field.name());
            }
            None => self.path.push_str(field.name()),
        }
        outer
    }

    #[cold]
    fn add(&mut self, field: &Field) -> usize {
        let number = self.known.len();
        let name: Box<str> = (&*self.path).into();
        self.known.insert(name.clone(), number);
        let mut around = self.frames.iter().rev();
        let inherited = || around.find_map(|frame| frame.semantics.clone());
        self.fresh.push(Named {
            name,
            description: field.description().map(str::to_owned),
            semantics: field.counter_semantics().cloned().or_else(inherited),
            ty: match field.kind() {
                FieldKind::Scalar(ty) => Some(*ty),
                _ => None,
            },
        });
        number
    }
}
