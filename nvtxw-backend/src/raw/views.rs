//! Views of C arguments: from pointers to what a producer asks for.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, offset_of};
use std::{ptr, slice};

use nvtxw_abi::raw::{
    NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_REGISTERED, NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_MESSAGE_UNKNOWN, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME,
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, nvtxCounterAttr_t, nvtxPayloadEnum_t,
    nvtxPayloadEnumAttr_t, nvtxPayloadSchemaAttr_t, nvtxPayloadSchemaEntry_t,
    nvtxResourceAttributes_t, nvtxScopeAttr_t, nvtxTimeDomainAttr_t, nvtxwDomainAttributes_t,
    nvtxwSessionAttributes_t, nvtxwStreamAttributes_t, wchar_t,
};

use crate::call::{
    CounterAttributes, EntryAttributes, EnumAttributes, EnumValue, Message, ResourceAttributes,
    SchemaAttributes, ScopeAttributes, TimeDomainAttributes,
};
use crate::raw::semantics;
use crate::refusal::{Refusal, Result};
use crate::spec::{SessionSpec, StreamSpec, entry_label};
use crate::text::lossy;

/// No sane producer has an array of more items; a greater number is garbage.
const ITEMS: usize = 1 << 20;

/// Text; `None` for null.
///
/// # Safety
/// `text` is null or null-terminated, and stays as it is for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY:
    // - The pointer is not null, and the caller vouches for the rest.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Items that arguments called `what` and `how_many` describe.
///
/// # Safety
/// `items` is null or points to `count` items that stay as they are for `'a`.
#[inline]
pub(crate) unsafe fn items<'a, T>(
    what: &str,
    how_many: &str,
    items: *const T,
    count: usize,
) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if items.is_null() || count > ITEMS || !items.is_aligned() {
        return Err(no_items(what, how_many, items, count));
    }
    // SAFETY:
    // - The pointer is not null and aligned, and so few items are smaller than `isize::MAX`.
    // - The caller vouches for `count` items for `'a`.
    Ok(unsafe { slice::from_raw_parts(items, count) })
}

#[cold]
fn no_items<T>(what: &str, how_many: &str, items: *const T, count: usize) -> Refusal {
    Refusal::invalid(match items.is_null() {
        true => format!("{what} is null, but {how_many} is {count}"),
        false if count > ITEMS => format!("{how_many} is {count}; at most {ITEMS} are taken"),
        false => format!("{what} is not aligned to {} bytes", align_of::<T>()),
    })
}

/// The first `size` bytes of a struct, and zeros for the rest of it. Of a struct that is larger than ours, what we know.
///
/// # Safety
/// `from` points to `size` bytes. A `T` may be all zeros, and each of its fields may have any value.
pub(crate) unsafe fn head<T: Copy>(from: *const T, size: usize) -> T {
    // A size that no struct of this alignment has may end within a pointer, half of which is none.
    let size = size - size % align_of::<T>();
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY:
    // - The caller vouches for `size` bytes to read; the copy is a local, as large as a `T`.
    unsafe {
        ptr::copy_nonoverlapping(
            from.cast::<u8>(),
            copy.as_mut_ptr().cast(),
            size.min(size_of::<T>()),
        )
    };
    // SAFETY:
    // - All of it was zeroed before some was overwritten, and the caller vouches that a `T` may hold anything.
    unsafe { copy.assume_init() }
}

/// What `attr` points to, as far as its `structSize`, which is its first field, reaches.
///
/// # Safety
/// `attr` is null or points to as many bytes as its `structSize` says. A `T` may be all zeros, and each of its fields may
/// have any value.
unsafe fn sized<T: Copy>(attr: *const T, required: usize) -> Result<T> {
    if attr.is_null() {
        return Err(Refusal::invalid("attr is null"));
    }
    // SAFETY:
    // - The pointer is not null, and `structSize` is the first field of what it points to.
    let size = unsafe { attr.cast::<usize>().read_unaligned() };
    if size < required {
        return Err(Refusal::invalid(format!(
            "attr.structSize is {size}; at least {required} bytes are needed: set it to the size of the struct"
        )));
    }
    // SAFETY:
    // - The caller vouches for `size` bytes, and that a `T` may hold anything.
    Ok(unsafe { head(attr, size) })
}

