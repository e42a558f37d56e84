//! The plan of a schema: which of its entries hold an event's attributes.

use nvtxw_abi::{EntryRole, EntryType, EventKind, SchemaRole, TimestampRole};

use crate::domain::Domain;
use crate::finalise::label;
use crate::refusal::{Refusal, Result};
use crate::scalar::read;
use crate::schema::{
    Beyond, Field, FieldKind, FieldRole, MessageAt, Place, Plan, ScopesAt, Shape, TimeAt,
};
use crate::spec::{EntrySpec, SchemaSpec};

/// What the entry is to the event.
pub(crate) fn field_role(entry: &EntrySpec<'_>, field: &Field, shape: Shape) -> Result<FieldRole> {
    let role = EntryRole::from_flags(entry.flags).ok_or_else(|| {
        Refusal::invalid("the flags hold a combination of roles that the ABI does not define")
    })?;
    if matches!(shape, Shape::Union | Shape::SelectingUnion(_)) {
        return Ok(FieldRole::Plain);
    }
    let ty = match (&field.kind, field.count) {
        (FieldKind::Scalar(ty), None) if field.plain => Some(*ty),
        _ => None,
    };
    let role = match (role, ty) {
        (EntryRole::Message, Some(EntryType::RegisteredString)) => return Ok(FieldRole::Message),
        (EntryRole::Message, _) if matches!(field.kind, FieldKind::Text(_)) => {
            return Ok(FieldRole::Message);
        }
        (EntryRole::Message, _) => {
            return Err(Refusal::invalid(
                "a message is text or the handle of a registered string; the entry is neither",
            ));
        }
        (_, Some(EntryType::ScopeId)) => FieldRole::Scope,
        (EntryRole::Timestamp(role), Some(ty)) if ty.is_integer() && field.size == 8 => {
            FieldRole::Time(role)
        }
        (EntryRole::Timestamp(_), _) => {
            return Err(Refusal::invalid(
                "a timestamp is one 64-bit integer; change the entry's type, or its role",
            ));
        }
        (_, Some(EntryType::ColorArgb)) => FieldRole::Color,
        (_, Some(EntryType::Category)) => FieldRole::Category,
        (_, Some(EntryType::RangeId)) => FieldRole::RangeId,
        _ => return Ok(FieldRole::Plain),
    };
    if field.follows {
        return Err(Refusal::unsupported(
            "timestamps, colours, categories, range IDs and scopes are not read after an entry of varying size; \
             put the entry before it",
        ));
    }
    Ok(role)
}

/// Finds the attributes, checks that they are what the schema's role needs, and marks their fields.
pub(crate) fn plan(
    spec: &SchemaSpec<'_>,
    role: SchemaRole,
    shape: Shape,
    fields: &mut [Field],
    domain: &Domain,
) -> Result<Plan> {
    let mut plan = Plan::default();
    let times = match role {
        SchemaRole::Generic => only_time(fields).into_iter().collect(),
        SchemaRole::CounterGroup => counter_time(fields)?.into_iter().collect(),
        SchemaRole::Event(kind) => event_times(kind, fields)?,
    };
    let at = |index: usize| TimeAt {
        offset: fields[index].offset,
        unsigned: matches!(
            fields[index].kind,
            FieldKind::Scalar(
                EntryType::UInt64 | EntryType::ULong | EntryType::ULongLong | EntryType::Size
            )
        ),
    };
    plan.time = times.first().map(|index| at(*index));
    plan.end = times.get(1).map(|index| at(*index));
    let mut time_domains = times
        .iter()
        .map(|index| time_domain(*index, &spec.entries[*index], domain));
    plan.time_domain = time_domains.next().transpose()?.flatten();
    plan.end_time_domain = time_domains.next().transpose()?.flatten();
    plan.scopes = scopes(spec, fields, domain)?;

    for field in &mut *fields {
        let offset = field.offset;
        match field.role {
            FieldRole::Message => {
                plan.message = Some(match field.kind {
                    _ if field.follows || !field.plain => MessageAt::Walk(field.index),
                    FieldKind::Text(ty) => MessageAt::Fixed {
                        ty,
                        offset,
                        len: field.size,
                    },
                    _ => MessageAt::Handle(offset),
                });
            }
            FieldRole::Color => plan.color = Some(offset),
            FieldRole::Category => plan.category = Some(offset),
            FieldRole::RangeId => plan.range_id = Some(offset),
            FieldRole::Plain | FieldRole::Time(_) | FieldRole::Scope => {}
        }
        field.is_attribute = match field.role {
            FieldRole::Plain => false,
            FieldRole::Time(_) => role != SchemaRole::Generic && times.contains(&field.index),
            _ => true,
        };
    }
    if let SchemaRole::Event(kind @ (EventKind::RangeStart | EventKind::RangeEnd)) = role
        && plan.range_id.is_none()
    {
        return Err(Refusal::invalid(format!(
            "the schema's kind is {}, which needs an entry of the type NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID",
            kind.name()
        )));
    }

    plan.has_handles = fields
        .iter()
        .any(|field| field.has_handles && !field.is_attribute);
    plan.reaches_out = fields.iter().any(reaches_out);
    plan.is_plain = shape == Shape::Static && fields.iter().all(|field| field.plain);
    plan.needs_walk = !plan.is_plain;
    plan.is_numeric = fields.iter().all(is_numeric);
    let values = fields.iter().map(values);
    plan.values = match shape {
        Shape::Static | Shape::Dynamic => values.fold(0, u64::saturating_add),
        Shape::Union | Shape::SelectingUnion(_) => values.max().unwrap_or_default(),
    };
    plan.depth = 1 + fields.iter().map(depth).max().unwrap_or_default();
    Ok(plan)
}

