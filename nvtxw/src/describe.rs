//! What is known of registered things.

use std::fmt;
use std::sync::Arc;

use nvtxw_abi::SchemaRole;

use crate::calls::StringHandle;
use crate::counter::Counter;
use crate::counter_options::CounterOptions;
use crate::error::Result;
use crate::event::Schema;
use crate::id::{Owner, Scope, ScopeId};
use crate::row_counter::RowCounter;
use crate::rows::RowSchema;
use crate::session::Session;
use crate::string::RegisteredString;
use crate::time::{TimeDomain, TimeDomainOptions};

use self::sealed::Registry;

/// A registered thing that [`Session::describe`] tells of.
pub trait Describe: sealed::Described {
    /// What it tells.
    type Info;

    #[doc(hidden)]
    fn find(&self, domain: &Registry<'_>) -> Self::Info;
}

pub(crate) mod sealed {
    use crate::domain::DomainState;
    use crate::id::Owner;

    /// The domain of a thing.
    pub struct Registry<'a>(pub(crate) &'a DomainState);

    pub trait Described {
        /// As in "the given counter".
        const KIND: &'static str;

        fn owner(&self) -> Owner;
    }
}

/// A counter or a counter group, as it was registered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CounterInfo {
    /// Its number, unique among those of its domain.
    pub id: u64,
    /// Its name.
    pub name: Box<str>,
    /// Its scope.
    pub scope: ScopeId,
    /// The number of its schema: a predefined type's, or that of a counter group.
    pub schema_id: u64,
    /// What a sample is, in words: "int64", or "group `Channel`".
    pub sample: String,
    /// Its description, semantics and so on.
    pub options: CounterOptions,
}

/// A schema, as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaInfo {
    /// Its number, unique among the schemas and enums of its domain.
    pub id: u64,
    /// Its name.
    pub name: Arc<str>,
    /// What it describes.
    pub role: SchemaRole,
    /// Bytes of a value.
    pub row_size: usize,
}

/// A scope, as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeInfo {
    /// Its number, unique among those of its domain.
    pub id: ScopeId,
    /// The path that it was registered with.
    pub path: Box<str>,
    /// What the path is relative to.
    pub parent: ScopeId,
}

/// A string, as it was registered.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringInfo {
    /// Its handle.
    pub handle: StringHandle,
    /// Its bytes, which should be UTF-8.
    pub text: Box<[u8]>,
}

impl fmt::Debug for StringInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StringInfo")
            .field("handle", &self.handle)
            .field("text", &String::from_utf8_lossy(&self.text))
            .finish()
    }
}

impl Session {
    /// What is known of a registered thing: a [`Counter`] or a [`RowCounter`] ([`CounterInfo`]), a [`Schema`] or a
    /// [`RowSchema`] ([`SchemaInfo`]), a [`Scope`] ([`ScopeInfo`]), a [`RegisteredString`] ([`StringInfo`]), or a
    /// [`TimeDomain`] ([`TimeDomainOptions`]).
    ///
    /// The values themselves are small and know only their numbers. This is for reports and errors: it looks the thing up.
    ///
    /// ```
    /// # use nvtxw::{CounterOptions, Result, Session};
    /// fn queue(session: &mut Session) -> Result<()> {
    ///     let mut domain = session.domain("sim")?;
    ///     let queue = domain.counter_with::<u32>("queue", CounterOptions::new().unit("jobs"))?;
    ///     let info = session.describe(queue)?;
    ///     assert_eq!((&*info.name, &*info.sample), ("queue", "uint32"));
    ///     assert_eq!(info.options.semantics.unit.as_deref(), Some("jobs"));
    ///     Ok(())
    /// }
    /// # #[cfg(feature = "file")] {
    /// # let folder = std::env::temp_dir().join("nvtxw-doc-describe");
    /// # std::fs::create_dir_all(&folder)?;
    /// # let config = nvtxw::Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
    /// # queue(&mut Session::begin(&nvtxw::Backend::embedded(), "run", &config)?)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) if it is a thing of another session.
    pub fn describe<T: Describe>(&self, thing: T) -> Result<T::Info> {
        let domain = self.domain_of(thing.owner(), T::KIND)?;
        Ok(thing.find(&Registry(&domain)))
    }
}

fn counter(domain: &Registry<'_>, id: u64) -> CounterInfo {
    let registered = domain.0.registered();
    let counter = registered.counters.name(id);
    let ((name, scope), entry) = counter
        .zip(registered.counter_entries.get(&id))
        .expect("the counter was registered in this domain");
    CounterInfo {
        id,
        name: name.clone(),
        scope: ScopeId::from_u64(*scope),
        schema_id: entry.sample.schema(),
        sample: entry.sample.describe(),
        options: entry.options.clone(),
    }
}

fn schema(domain: &Registry<'_>, id: u64) -> SchemaInfo {
    let registered = domain.0.registered();
    let info = registered.schema_infos.get(&id);
    info.expect("the schema was registered in this domain")
        .clone()
}

impl<C> sealed::Described for Counter<C> {
    const KIND: &'static str = "counter";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl<C> Describe for Counter<C> {
    type Info = CounterInfo;

    fn find(&self, domain: &Registry<'_>) -> CounterInfo {
        counter(domain, self.id)
    }
}

impl sealed::Described for RowCounter {
    const KIND: &'static str = "counter";

    fn owner(&self) -> Owner {
        self.schema.owner
    }
}

impl Describe for RowCounter {
    type Info = CounterInfo;

    fn find(&self, domain: &Registry<'_>) -> CounterInfo {
        counter(domain, self.id)
    }
}

impl<E> sealed::Described for Schema<E> {
    const KIND: &'static str = "schema";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl<E> Describe for Schema<E> {
    type Info = SchemaInfo;

    fn find(&self, domain: &Registry<'_>) -> SchemaInfo {
        schema(domain, self.id)
    }
}

impl sealed::Described for RowSchema {
    const KIND: &'static str = "layout";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Describe for RowSchema {
    type Info = SchemaInfo;

    fn find(&self, domain: &Registry<'_>) -> SchemaInfo {
        schema(domain, self.id)
    }
}

impl sealed::Described for Scope {
    const KIND: &'static str = "scope";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Describe for Scope {
    type Info = ScopeInfo;

    fn find(&self, domain: &Registry<'_>) -> ScopeInfo {
        let registered = domain.0.registered();
        let (parent, path) = registered
            .scopes
            .name(self.id)
            .expect("the scope was registered in this domain");
        ScopeInfo {
            id: self.id,
            path: path.clone(),
            parent: ScopeId::from_u64(*parent),
        }
    }
}

impl sealed::Described for RegisteredString {
    const KIND: &'static str = "string";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Describe for RegisteredString {
    type Info = StringInfo;

    fn find(&self, domain: &Registry<'_>) -> StringInfo {
        let registered = domain.0.registered();
        let text = registered
            .strings
            .name(self.handle)
            .expect("the string was registered in this domain");
        StringInfo {
            handle: self.handle,
            text: text.into(),
        }
    }
}

impl sealed::Described for TimeDomain {
    const KIND: &'static str = "time domain";

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Describe for TimeDomain {
    type Info = TimeDomainOptions;

    fn find(&self, domain: &Registry<'_>) -> TimeDomainOptions {
        let registered = domain.0.registered();
        let options = registered.time_domains.get(&self.id);
        *options.expect("the time domain was registered in this domain")
    }
}
