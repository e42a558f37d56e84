//! A domain, here and at the other backend.

use std::sync::{Arc, OnceLock};

use nvtxw_abi::IdClass;

use crate::call::{
    CounterAttributes, EntryAttributes, Message, Registration, SchemaAttributes, ScopeAttributes,
    Semantic, SemanticNode, TimeDomainAttributes,
};
use crate::domain::Domain;
use crate::id_map::IdMap;
use crate::raw::{DomainHandle, Onward};
use crate::refusal::{Refusal, Result};
use crate::register;
use crate::relay::place::Places;
use crate::schema::Schema;
use crate::spec::{CounterSpec, EnumSpec, SchemaSpec, ScopeSpec};

/// A domain, as it is known here, and what things of it are called at the other backend.
pub(crate) struct RelayDomain {
    /// Unset while it was not registered: the default domain, which a stream may have anyway.
    handle: OnceLock<DomainHandle>,
    /// All that describes data, under its IDs here.
    pub(crate) known: Domain,
    strings: IdMap<u64>,
    scopes: Ids,
    layouts: Ids,
    counters: Ids,
    time_domains: Ids,
    /// Of the schemas.
    places: IdMap<(Arc<Schema>, Places)>,
}

/// The other backend's IDs for those that are not the producer's.
struct Ids {
    what: &'static str,
    ids: IdMap<u64>,
}

impl Ids {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            ids: IdMap::new(),
        }
    }

    /// What the other backend calls it.
    fn get(&self, id: u64) -> Result<u64> {
        match IdClass::of(id) {
            IdClass::Predefined | IdClass::Static => Ok(id),
            IdClass::Dynamic => self.ids.get(id).copied().ok_or_else(|| {
                Refusal::invalid(format!(
                    "the other backend has no {} for the ID {id}: it was not registered, or refused",
                    self.what
                ))
            }),
        }
    }

    fn learn(&self, id: u64, other: u64) {
        if IdClass::of(id) == IdClass::Dynamic {
            self.ids.insert(id, other);
        }
    }
}

impl RelayDomain {
    pub(crate) fn new(index: u32) -> Self {
        Self {
            handle: OnceLock::new(),
            known: Domain::mirror(index),
            strings: IdMap::new(),
            scopes: Ids::new("scope"),
            layouts: Ids::new("schema or enum"),
            counters: Ids::new("counter"),
            time_domains: Ids::new("time domain"),
            places: IdMap::new(),
        }
    }

    pub(crate) fn learn_handle(&self, handle: DomainHandle) {
        // A domain has one handle, however often it is registered.
        let _ = self.handle.set(handle);
    }

    pub(crate) fn handle(&self) -> Result<DomainHandle> {
        self.handle.get().copied().ok_or_else(|| {
            Refusal::invalid("the domain was not registered at the other backend, or refused")
        })
    }

    pub(crate) fn string(&self, handle: u64) -> Option<u64> {
        match handle {
            0 => Some(0),
            handle => self.strings.get(handle).copied(),
        }
    }

    pub(crate) fn scope(&self, id: u64) -> Result<u64> {
        self.scopes.get(id)
    }

    pub(crate) fn layout(&self, id: u64) -> Result<u64> {
        self.layouts.get(id)
    }

    pub(crate) fn counter(&self, id: u64) -> Result<u64> {
        self.counters.get(id)
    }

    pub(crate) fn time_domain(&self, id: u64) -> Result<u64> {
        self.time_domains.get(id)
    }

    pub(crate) fn places(&self, schema: u64) -> Option<&(Arc<Schema>, Places)> {
        self.places.get(schema)
    }

    /// Registers something in the domain, here and at the other backend.
    pub(crate) fn register(&self, onward: &Onward, call: &Registration<'_>) -> Result<()> {
        let handle = self.handle()?;
        match call {
            Registration::Domain { .. } => Ok(()),
            Registration::Category { category, name } => onward.category(handle, *category, name),
            Registration::String { text, handle: own } => {
                self.strings.insert(*own, onward.string(handle, text)?);
                Ok(())
            }
            Registration::Resource(attributes) => {
                let mut attributes = attributes.clone();
                if let Message::Registered(own) = &mut attributes.message {
                    *own = self.string(*own).ok_or_else(|| {
                        Refusal::invalid(format!(
                            "the other backend has no string for the handle {own:#x}"
                        ))
                    })?;
                }
                onward.resource(handle, &attributes)
            }
            Registration::Scope { attributes, id } => {
                let there = ScopeAttributes {
                    parent: self.scope(attributes.parent)?,
                    ..attributes.clone()
                };
                let mut spec = ScopeSpec::of(attributes);
                spec.id = *id;
                register::scope(&self.known, &spec)?;
                self.scopes.learn(*id, onward.scope(handle, &there)?);
                Ok(())
            }
            Registration::Schema { attributes, id } => {
                let there = self.schema_there(attributes)?;
                let mut spec = SchemaSpec::of(attributes)?;
                spec.id = *id;
                register::schema(&self.known, &spec)?;
                self.layouts.learn(*id, onward.schema(handle, &there)?);
                if let Some(schema) = self.known.schema(*id) {
                    let places = Places::of(&schema);
                    self.places.insert(*id, (schema, places));
                }
                Ok(())
            }
            Registration::Enum { attributes, id } => {
                let mut spec = EnumSpec::of(attributes);
                spec.id = *id;
                register::enumeration(&self.known, spec)?;
                self.layouts
                    .learn(*id, onward.enumeration(handle, attributes)?);
                Ok(())
            }
            Registration::Counter { attributes, id } => {
                let there = CounterAttributes {
                    schema: self.layout(attributes.schema)?,
                    scope: self.scope(attributes.scope)?,
                    semantics: self.semantics_there(&attributes.semantics)?,
                    ..attributes.clone()
                };
                let mut spec = CounterSpec::of(attributes)?;
                spec.id = *id;
                register::counter(&self.known, spec)?;
                self.counters.learn(*id, onward.counter(handle, &there)?);
                Ok(())
            }
            Registration::TimeDomain { attributes, id } => {
                let there = TimeDomainAttributes {
                    scope: self.scope(attributes.scope)?,
                    ..*attributes
                };
                let own = TimeDomainAttributes {
                    id: *id,
                    ..*attributes
                };
                register::time_domain(&self.known, &own)?;
                let there = onward.time_domain(handle, &there)?;
                self.time_domains.learn(*id, there);
                Ok(())
            }
        }
    }

    /// The schema with the other backend's IDs.
    fn schema_there<'a>(&self, attributes: &SchemaAttributes<'a>) -> Result<SchemaAttributes<'a>> {
        let entries = attributes.entries.iter().map(|entry| {
            Ok(EntryAttributes {
                ty: self.layout(entry.ty)?,
                semantics: self.semantics_there(&entry.semantics)?,
                ..entry.clone()
            })
        });
        Ok(SchemaAttributes {
            entries: entries.collect::<Result<_>>()?,
            ..attributes.clone()
        })
    }

    fn semantics_there<'a>(&self, nodes: &[SemanticNode<'a>]) -> Result<Vec<SemanticNode<'a>>> {
        let nodes = nodes.iter().map(|node| {
            let semantic = match node.semantic {
                Semantic::Scope(scope) => Semantic::Scope(self.scope(scope)?),
                Semantic::Time(time_domain) => Semantic::Time(self.time_domain(time_domain)?),
                ref other => other.clone(),
            };
            Ok(SemanticNode {
                semantic,
                ..node.clone()
            })
        });
        nodes.collect()
    }
}