impl Plan {
    /// Makes it the plan of a payload that is text as a whole, which is found without a walk.
    pub(crate) fn as_whole_text(&mut self, ty: EntryType, is_message: bool) {
        self.message = is_message.then_some(MessageAt::Whole(ty));
        self.needs_walk = false;
    }
}

fn with_time(fields: &[Field], wanted: impl Fn(TimestampRole) -> bool) -> Vec<usize> {
    let is_wanted = |field: &&Field| matches!(field.role, FieldRole::Time(role) if wanted(role));
    fields
        .iter()
        .filter(is_wanted)
        .map(|field| field.index)
        .collect()
}

/// The one timestamp, if there is exactly one.
fn only_time(fields: &[Field]) -> Option<usize> {
    match *with_time(fields, |_| true) {
        [time] => Some(time),
        _ => None,
    }
}

fn counter_time(fields: &[Field]) -> Result<Option<usize>> {
    match *with_time(fields, |_| true) {
        [] => Ok(None),
        [time] => Ok(Some(time)),
        [first, second, ..] => Err(Refusal::invalid(format!(
            "`{}` and `{}` are both timestamps; a counter group has at most one",
            fields[first].name, fields[second].name
        ))),
    }
}

/// Exactly the timestamps that an event of this kind has. Plain ones beside them are data like other; a single one needs no
/// role where one is all that the kind has.
fn event_times(kind: EventKind, fields: &[Field]) -> Result<Vec<usize>> {
    let needed: &[TimestampRole] = match kind {
        EventKind::Mark => &[TimestampRole::Mark],
        EventKind::RangePushPop | EventKind::RangeStartEnd => {
            &[TimestampRole::RangeBegin, TimestampRole::RangeEnd]
        }
        EventKind::RangePush | EventKind::RangeStart => &[TimestampRole::RangeBegin],
        EventKind::RangePop | EventKind::RangeEnd => &[TimestampRole::RangeEnd],
    };
    let kind = kind.name();
    let foreign = with_time(fields, |role| {
        role != TimestampRole::Plain && !needed.contains(&role)
    });
    if let Some(index) = foreign.first() {
        return Err(Refusal::invalid(format!(
            "`{}` is the timestamp of something else than {kind}, which is the schema's kind",
            fields[*index].name
        )));
    }
    let plain = with_time(fields, |role| role == TimestampRole::Plain);
    needed
        .iter()
        .map(|role| {
            let what = match role {
                TimestampRole::Mark => "mark",
                TimestampRole::RangeBegin => "range begin",
                TimestampRole::RangeEnd => "range end",
                TimestampRole::Plain | TimestampRole::Counter => "plain",
            };
            match (&*with_time(fields, |found| found == *role), &*plain) {
                ([index], _) => Ok(*index),
                ([], [index]) if needed.len() == 1 => Ok(*index),
                ([], _) => Err(Refusal::invalid(format!(
                    "the schema's kind is {kind}, which needs an entry with the roles timestamp and {what}"
                ))),
                ([first, second, ..], _) => Err(Refusal::invalid(format!(
                    "`{}` and `{}` both have the roles timestamp and {what}; {kind} has exactly one such entry",
                    fields[*first].name, fields[*second].name
                ))),
            }
        })
        .collect()
}

