//! Domains: what registers.

use std::any::TypeId;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_abi::{PredefinedScope, SchemaRole};

use crate::calls::{DomainHandle, LiveSession};
use crate::category::Categories;
use crate::counter::CounterEntry;
use crate::derived::{NvtxEvent, NvtxPayload};
use crate::describe::SchemaInfo;
use crate::enumeration::EnumLayout;
use crate::error::{Error, Result};
use crate::event::Schema;
use crate::id::{DefaultScope, DomainId, Owner, Scope, ScopeId, StaticId};
use crate::names::Names;
use crate::plain::PlainSchemas;
use crate::record::{Record, RecordLayout};
use crate::register::Registrar;
use crate::rows::Namesakes;
use crate::table::SchemaTable;
use crate::time::TimeDomainOptions;
use crate::{StringHandle, owner};

/// What is known of a domain while its session lives.
#[derive(Debug)]
pub(crate) struct DomainState {
    pub(crate) owner: Owner,
    pub(crate) name: Box<str>,
    pub(crate) handle: DomainHandle,
    pub(crate) session: Arc<str>,
    pub(crate) session_number: u64,
    process: u32,
    registered: Mutex<Registered>,
}

/// What is registered in a domain.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) strings: Names<[u8], StringHandle>,
    pub(crate) categories: Categories,
    /// By their parent and path.
    pub(crate) scopes: Names<(u64, Box<str>), ScopeId>,
    /// Of events, counter groups and payloads: a struct may be each of them.
    pub(crate) schemas: HashMap<(TypeId, SchemaRole), u64>,
    /// Of enums, by their type.
    pub(crate) enums: HashMap<TypeId, u64>,
    /// By their name and scope.
    pub(crate) counters: Names<(Box<str>, u64), u64>,
    /// Of counters, by their numbers.
    pub(crate) counter_entries: HashMap<u64, CounterEntry>,
    /// Of enums whose values were given at run time.
    pub(crate) enumerations: HashMap<(Box<str>, EnumLayout), u64>,
    /// Of layouts that were given at run time, by their name and their fingerprint.
    pub(crate) rows: HashMap<(Box<str>, u64), Namesakes>,
    /// Of structs and layouts, by their numbers.
    pub(crate) schema_infos: HashMap<u64, SchemaInfo>,
    /// By their numbers.
    pub(crate) time_domains: HashMap<u64, TimeDomainOptions>,
    /// Of plain events.
    pub(crate) plain: Option<Arc<PlainSchemas>>,
}

impl Registered {
    fn new() -> Self {
        Self {
            strings: Names::new(),
            categories: Categories::new(),
            scopes: Names::new(),
            schemas: HashMap::new(),
            enums: HashMap::new(),
            counters: Names::new(),
            counter_entries: HashMap::new(),
            enumerations: HashMap::new(),
            rows: HashMap::new(),
            schema_infos: HashMap::new(),
            time_domains: HashMap::new(),
            plain: None,
        }
    }
}

impl DomainState {
    /// A new domain of the session `session`, known from now on.
    pub(crate) fn enter(
        name: &str,
        handle: DomainHandle,
        session: &Arc<str>,
        session_number: u64,
    ) -> Arc<Self> {
        let domain = Arc::new(Self {
            owner: owner::next(),
            name: name.into(),
            handle,
            session: Arc::clone(session),
            session_number,
            process: std::process::id(),
            registered: Mutex::new(Registered::new()),
        });
        owner::enter(&domain);
        domain
    }

    pub(crate) fn registered(&self) -> MutexGuard<'_, Registered> {
        self.registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The domain in words: "domain `sim`".
    pub(crate) fn short(&self) -> String {
        if self.name.is_empty() {
            "the default domain".to_owned()
        } else {
            format!("domain `{}`", self.name)
        }
    }

    /// The domain and its session in words.
    pub(crate) fn describe(&self) -> String {
        format!("{} of session `{}`", self.short(), self.session)
    }

    /// As [`describe`](Self::describe), and different for every session of this process.
    pub(crate) fn describe_numbered(&self) -> String {
        format!(
            "{} of {}",
            self.short(),
            numbered_session(&self.session, self.session_number)
        )
    }

    /// The counter's name, for errors.
    pub(crate) fn counter_name(&self, id: u64) -> String {
        let registered = self.registered();
        let name = registered.counters.name(id);
        name.map_or_else(|| format!("#{id}"), |(name, _)| name.to_string())
    }
}

/// A session in words that no other session of this process has.
pub(crate) fn numbered_session(name: &str, number: u64) -> String {
    format!("session `{name}` (number {number} of this process)")
}

impl Drop for DomainState {
    fn drop(&mut self) {
        // In a forked child the lock of the list may be held by a thread that isn't there.
        if self.process == std::process::id() {
            owner::leave(self.owner);
        }
    }
}

