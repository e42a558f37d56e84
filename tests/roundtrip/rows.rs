//! Rows of layouts that are made up as the test runs: any layout that is accepted.

mod counters;
mod events;

use nvtxw::{
    Domain, EnumLayout, Enumeration, EventKind, NvtxEvent, RowField, RowLayout, RowSchema, RowType,
};
use proptest::prelude::*;

use crate::data::{Values, before_null, enumeration, field, registered, widened_bf16, widened_f16};
use crate::seen::{Seen, SeenEvent, Shown, Tree, Type};
use crate::stage::{Stage, for_all};

/// A type of a field.
#[derive(Clone, Debug)]
enum Ty {
    Number(RowType),
    Text(usize),
    Enum,
    /// One of the payloads.
    Row(usize),
}

/// A field of a layout.
#[derive(Clone, Debug)]
struct Plan {
    ty: Ty,
    count: Option<usize>,
    /// Where it begins, from the end of the field before; mostly where C puts it.
    jump: Option<isize>,
    is_hidden: bool,
    description: Option<String>,
}

/// A layout, without the fields that its role needs.
#[derive(Clone, Debug)]
struct LayoutPlan {
    fields: Vec<Plan>,
    is_packed: bool,
    /// Bytes of a row after the last field; mostly as many as C puts there.
    rest: Option<usize>,
}

const NUMBERS: [RowType; 18] = [
    RowType::I8,
    RowType::I16,
    RowType::I32,
    RowType::I64,
    RowType::I128,
    RowType::U8,
    RowType::U16,
    RowType::U32,
    RowType::U64,
    RowType::U128,
    RowType::F16,
    RowType::BF16,
    RowType::F32,
    RowType::F64,
    RowType::Bool,
    RowType::Char,
    RowType::Byte,
    RowType::Address,
];

fn plans(payloads: usize) -> impl Strategy<Value = LayoutPlan> {
    let number = proptest::sample::select(&NUMBERS[..]).prop_map(Ty::Number);
    let ty = match payloads {
        0 => prop_oneof![6 => number, 1 => (0..9_usize).prop_map(Ty::Text), 1 => Just(Ty::Enum)]
            .boxed(),
        _ => prop_oneof![
            6 => number,
            1 => (1..9_usize).prop_map(Ty::Text),
            1 => Just(Ty::Enum),
            2 => (0..payloads).prop_map(Ty::Row),
        ]
        .boxed(),
    };
    let jump = prop_oneof![6 => Just(None), 2 => (0..20_isize).prop_map(Some), 1 => (-3..1_isize).prop_map(Some)];
    let description = proptest::option::weighted(0.2, "[a-z]{0,5}");
    let count = proptest::option::weighted(0.3, 1..4_usize);
    let field = (ty, count, jump, any::<bool>(), description);
    let field = field.prop_map(|(ty, count, jump, is_hidden, description)| Plan {
        ty,
        count,
        jump,
        is_hidden,
        description,
    });
    let rest = proptest::option::weighted(0.2, 0..20_usize);
    (proptest::collection::vec(field, 1..6), any::<bool>(), rest).prop_map(
        |(fields, is_packed, rest)| LayoutPlan {
            fields,
            is_packed,
            rest,
        },
    )
}

/// A layout that is registered, and where its fields must lie.
struct Known {
    schema: RowSchema,
    fields: Vec<Place>,
    /// What of it a backend must see of it as a field.
    name: String,
}

struct Place {
    name: String,
    plan: Plan,
    offset: usize,
}

/// Size and alignment.
fn extent(ty: &Ty, payloads: &[Known]) -> (usize, usize) {
    match ty {
        Ty::Text(len) => (*len, 1),
        Ty::Enum => (2, 2),
        // As it is placed here, its alignment doesn't matter.
        Ty::Row(index) => (payloads[*index].schema.row_size(), 16),
        Ty::Number(number) => {
            let size = match number {
                RowType::I8 | RowType::U8 | RowType::Bool | RowType::Byte => 1,
                RowType::I16 | RowType::U16 | RowType::F16 | RowType::BF16 => 2,
                RowType::I32 | RowType::U32 | RowType::F32 | RowType::Char => 4,
                RowType::I128 | RowType::U128 => 16,
                _ => 8,
            };
            (size, size)
        }
    }
}

