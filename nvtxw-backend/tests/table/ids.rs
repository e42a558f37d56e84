//! IDs that producers pick, and those that the backend picks.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::domains::{seen, time_domain_attr};
use crate::program::*;

/// Registers something under `id`; what it is, is up to the caller.
type Register = fn(&Program, Domain, u64, *mut u64) -> Outcome;

const REGISTER: [(&str, &str, &str, Register); 5] = [
    (
        "scope",
        "ScopeRegister",
        "scopeIdOut",
        |program, domain, id, out| {
            let attr = nvtxScopeAttr_t {
                structSize: 32,
                path: c"x".as_ptr(),
                parentScope: 1,
                scopeId: id,
            };
            member!(program, ScopeRegister(domain, &attr, out))
        },
    ),
    (
        "schema or enum",
        "SchemaRegister",
        "schemaIdOut",
        |program, domain, id, out| {
            let entries = mark_entries();
            member!(
                program,
                SchemaRegister(domain, &with_id(id, schema_attr(0, &entries)), out)
            )
        },
    ),
    (
        "schema or enum",
        "EnumRegister",
        "enumIdOut",
        |program, domain, id, out| {
            let attr = enum_attr(&[], 4);
            let mask = attr.fieldMask | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
            let attr = nvtxPayloadEnumAttr_t {
                fieldMask: mask,
                schemaId: id,
                ..attr
            };
            member!(program, EnumRegister(domain, &attr, out))
        },
    ),
    (
        "counter",
        "CounterRegister",
        "counterIdOut",
        |program, domain, id, out| {
            let attr = nvtxCounterAttr_t {
                counterId: id,
                ..counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
            };
            member!(program, CounterRegister(domain, &attr, out))
        },
    ),
    (
        "time domain",
        "TimeDomainRegister",
        "timeDomainIdOut",
        |program, domain, id, out| {
            let attr = nvtxTimeDomainAttr_t {
                timeDomainId: id,
                ..time_domain_attr()
            };
            member!(program, TimeDomainRegister(domain, &attr, out))
        },
    ),
];

#[test]
fn static_ids_are_the_producers_and_dynamic_ones_the_backends() {
    const STATIC: u64 = 1 << 24;
    const DYNAMIC: u64 = 1 << 32;

    for (what, member, out_name, register) in REGISTER {
        let program = Program::new();
        let session = program.begin(c"run");
        let domain = program.domain(session, Some(c"sim")).expect("a domain");
        let mut out = 0;
        let mut ids = Vec::new();
        for _ in 0..40 {
            register(&program, domain, 0, &mut out).expect("a dynamic ID");
            ids.push(out);
        }
        assert!(ids.iter().all(|id| *id >= DYNAMIC), "{what}: {ids:?}");
        assert!(ids.is_sorted_by(|one, two| one < two), "{what}: {ids:?}");

        for id in [STATIC, DYNAMIC - 1] {
            register(&program, domain, id, &mut out).expect("a static ID");
            assert_eq!(out, id);
            assert_invalid(
                register(&program, domain, id, &mut out),
                &format!(
                    "{member} on \"sim\": the static {what} ID {id} is taken already in this domain; choose another one"
                ),
            );
            let other = program.domain(session, Some(c"other")).expect("a domain");
            register(&program, other, id, &mut out).expect("another domain");
        }
        for (id, class) in [
            (1, "predefined IDs"),
            (STATIC - 1, "predefined IDs"),
            (DYNAMIC, "IDs that the backend picks"),
            (u64::MAX, "IDs that the backend picks"),
        ] {
            assert_invalid(
                register(&program, domain, id, &mut out),
                &format!(
                    "{member} on \"sim\": the static {what} ID {id} is among the {class}; choose one from 2^24 to 2^32 - 1, \
                     or 0 to get one"
                ),
            );
        }
        register(&program, domain, STATIC + 1, ptr::null_mut())
            .expect("a static ID needs no place");
        assert_invalid(
            register(&program, domain, 0, ptr::null_mut()),
            &format!("{member} on \"sim\": {out_name} is null, so that the result has no place"),
        );
    }
}

#[test]
fn schemas_and_enums_share_their_ids() {
    let [_, (_, _, _, schema), (_, _, _, enumeration), ..] = REGISTER;
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let (one, two) = (1 << 24, (1 << 24) + 1);
    schema(&program, domain, one, &mut 0).expect("a schema");
    enumeration(&program, domain, two, &mut 0).expect("an enum");
    for (clash, member, register) in [
        (one, "EnumRegister", enumeration),
        (two, "SchemaRegister", schema),
    ] {
        assert_invalid(
            register(&program, domain, clash, &mut 0),
            &format!(
                "{member} on \"sim\": the static schema or enum ID {clash} is taken already in this domain; choose another one"
            ),
        );
    }
    let seen = seen(&program, session, domain);
    assert!(seen.schema(one).is_some() && seen.enumeration(one).is_none());
    assert!(seen.schema(two).is_none() && seen.enumeration(two).is_some());
    let (mut first, mut second) = (0, 0);
    schema(&program, domain, 0, &mut first).expect("a schema");
    enumeration(&program, domain, 0, &mut second).expect("an enum");
    assert_ne!(first, second);
    assert!(seen.schemas().map(|schema| schema.id()).eq([one, first]));
}
