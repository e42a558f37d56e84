//! `nvtxw_abi::raw` against two other descriptions of the ABI: the facts in `shared/abi/abi_v2.json`,
//! and the C headers in the folder that `NVTXW_HEADERS` names. Both are of 64-bit Linux.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use nvtxw_abi::layout::{self, Field, Function, Layout};
use nvtxw_abi::{EntryType, raw};
use serde_json::{Map, Value};

#[test]
fn every_layout_is_that_of_the_facts() {
    let Some(facts) = facts() else { return };
    let structs = object(&facts, "structs");
    let ours: BTreeSet<&str> = layout::layouts().map(|layout| layout.name).collect();
    let mut named: BTreeSet<&str> = structs.keys().map(String::as_str).collect();
    // C has no name for it; its members are compared as those of the struct around it.
    named.insert("nvtxResourceIdentifier_t");
    assert_eq!(ours, named);

    for (name, fact) in structs {
        let layout = layout_named(name).expect("the names are the same");
        keys_are(fact, &["size", "align", "fields"]);
        assert_eq!(number(fact, "size"), layout.size as i128, "size of {name}");
        assert_eq!(
            number(fact, "align"),
            layout.align as i128,
            "alignment of {name}"
        );

        let fields = object(fact, "fields");
        for field in layout.fields {
            assert!(
                fields.contains_key(field.name),
                "{name}.{} is not among the facts",
                field.name
            );
        }
        for (path, fact) in fields {
            keys_are(fact, &["offset", "size", "type"]);
            let (offset, field) =
                field_at(layout, path).unwrap_or_else(|| panic!("{name}.{path} is missing"));
            assert_eq!(
                number(fact, "offset"),
                offset as i128,
                "offset of {name}.{path}"
            );
            assert_eq!(
                number(fact, "size"),
                field.size as i128,
                "size of {name}.{path}"
            );
            if let Some(kind) = fact.get("type") {
                let kind = kind.as_str().expect("a type is text");
                let ours = if kind.starts_with("union ") {
                    c_union(layout_named(field.rust_type).expect("the type is a union"))
                } else {
                    c_type(field.rust_type)
                };
                // The facts call one struct by its tag.
                let kind = kind.replace("struct nvtxSemanticsHeader_v1", "nvtxSemanticsHeader_t");
                assert_eq!(kind, ours, "type of {name}.{path}");
            }
        }
    }
}