/// # Safety
/// `attr` is null or points to as many bytes as its `structSize` says; each text in it is null or null-terminated. All of it
/// stays as it is for `'a`.
pub(crate) unsafe fn session<'a>(attr: *const nvtxwSessionAttributes_t) -> Result<SessionSpec<'a>> {
    // SAFETY:
    // - The caller vouches for the size; the fields are numbers and pointers.
    let attr = unsafe { sized(attr, size_of::<usize>()) }?;
    Ok(SessionSpec {
        // SAFETY:
        // - The caller vouches for the text.
        name: unsafe { text(attr.name) },
        // SAFETY:
        // - The caller vouches for the text.
        config: unsafe { text(attr.configString) },
    })
}

/// The name of a domain; none for the default one.
///
/// # Safety
/// As for [`session`].
pub(crate) unsafe fn domain<'a>(attr: *const nvtxwDomainAttributes_t) -> Result<Option<&'a CStr>> {
    if attr.is_null() {
        return Ok(None);
    }
    // SAFETY:
    // - The caller vouches for the size; the fields are numbers and pointers.
    let attr = unsafe { sized(attr, size_of::<usize>()) }?;
    // SAFETY:
    // - The caller vouches for the text.
    Ok(unsafe { text(attr.name) })
}

/// # Safety
/// As for [`session`].
pub(crate) unsafe fn stream<'a>(attr: *const nvtxwStreamAttributes_t) -> Result<StreamSpec<'a>> {
    // SAFETY:
    // - The caller vouches for the size; the fields are numbers and pointers.
    let attr = unsafe { sized(attr, size_of::<usize>()) }?;
    Ok(StreamSpec {
        // SAFETY:
        // - The caller vouches for the text.
        name: unsafe { text(attr.name) },
        domain: attr.domain.addr() as u64,
        scope: attr.scopeId,
        time_domain: attr.timeDomainId,
        interleaving: attr.orderInterleaving,
        ordering: attr.orderingType,
        skid: attr.orderingSkid,
        skid_amount: attr.orderingSkidAmount,
    })
}

/// # Safety
/// As for [`session`].
pub(crate) unsafe fn scope<'a>(attr: *const nvtxScopeAttr_t) -> Result<ScopeAttributes<'a>> {
    // SAFETY:
    // - The caller vouches for the size; the fields are numbers and pointers.
    let attr = unsafe { sized(attr, size_of::<usize>()) }?;
    Ok(ScopeAttributes {
        // SAFETY:
        // - The caller vouches for the text.
        path: unsafe { text(attr.path) },
        parent: attr.parentScope,
        id: attr.scopeId,
    })
}

/// # Safety
/// As for [`session`]; `semantics` is null or the first node of a list.
pub(crate) unsafe fn counter<'a>(attr: *const nvtxCounterAttr_t) -> Result<CounterAttributes<'a>> {
    // SAFETY:
    // - The caller vouches for the size; the fields are numbers and pointers.
    let attr = unsafe { sized(attr, offset_of!(nvtxCounterAttr_t, description)) }?;
    Ok(CounterAttributes {
        schema: attr.schemaId,
        // SAFETY:
        // - The caller vouches for the text.
        name: unsafe { text(attr.name) },
        // SAFETY:
        // - The caller vouches for the text.
        description: unsafe { text(attr.description) },
        scope: attr.scopeId,
        // SAFETY:
        // - The caller vouches for the list.
        semantics: unsafe { semantics::read(attr.semantics) }
            .map_err(|refusal| refusal.at("attr"))?,
        id: attr.counterId,
    })
}

/// # Safety
/// `attr` is null or points to the attributes of a time domain.
pub(crate) unsafe fn time_domain(
    attr: *const nvtxTimeDomainAttr_t,
) -> Result<TimeDomainAttributes> {
    if attr.is_null() {
        return Err(Refusal::invalid("attr is null"));
    }
    // SAFETY:
    // - The pointer is not null, and the caller vouches for what it points to.
    let attr = unsafe { attr.read_unaligned() };
    Ok(TimeDomainAttributes {
        scope: attr.scopeId,
        timestamp_type: attr.timestampTypeId,
        id: attr.timeDomainId,
        flags: attr.timerFlags,
        resolution: attr.timerResolution,
        start: attr.timerStart,
    })
}

