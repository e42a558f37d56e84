//! Schemas that are refused.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::SchemaRole;

use crate::program::*;
use crate::registered::{assert_schema_invalid, offsets, register};

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;

#[test]
fn bad_entries_are_refused_by_name() {
    let time = "a timestamp is one 64-bit integer; change the entry's type, or its role";
    let message = "a message is text, an array of bytes or the handle of a registered string; the entry is none of these";
    for (bad, reason) in [
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT32, c"x"), time),
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, c"x"), time),
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT128, c"x"), time),
        (array(TIMESTAMP, INT64, c"x", 2), time),
        (entry(MESSAGE, INT64, c"x"), message),
        (array(MESSAGE, STRING, c"x", 2), message),
        (array(MESSAGE, U8, c"x", 2), message),
        (entry(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_BYTE, c"x"), message),
        (
            entry(3 << 10, INT64, c"x"),
            "the flags hold a combination of roles that the ABI does not define",
        ),
        (
            entry(MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_MARK, STRING, c"x"),
            "the flags hold a combination of roles that the ABI does not define",
        ),
        (
            entry(7 << 12, INT64, c"x"),
            "the flags hold a combination of roles that the ABI does not define",
        ),
        (
            entry(5 << 4, INT64, c"x"),
            "the flags hold an array style that the ABI does not define",
        ),
        (entry(0, 0, c"x"), "the type 0 is not defined by the ABI"),
        (entry(0, 31, c"x"), "the type 31 is not defined by the ABI"),
        (
            entry(0, NVTX_TYPE_PAYLOAD_SCHEMA_RAW, c"x"),
            "the type 1023 is not defined by the ABI",
        ),
        (
            entry(0, 1 << 24, c"x"),
            "the type 16777216 is no schema or enum of the domain: register it first",
        ),
        (
            entry(0, 1 << 32, c"x"),
            "the type 4294967296 is no schema or enum of the domain: register it first",
        ),
        (
            array(0, INT64, c"x", 0),
            "arrayOrUnionDetail is 0; a fixed array has at least one element",
        ),
        (
            array(0, INT64, c"x", 1 << 60),
            "the payload would be larger than the address space",
        ),
        (
            array(0, INT64, c"x", u64::MAX),
            "the payload would be larger than the address space",
        ),
        (
            at(u64::MAX, entry(0, INT64, c"x")),
            "the payload would be larger than the address space",
        ),
        (
            at(i64::MAX as u64 - 4, entry(0, INT64, c"x")),
            "the payload would be larger than the address space",
        ),
    ] {
        assert_schema_invalid(
            &schema_attr(0, &[entry(0, U8, c"fine"), bad]),
            &format!("entry 1 `x`: {reason}"),
        );
        let nameless = nvtxPayloadSchemaEntry_t {
            name: ptr::null(),
            ..bad
        };
        assert_schema_invalid(&schema_attr(0, &[nameless]), &format!("entry 0: {reason}"));
    }
}

#[test]
fn entries_of_varying_size_need_a_dynamic_schema() {
    let text = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
    for flags in [
        NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
        NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
        NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
    ] {
        for ty in [U8, text] {
            let entries = [entry(0, INT64, c"n"), entry(flags, ty, c"x")];
            assert_schema_invalid(
                &schema_attr(0, &entries),
                "entry 1 `x`: varies in size, which only an entry of a dynamic schema may: make the schema dynamic, \
                 or store an offset or a pointer to the data",
            );
            register(&dynamic(schema_attr(0, &entries))).expect("a dynamic schema");
        }
    }

    let program = Program::new();
    let (_, domain, _) = program.ready();
    let message = program
        .schema(domain, &message_attr(&[message_entry()]))
        .expect("a schema");
    assert_invalid(
        program.schema(domain, &schema_attr(0, &[entry(0, message, c"x")])),
        "SchemaRegister on \"\": entry 0 `x`: is of a dynamic schema, which only a dynamic schema may hold: make this one \
         dynamic, or store an offset or a pointer to the data",
    );
    let nested = |attr| program.schema(domain, &dynamic(attr));
    assert_invalid(
        nested(schema_attr(0, &[array(0, message, c"x", 2)])),
        "SchemaRegister on \"\": entry 0 `x`: is an array of dynamic schemas, which the ABI does not allow; use a static schema",
    );
    nested(schema_attr(0, &[entry(0, message, c"x")])).expect("a schema");
}