/// The time domain that the semantics of a timestamp name.
fn time_domain(index: usize, entry: &EntrySpec<'_>, domain: &Domain) -> Result<Option<u64>> {
    match entry.semantics.time_domain {
        Some(id) if !domain.knows_time_domain(id) => Err(Refusal::invalid(format!(
            "{}: the time semantics name {id}, which is neither a timestamp type nor a time domain of the domain",
            label(index, entry)
        ))),
        named => Ok(named),
    }
}

fn scopes(spec: &SchemaSpec<'_>, fields: &[Field], domain: &Domain) -> Result<ScopesAt> {
    let mut at = ScopesAt::default();
    for (field, entry) in fields.iter().zip(&spec.entries) {
        let has_purpose = !matches!(
            EntryRole::from_flags(entry.flags),
            Some(EntryRole::None | EntryRole::Message)
        );
        if field.role == FieldRole::Scope {
            let place = if has_purpose {
                &mut at.purpose_entry
            } else {
                &mut at.entry
            };
            *place = Some(field.offset);
        }
        let Some(scope) = entry.semantics.scope.filter(|scope| *scope != 0) else {
            continue;
        };
        if !domain.knows_scope(scope) {
            return Err(Refusal::invalid(format!(
                "{}: the scope semantics name {scope}, which is neither predefined nor registered in the domain",
                label(field.index, entry)
            )));
        }
        let place = if has_purpose {
            &mut at.purpose_semantics
        } else {
            &mut at.semantics
        };
        *place = scope;
    }
    Ok(at)
}

impl ScopesAt {
    /// The scope that semantics name; 0 if none do.
    pub(crate) fn named(&self) -> u64 {
        match self.purpose_semantics {
            0 => self.semantics,
            scope => scope,
        }
    }

    /// The scope that a sample of these bytes names, itself or by semantics; 0 if it names none.
    pub(crate) fn of_sample(&self, bytes: &[u8]) -> u64 {
        let entry = |offset: Option<usize>| offset.map_or(0, |offset| read(bytes, offset));
        let ranked = [
            entry(self.purpose_entry),
            self.purpose_semantics,
            entry(self.entry),
            self.semantics,
        ];
        ranked
            .into_iter()
            .find(|scope| *scope != 0)
            .unwrap_or_default()
    }

    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.purpose_entry.is_some()
            || self.entry.is_some()
            || self.purpose_semantics != 0
            || self.semantics != 0
    }
}

/// Whether the field is a plain number, or numbers.
pub(crate) fn is_numeric(field: &Field) -> bool {
    match &field.kind {
        _ if !field.plain => false,
        FieldKind::Scalar(ty) => ty.is_numeric(),
        FieldKind::Enum(_) => true,
        FieldKind::Struct(schema) => schema.plan.is_numeric,
        FieldKind::Text(_) | FieldKind::Union(_) => false,
    }
}

fn reaches_out(field: &Field) -> bool {
    match &field.kind {
        _ if matches!(field.place, Place::Pointer(Beyond::Followed(_))) => true,
        FieldKind::Struct(schema) | FieldKind::Union(schema) => schema.plan.reaches_out,
        _ => false,
    }
}

fn values(field: &Field) -> u64 {
    match &field.kind {
        FieldKind::Scalar(EntryType::Byte) => 1,
        FieldKind::Struct(schema) | FieldKind::Union(schema) => schema
            .plan
            .values
            .saturating_mul(field.count.unwrap_or(1) as u64),
        _ => field.count.unwrap_or(1) as u64,
    }
}

fn depth(field: &Field) -> u32 {
    match &field.kind {
        FieldKind::Struct(schema) | FieldKind::Union(schema) => schema.plan.depth,
        _ => 0,
    }
}
