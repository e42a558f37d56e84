//! Structs in structs, and payloads and records beside an event.

use nvtxw::{EventKind, NvtxEvent, NvtxField, NvtxPayload, RecordLayout, StringHandle, Value};
use proptest::prelude::*;

use crate::data::{Data, Values, described, field, hidden, registered, text, text_of, values};
use crate::seen::{Seen, SeenEvent, Shown, Tree, Type};
use crate::stage::{Case, Stage, for_all, round_trip_in_batches};

#[derive(NvtxPayload, Clone, Copy, Debug)]
#[repr(C)]
struct Point {
    #[nvtx(description = "to the right")]
    x: f32,
    y: f32,
}

values!(Point: x, y);

impl Data for Point {
    fn ty() -> Type {
        Type::Struct("Point".to_owned())
    }
    fn tree(self) -> Tree {
        Tree::Struct(vec![
            described("x", "to the right", self.x),
            field("y", self.y),
        ])
    }
}

/// Padding is impossible, and its fields lie anywhere.
#[derive(NvtxPayload, Clone, Copy, Debug)]
#[repr(C, packed)]
#[nvtx(name = "a shape")]
struct Shape<T> {
    #[nvtx(string)]
    label: [u8; 3],
    corners: [Point; 2],
    #[nvtx(registered_string)]
    file: StringHandle,
    #[nvtx(hide)]
    secret: bool,
    value: T,
    #[nvtx(skip)]
    rest: u16,
}

impl<T: Values + Copy> Values for Shape<T> {
    fn values() -> BoxedStrategy<Self> {
        type Parts<T> = ([u8; 3], [Point; 2], StringHandle, bool, T, u16);
        let parts = (
            Values::values(),
            Values::values(),
            Values::values(),
            Values::values(),
            Values::values(),
            Values::values(),
        );
        parts
            .prop_map(
                |(label, corners, file, secret, value, rest): Parts<T>| Self {
                    label,
                    corners,
                    file,
                    secret,
                    value,
                    rest,
                },
            )
            .boxed()
    }
}

impl<T: Data + NvtxField> Data for Shape<T> {
    fn ty() -> Type {
        Type::Struct("a shape".to_owned())
    }
    fn tree(self) -> Tree {
        Tree::Struct(vec![
            text("label", &self.label),
            field("corners", self.corners),
            field("file", self.file),
            hidden("secret", self.secret),
            field("value", self.value),
        ])
    }
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C, packed(2))]
#[nvtx(kind = mark)]
struct Drawn {
    #[nvtx(timestamp)]
    time: i64,
    point: Point,
    points: [[Point; 2]; 2],
    small: Shape<u8>,
    shapes: [Shape<[i16; 2]>; 2],
    deep: Shape<Shape<u64>>,
    tail: u8,
}

values!(Drawn: time, point, points, small, shapes, deep, tail);

impl Case for Drawn {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Drawn";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("point", self.point),
            field("points", self.points),
            field("small", self.small),
            field("shapes", self.shapes),
            field("deep", self.deep),
            field("tail", self.tail),
        ]
    }
}

#[test]
fn structs_in_structs_in_structs() {
    round_trip_in_batches::<Drawn>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
    grid: u64,
}

values!(Launch: time, grid);

fn seen(launch: Launch, message: Option<String>, more: Vec<Shown>) -> Vec<Seen> {
    let mut fields = vec![field("grid", launch.grid)];
    fields.extend(more);
    vec![Seen::Event(SeenEvent {
        schema: "Launch".to_owned(),
        kind: EventKind::Mark,
        start: launch.time,
        end: None,
        message,
        color: None,
        category: None,
        range_id: None,
        scope: 0,
        fields,
    })]
}

fn fields_of(value: impl Data) -> Vec<Shown> {
    match value.tree() {
        Tree::Struct(fields) => fields,
        other => panic!("{other:?} is no struct"),
    }
}

