//! The plan of a schema: which of its entries hold an event's attributes.

use nvtxw_abi::{EntryRole, EntryType, EventKind, SchemaRole, TimestampRole};

use crate::check::Check;
use crate::domain::Domain;
use crate::finalise::label;
use crate::locate::{LOOSE, Loose};
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::scalar::{Read, read};
use crate::schema::{
    Attribute, AttributesAt, Beyond, Extent, Field, FieldKind, FieldRole, MessageAt, NamedScopes,
    OsIdAt, Place, Plan, Scopes, Shape, TimeAt, Way,
};
use crate::spec::{EntrySpec, SchemaSpec};
use crate::text::unit_size;

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
    Ok(match (role, ty) {
        (EntryRole::Message, Some(EntryType::RegisteredString)) => FieldRole::Message,
        (EntryRole::Message, _) if matches!(field.kind, FieldKind::Text(_)) => FieldRole::Message,
        (EntryRole::Message, _) => {
            return Err(Refusal::invalid(
                "a message is text, an array of bytes or the handle of a registered string; the entry is none of these",
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
        _ => FieldRole::Plain,
    })
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
    let mut late = Vec::new();
    let mut offset = |attribute: Attribute, index: usize| {
        if let Some(slot) = fields[index].slot.filter(|_| fields[index].follows) {
            late.push((attribute, slot));
        }
        fields[index].offset
    };
    let mut time_at = |attribute: Attribute, index: usize| TimeAt {
        offset: offset(attribute, index),
        unsigned: matches!(
            fields[index].kind,
            FieldKind::Scalar(
                EntryType::UInt64 | EntryType::ULong | EntryType::ULongLong | EntryType::Size
            )
        ),
    };
    plan.at.time = (times.first()).map(|index| time_at(Attribute::Time, *index));
    plan.at.end = (times.get(1)).map(|index| time_at(Attribute::End, *index));
    let last = |role: FieldRole| fields.iter().rposition(|field| field.role == role);
    plan.at.color = last(FieldRole::Color).map(|index| offset(Attribute::Color, index));
    plan.at.category = last(FieldRole::Category).map(|index| offset(Attribute::Category, index));
    plan.at.range_id = last(FieldRole::RangeId).map(|index| offset(Attribute::RangeId, index));
    let has_purpose = |index: usize| has_purpose(&spec.entries[index]);
    let scope = |purpose: bool| {
        let is_it =
            |field: &Field| field.role == FieldRole::Scope && has_purpose(field.index) == purpose;
        fields.iter().rposition(is_it)
    };
    plan.at.purpose_scope = scope(true).map(|index| offset(Attribute::PurposeScope, index));
    plan.at.scope = scope(false).map(|index| offset(Attribute::Scope, index));
    let mut os_id = |attribute: Attribute, is_it: fn(&Field) -> bool| {
        let index = fields.iter().rposition(is_it)?;
        Some(OsIdAt {
            offset: offset(attribute, index),
            is_wide: fields[index].size == 8,
        })
    };
    if shape == Shape::Static || shape == Shape::Dynamic {
        plan.at.process = os_id(Attribute::Process, is_process_id);
        plan.at.thread = os_id(Attribute::Thread, is_thread_id);
    }
    plan.late = late.into();
    let mut time_domains = times
        .iter()
        .map(|index| time_domain(*index, &spec.entries[*index], domain));
    plan.time_domain = time_domains.next().transpose()?.flatten();
    plan.end_time_domain = time_domains.next().transpose()?.flatten();
    plan.scopes = named_scopes(spec, domain)?;

    plan.whole_text = whole_text(shape, fields);
    for field in &mut *fields {
        let offset = field.offset;
        if field.role == FieldRole::Message {
            plan.message = Some(match field.kind {
                FieldKind::Text(ty) if plan.whole_text.is_some() => MessageAt::Whole(ty),
                _ if field.follows || !field.plain => MessageAt::Loose(field.index),
                FieldKind::Text(ty) => MessageAt::Fixed {
                    ty,
                    offset,
                    len: field.size,
                },
                _ => MessageAt::Handle(offset),
            });
        }
        field.is_attribute = match field.role {
            FieldRole::Plain => false,
            FieldRole::Time(_) => role != SchemaRole::Generic && times.contains(&field.index),
            _ => true,
        };
        field.whole = match field.count {
            Some(_) => Read::Array,
            None => field.element,
        };
    }
    if let SchemaRole::Event(kind @ (EventKind::RangeStart | EventKind::RangeEnd)) = role
        && plan.at.range_id.is_none()
    {
        return Err(Refusal::invalid(format!(
            "the schema's kind is {}, which needs an entry of the type NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID",
            kind.name()
        )));
    }

    plan.reaches_out = fields.iter().any(reaches_out);
    plan.refers = fields.iter().any(refers);
    plan.is_plain = shape == Shape::Static && fields.iter().all(|field| field.plain);
    plan.is_settled = shape != Shape::Dynamic && fields.iter().all(|field| field.settled);
    (plan.way, plan.loose) = way(&plan, shape, fields);
    let is_text = |field: &Field| {
        plan.message == Some(MessageAt::Loose(field.index)) || field.text_index().is_some()
    };
    plan.is_plain_but_texts = plan.is_plain
        || plan.way == Way::Regular
            && fields
                .iter()
                .all(|field| field.plain && !field.follows || is_text(field));
    for field in &mut *fields {
        field.shown = match (field.is_attribute, field.loose) {
            (true, _) => Read::Nothing,
            (false, Some(slot)) => {
                field.at = slot as u32;
                loose(field)
            }
            (false, None) => field.whole,
        };
    }
    // A walk checks what it comes by, and who reads the message its handle; that of a message before it nobody reads.
    let is_checked = |field: &&Field| {
        let is_message = plan.message == Some(MessageAt::Handle(field.offset));
        let is_seen = plan.way == Way::Irregular || field.loose.is_some() || is_message;
        field.settled && field.has_checks && !is_seen
    };
    let checked = fields.iter().filter(is_checked);
    plan.checked = checked.map(Check::new).collect();
    let has_paint = plan.at.color.is_some() || plan.at.category.is_some();
    let has_others = !matches!(plan.message, None | Some(MessageAt::Loose(_)))
        || plan.at.range_id.is_some()
        || plan.at.names_scope()
        || plan.at.names_os_id();
    plan.has_just_paint = has_paint && !has_others;
    plan.has_attributes = has_paint || has_others;
    plan.has_more = plan.has_attributes || !plan.checked.is_empty();
    plan.work = fields.iter().map(work).fold(0, u64::saturating_add);
    plan.slots = fields.iter().filter(|field| field.slot.is_some()).count();
    plan.is_numeric = fields.iter().all(is_numeric);
    let values = fields.iter().map(values);
    plan.values = match shape {
        Shape::Static | Shape::Dynamic => values.fold(0, u64::saturating_add),
        Shape::Union | Shape::SelectingUnion(_) => values.max().unwrap_or_default(),
    };
    plan.depth = 1 + fields.iter().map(depth).max().unwrap_or_default();
    Ok(plan)
}

/// The type of the text that a payload is as a whole.
fn whole_text(shape: Shape, fields: &[Field]) -> Option<EntryType> {
    match (shape, fields) {
        (
            Shape::Dynamic,
            [
                Field {
                    kind: FieldKind::Text(ty),
                    place: Place::Here,
                    extent: Extent::ZeroTerminated,
                    offset: 0,
                    ..
                },
            ],
        ) => Some(*ty),
        _ => None,
    }
}

/// How the fields are found, and how those of a regular schema that are loose.
fn way(plan: &Plan, shape: Shape, fields: &mut [Field]) -> (Way, Box<[Loose]>) {
    let all_settled = shape == Shape::Static && plan.is_settled;
    if plan.whole_text.is_some() || all_settled {
        return (Way::Settled, Box::default());
    }
    let irregular = (Way::Irregular, Box::default());
    let is_union = matches!(shape, Shape::Union | Shape::SelectingUnion(_));
    if is_union || !plan.late.is_empty() {
        return irregular;
    }
    let mut all = Vec::new();
    for index in 0..fields.len() {
        if fields[index].settled && !fields[index].follows {
            continue;
        }
        match Loose::new(&fields[index], fields) {
            Some(loose) if all.len() < LOOSE => {
                fields[index].loose = Some(all.len());
                all.push(loose);
            }
            _ => {
                fields.iter_mut().for_each(|field| field.loose = None);
                return irregular;
            }
        }
    }
    (Way::Regular, all.into())
}

/// How a loose field is shown.
fn loose(field: &Field) -> Read {
    match field.kind {
        _ if field.is_one() => Read::LooseOne,
        FieldKind::Text(ty) if unit_size(ty) == 1 => Read::LooseText,
        _ => Read::Loose,
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
        ))
        .because(Cause::Unregistered(IdKind::TimeDomain, id))),
        named => Ok(named),
    }
}