/// A domain of a session, as what registers in it: strings, categories, scopes, schemas, layouts, enums, counters, time
/// domains and resources.
///
/// It borrows the session mutably, so that nothing is written meanwhile. What it gives is plain `Copy` data that outlives
/// it, and that [`Session::describe`](crate::Session::describe) tells more of. Asking again for what is registered already
/// gives the same thing, without a call; only time domains, which have no names, records and resources are registered each
/// time.
///
/// ```
/// # #[cfg(feature = "file")] {
/// # use nvtxw::{Backend, Config, Session};
/// # let folder = std::env::temp_dir().join("nvtxw-doc-domain");
/// # std::fs::create_dir_all(&folder)?;
/// # let config = Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
/// let mut session = Session::begin(&Backend::embedded(), "run", &config)?;
/// let mut sim = session.domain("sim")?;
/// let gemm = sim.string("gemm")?;
/// let compute = sim.category("compute")?;
/// let engine = sim.scope("GPU 0/engine[3]")?;
/// let queue = sim.counter::<i64>("queue depth")?;
/// assert_eq!(sim.string("gemm")?, gemm);
/// let domain = sim.id();
/// assert_eq!(session.domain("sim")?.id(), domain);
/// # let _ = (compute, engine, queue);
/// # session.end()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Domain<'s> {
    pub(crate) live: &'s LiveSession,
    pub(crate) state: &'s DomainState,
    id: DomainId,
    /// The session is borrowed mutably: no writer lives.
    registers: PhantomData<&'s mut ()>,
}

impl<'s> Domain<'s> {
    /// The caller has borrowed the session mutably for `'s`.
    pub(crate) fn new(live: &'s LiveSession, state: &'s DomainState, id: DomainId) -> Self {
        Self {
            live,
            state,
            id,
            registers: PhantomData,
        }
    }

    /// The domain as a small value to keep.
    #[must_use]
    pub fn id(&self) -> DomainId {
        self.id
    }

    /// The domain's name; empty for the default domain.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// Registers the schema of an event struct.
    ///
    /// # Errors
    /// [`Error::Call`] if the backend refuses.
    pub fn schema<E: NvtxEvent>(&mut self) -> Result<Schema<E>> {
        const { E::CHECK };
        let id = self.schema_of(TypeId::of::<E>(), &E::SCHEMA, None)?;
        Ok(Schema::new(id, self.state.owner))
    }

    /// Registers the schema of an event struct under a number of your own.
    ///
    /// # Errors
    /// [`Error::IdDiffers`] if the struct is registered under another number; [`Error::Call`] if the backend refuses.
    pub fn schema_at<E: NvtxEvent>(&mut self, id: StaticId) -> Result<Schema<E>> {
        const { E::CHECK };
        let id = self.schema_of(TypeId::of::<E>(), &E::SCHEMA, Some(id))?;
        Ok(Schema::new(id, self.state.owner))
    }

    /// Registers the schema of a struct that is written beside events: see [`Schema::payload`]. That of a struct inside an
    /// event is registered with the event's.
    ///
    /// # Errors
    /// [`Error::Call`] if the backend refuses.
    pub fn payload_schema<P: NvtxPayload>(&mut self) -> Result<Schema<P>> {
        const { P::CHECK };
        let id = self.schema_of(TypeId::of::<P>(), &P::SCHEMA, None)?;
        Ok(Schema::new(id, self.state.owner))
    }

    /// Registers a layout that the program found out at run time: see [`RecordLayout`].
    ///
    /// # Errors
    /// [`Error::RecordLayout`] if the layout has no columns; [`Error::InteriorNul`]; [`Error::Call`] if the backend
    /// refuses.
    pub fn record(&mut self, name: &str, layout: &RecordLayout) -> Result<Record> {
        let object = self.object("record", name);
        let mut registered = self.state.registered();
        let mut registrar = Registrar::new(self.live, self.state.handle, &mut registered);
        Record::register(name, layout, &mut registrar, self.state.owner, object)
    }

    /// What `kind` and `name` are called in an error.
    pub(crate) fn object(&self, kind: &str, name: &str) -> String {
        format!("{kind} `{name}` in {}", self.state.describe())
    }

    /// The number of a scope that must be of this domain.
    pub(crate) fn own(&self, scope: Scope, place: impl FnOnce() -> String) -> Result<u64> {
        if scope.owner == self.state.owner {
            return Ok(scope.id.to_u64());
        }
        Err(owner::foreign(
            "a scope that was passed".to_owned(),
            scope.owner,
            &place(),
            self.state.owner,
        ))
    }

    /// The number of a default scope, which must be of this domain.
    pub(crate) fn default_scope(
        &self,
        scope: DefaultScope,
        place: impl FnOnce() -> String,
    ) -> Result<u64> {
        match scope {
            DefaultScope::None => Ok(PredefinedScope::None.to_raw()),
            DefaultScope::Root => Ok(PredefinedScope::Root.to_raw()),
            DefaultScope::Scope(scope) => self.own(scope, place),
        }
    }

    pub(crate) fn schema_of(
        &mut self,
        ty: TypeId,
        table: &SchemaTable,
        static_id: Option<StaticId>,
    ) -> Result<u64> {
        let mut registered = self.state.registered();
        let mut registrar = Registrar::new(self.live, self.state.handle, &mut registered);
        registrar
            .schema(ty, table, static_id)
            .map_err(|error| match error {
                Error::Call {
                    operation,
                    object,
                    code,
                    reason,
                } => Error::Call {
                    operation,
                    object: format!("{object} in {}", self.state.describe()),
                    code,
                    reason,
                },
                other => other,
            })
    }
}
