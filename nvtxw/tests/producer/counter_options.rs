//! Counters: how they are registered.

use nvtxw::abi::raw;
use nvtxw::{CounterOptions, Interpolation, Limit, RowField, RowLayout, RowType, ValueType};

use crate::counters::{Channel, counter};
use crate::recorder::{self, Counter, Semantics, answer, call, calls};

#[test]
fn a_counter_is_registered_once_with_its_type() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let queue = domain.counter::<i64>("queue").unwrap();
    let expected = Counter {
        struct_size: 56,
        schema: raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64,
        name: "queue".into(),
        description: None,
        scope: 0,
        static_id: 0,
        semantics: vec![],
    };
    assert_eq!(counter(call()), expected);
    assert_eq!(domain.counter::<i64>("queue").unwrap(), queue);
    assert_eq!(calls(), []);
    domain.counter::<u64>("u").unwrap();
    assert_eq!(counter(call()).schema, raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
    domain.counter::<f64>("f").unwrap();
    assert_eq!(counter(call()).schema, raw::NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
}

#[test]
fn the_options_arrive() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let scope = domain.scope("GPU 0").unwrap();
    calls();
    let options = CounterOptions::new()
        .description("of the hottest sensor")
        .scope(scope)
        .unit("°C")
        .scale(1, 1000)
        .min(Limit::I64(-40))
        .max(Limit::I64(120))
        .interpolation(Interpolation::Linear)
        .value_type(ValueType::Absolute);
    let first = domain
        .counter_with::<i64>("temperature", options.clone())
        .unwrap();
    let registered = counter(call());
    assert_eq!(
        registered.description.as_deref(),
        Some("of the hottest sensor")
    );
    assert_eq!(registered.scope, scope.id().to_u64());
    let semantics = Semantics::Counter {
        struct_size: 72,
        version: 2,
        flags: raw::NVTX_COUNTER_FLAG_LIMITS
            | raw::NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR
            | raw::NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE,
        unit: Some("°C".into()),
        scale: (1, 1000),
        limit_type: raw::NVTX_COUNTER_LIMIT_I64,
        min: -40_i64 as u64,
        max: 120,
    };
    assert_eq!(registered.semantics, [semantics]);
    assert_eq!(
        domain.counter_with::<i64>("temperature", options).unwrap(),
        first
    );
    assert_eq!(calls(), []);

    domain
        .counter_with::<f64>("load", CounterOptions::new().max(Limit::F64(0.5)))
        .unwrap();
    let Semantics::Counter {
        flags,
        limit_type,
        min,
        max,
        ..
    } = counter(call()).semantics[0]
    else {
        panic!()
    };
    assert_eq!(
        (flags, limit_type),
        (
            raw::NVTX_COUNTER_FLAG_LIMIT_MAX,
            raw::NVTX_COUNTER_LIMIT_F64
        )
    );
    assert_eq!((min, max), (0, 0.5_f64.to_bits()));
}

#[test]
fn one_name_in_one_scope_is_one_definition() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let scope = domain.scope("GPU 0").unwrap();
    let here = domain
        .counter_with::<i64>("queue", CounterOptions::new().unit("jobs"))
        .unwrap();
    assert_eq!(
        domain.counter::<f64>("queue").unwrap_err().to_string(),
        "counter `queue` is registered in that scope as int64, unit `jobs`, and asked for as double: use one definition, or \
         another name"
    );
    let options = CounterOptions::new()
        .min(Limit::I64(0))
        .scale(2, 3)
        .description("d");
    assert_eq!(
        domain
            .counter_with::<i64>("queue", options)
            .unwrap_err()
            .to_string(),
        "counter `queue` is registered in that scope as int64, unit `jobs`, and asked for as int64, description `d`, scale \
         2/3, min I64(0): use one definition, or another name"
    );
    assert_eq!(
        domain
            .counter_group::<Channel>("queue")
            .unwrap_err()
            .to_string(),
        "counter `queue` is registered in that scope as int64, unit `jobs`, and asked for as group `Channel`: use one \
         definition, or another name"
    );
    let there = domain
        .counter_with::<f64>("queue", CounterOptions::new().scope(scope))
        .unwrap();
    assert_ne!(format!("{here:?}"), format!("{there:?}"));
}