#[test]
fn lengths_must_be_integers_before_their_entry() {
    let by_index = |index, name| nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: index,
        ..entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, U8, name)
    };
    let float = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, c"float");
    let elsewhere = entry(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, U8, c"elsewhere");
    for (index, what) in [
        (0, "entry 0 `float`"),
        (1, "entry 1 `elsewhere`"),
        (2, "entry 2 `x`"),
        (3, "entry 3 `n`"),
        (4, "entry 4"),
    ] {
        let entries = [float, elsewhere, by_index(index, c"x"), entry(0, U8, c"n")];
        assert_schema_invalid(
            &dynamic(schema_attr(0, &entries)),
            &format!(
                "entry 2 `x`: arrayOrUnionDetail names {what} as the length; that must be an entry before this one, of an \
                 integer type and in place"
            ),
        );
    }
    assert_schema_invalid(
        &dynamic(schema_attr(
            0,
            &[
                entry(0, U8, c"n"),
                by_index(0, c"x"),
                by_index(1, c"y"),
                by_index(2, c"z"),
            ],
        )),
        "entry 2 `y`: arrayOrUnionDetail names entry 1 `x` as the length; that must be an entry before this one, of an integer \
         type and in place",
    );
}

#[test]
fn references_are_of_one_kind() {
    let (pointer, base, here) = (
        NVTX_PAYLOAD_ENTRY_FLAG_POINTER,
        NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
        NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
    );
    for flags in [pointer | base, base | here, pointer | here] {
        assert_schema_invalid(
            &schema_attr(0, &[entry(flags, INT64, c"x")]),
            "entry 0 `x`: the flags say more than one of pointer, offset from base and offset from here; the entry is one of \
             them",
        );
    }
    for flags in [pointer, base, here] {
        let entries = [entry(0, U8, c"a"), entry(flags, U8, c"x")];
        let schema = register(&schema_attr(0, &entries)).expect("a schema");
        assert_eq!(
            (offsets(&schema), schema.size()),
            (vec![0, 8], 16),
            "a reference has eight bytes, whatever it refers to"
        );
    }
}

#[test]
fn unions_are_checked() {
    let member = [entry(0, U8, c"x")];
    assert_schema_invalid(
        &selecting(schema_attr(0, &member)),
        "attr.type: a union with internal selector needs an entry of the type NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR",
    );
    let selector = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, c"which");
    let only = "entry 0 `which`: only a union with internal selector has an entry of the type union_selector, and only one";
    assert_schema_invalid(&schema_attr(0, &[selector]), only);
    assert_schema_invalid(&union(schema_attr(0, &[selector])), only);
    assert_schema_invalid(
        &selecting(schema_attr(0, &[selector, selector])),
        &only.replace("entry 0", "entry 1"),
    );
    let odd = nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: 3,
        ..selector
    };
    assert_schema_invalid(
        &selecting(schema_attr(0, &[odd])),
        "entry 0 `which`: arrayOrUnionDetail is 3; of a union's selector it is the size: 1, 2, 4 or 8 bytes, or 0 for 4",
    );
    assert_schema_invalid(
        &union(schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &member)),
        "attr.flags give a union a role; put the union into a struct with that role",
    );

    let program = Program::new();
    let (_, domain, _) = program.ready();
    let ty = program
        .schema(
            domain,
            &union(schema_attr(0, &[entry(0, U64, c"a"), entry(0, U8, c"b")])),
        )
        .expect("a union");
    let registered = program.journal.domain().schema(ty).expect("registered");
    assert_eq!((offsets(&registered), registered.size()), (vec![0, 0], 8));
    assert_invalid(
        program.schema(domain, &schema_attr(0, &[array(0, ty, c"x", 2)])),
        "SchemaRegister on \"\": entry 0 `x`: is an array of unions with external selector, which the ABI does not allow; \
         use an internal one",
    );
    assert_invalid(
        program.schema(domain, &schema_attr(0, &[entry(0, ty, c"x")])),
        "SchemaRegister on \"\": entry 0 `x`: arrayOrUnionDetail names entry 0 `x` as the union's selector; that must be one \
         integer before this entry, of an integer type and in place",
    );
}

