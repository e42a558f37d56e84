//! Enums that only the run of a program makes known.

use crate::calls::EnumDefinition;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::id::{Owner, StaticId};
use crate::text;

/// The values of an enum, for a [`RowField`](crate::RowField). (One that is known when the program is compiled derives
/// `NvtxEnum` instead.)
///
/// ```
/// # use nvtxw::{Domain, EnumLayout, Result, RowField, RowType};
/// fn state(domain: &mut Domain<'_>) -> Result<RowField> {
///     let states = EnumLayout::new(1).value("idle", 0).value("busy", 1).value("failed", 0xFF);
///     let states = domain.enumeration("state", &states)?;
///     Ok(RowField::new("state", RowType::Enumeration(states)))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct EnumLayout {
    size: usize,
    values: Vec<(String, u64)>,
    flags: bool,
    static_id: Option<StaticId>,
}

impl EnumLayout {
    /// No values yet; a value is an integer of `size` bytes: 1, 2, 4 or 8.
    pub const fn new(size: usize) -> Self {
        Self {
            size,
            values: Vec::new(),
            flags: false,
            static_id: None,
        }
    }

    /// Adds a value. A negative one is given as its bits in the enum's size (0xFF is -1 in one byte).
    pub fn value(mut self, name: &str, value: u64) -> Self {
        self.values.push((name.to_owned(), value));
        self
    }

    /// The values are bits that may be combined, but for 0, which is none of them.
    pub fn flags(mut self) -> Self {
        self.flags = true;
        self
    }

    /// Gives the enum a number of your own.
    pub fn static_id(mut self, id: StaticId) -> Self {
        self.static_id = Some(id);
        self
    }

    fn problem(&self) -> Option<String> {
        if !matches!(self.size, 1 | 2 | 4 | 8) {
            return Some(format!(
                "its values have {} bytes; give 1, 2, 4 or 8",
                self.size
            ));
        }
        if self.values.is_empty() {
            return Some("it has no values; add one".to_owned());
        }
        let mask = u64::MAX >> (64 - 8 * self.size);
        let (name, value) = self.values.iter().find(|(_, value)| value & !mask != 0)?;
        Some(format!(
            "the value {value:#x} of `{name}` doesn't fit its size of {} bytes",
            self.size
        ))
    }
}

/// A registered [`EnumLayout`], as a small value to keep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Enumeration {
    pub(crate) owner: Owner,
    pub(crate) id: u64,
    pub(crate) size: usize,
}

impl Enumeration {
    /// The enum's number, unique among the enums and schemas of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }
}

impl Domain<'_> {
    /// Registers an enum whose values the program found out at run time; once for the same name and values.
    ///
    /// # Errors
    /// [`Error::Enumeration`]; [`Error::InteriorNul`]; [`Error::Call`] if the backend refuses.
    pub fn enumeration(&mut self, name: &str, layout: &EnumLayout) -> Result<Enumeration> {
        let (owner, size) = (self.state.owner, layout.size);
        let mut registered = self.state.registered();
        let key = (name.into(), layout.clone());
        if let Some(&id) = registered.enumerations.get(&key) {
            return Ok(Enumeration { owner, id, size });
        }
        if let Some(problem) = layout.problem() {
            return Err(Error::Enumeration {
                name: name.to_owned(),
                problem,
            });
        }
        let names = layout
            .values
            .iter()
            .map(|(name, _)| text::c_string(name, "name of an enum's value"))
            .collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = names
            .iter()
            .zip(&layout.values)
            .map(|(name, &(_, value))| (&**name, value))
            .collect();
        let definition = EnumDefinition {
            name: &text::c_string(name, "enum name")?,
            size,
            values: &values,
            flags: layout.flags,
            static_id: StaticId::raw(layout.static_id),
        };
        let id = self
            .live
            .register_enum(self.state.handle, &definition)
            .map_err(|refusal| refusal.of("register", self.object("enum", name)))?;
        registered.enumerations.insert(key, id);
        Ok(Enumeration { owner, id, size })
    }
}