#[test]
fn groups_of_one_name_are_told_apart() {
    mod other {
        #[derive(nvtxw::NvtxCounterGroup, Clone, Copy)]
        #[repr(C)]
        pub struct Channel {
            pub reads: u64,
        }
    }

    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    domain.counter_group::<Channel>("HBM").unwrap();
    let error = domain
        .counter_group::<other::Channel>("HBM")
        .unwrap_err()
        .to_string();
    let [one, two] = [
        std::any::type_name::<Channel>(),
        std::any::type_name::<other::Channel>(),
    ];
    let start = format!("counter `HBM` is registered in that scope as group `{one}` (schema ");
    assert!(error.starts_with(&start), "{error}");
    assert!(
        error.contains(&format!("), and asked for as group `{two}` (schema ")),
        "{error}"
    );
    let layout = |name| RowLayout::counters().field(RowField::new(name, RowType::I64));
    let options = CounterOptions::new();
    domain
        .counter_rows("rows", &layout("a"), options.clone())
        .unwrap();
    let error = domain
        .counter_rows("rows", &layout("b"), options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("as group `rows` (schema "), "{error}");
    assert!(
        error.contains("asked for as group `rows` (schema "),
        "{error}"
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let mut refused = |options: CounterOptions| {
        domain
            .counter_with::<i64>("q", options)
            .unwrap_err()
            .to_string()
    };
    let zero = "can't register counter `q`: its scale has a 0; both numbers are 1 or more";
    assert_eq!(refused(CounterOptions::new().scale(0, 1)), zero);
    assert_eq!(refused(CounterOptions::new().scale(1, 0)), zero);
    let other_type = "can't register counter `q`: `min` or `max` is a limit of another type than its numbers; give `Limit::I64` \
                      for signed integers, `Limit::U64` for unsigned ones and `Limit::F64` for floats";
    assert_eq!(
        refused(
            CounterOptions::new()
                .min(Limit::I64(0))
                .max(Limit::F64(1.0))
        ),
        other_type
    );
    assert_eq!(
        refused(CounterOptions::new().max(Limit::F64(1.5))),
        other_type
    );
    assert_eq!(
        refused(CounterOptions::new().min(Limit::U64(1))),
        other_type
    );
    assert_eq!(
        refused(CounterOptions::new().min(Limit::I64(1)).max(Limit::I64(0))),
        "can't register counter `q`: `max` is below `min`; swap them"
    );
    assert_eq!(
        refused(CounterOptions::new().unit("\0")),
        "the counter unit has a NUL byte at position 0, where C's text ends: take it out"
    );
    assert_eq!(
        refused(CounterOptions::new().description("ab\0")),
        "the counter description has a NUL byte at position 2, where C's text ends: take it out"
    );
    for (options, problem) in [
        (
            CounterOptions::new().min(Limit::F64(f64::NAN)),
            "`min` or `max` is NaN; give a number, or leave it out",
        ),
        (
            CounterOptions::new().max(Limit::I64(1)),
            "`min` or `max` is a limit of another type than its numbers; give `Limit::I64` for signed integers, `Limit::U64` for \
             unsigned ones and `Limit::F64` for floats",
        ),
        (
            CounterOptions::new().max(Limit::F64(1e39)),
            "`min` or `max` is out of the range of its numbers' type; give a limit within that range",
        ),
    ] {
        assert_eq!(
            domain
                .counter_with::<f32>("q", options)
                .unwrap_err()
                .to_string(),
            format!("can't register counter `q`: {problem}")
        );
    }
    let error = domain.counter::<i64>("q\0").unwrap_err().to_string();
    assert_eq!(
        error,
        "the counter name has a NUL byte at position 1, where C's text ends: take it out"
    );
    let error = domain
        .counter_group_with::<Channel>("g", CounterOptions::new().unit("x"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "can't register counter `g`: unit, scale, limits, interpolation and value type belong to the fields of the group's \
         struct"
    );
    answer("CounterRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let error = domain.counter::<i64>("q").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "can't register counter `q` in domain `sim` of session `run`: the backend"
        ),
        "{error}"
    );
}
