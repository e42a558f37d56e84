//! Registration: from what a producer asks for to what a domain holds.

use std::sync::Arc;

use nvtxw_abi::{EntryType, IdClass, PredefinedScope, SchemaRole, TimerStart, TimestampType};

use crate::call::TimeDomainAttributes;
use crate::counter::{Counter, CounterKind};
use crate::domain::{Domain, Layout};
use crate::enumeration::Enum;
use crate::finalise::finalise;
use crate::lock::lock;
use crate::plan;
use crate::predefined;
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::resource::Resource;
use crate::schema::{Field, FieldKind, FieldRole, Schema, Shape};
use crate::scope::{Scope, ScopeRef, parse_path};
use crate::spec::{CounterSpec, EnumSpec, MessageSpec, ResourceSpec, SchemaSpec, ScopeSpec};
use crate::stream::default_scope;
use crate::time::TimeDomain;

pub(crate) fn category(domain: &Domain, category: u32, name: Option<&str>) -> Result<()> {
    if category == 0 {
        return Err(Refusal::invalid(
            "category is 0, which means no category and can't be named; choose another number",
        )
        .because(Cause::CategoryZero));
    }
    let name = name.ok_or_else(|| Refusal::invalid("name is null; a category's name is text"))?;
    lock(&domain.categories).insert(category, name.into());
    Ok(())
}

pub(crate) fn string(domain: &Domain, text: Option<&str>) -> Result<u64> {
    domain.strings.register(
        text.ok_or_else(|| {
            Refusal::invalid("string is null; register text, or don't refer to it")
        })?,
    )
}

pub(crate) fn resource(domain: &Domain, spec: &ResourceSpec<'_>) -> Result<()> {
    let name = match &spec.message {
        MessageSpec::None => None,
        MessageSpec::Text(text) => Some(&**text),
        MessageSpec::Registered(handle) => Some(domain.string(*handle).ok_or_else(|| {
            Refusal::invalid(format!(
                "attr.message.registered is {handle:#x}, which is no string of the domain"
            ))
            .because(Cause::Handle)
        })?),
    };
    let resource = Resource {
        kind: spec.kind,
        identifier: spec.identifier,
        name: name.map(Into::into),
    };
    lock(&domain.resources).add(resource);
    Ok(())
}

pub(crate) fn scope(domain: &Domain, spec: &ScopeSpec<'_>) -> Result<u64> {
    let parent = match PredefinedScope::from_raw(spec.parent) {
        Some(scope) if scope.is_parent() => scope.into(),
        Some(_) => {
            return Err(Refusal::invalid(format!(
                "attr.parentScope {} depends on where code runs; a parent is NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT, \
                 NVTX_SCOPE_CURRENT_HW_MACHINE, NVTX_SCOPE_CURRENT_VM or a scope of the domain",
                spec.parent
            )));
        }
        None => domain
            .scope(spec.parent)
            .map(ScopeRef::Registered)
            .ok_or_else(|| {
                Refusal::invalid(format!(
                    "attr.parentScope {} is not registered in the domain: register it first",
                    spec.parent
                ))
                .because(Cause::Unregistered(IdKind::Scope, spec.parent))
            })?,
    };
    let path = parse_path(spec.path.as_deref().unwrap_or_default())?;
    let id = domain
        .scopes
        .register(spec.id, |id| Scope::new(id, &parent, path))?;
    if let Some(scope) = domain.scopes.get(id) {
        domain.scopes_in_order.push_with(|_| Arc::clone(scope));
    }
    Ok(id)
}

pub(crate) fn schema(domain: &Domain, spec: &SchemaSpec<'_>) -> Result<u64> {
    let schema = finalise(spec, domain).map_err(|refusal| match spec.name.as_deref() {
        Some(name) => refusal.at(format_args!("schema `{name}`")),
        None => refusal,
    })?;
    let id = domain.layouts.register(spec.id, |id| {
        Layout::Schema(Arc::new(Schema { id, ..schema }))
    })?;
    if let Some(schema) = domain.registered_schema(id) {
        domain.schemas_in_order.push_with(|_| Arc::clone(schema));
    }
    Ok(id)
}

pub(crate) fn enumeration(domain: &Domain, spec: EnumSpec<'_>) -> Result<u64> {
    Enum::check_size(spec.size)?;
    let name = spec.name.as_deref().map(Into::into);
    domain.layouts.register(spec.id, |id| {
        Layout::Enum(Arc::new(Enum::new(
            id,
            name,
            spec.size,
            spec.entries.into(),
        )))
    })
}