#[test]
fn every_constant_is_that_of_the_facts() {
    let Some(facts) = facts() else { return };
    let ours: BTreeMap<&str, String> = layout::constants()
        .map(|constant| (constant.name, c_literal(constant.value)))
        .collect();
    assert_eq!(
        ours.len(),
        layout::constants().count(),
        "a name is listed twice"
    );
    let constants = object(&facts, "constants");
    let facts_say: BTreeMap<&str, String> = constants
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    assert_eq!(ours, facts_say);

    // Enumerators without a value are those of NVTX proper's tool side, which no writer sees.
    let enumerators = facts["enumerators"]
        .as_array()
        .expect("`enumerators` is a list");
    for name in enumerators
        .iter()
        .map(|name| name.as_str().expect("a name is text"))
    {
        let of_a_tool = [
            "NVTX_CBID_",
            "NVTX_CB_MODULE_",
            "NVTX_ETID_",
            "NVTX_INJECTION_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
        assert!(of_a_tool != ours.contains_key(name), "enumerator {name}");
    }
    keys_are(
        &facts,
        &["structs", "constants", "enumerators", "functions"],
    );
}

#[test]
fn every_function_is_that_of_the_facts() {
    let Some(facts) = facts() else { return };
    let functions = object(&facts, "functions");
    let ours: BTreeSet<&str> = layout::functions().map(|function| function.name).collect();
    assert_eq!(ours, functions.keys().map(String::as_str).collect());
    for function in layout::functions() {
        let fact = &functions[function.name];
        keys_are(fact, &["returns", "parameters"]);
        let parameters: Vec<(String, String)> =
            serde_json::from_value(fact["parameters"].clone()).expect("pairs of name and type");
        let ours: Vec<(String, String)> = function
            .parameters
            .iter()
            .map(|(name, rust_type)| (name.to_string(), c_type(rust_type)))
            .collect();
        assert_eq!(ours, parameters, "parameters of {}", function.name);
        assert_eq!(
            c_type(function.returns),
            fact["returns"],
            "result of {}",
            function.name
        );
    }
}

#[test]
fn the_c_headers_agree() {
    let Some(headers) = std::env::var_os("NVTXW_HEADERS").filter(|path| !path.is_empty()) else {
        nvtxw_tests::skip(
            "NVTXW_HEADERS is not set; set it to the include folder of nvtx's source distribution",
        );
        return;
    };
    let headers = nvtxw_tests::workspace_root().join(headers);
    assert!(
        headers.join("nvtxw3/nvtxw3.h").is_file(),
        "NVTXW_HEADERS: no nvtxw3/nvtxw3.h in {}",
        headers.display()
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi.c");
    std::fs::write(&path, c_program()).expect("the target folder can be written to");
    let gcc = Command::new("gcc")
        .args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I"])
        .args([&headers, &path])
        .output()
        .expect("gcc runs: the comparison with the C headers needs it");
    assert!(
        gcc.status.success(),
        "{} does not agree with {}:\n{}",
        path.display(),
        headers.display(),
        String::from_utf8_lossy(&gcc.stderr)
    );
}

/// A C program that compiles only if the headers say what we say.
fn c_program() -> String {
    let mut c = String::from(
        "#define NVTX_NO_IMPL\n\
         #include <stddef.h>\n\
         #include <uchar.h>\n\
         #include <nvtxw3/nvtxw3.h>\n\
         #include <nvtxw3/nvtxw3_loader.h>\n\
         #include <nvtxw3/nvtxw3_event_helpers.h>\n\
         #include <nvtx3/nvToolsExtSemanticsScope.h>\n\
         #include <nvtx3/nvToolsExtSemanticsTime.h>\n\
         #include <nvtx3/nvToolsExtSemanticsCorrelation.h>\n\
         #include <nvtx3/nvToolsExtSemanticsCounters.h>\n\
         #define SAME(what, value) _Static_assert((what) == (value), #what)\n\
         #define TYPE(what, ...) \
         _Static_assert(__builtin_types_compatible_p(__typeof__(what), __VA_ARGS__), #what)\n\
         #define FIELD(type, field, at, bytes, ...) \
         SAME(offsetof(type, field), at); \
         SAME(sizeof(((type*)0)->field), bytes); \
         TYPE(((type*)0)->field, __VA_ARGS__)\n",
    );
    let mut say = |line: std::fmt::Arguments<'_>| {
        c.write_fmt(line).expect("a string takes all");
        c.push('\n');
    };
    for layout in layout::layouts() {
        let name = c_type(layout.name);
        say(format_args!("SAME(sizeof({name}), {});", layout.size));
        say(format_args!("SAME(_Alignof({name}), {});", layout.align));
        for field in layout.fields {
            let of_table = layout.name == "nvtxwInterface_v2_t";
            let kind = match layout::functions().find(|function| function.name == field.name) {
                Some(member) if of_table => c_pointer(member),
                None if of_table && field.name == "reserved" => "void (*[43])(void)".to_owned(),
                _ => c_type(field.rust_type),
            };
            let Field {
                name: field,
                offset,
                size,
                ..
            } = field;
            say(format_args!(
                "FIELD({name}, {field}, {offset}, {size}, {kind});"
            ));
        }
    }
    for constant in layout::constants() {
        let (name, value) = (constant.name, c_literal(constant.value));
        match constant.value {
            layout::Value::Int(_) => say(format_args!("SAME({name}, {value});")),
            layout::Value::Text(_) => {
                say(format_args!("SAME(sizeof({name}), sizeof({value}));"));
                say(format_args!("SAME(__builtin_strcmp({name}, {value}), 0);"));
            }
        }
    }
    for function in layout::functions().filter(|function| function.name.starts_with("nvtxw")) {
        say(format_args!(
            "TYPE(({})0, {});",
            function.name,
            c_pointer(function)
        ));
    }
    for (alias, rust_type) in [
        ("nvtxwResultCode_t", type_name::<raw::nvtxwResultCode_t>()),
        (
            "nvtxwInterfaceVersion_t",
            type_name::<raw::nvtxwInterfaceVersion_t>(),
        ),
        ("nvtxRangeId_t", type_name::<raw::nvtxRangeId_t>()),
        (
            "nvtxwSessionHandle_t",
            type_name::<raw::nvtxwSessionHandle_t>(),
        ),
        (
            "nvtxwStreamHandle_t",
            type_name::<raw::nvtxwStreamHandle_t>(),
        ),
        ("nvtxDomainHandle_t", type_name::<raw::nvtxDomainHandle_t>()),
        ("nvtxStringHandle_t", type_name::<raw::nvtxStringHandle_t>()),
        ("wchar_t", type_name::<raw::wchar_t>()),
    ] {
        let aliased = match rust_type.rsplit_once("::") {
            Some((_, tag)) => format!("struct {tag}*"),
            None => c_type(rust_type),
        };
        say(format_args!("TYPE(({alias})0, {aliased});"));
    }
    for (entry_type, kind) in [
        (EntryType::Char, "char"),
        (EntryType::UChar, "unsigned char"),
        (EntryType::Short, "short"),
        (EntryType::UShort, "unsigned short"),
        (EntryType::Int, "int"),
        (EntryType::UInt, "unsigned int"),
        (EntryType::Long, "long"),
        (EntryType::ULong, "unsigned long"),
        (EntryType::LongLong, "long long"),
        (EntryType::ULongLong, "unsigned long long"),
        (EntryType::Float, "float"),
        (EntryType::Double, "double"),
        (EntryType::LongDouble, "long double"),
        (EntryType::Size, "size_t"),
        (EntryType::Address, "void*"),
        (EntryType::WChar, "wchar_t"),
        (EntryType::Char16, "char16_t"),
        (EntryType::Char32, "char32_t"),
        (EntryType::Int128, "__int128"),
        (EntryType::CString, "char*"),
        (EntryType::RegisteredString, "nvtxStringHandle_t"),
        (EntryType::RangeId, "nvtxRangeId_t"),
    ] {
        let (size, align) = entry_type.layout().expect("the type has a size");
        say(format_args!("SAME(sizeof({kind}), {size});"));
        say(format_args!("SAME(_Alignof({kind}), {align});"));
    }
    c
}

/// The facts, where they are at hand.
fn facts() -> Option<Value> {
    let path = nvtxw_tests::shared("abi/abi_v2.json")?;
    let text = std::fs::read_to_string(&path).expect("the facts can be read");
    Some(serde_json::from_str(&text).expect("the facts are JSON"))
}

fn object<'a>(value: &'a Value, key: &str) -> &'a Map<String, Value> {
    value[key]
        .as_object()
        .unwrap_or_else(|| panic!("`{key}` is an object"))
}

