//! Schemas that are refused.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::SchemaRole;

use crate::program::*;
use crate::registered::{assert_schema_invalid, assert_schema_unsupported, register};

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;

#[test]
fn bad_entries_are_refused_by_name() {
    let time = "a timestamp is one 64-bit integer; change the entry's type, or its role";
    let message = "a message is text or the handle of a registered string; the entry is neither";
    for (bad, reason) in [
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT32, c"x"), time),
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, c"x"), time),
        (entry(TIMESTAMP, NVTX_PAYLOAD_ENTRY_TYPE_INT128, c"x"), time),
        (array(TIMESTAMP, INT64, c"x", 2), time),
        (entry(MESSAGE, INT64, c"x"), message),
        (array(MESSAGE, STRING, c"x", 2), message),
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
fn what_is_not_decoded_yet_is_not_supported() {
    let indirect =
        "data behind pointers and offsets is not decoded yet; put it into the payload in place";
    let varying =
        "arrays and text of varying length are not decoded yet; give the length in the schema";
    for (bad, reason) in [
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_POINTER, INT64, c"x"),
            indirect,
        ),
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, INT64, c"x"),
            indirect,
        ),
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE, INT64, c"x"),
            indirect,
        ),
        (
            entry(
                NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY,
                NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
                c"x",
            ),
            indirect,
        ),
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, U8, c"x"),
            varying,
        ),
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, U8, c"x"),
            varying,
        ),
        (
            entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX, U8, c"x"),
            varying,
        ),
        (
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"x"),
            "pointers to text are not decoded yet; give the length in the schema, or register the string",
        ),
        (
            array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, c"x", 4),
            "the type cstring_utf16 is not decoded yet",
        ),
        (
            array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, c"x", 4),
            "the type cstring_utf32 is not decoded yet",
        ),
        (
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE, c"x"),
            "the type longdouble is not decoded yet",
        ),
        (
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128, c"x"),
            "the type float128 is not decoded yet",
        ),
        (
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_TF32, c"x"),
            "the type tf32 is not decoded yet",
        ),
        (
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, c"x"),
            "the type union_selector is not decoded yet",
        ),
    ] {
        assert_schema_unsupported(&schema_attr(0, &[bad]), &format!("entry 0 `x`: {reason}"));
    }

    let one = [entry(0, U8, c"x")];
    for kind in [
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
    ] {
        assert_schema_unsupported(
            &nvtxPayloadSchemaAttr_t {
                r#type: kind,
                ..schema_attr(0, &one)
            },
            "attr.type: unions are not decoded yet; register a struct for each member instead",
        );
    }
    let text = message_entry();
    for (flags, entries) in [
        (0, &[][..]),
        (0, &one),
        (0, &[text, text]),
        (NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &[text]),
        (0, &[at(8, text)]),
        (
            0,
            &[nvtxPayloadSchemaEntry_t {
                flags: text.flags | NVTX_PAYLOAD_ENTRY_FLAG_POINTER,
                ..text
            }],
        ),
        (
            0,
            &[nvtxPayloadSchemaEntry_t {
                r#type: NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16,
                ..text
            }],
        ),
    ] {
        assert_schema_unsupported(
            &nvtxPayloadSchemaAttr_t {
                r#type: NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
                ..schema_attr(flags, entries)
            },
            "attr.type: of dynamic schemas only one zero-terminated UTF-8 text without event role is decoded yet",
        );
    }
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