pub(crate) fn counter(domain: &Domain, spec: CounterSpec<'_>) -> Result<u64> {
    let name = spec.name.as_deref().filter(|name| !name.is_empty());
    let name =
        name.ok_or_else(|| Refusal::invalid("attr.name is null or empty; a counter needs a name"))?;
    let time_domain = spec.semantics.time_domain;
    if let Some(id) = time_domain.filter(|id| !domain.knows_time_domain(*id)) {
        return Err(Refusal::invalid(format!(
            "attr.semantics: the time semantics name {id}, which is neither a timestamp type nor a time domain of the domain"
        ))
        .because(Cause::Unregistered(IdKind::TimeDomain, id)));
    }
    let mut semantics = spec.semantics.counter;
    let (kind, sample_size, embedded_domain, embedded_scope) = match IdClass::of(spec.schema) {
        IdClass::Predefined => {
            let ty = EntryType::from_raw(spec.schema).filter(|ty| ty.is_numeric()).ok_or_else(|| {
                Refusal::invalid(format!(
                    "attr.schemaId {} is no number: use a predefined numeric type, or register a schema",
                    spec.schema
                ))
            })?;
            let size = ty.layout().map_or(0, |(size, _)| size);
            (CounterKind::Scalar(ty), size, None, 0)
        }
        IdClass::Static | IdClass::Dynamic => {
            let schema = group(domain, spec.schema)?;
            let kind = match only_number(schema) {
                Some((ty, field)) => {
                    semantics = field.counter_semantics.clone().or(semantics);
                    CounterKind::Scalar(ty)
                }
                None => CounterKind::Group(Arc::clone(schema)),
            };
            let plan = &schema.plan;
            (kind, schema.size, plan.time_domain, plan.scopes.best())
        }
    };
    let field = match kind {
        CounterKind::Scalar(ty) => {
            let field = predefined::field(ty, name);
            let mut field = field.map_err(|refusal| refusal.at("attr.schemaId"))?;
            field.counter_semantics = semantics.clone();
            Some(field)
        }
        CounterKind::Group(_) => None,
    };
    // What the entries say, what the counter's semantics say, what is registered.
    let said = [embedded_scope, spec.semantics.scope.unwrap_or_default()];
    let said = said.into_iter().find(|scope| *scope != 0);
    let scope = match said {
        Some(scope) => {
            default_scope(domain, scope).map_err(|refusal| refusal.at("scope semantics"))?
        }
        None => default_scope(domain, spec.scope)?,
    };
    domain.counters.register(spec.id, |id| Counter {
        id,
        name: name.into(),
        description: spec.description.as_deref().map(Into::into),
        scope,
        kind,
        semantics,
        time_domain: embedded_domain.or(time_domain),
        sample_size,
        field,
    })
}

/// The number that a schema is nothing else than: producers register such for types of numbers, and mean no group.
fn only_number(schema: &Schema) -> Option<(EntryType, &Field)> {
    match (schema.role, schema.shape, schema.fields()) {
        (SchemaRole::Generic, Shape::Static, [field])
            if field.plain
                && field.size == schema.size
                && field.count.is_none()
                && !field.hidden =>
        {
            match field.kind {
                FieldKind::Scalar(ty) if field.role == FieldRole::Plain => Some((ty, field)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The schema of a counter group.
fn group(domain: &Domain, id: u64) -> Result<&Arc<Schema>> {
    let schema = domain.registered_schema(id).ok_or_else(|| {
        Refusal::invalid(format!("attr.schemaId {id} is no schema of the domain: register it first, and use the ID it gets"))
            .because(Cause::Unregistered(IdKind::Layout, id))
    })?;
    let label = schema.label();
    if let SchemaRole::Event(kind) = schema.role {
        return Err(Refusal::invalid(format!(
            "attr.schemaId: {label} describes events ({}); a counter needs a counter group or a plain schema",
            kind.name()
        )));
    }
    if schema.shape == Shape::Union {
        return Err(Refusal::invalid(format!(
            "attr.schemaId: {label} is a union that an entry beside it selects from: put it into a struct that has such an entry"
        )));
    }
    let fits = |field: &Field| field.role == FieldRole::Scope || plan::is_numeric(field);
    if !schema.fields().iter().all(fits) {
        return Err(Refusal::invalid(format!(
            "attr.schemaId: {label} has entries that are no numbers; a sample consists of numbers"
        )));
    }
    let times: Vec<_> = schema
        .fields()
        .iter()
        .filter(|field| matches!(field.role, FieldRole::Time(_)))
        .collect();
    if let [first, second, ..] = &*times {
        return Err(Refusal::invalid(format!(
            "attr.schemaId: `{}` and `{}` of {label} are both timestamps; a sample has at most one",
            first.name(),
            second.name()
        )));
    }
    let has_value = schema
        .fields()
        .iter()
        .any(|field| !matches!(field.role, FieldRole::Time(_) | FieldRole::Scope));
    if !has_value {
        return Err(Refusal::invalid(format!(
            "attr.schemaId: {label} has no entry but a timestamp or a scope; a sample has values"
        )));
    }
    Ok(schema)
}

pub(crate) fn time_domain(domain: &Domain, attr: &TimeDomainAttributes) -> Result<u64> {
    let scope = domain.scope_ref(attr.scope).ok_or_else(|| {
        Refusal::invalid(format!(
            "attr.scopeId {} is not registered in the domain: register it first",
            attr.scope
        ))
        .because(Cause::Unregistered(IdKind::Scope, attr.scope))
    })?;
    let timestamp_type = TimestampType::from_raw(attr.timestamp_type).ok_or_else(|| {
        Refusal::invalid(format!(
            "attr.timestampTypeId is {}, which the ABI does not define",
            attr.timestamp_type
        ))
    })?;
    let resolution = match u64::try_from(attr.resolution) {
        Ok(0) => None,
        Ok(resolution) => Some(resolution),
        Err(_) => {
            return Err(Refusal::invalid(format!(
                "attr.timerResolution is {}; ticks per second are positive, or 0 if unknown",
                attr.resolution
            )));
        }
    };
    domain.time_domains.register(attr.id, |id| TimeDomain {
        id,
        scope,
        timestamp_type,
        flags: attr.flags,
        resolution,
        start: TimerStart::from_raw(attr.start).unwrap_or_default(),
    })
}