/// The layout of `first`, which are the fields of its role, and of the plan. Where its fields must lie, if it is one.
fn layout(
    mut layout: RowLayout,
    plan: &LayoutPlan,
    first: Vec<(RowField, usize)>,
    payloads: &[Known],
    enumeration: Enumeration,
) -> (RowLayout, Option<Vec<Place>>) {
    let (mut end, mut is_good, mut places) = (0, true, Vec::new());
    for (field, size) in first {
        layout = layout.field(field);
        end += size;
    }
    for (index, plan_of_field) in plan.fields.iter().enumerate() {
        let name = format!("field of {index}");
        let ty = match plan_of_field.ty {
            Ty::Number(number) => number,
            Ty::Text(len) => RowType::Text(len),
            Ty::Enum => RowType::Enumeration(enumeration),
            Ty::Row(payload) => RowType::Row(payloads[payload].schema),
        };
        let is_text = matches!(plan_of_field.ty, Ty::Text(_));
        let mut field = RowField::new(&name, ty);
        if let Some(count) = plan_of_field.count {
            field = field.array(count);
            is_good &= !is_text;
        }
        if plan_of_field.is_hidden {
            field = field.hidden();
        }
        if let Some(description) = &plan_of_field.description {
            field = field.description(description);
        }
        let (size, align) = extent(&plan_of_field.ty, payloads);
        let is_row = matches!(plan_of_field.ty, Ty::Row(_));
        let offset = match plan_of_field.jump {
            Some(jump) => end.saturating_add_signed(jump),
            None if plan.is_packed => end,
            None => usize::next_multiple_of(end, align),
        };
        if is_row || plan_of_field.jump.is_some() {
            field = field.at(offset);
        }
        is_good &= size > 0 && offset >= end;
        end = offset + size * plan_of_field.count.unwrap_or(1);
        layout = layout.field(field);
        places.push(Place {
            name,
            plan: plan_of_field.clone(),
            offset,
        });
    }
    if plan.is_packed {
        layout = layout.packed();
    }
    if let Some(rest) = plan.rest {
        layout = layout.size(end + rest);
    }
    (layout, is_good.then_some(places))
}

fn bytes<const N: usize>(row: &[u8], offset: usize) -> [u8; N] {
    row[offset..offset + N].try_into().expect("so many")
}

/// What a backend must see of a number that lies there.
fn number(ty: RowType, row: &[u8], at: usize) -> (Type, Tree) {
    let (number, tree) = match ty {
        RowType::I8 => (11, Tree::I64(row[at] as i8 as i64)),
        RowType::U8 => (12, Tree::U64(row[at].into())),
        RowType::I16 => (13, Tree::I64(i16::from_ne_bytes(bytes(row, at)).into())),
        RowType::U16 => (14, Tree::U64(u16::from_ne_bytes(bytes(row, at)).into())),
        RowType::I32 => (15, Tree::I64(i32::from_ne_bytes(bytes(row, at)).into())),
        RowType::U32 => (16, Tree::U64(u32::from_ne_bytes(bytes(row, at)).into())),
        RowType::I64 => (17, Tree::I64(i64::from_ne_bytes(bytes(row, at)))),
        RowType::U64 => (18, Tree::U64(u64::from_ne_bytes(bytes(row, at)))),
        RowType::Address => (23, Tree::Address(u64::from_ne_bytes(bytes(row, at)))),
        RowType::Char => (27, Tree::Char(u32::from_ne_bytes(bytes(row, at)))),
        RowType::Byte => (32, Tree::Bytes(vec![row[at]])),
        RowType::I128 => (33, Tree::I128(i128::from_ne_bytes(bytes(row, at)))),
        RowType::U128 => (34, Tree::U128(u128::from_ne_bytes(bytes(row, at)))),
        RowType::F16 => (
            42,
            Tree::F32(widened_f16(u16::from_ne_bytes(bytes(row, at)))),
        ),
        RowType::BF16 => (
            50,
            Tree::F32(widened_bf16(u16::from_ne_bytes(bytes(row, at)))),
        ),
        RowType::F32 => (43, Tree::F32(u32::from_ne_bytes(bytes(row, at)))),
        RowType::F64 => (44, Tree::F64(u64::from_ne_bytes(bytes(row, at)))),
        RowType::Bool => {
            let name = ["false", "true"].get(usize::from(row[at])).copied();
            let ty = enumeration("bool", 1, &[("false", 0), ("true", 1)], false);
            return (ty, Tree::Enum(row[at].into(), name.map(str::to_owned)));
        }
        other => panic!("{other:?} is no number"),
    };
    (Type::Number(number), tree)
}