#[test]
fn bad_attributes_are_refused() {
    let one = [entry(0, U64, c"x")];
    let good = schema_attr(0, &one);
    for (attr, reason) in [
        (
            nvtxPayloadSchemaAttr_t { r#type: 0, ..good },
            "attr.type is 0; the ABI defines 1 to 4",
        ),
        (
            nvtxPayloadSchemaAttr_t { r#type: 5, ..good },
            "attr.type is 5; the ABI defines 1 to 4",
        ),
        (
            nvtxPayloadSchemaAttr_t {
                flags: 9 << 3,
                ..good
            },
            "attr.flags 0x48 hold an event role that the ABI does not define",
        ),
        (
            nvtxPayloadSchemaAttr_t {
                numEntries: 0,
                ..good
            },
            "attr.numEntries is 0; a schema has at least one entry",
        ),
        (
            nvtxPayloadSchemaAttr_t {
                entries: ptr::null(),
                ..good
            },
            "attr.entries is null, but attr.numEntries is 1",
        ),
        (
            nvtxPayloadSchemaAttr_t {
                numEntries: usize::MAX,
                ..good
            },
            "attr.numEntries is 18446744073709551615; at most 1048576 are taken",
        ),
        (
            nvtxPayloadSchemaAttr_t {
                entries: good.entries.wrapping_byte_add(4),
                ..good
            },
            "attr.entries is not aligned to 8 bytes",
        ),
        (
            sized(7, good),
            "attr.payloadStaticSize is 7, but the entries reach up to byte 8; set it to the struct's size",
        ),
        (
            sized(usize::MAX, good),
            "the payload would be larger than the address space",
        ),
        (
            packed(3, good),
            "attr.packAlign is 3; it must be 0 or a power of two",
        ),
    ] {
        assert_schema_invalid(&attr, reason);
    }
    for (bit, field, name) in [
        (
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE,
            "type",
            "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES,
            "entries",
            "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
            "numEntries",
            "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES",
        ),
    ] {
        assert_schema_invalid(
            &nvtxPayloadSchemaAttr_t {
                fieldMask: good.fieldMask & !bit,
                ..good
            },
            &format!("attr.{field} is not set: attr.fieldMask lacks {name}"),
        );
    }
    let flagless = nvtxPayloadSchemaAttr_t {
        fieldMask: good.fieldMask & !NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS,
        flags: u64::MAX,
        ..good
    };
    assert_eq!(
        register(&flagless).expect("a schema").role(),
        SchemaRole::Generic,
        "not set, not read"
    );

    let program = Program::new();
    let (_, domain, _) = program.ready();
    assert_invalid(
        member!(program, SchemaRegister(domain, ptr::null(), &mut 0)),
        "SchemaRegister on \"\": attr is null",
    );
}

#[test]
fn decoding_work_is_bounded() {
    let program = Program::new();
    let (_, domain, _) = program.ready();
    // Eight entries in the same place, of a schema that has eight entries in the same place, and so on.
    let overlapping = |ty| [0; 8].map(|_| at(1, entry(0, ty, c"x")));
    let some = program
        .schema(domain, &schema_attr(0, &overlapping(U8)))
        .expect("some overlap is fine");
    assert_unsupported(
        program.schema(domain, &schema_attr(0, &overlapping(some))),
        "SchemaRegister on \"\": the entries overlap too much: 3 bytes would be shown as 64 values; give each entry bytes of \
         its own",
    );
    let arrays = [array(0, some, c"x", 4), at(1, array(0, some, c"y", 4))];
    assert_unsupported(
        program.schema(domain, &schema_attr(0, &arrays)),
        "SchemaRegister on \"\": the entries overlap too much: 9 bytes would be shown as 64 values; \
         give each entry bytes of its own",
    );
    // Structs in structs in structs.
    let mut ty = U8;
    for _ in 0..32 {
        ty = program
            .schema(domain, &schema_attr(0, &[entry(0, ty, c"inner")]))
            .expect("a schema");
    }
    assert_unsupported(
        program.schema(domain, &schema_attr(0, &[entry(0, ty, c"inner")])),
        "SchemaRegister on \"\": more than 32 structs inside one another are not decoded",
    );
}