fn number(value: &Value, key: &str) -> i128 {
    value[key]
        .as_i64()
        .unwrap_or_else(|| panic!("`{key}` is an integer"))
        .into()
}

/// Fails if the facts have a key that these tests know nothing of.
fn keys_are(value: &Value, known: &[&str]) {
    let keys = value.as_object().expect("an object").keys();
    let unknown: Vec<&String> = keys.filter(|key| !known.contains(&key.as_str())).collect();
    assert!(
        unknown.is_empty(),
        "facts that are not compared: {unknown:?}"
    );
}

fn layout_named(name: &str) -> Option<&'static Layout> {
    layout::layouts().find(|layout| layout.name == name)
}

/// The field that `path` ("attr.color") leads to, and its offset from the start of `layout`.
fn field_at(layout: &Layout, path: &str) -> Option<(usize, &'static Field)> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let field = layout.fields.iter().find(|field| field.name == name)?;
    match rest {
        None => Some((field.offset, field)),
        Some(rest) => {
            let (offset, inner) = field_at(layout_named(field.rust_type)?, rest)?;
            Some((field.offset + offset, inner))
        }
    }
}

/// C's spelling of one of our types.
fn c_type(rust_type: &str) -> String {
    if let Some(pointee) = rust_type.strip_prefix("*const ") {
        return format!("const {}*", c_type(pointee));
    }
    if let Some(pointee) = rust_type.strip_prefix("*mut ") {
        return format!("{}*", c_type(pointee));
    }
    if let Some(array) = rust_type.strip_prefix('[') {
        let (element, length) = array
            .trim_end_matches(']')
            .split_once("; ")
            .expect("an array");
        return format!("{}[{length}]", c_type(element));
    }
    match rust_type {
        "i8" => "int8_t",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "u16" => "uint16_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "f64" => "double",
        "c_char" => "char",
        "c_uchar" => "unsigned char",
        "c_void" => "void",
        "()" => "void",
        "nvtxResourceIdentifier_t" => "union identifier_t",
        other => other,
    }
    .to_owned()
}

/// C's spelling of the pointer to a function.
fn c_pointer(function: &Function) -> String {
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|(_, rust_type)| c_type(rust_type))
        .collect();
    let parameters = if parameters.is_empty() {
        "void".to_owned()
    } else {
        parameters.join(", ")
    };
    format!("{} (*)({parameters})", c_type(function.returns))
}

/// C's spelling of an unnamed union.
fn c_union(layout: &Layout) -> String {
    let fields: String = layout
        .fields
        .iter()
        .map(|field| format!("{} {}; ", c_type(field.rust_type), field.name))
        .collect();
    format!("union {{ {fields}}}")
}

/// A constant's value as C and JSON both write it.
fn c_literal(value: layout::Value) -> String {
    match value {
        layout::Value::Int(value) => value.to_string(),
        layout::Value::Text(text) => format!("{text:?}"),
    }
}
