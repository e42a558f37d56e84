//! Counters and counter groups.

use std::any::{self, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use nvtxw_abi::EntryType;

use crate::calls::{CounterDefinition, SampleBytes};
use crate::counter_options::CounterOptions;
use crate::derived::NvtxCounterGroup;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::id::{Owner, StaticId};
use crate::sample::TimedSample;
use crate::{owner, text};

/// The number type of a counter: an integer of up to 64 bits, `f32` or `f64`.
///
/// Readers that have only one kind of number show counters as `f64`, so that integers beyond 2^53 may be rounded there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` isn't the number type of a counter",
    label = "a counter is an integer of up to 64 bits, `f32` or `f64`",
    note = "a struct of counters that are sampled together derives `NvtxCounterGroup`, and is registered with \
            `counter_group`"
)]
pub trait CounterType: SampleBytes + sealed::Sealed {
    #[doc(hidden)]
    const ENTRY_TYPE: EntryType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! counter_types {
    ($($ty:ty: $entry_type:ident;)*) => { $(
        impl sealed::Sealed for $ty {}

        impl CounterType for $ty {
            const ENTRY_TYPE: EntryType = EntryType::$entry_type;
        }

        #[diagnostic::do_not_recommend]
        impl TimedSample for $ty {
            type Value<'a> = $ty;

            #[inline]
            fn with<R>(value: $ty, write: impl FnOnce(&Self) -> R) -> R {
                write(&value)
            }
        }
    )* };
}

// What C's helpers call a counter of 64-bit floats is C's `double`.
counter_types! {
    i8: Int8;
    i16: Int16;
    i32: Int32;
    i64: Int64;
    u8: UInt8;
    u16: UInt16;
    u32: UInt32;
    u64: UInt64;
    f32: Float;
    f64: Double;
}

/// A registered counter or counter group, as a small value to keep.
///
/// Made by [`Domain::counter`](crate::Domain::counter) and [`Domain::counter_group`](crate::Domain::counter_group);
/// [`Writer::counter`](crate::Writer::counter) takes it.
pub struct Counter<C> {
    pub(crate) id: u64,
    pub(crate) owner: Owner,
    sample: PhantomData<fn(&C)>,
}

impl<C> Counter<C> {
    pub(crate) fn new(id: u64, owner: Owner) -> Self {
        Self {
            id,
            owner,
            sample: PhantomData,
        }
    }
}

impl<C> Counter<C> {
    /// The counter's number, unique among those of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }
}

impl<C> Clone for Counter<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Counter<C> {}

impl<C> PartialEq for Counter<C> {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.owner) == (other.id, other.owner)
    }
}

impl<C> Eq for Counter<C> {}

impl<C> fmt::Debug for Counter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter")
            .field("id", &self.id)
            .field("owner", &self.owner)
            .finish()
    }
}

/// What a sample of a counter holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SampleType {
    Scalar(EntryType),
    Group {
        schema: u64,
        name: Arc<str>,
        /// The path of the Rust type, if there is one.
        type_path: Option<&'static str>,
    },
}

impl SampleType {
    pub(crate) fn schema(&self) -> u64 {
        match self {
            Self::Scalar(ty) => ty.to_raw(),
            Self::Group { schema, .. } => *schema,
        }
    }

    /// The type in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Scalar(ty) => ty.name().to_owned(),
            Self::Group { name, .. } => format!("group `{name}`"),
        }
    }

    /// The type in words that differ for two types or layouts of one name.
    fn describe_in_full(&self) -> String {
        match self {
            Self::Scalar(_) => self.describe(),
            Self::Group {
                schema,
                name,
                type_path,
            } => format!("group `{}` (schema {schema})", type_path.unwrap_or(name)),
        }
    }
}

/// A counter as it was registered.
#[derive(Debug)]
pub(crate) struct CounterEntry {
    pub(crate) id: u64,
    pub(crate) sample: SampleType,
    pub(crate) options: CounterOptions,
}

impl CounterEntry {
    /// The counter's ID, if it is asked for as it was registered.
    pub(crate) fn same(
        &self,
        name: &str,
        sample: &SampleType,
        options: &CounterOptions,
    ) -> Result<u64> {
        if self.sample == *sample && self.options == *options {
            return Ok(self.id);
        }
        let mut registered = self.options.describe(self.sample.describe());
        let mut requested = options.describe(sample.describe());
        if registered == requested {
            registered = self.options.describe(self.sample.describe_in_full());
            requested = options.describe(sample.describe_in_full());
        }
        Err(Error::CounterDiffers {
            name: name.to_owned(),
            registered,
            requested,
        })
    }
}