/// What a backend must see of the fields of a row.
fn shown(places: &[Place], row: &[u8], payloads: &[Known]) -> Vec<Shown> {
    places
        .iter()
        .map(|place| {
            let (size, _) = extent(&place.plan.ty, payloads);
            let one = |at: usize| match &place.plan.ty {
                Ty::Number(ty) => number(*ty, row, at),
                Ty::Text(len) => {
                    let text = before_null(&row[at..at + len]).to_vec();
                    (Type::Number(76), Tree::Text(text))
                }
                Ty::Enum => {
                    let value = u16::from_ne_bytes(bytes(row, at));
                    let name = [(0, "none"), (7, "seven"), (0xFFFF, "all")];
                    let name = name.iter().find(|(known, _)| *known == value);
                    let name = name.map(|(_, name)| (*name).to_owned());
                    (of_enum(), Tree::Enum(value.into(), name))
                }
                Ty::Row(index) => {
                    let payload = &payloads[*index];
                    let inner = shown(&payload.fields, &row[at..at + size], payloads);
                    (Type::Struct(payload.name.clone()), Tree::Struct(inner))
                }
            };
            let (ty, first) = one(place.offset);
            let value = match place.plan.count {
                None => first,
                Some(count) => {
                    let elements = (0..count).map(|index| one(place.offset + index * size).1);
                    let elements: Vec<_> = elements.collect();
                    // Bytes come in one piece.
                    match place.plan.ty {
                        Ty::Number(RowType::Byte) => {
                            Tree::Bytes(row[place.offset..place.offset + count].to_vec())
                        }
                        _ => Tree::List(elements),
                    }
                }
            };
            Shown {
                name: place.name.clone(),
                ty,
                count: place.plan.count,
                is_hidden: place.plan.is_hidden,
                description: place.plan.description.clone(),
                value,
            }
        })
        .collect()
}

fn of_enum() -> Type {
    enumeration(
        "codes",
        2,
        &[("none", 0), ("seven", 7), ("all", 0xFFFF)],
        false,
    )
}

fn register_enum(domain: &mut Domain<'_>) -> nvtxw::Result<Enumeration> {
    let layout = EnumLayout::new(2)
        .value("none", 0)
        .value("seven", 7)
        .value("all", 0xFFFF);
    domain.enumeration("codes", &layout)
}

/// Registers payloads, as far as they are layouts; each may hold those before it.
fn register_payloads(
    domain: &mut Domain<'_>,
    plans: &[LayoutPlan],
    enumeration: Enumeration,
) -> Vec<Known> {
    let mut payloads: Vec<Known> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        let mut plan = plan.clone();
        // Those that the plan meant may have been none.
        let count = payloads.len();
        for field in &mut plan.fields {
            if let Ty::Row(of) = &mut field.ty {
                match count {
                    0 => field.ty = Ty::Enum,
                    count => *of %= count,
                }
            }
        }
        let name = format!("payload {index}");
        let (layout, places) = layout(
            RowLayout::payload(),
            &plan,
            Vec::new(),
            &payloads,
            enumeration,
        );
        let registered = domain.rows(&name, &layout);
        assert_eq!(
            registered.is_ok(),
            places.is_some(),
            "{registered:?} of {plan:?}"
        );
        if let (Ok(schema), Some(fields)) = (registered, places) {
            payloads.push(Known {
                schema,
                fields,
                name,
            });
        }
    }
    payloads
}

/// So many rows of these bytes, over and over.
fn rows(seed: &[u8], size: usize, count: usize) -> Vec<u8> {
    seed.iter().copied().cycle().take(size * count).collect()
}

fn seeds() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 61..300)
}

const KINDS: [EventKind; 7] = [
    EventKind::Mark,
    EventKind::RangePushPop,
    EventKind::RangeStartEnd,
    EventKind::RangePush,
    EventKind::RangePop,
    EventKind::RangeStart,
    EventKind::RangeEnd,
];

/// What events of a kind have before their other fields: as many numbers of 64 bits as these roles, and three of 32 bits.
fn first_fields(kind: EventKind, is_unsigned: bool) -> Vec<(RowField, usize)> {
    let ty = if is_unsigned {
        RowType::U64
    } else {
        RowType::I64
    };
    let time = |name: &str| RowField::new(name, ty);
    let mut fields = match kind {
        EventKind::Mark => vec![time("time").timestamp()],
        EventKind::RangePushPop | EventKind::RangeStartEnd => {
            vec![time("end").timestamp_end(), time("start").timestamp_start()]
        }
        EventKind::RangePush | EventKind::RangeStart => vec![time("start").timestamp_start()],
        EventKind::RangePop | EventKind::RangeEnd => vec![time("end").timestamp_end()],
    };
    if matches!(kind, EventKind::RangeStart | EventKind::RangeEnd) {
        fields.push(RowField::new("id", RowType::U64).range_id());
    }
    fields.push(RowField::new("place", RowType::U64).scope());
    let mut fields: Vec<_> = fields.into_iter().map(|field| (field, 8)).collect();
    fields.push((RowField::new("color", RowType::U32).color(), 4));
    fields.push((RowField::new("category", RowType::U32).category(), 4));
    fields.push((RowField::new("message", RowType::Text(5)).message(), 5));
    fields
}