/// Reads one field of what `$attr`, which is not null, points to.
macro_rules! field {
    ($attr:ident, $field:ident) => {{
        // SAFETY:
        // - The pointer is not null, and the caller vouches for this field.
        let field = unsafe { &raw const (*$attr).$field };
        // SAFETY:
        // - As above; the field may not be aligned.
        unsafe { field.read_unaligned() }
    }};
}

/// Reads a field, if its bit is set in `$mask`; a field without its bit may hold anything.
macro_rules! masked {
    ($attr:ident, $mask:ident, $bit:ident, $field:ident) => {
        if $mask & $bit == 0 {
            None
        } else {
            Some(field!($attr, $field))
        }
    };
}

pub(super) use field;

/// A field that must have its bit set.
fn mandatory<T>(field: Option<T>, name: &str, bit: &str) -> Result<T> {
    field.ok_or_else(|| {
        Refusal::invalid(format!(
            "attr.{name} is not set: attr.fieldMask lacks {bit}"
        ))
    })
}

/// # Safety
/// `attr` is null or points to a mask, followed by the fields that it says are set: texts are null or null-terminated,
/// `entries` null or `numEntries` entries, whose semantics are lists. All of it stays as it is for `'a`.
pub(crate) unsafe fn schema<'a>(
    attr: *const nvtxPayloadSchemaAttr_t,
) -> Result<SchemaAttributes<'a>> {
    if attr.is_null() {
        return Err(Refusal::invalid("attr is null"));
    }
    let mask = field!(attr, fieldMask);
    let name = masked!(attr, mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, name);
    let kind = masked!(attr, mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, r#type);
    let flags = masked!(attr, mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS, flags);
    let entries = masked!(attr, mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES, entries);
    let count = masked!(
        attr,
        mask,
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
        numEntries
    );
    let size = masked!(
        attr,
        mask,
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
        payloadStaticSize
    );
    let pack = masked!(
        attr,
        mask,
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT,
        packAlign
    );
    let id = masked!(
        attr,
        mask,
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
        schemaId
    );

    let entries = mandatory(entries, "entries", "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES")?;
    let count = mandatory(
        count,
        "numEntries",
        "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES",
    )?;
    // SAFETY:
    // - The caller vouches for `numEntries` entries.
    let entries = unsafe { items("attr.entries", "attr.numEntries", entries, count) }?;
    let entry = |(index, raw)| {
        // SAFETY:
        // - The caller vouches for the texts and the lists of the entries.
        unsafe { entry(index, raw) }
    };
    Ok(SchemaAttributes {
        mask,
        // SAFETY:
        // - The caller vouches for the text.
        name: name.and_then(|name| unsafe { text(name) }),
        kind: mandatory(kind, "type", "NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE")?,
        flags: flags.unwrap_or_default(),
        entries: entries
            .iter()
            .enumerate()
            .map(entry)
            .collect::<Result<_>>()?,
        size: size.unwrap_or_default(),
        pack: pack.unwrap_or_default(),
        id: id.unwrap_or_default(),
    })
}

/// # Safety
/// Each text is null or null-terminated; the semantics are a list. All of it stays as it is for `'a`.
unsafe fn entry<'a>(index: usize, raw: &nvtxPayloadSchemaEntry_t) -> Result<EntryAttributes<'a>> {
    let mut entry = EntryAttributes {
        flags: raw.flags,
        ty: raw.r#type,
        // SAFETY:
        // - The caller vouches for the text.
        name: unsafe { text(raw.name) },
        // SAFETY:
        // - The caller vouches for the text.
        description: unsafe { text(raw.description) },
        detail: raw.arrayOrUnionDetail,
        offset: raw.offset,
        semantics: Vec::new(),
        reserved: raw.reserved.addr() as u64,
    };
    // SAFETY:
    // - The caller vouches for the list.
    let semantics = unsafe { semantics::read(raw.semantics) };
    entry.semantics = semantics
        .map_err(|refusal| refusal.at(entry_label(index, lossy(entry.name).as_deref())))?;
    Ok(entry)
}