impl Domain<'_> {
    /// Registers a counter of single numbers.
    ///
    /// # Errors
    /// As [`counter_with`](Domain::counter_with).
    pub fn counter<C: CounterType>(&mut self, name: &str) -> Result<Counter<C>> {
        self.counter_with(name, CounterOptions::new())
    }

    /// Registers a counter of single numbers with a unit, limits and so on.
    ///
    /// ```
    /// # #[cfg(feature = "file")] {
    /// # use nvtxw::{Backend, Config, CounterOptions, Limit, Session};
    /// # let folder = std::env::temp_dir().join("nvtxw-doc-counter");
    /// # std::fs::create_dir_all(&folder)?;
    /// # let config = Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
    /// # let mut session = Session::begin(&Backend::embedded(), "run", &config)?;
    /// # let mut sim = session.domain("sim")?;
    /// let load = sim.counter_with::<f64>(
    ///     "load",
    ///     CounterOptions::new().unit("%").min(Limit::F64(0.0)).max(Limit::F64(100.0)),
    /// )?;
    /// # let _ = load;
    /// # session.end()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CounterDiffers`] if a counter of that name and scope has another type or other options;
    /// [`Error::CounterOptions`] if they contradict each other; [`Error::Foreign`] if the scope is of another domain;
    /// [`Error::InteriorNul`]; [`Error::Call`] if the backend refuses.
    pub fn counter_with<C: CounterType>(
        &mut self,
        name: &str,
        options: CounterOptions,
    ) -> Result<Counter<C>> {
        let id = self.counter_of(name, SampleType::Scalar(C::ENTRY_TYPE), options)?;
        Ok(Counter::new(id, self.state.owner))
    }

    /// Registers a counter group: counters that are sampled together, as a struct.
    ///
    /// # Errors
    /// As [`counter_with`](Domain::counter_with).
    pub fn counter_group<G: NvtxCounterGroup>(&mut self, name: &str) -> Result<Counter<G>> {
        self.counter_group_with(name, CounterOptions::new())
    }

    /// Registers a counter group with a scope or a description. Units, limits and so on are the fields' own.
    ///
    /// # Errors
    /// As [`counter_with`](Domain::counter_with).
    pub fn counter_group_with<G: NvtxCounterGroup>(
        &mut self,
        name: &str,
        options: CounterOptions,
    ) -> Result<Counter<G>> {
        const { G::CHECK };
        let schema = self.schema_of(TypeId::of::<G>(), &G::SCHEMA, None)?;
        let id = self.counter_of(
            name,
            SampleType::Group {
                schema,
                name: G::SCHEMA.name.to_string_lossy().into(),
                type_path: Some(any::type_name::<G>()),
            },
            options,
        )?;
        Ok(Counter::new(id, self.state.owner))
    }

    pub(crate) fn counter_of(
        &mut self,
        name: &str,
        sample: SampleType,
        options: CounterOptions,
    ) -> Result<u64> {
        let scope = self.default_scope(options.scope, || format!("counter `{name}` is for"))?;
        let key = (name.into(), scope);
        let mut registered = self.state.registered();
        if let Some(id) = registered.counters.id(&key) {
            return registered.counter_entries[&id].same(name, &sample, &options);
        }
        if let Some(problem) = options.problem(&sample) {
            return Err(Error::CounterOptions {
                name: name.to_owned(),
                problem,
            });
        }
        let unit = options.semantics.c_unit("counter unit")?;
        let description = options
            .description
            .as_deref()
            .map(|text| text::c_string(text, "counter description"))
            .transpose()?;
        let definition = CounterDefinition {
            name: &text::c_string(name, "counter name")?,
            description: description.as_deref(),
            schema: sample.schema(),
            scope,
            semantics: options.semantics.with_unit(unit.as_deref()),
            time_domain: options
                .time_domain
                .map(|clock| clock.number(self.state.owner))
                .transpose()
                .map_err(|owner| {
                    let object = "a time domain that was passed".to_owned();
                    let place = format!("counter `{name}` is for");
                    owner::foreign(object, owner, &place, self.state.owner)
                })?,
            static_id: StaticId::raw(options.static_id),
        };
        let id = self
            .live
            .register_counter(self.state.handle, &definition)
            .map_err(|refusal| refusal.of("register", self.object("counter", name)))?;
        registered.counters.insert(key, id);
        let entry = CounterEntry {
            id,
            sample,
            options,
        };
        registered.counter_entries.insert(id, entry);
        Ok(id)
    }
}
