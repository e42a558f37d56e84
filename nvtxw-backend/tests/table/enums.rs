//! Enums.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;

#[test]
fn enums_are_checked_and_kept() {
    let program = Program::new();
    let (_, domain, _) = program.ready();
    let mut flag = enum_entry(c"minus one", u64::MAX);
    flag.isFlag = -1;
    let entries = [enum_entry(c"red", 1), flag, enum_entry(c"again", 1)];
    let good = enum_attr(&entries, 2);
    let id = program.enumeration(domain, &good).expect("an enum");
    let seen = program
        .journal
        .domain()
        .enumeration(id)
        .expect("a registered enum");
    assert_eq!(
        (seen.id(), seen.name(), seen.size()),
        (id, Some("Color"), 2)
    );
    assert_eq!(seen.find(1), Some("red"), "the first of two with one value");
    assert_eq!(
        seen.find(0xFFFF),
        Some("minus one"),
        "cut to the enum's size"
    );
    assert_eq!(seen.find(2), None);
    let flags: Vec<_> = seen.entries().iter().map(|entry| entry.is_flag).collect();
    assert_eq!(flags, [false, true, false]);

    let nameless = nvtxPayloadEnumAttr_t {
        fieldMask: good.fieldMask & !NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME,
        name: garbage(),
        ..good
    };
    let id = program.enumeration(domain, &nameless).expect("an enum");
    assert_eq!(
        program
            .journal
            .domain()
            .enumeration(id)
            .expect("a registered enum")
            .name(),
        None
    );

    let null_name = [
        enum_entry(c"red", 1),
        nvtxPayloadEnum_t {
            name: ptr::null(),
            value: 2,
            isFlag: 0,
        },
    ];
    for (attr, reason) in [
        (
            enum_attr(&entries, 0),
            "attr.sizeOfEnum is 0; an enum has 1, 2, 4 or 8 bytes",
        ),
        (
            enum_attr(&entries, 3),
            "attr.sizeOfEnum is 3; an enum has 1, 2, 4 or 8 bytes",
        ),
        (
            enum_attr(&entries, 16),
            "attr.sizeOfEnum is 16; an enum has 1, 2, 4 or 8 bytes",
        ),
        (
            enum_attr(&null_name, 4),
            "attr.entries[1].name is null; name the value",
        ),
        (
            nvtxPayloadEnumAttr_t {
                entries: ptr::null(),
                ..good
            },
            "attr.entries is null, but attr.numEntries is 3",
        ),
    ] {
        assert_invalid(
            program.enumeration(domain, &attr),
            &format!("EnumRegister on \"\": {reason}"),
        );
    }
    for (bit, field, name) in [
        (
            NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES,
            "entries",
            "NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES",
        ),
        (
            NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES,
            "numEntries",
            "NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES",
        ),
        (
            NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
            "sizeOfEnum",
            "NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE",
        ),
    ] {
        assert_invalid(
            program.enumeration(
                domain,
                &nvtxPayloadEnumAttr_t {
                    fieldMask: good.fieldMask & !bit,
                    ..good
                },
            ),
            &format!("EnumRegister on \"\": attr.{field} is not set: attr.fieldMask lacks {name}"),
        );
    }
    assert_invalid(
        member!(program, EnumRegister(domain, ptr::null(), &mut 0)),
        "EnumRegister on \"\": attr is null",
    );
}