/// # Safety
/// As for [`schema`].
pub(crate) unsafe fn enumeration<'a>(
    attr: *const nvtxPayloadEnumAttr_t,
) -> Result<EnumAttributes<'a>> {
    if attr.is_null() {
        return Err(Refusal::invalid("attr is null"));
    }
    let mask = field!(attr, fieldMask);
    let name = masked!(attr, mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME, name);
    let entries = masked!(attr, mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES, entries);
    let count = masked!(
        attr,
        mask,
        NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES,
        numEntries
    );
    let size = masked!(attr, mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE, sizeOfEnum);
    let id = masked!(attr, mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID, schemaId);

    let entries = mandatory(entries, "entries", "NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES")?;
    let count = mandatory(
        count,
        "numEntries",
        "NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES",
    )?;
    // SAFETY:
    // - The caller vouches for `numEntries` entries.
    let entries =
        unsafe { items::<nvtxPayloadEnum_t>("attr.entries", "attr.numEntries", entries, count) }?;
    let entry = |(index, raw): (usize, &nvtxPayloadEnum_t)| {
        // SAFETY:
        // - The caller vouches for the text.
        let name = unsafe { text(raw.name) };
        let name = name.ok_or_else(|| {
            Refusal::invalid(format!(
                "attr.entries[{index}].name is null; name the value"
            ))
        })?;
        Ok(EnumValue {
            name,
            value: raw.value,
            is_flag: raw.isFlag != 0,
        })
    };
    Ok(EnumAttributes {
        mask,
        // SAFETY:
        // - The caller vouches for the text.
        name: name.and_then(|name| unsafe { text(name) }),
        entries: entries
            .iter()
            .enumerate()
            .map(entry)
            .collect::<Result<_>>()?,
        size: mandatory(size, "sizeOfEnum", "NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE")?,
        id: id.unwrap_or_default(),
    })
}

/// # Safety
/// `attr` is null or points to as many bytes as its `size` says; its message is null or null-terminated, as its type says.
/// All of it stays as it is for `'a`.
pub(crate) unsafe fn resource<'a>(
    attr: *const nvtxResourceAttributes_t,
) -> Result<ResourceAttributes<'a>> {
    if attr.is_null() {
        return Err(Refusal::invalid("attr is null"));
    }
    let size = usize::from(field!(attr, size));
    let required = offset_of!(nvtxResourceAttributes_t, messageType);
    if size < required {
        return Err(Refusal::invalid(format!(
            "attr.size is {size}; at least {required} bytes are needed: set it to the size of the struct"
        )));
    }
    // SAFETY:
    // - The caller vouches for `size` bytes; the fields are numbers and pointers.
    let attr = unsafe { head(attr, size) };
    // SAFETY:
    // - Any 8 bytes are a number.
    let identifier = unsafe { attr.identifier.ullValue };
    // SAFETY:
    // - Any 8 bytes are a pointer, as long as it is not followed.
    let ascii = unsafe { attr.message.ascii };
    let message = match attr.messageType {
        kind if ascii.is_null() || kind == NVTX_MESSAGE_UNKNOWN => Message::None { kind },
        NVTX_MESSAGE_TYPE_ASCII => {
            // SAFETY:
            // - The caller vouches for the text, which the type says is one of bytes.
            let text = unsafe { text(ascii) };
            text.map_or(
                Message::None {
                    kind: NVTX_MESSAGE_UNKNOWN,
                },
                Message::Text,
            )
        }
        // SAFETY:
        // - The caller vouches for the text, which is not null, and which the type says is one of wide characters.
        NVTX_MESSAGE_TYPE_UNICODE => Message::Wide(unsafe { wide_text(ascii.cast()) }),
        NVTX_MESSAGE_TYPE_REGISTERED => Message::Registered(ascii.addr() as u64),
        other => {
            return Err(Refusal::invalid(format!(
                "attr.messageType is {other}; the ABI defines 0 to 3"
            )));
        }
    };
    Ok(ResourceAttributes {
        version: attr.version,
        kind: attr.identifierType,
        identifier,
        message,
    })
}

/// The units of text of wide characters.
///
/// # Safety
/// `text` points to wide characters up to a null.
unsafe fn wide_text(text: *const wchar_t) -> Vec<u32> {
    let mut units = Vec::new();
    loop {
        // SAFETY:
        // - All characters so far were not null, so that this one is still of the text.
        let next = unsafe { text.add(units.len()) };
        // SAFETY:
        // - As above; the text may not be aligned.
        match unsafe { next.read_unaligned() } {
            0 => return units,
            unit => units.push(unit as u32),
        }
    }
}