#[test]
fn payloads_beside_an_event() {
    let (mut stage, (launch, point, shape)) = Stage::with(|domain| {
        Ok((
            domain.schema::<Launch>()?,
            domain.payload_schema::<Point>()?,
            domain.payload_schema::<Shape<u32>>()?,
        ))
    });
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.events(launch).expect("events");
    let all = (
        Launch::values(),
        <[Point; 3]>::values(),
        Shape::<u32>::values(),
    );
    for_all(all, |(event, points, shaped)| {
        let [a, b, c] = [&points[0], &points[1], &points[2]].map(|value| point.payload(value));
        out.write_with(&event, (a, shape.payload(&shaped), b, c))
            .expect("written");
        let more = [
            fields_of(points[0]),
            fields_of(shaped),
            fields_of(points[1]),
            fields_of(points[2]),
        ];
        assert_eq!(stage.eyes.take(), seen(event, None, more.concat()));
    });
}

/// A value of a record's column.
#[derive(Clone, Debug)]
enum Cell {
    I64(i64),
    U64(u64),
    F64(f64),
    Bool(bool),
    String(usize),
    Message(usize),
    Correlation(u64),
    Hidden(u64),
}

impl Cell {
    fn values() -> BoxedStrategy<Self> {
        prop_oneof![
            i64::values().prop_map(Self::I64),
            u64::values().prop_map(Self::U64),
            f64::values().prop_map(Self::F64),
            bool::values().prop_map(Self::Bool),
            (0..4_usize).prop_map(Self::String),
            (0..4_usize).prop_map(Self::Message),
            u64::values().prop_map(Self::Correlation),
            u64::values().prop_map(Self::Hidden),
        ]
        .boxed()
    }

    fn column(&self, layout: RecordLayout, name: &str) -> RecordLayout {
        match self {
            Self::I64(_) => layout.i64(name),
            Self::U64(_) => layout.u64(name),
            Self::F64(_) => layout.f64(name),
            Self::Bool(_) => layout.bool(name),
            Self::String(_) => layout.string(name),
            Self::Message(_) => layout.message(name),
            Self::Correlation(_) => layout.correlation(name),
            Self::Hidden(_) => layout.hidden_correlation(name, "a flow"),
        }
    }

    fn value(&self) -> Value {
        let string = |index: usize| registered().strings[index].0;
        match *self {
            Self::I64(value) => value.into(),
            Self::U64(value) | Self::Correlation(value) | Self::Hidden(value) => value.into(),
            Self::F64(value) => value.into(),
            Self::Bool(value) => value.into(),
            Self::String(index) | Self::Message(index) => string(index).into(),
        }
    }

    fn shown(&self, name: &str) -> Option<Shown> {
        let string = |index: usize| registered().strings[index].0.handle();
        Some(match *self {
            Self::I64(value) => field(name, value),
            Self::U64(value) | Self::Correlation(value) => field(name, value),
            Self::F64(value) => field(name, value),
            Self::Bool(value) => field(name, value),
            Self::String(index) => field(name, string(index)),
            Self::Message(_) => return None,
            Self::Hidden(value) => hidden(name, value),
        })
    }
}

#[test]
fn records_of_any_columns() {
    let mut refused = 0;
    for_all(
        (
            Launch::values(),
            proptest::collection::vec(Cell::values(), 0..9),
        ),
        |(event, cells)| {
            let mut layout = RecordLayout::new();
            for (index, cell) in cells.iter().enumerate() {
                layout = cell.column(layout, &format!("column {index}"));
            }
            let (mut stage, (launch, record)) = Stage::with(|domain| {
                Ok((domain.schema::<Launch>()?, domain.record("any", &layout)))
            });
            let messages = cells.iter().filter(|cell| matches!(cell, Cell::Message(_)));
            let is_layout = !cells.is_empty() && messages.count() <= 1;
            assert_eq!(record.is_ok(), is_layout, "{record:?}");
            let Ok(record) = record else {
                refused += 1;
                return;
            };
            let mut row = record.row();
            for (index, cell) in cells.iter().enumerate() {
                row.set(index, cell.value()).expect("of the column's type");
            }
            let out = stage.session.writer(&mut stage.stream).expect("a writer");
            let out = out.events(launch).expect("events");
            out.write_with(&event, &row).expect("written");
            let message = cells.iter().find_map(|cell| match cell {
                Cell::Message(index) => text_of(registered().strings[*index].0.handle()),
                _ => None,
            });
            let more = cells.iter().enumerate();
            let more = more.filter_map(|(index, cell)| cell.shown(&format!("column {index}")));
            assert_eq!(stage.eyes.take(), seen(event, message, more.collect()));
        },
    );
    assert!(
        refused < 200,
        "the test tests something: {refused} of 300 layouts are none"
    );
}