/// Whether what the entry says is about one thing that the event has.
fn has_purpose(entry: &EntrySpec<'_>) -> bool {
    !matches!(
        EntryRole::from_flags(entry.flags),
        Some(EntryRole::None | EntryRole::Message)
    )
}

/// The scopes that the semantics of entries name.
fn named_scopes(spec: &SchemaSpec<'_>, domain: &Domain) -> Result<NamedScopes> {
    let mut named = NamedScopes::default();
    for (index, entry) in spec.entries.iter().enumerate() {
        let Some(scope) = entry.semantics.scope.filter(|scope| *scope != 0) else {
            continue;
        };
        if !domain.knows_scope(scope) {
            return Err(Refusal::invalid(format!(
                "{}: the scope semantics name {scope}, which is neither predefined nor registered in the domain",
                label(index, entry)
            ))
            .because(Cause::Unregistered(IdKind::Scope, scope)));
        }
        match has_purpose(entry) {
            true => named.purpose = scope,
            false => named.general = scope,
        }
    }
    Ok(named)
}

impl AttributesAt {
    /// Whether payloads name scopes themselves.
    #[inline]
    pub(crate) fn names_scope(&self) -> bool {
        self.purpose_scope.is_some() || self.scope.is_some()
    }

    /// Whether payloads name processes or threads.
    #[inline]
    pub(crate) fn names_os_id(&self) -> bool {
        self.process.is_some() || self.thread.is_some()
    }
}

