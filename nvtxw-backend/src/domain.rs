//! Domains: what data refers to.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use nvtxw_abi::{IdClass, PredefinedScope, TimestampType};

use crate::counter::Counter;
use crate::enumeration::Enum;
use crate::list::List;
use crate::lock::lock;
use crate::predefined::Predefined;
use crate::raw::Promise;
use crate::registry::Registry;
use crate::resource::{Resource, Resources};
use crate::schema::Schema;
use crate::scope::{Scope, ScopeRef};
use crate::string::{Registered, Strings};
use crate::sync::Mutex;
use crate::time::TimeDomain;

/// A domain of a session: what is registered in it, and what the data of its streams refers to.
///
/// Any thread may read it at any time, also while other threads register. What is registered stays until the session ends.
pub struct Domain {
    name: Option<Box<str>>,
    index: u32,
    /// That of the session's producer.
    pub(crate) promise: Option<Promise>,
    pub(crate) strings: Strings,
    pub(crate) categories: Mutex<HashMap<u32, Arc<str>>>,
    pub(crate) scopes: Registry<Scope>,
    /// The same, in the order of their registration.
    pub(crate) scopes_in_order: List<Arc<Scope>>,
    pub(crate) layouts: Registry<Layout>,
    /// The schemas among them, in the order of their registration.
    pub(crate) schemas_in_order: List<Arc<Schema>>,
    pub(crate) counters: Registry<Counter>,
    pub(crate) time_domains: Registry<TimeDomain>,
    pub(crate) resources: Mutex<Resources>,
    pub(crate) predefined: Predefined,
}

/// What shares the namespace of schema IDs.
pub(crate) enum Layout {
    Schema(Arc<Schema>),
    Enum(Arc<Enum>),
}

impl Domain {
    /// `tag` tells the domains of the process apart.
    pub(crate) fn new(
        name: Option<Box<str>>,
        index: u32,
        tag: u32,
        promise: Option<Promise>,
    ) -> Self {
        Self {
            name,
            index,
            promise,
            strings: Strings::new(tag),
            categories: Mutex::default(),
            scopes: Registry::new("scope"),
            scopes_in_order: List::new(),
            layouts: Registry::new("schema or enum"),
            schemas_in_order: List::new(),
            counters: Registry::new("counter"),
            time_domains: Registry::new("time domain"),
            resources: Mutex::default(),
            predefined: Predefined::default(),
        }
    }

    /// One in which things have the IDs that somebody else picked.
    pub(crate) fn mirror(index: u32) -> Self {
        Self {
            scopes: Registry::mirror("scope"),
            layouts: Registry::mirror("schema or enum"),
            counters: Registry::mirror("counter"),
            time_domains: Registry::mirror("time domain"),
            ..Self::new(None, index, 0, None)
        }
    }

    /// The domain's name; `None` for the session's default domain.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The domain's number in its session, counted from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The name of a category.
    pub fn category(&self, category: u32) -> Option<Arc<str>> {
        lock(&self.categories).get(&category).cloned()
    }

    /// A registered scope.
    pub fn scope(&self, id: u64) -> Option<Arc<Scope>> {
        self.scopes.get(id).cloned()
    }

    /// The scopes so far, in the order of their registration, without the first `known` ones.
    pub fn scopes_after(&self, known: u32) -> impl Iterator<Item = &Arc<Scope>> {
        (known..).map_while(|index| self.scopes_in_order.get(index))
    }

    /// The scope that an ID means, predefined or registered here; `None` if it means none.
    pub fn scope_ref(&self, id: u64) -> Option<ScopeRef> {
        match PredefinedScope::from_raw(id) {
            Some(scope) => Some(scope.into()),
            None => self.scope(id).map(ScopeRef::Registered),
        }
    }

    /// A registered schema.
    pub fn schema(&self, id: u64) -> Option<Arc<Schema>> {
        self.registered_schema(id).cloned()
    }

    /// All schemas so far, in the order of their registration: those of plain events, and nested ones, too.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        (0..).map_while(|index| self.schemas_in_order.get(index))
    }

    /// A registered enum.
    pub fn enumeration(&self, id: u64) -> Option<Arc<Enum>> {
        match &**self.layouts.get(id)? {
            Layout::Enum(enumeration) => Some(Arc::clone(enumeration)),
            Layout::Schema(_) => None,
        }
    }

    /// A registered counter.
    pub fn counter(&self, id: u64) -> Option<Arc<Counter>> {
        self.counters.get(id).cloned()
    }

    /// A registered time domain.
    pub fn time_domain(&self, id: u64) -> Option<Arc<TimeDomain>> {
        self.time_domains.get(id).cloned()
    }

    /// The text of a registered string.
    pub fn string(&self, handle: u64) -> Option<&str> {
        self.registered(handle).map(Registered::text)
    }

    /// The resource that was registered last with this [kind](Resource::kind) and [identifier](Resource::identifier).
    pub fn resource(&self, kind: i32, identifier: u64) -> Option<Resource> {
        lock(&self.resources).get(kind, identifier).cloned()
    }

    /// All resources so far, in the order of their registration.
    pub fn resources(&self) -> Vec<Resource> {
        lock(&self.resources).all().to_vec()
    }

    #[inline]
    pub(crate) fn registered(&self, handle: u64) -> Option<Registered<'_>> {
        self.strings.get(handle)
    }

    #[inline]
    pub(crate) fn registered_schema(&self, id: u64) -> Option<&Arc<Schema>> {
        match &**self.layouts.get(id)? {
            Layout::Schema(schema) => Some(schema),
            Layout::Enum(_) => None,
        }
    }

    #[inline]
    pub(crate) fn knows_scope(&self, id: u64) -> bool {
        match IdClass::of(id) {
            IdClass::Predefined => PredefinedScope::from_raw(id).is_some(),
            IdClass::Static | IdClass::Dynamic => self.scopes.get(id).is_some(),
        }
    }

    pub(crate) fn knows_time_domain(&self, id: u64) -> bool {
        TimestampType::from_raw(id).is_some() || self.time_domains.get(id).is_some()
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain")
            .field("name", &self.name)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