impl NamedScopes {
    /// The one that counts; 0 if there is none.
    pub(crate) fn best(&self) -> u64 {
        match self.purpose {
            0 => self.general,
            scope => scope,
        }
    }
}

impl Plan {
    /// Where the attributes of a payload are whose fields are at these places, as a walk keeps them.
    pub(crate) fn at_places(&self, places: &[usize]) -> AttributesAt {
        let mut at = self.at;
        for (attribute, slot) in &self.late {
            let place = places[*slot];
            match attribute {
                Attribute::Time => at.time.iter_mut().for_each(|time| time.offset = place),
                Attribute::End => at.end.iter_mut().for_each(|time| time.offset = place),
                Attribute::Color => at.color = Some(place),
                Attribute::Category => at.category = Some(place),
                Attribute::RangeId => at.range_id = Some(place),
                Attribute::PurposeScope => at.purpose_scope = Some(place),
                Attribute::Scope => at.scope = Some(place),
                Attribute::Process => at.process.iter_mut().for_each(|id| id.offset = place),
                Attribute::Thread => at.thread.iter_mut().for_each(|id| id.offset = place),
            }
        }
        at
    }

    /// The scope of all events of a batch that names this one, or 0, on a stream of that one, if none of them can name one of its
    /// own, nor a process or a thread.
    #[inline]
    pub(crate) fn fixed_scope(&self, batch: u64, stream: u64) -> Option<u64> {
        let Self { at, scopes, .. } = self;
        if at.names_scope() || at.names_os_id() || scopes.purpose != 0 {
            return None;
        }
        let mut named = [batch, scopes.general].into_iter();
        Some(named.find(|scope| *scope != 0).unwrap_or(stream))
    }

    /// Whether a payload, or the schema for it, may name its scope.
    #[inline]
    pub(crate) fn names_scope(&self) -> bool {
        self.at.names_scope() || self.scopes.purpose != 0 || self.scopes.general != 0
    }

    /// The scopes that a payload of these bytes names, whose attributes are there: best first, 0 for none.
    #[inline]
    pub(crate) fn scopes(&self, at: &AttributesAt, bytes: &[u8]) -> Scopes {
        let entry = |offset: Option<usize>| offset.map_or(0, |offset| read(bytes, offset));
        [
            entry(at.purpose_scope),
            self.scopes.purpose,
            entry(at.scope),
            self.scopes.general,
        ]
    }
}

/// Whether the field holds the number of a process.
pub(crate) fn is_process_id(field: &Field) -> bool {
    is_one(field, [EntryType::PidUInt32, EntryType::PidUInt64])
}

/// The same for a thread.
pub(crate) fn is_thread_id(field: &Field) -> bool {
    is_one(field, [EntryType::TidUInt32, EntryType::TidUInt64])
}

fn is_one(field: &Field, types: [EntryType; 2]) -> bool {
    let is_plain = field.plain && field.count.is_none();
    is_plain && matches!(field.kind, FieldKind::Scalar(ty) if types.contains(&ty))
}

/// Whether the field is a number, or numbers.
pub(crate) fn is_numeric(field: &Field) -> bool {
    match &field.kind {
        FieldKind::Scalar(ty) => ty.is_numeric(),
        FieldKind::Enum(_) => true,
        FieldKind::Struct(schema) | FieldKind::Union(schema) => schema.plan.is_numeric,
        FieldKind::Text(_) => false,
    }
}

fn reaches_out(field: &Field) -> bool {
    match &field.kind {
        _ if matches!(field.place, Place::Pointer(Beyond::Followed(_))) => true,
        FieldKind::Struct(schema) | FieldKind::Union(schema) => schema.plan.reaches_out,
        _ => false,
    }
}

fn refers(field: &Field) -> bool {
    field.place != Place::Here
        || matches!(field.extent, Extent::Payload(_))
        || match &field.kind {
            FieldKind::Struct(schema) | FieldKind::Union(schema) => schema.plan.refers,
            _ => false,
        }
}

fn work(field: &Field) -> u64 {
    1 + if field.settled {
        field.span() as u64
    } else {
        0
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
