//! What the table's structs point to while a call reads them.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::ptr;
use std::rc::Rc;

use nvtxw_abi::raw::*;
use serde_json::{Map, Value};

use crate::program::constant;

/// Keys of the options that say what a value means, those of counters first.
pub const MEANING: &[&str] = &[
    "unit",
    "scale",
    "min",
    "max",
    "values",
    "interpolation",
    "normalize",
    "correlation",
    "clock",
    "belongs_to",
];

const OF_COUNTERS: usize = 7;

/// Keeps texts and semantics where they are.
#[derive(Default)]
pub struct Arena {
    texts: Vec<CString>,
    /// A reference count lets them be where they are while this list grows.
    semantics: Vec<Rc<dyn Any>>,
}

impl Arena {
    pub fn text(&mut self, text: &str) -> *const c_char {
        let text = CString::new(text).expect("no NUL inside");
        let start = text.as_ptr();
        self.texts.push(text);
        start
    }

    /// Null if there is none.
    pub fn optional_text(&mut self, text: &Value) -> *const c_char {
        text.as_str().map_or(ptr::null(), |text| self.text(text))
    }

    /// The list of what `options` say. `id` finds scopes and time domains.
    pub fn semantics(
        &mut self,
        options: &Map<String, Value>,
        id: impl Fn(&str) -> u64,
    ) -> *const nvtxSemanticsHeader_t {
        let mut next = ptr::null();
        let get = |key: &str| options.get(key).unwrap_or(&Value::Null);
        if MEANING[..OF_COUNTERS]
            .iter()
            .any(|key| options.contains_key(*key))
        {
            let (min, max) = (limit(get("min")), limit(get("max")));
            let values = get("values")
                .as_str()
                .map_or(0, |name| constant("NVTX_COUNTER_FLAG_VALUETYPE_", name));
            let interpolation = get("interpolation")
                .as_str()
                .map_or(0, |name| constant("NVTX_COUNTER_FLAG_INTERPOLATION_", name));
            let normalize = match get("normalize").as_bool() {
                Some(true) => NVTX_COUNTER_FLAG_NORMALIZE,
                _ => 0,
            };
            let unit = self.optional_text(get("unit"));
            let semantics = Rc::new(nvtxSemanticsCounter_t {
                header: header::<nvtxSemanticsCounter_t>(
                    NVTX_SEMANTIC_ID_COUNTERS_V1,
                    NVTX_COUNTER_SEMANTIC_VERSION,
                    next,
                ),
                flags: values
                    | interpolation
                    | normalize
                    | min.map_or(0, |_| NVTX_COUNTER_FLAG_LIMIT_MIN)
                    | max.map_or(0, |_| NVTX_COUNTER_FLAG_LIMIT_MAX),
                unit,
                unitScaleNumerator: get("scale")[0].as_u64().unwrap_or(1),
                unitScaleDenominator: get("scale")[1].as_u64().unwrap_or(1),
                limitType: min
                    .or(max)
                    .map_or(NVTX_COUNTER_LIMIT_UNDEFINED, |(ty, _)| ty),
                min: min.map_or(nvtxCounterLimit_t { u64: 0 }, |(_, limit)| limit),
                max: max.map_or(nvtxCounterLimit_t { u64: 0 }, |(_, limit)| limit),
            });
            next = &raw const semantics.header;
            self.semantics.push(semantics);
        }
        if let Some(number) = get("correlation").as_u64() {
            let semantics = Rc::new(nvtxSemanticsCorrelation_t {
                header: header::<nvtxSemanticsCorrelation_t>(
                    NVTX_SEMANTIC_ID_CORRELATION_V1,
                    NVTX_CORRELATION_SEMANTIC_VERSION,
                    next,
                ),
                correlationDomainUuid: [number as u8; 16],
                displayName: ptr::null(),
                role: NVTX_CORRELATION_ROLE_NONE,
            });
            next = &raw const semantics.header;
            self.semantics.push(semantics);
        }
        if let Some(name) = get("clock").as_str() {
            let semantics = Rc::new(nvtxSemanticsTime_t {
                header: header::<nvtxSemanticsTime_t>(
                    NVTX_SEMANTIC_ID_TIME_V1,
                    NVTX_TIME_SEMANTIC_VERSION,
                    next,
                ),
                timeDomainId: id(name),
            });
            next = &raw const semantics.header;
            self.semantics.push(semantics);
        }
        if let Some(name) = get("belongs_to").as_str() {
            let semantics = Rc::new(nvtxSemanticsScope_t {
                header: header::<nvtxSemanticsScope_t>(
                    NVTX_SEMANTIC_ID_SCOPE_V1,
                    NVTX_SCOPE_SEMANTIC_VERSION,
                    next,
                ),
                scopeId: id(name),
            });
            next = &raw const semantics.header;
            self.semantics.push(semantics);
        }
        next
    }
}

/// A counter's limit and its type, if there is one.
fn limit(value: &Value) -> Option<(i64, nvtxCounterLimit_t)> {
    if let Some(limit) = value.as_i64() {
        return Some((NVTX_COUNTER_LIMIT_I64, nvtxCounterLimit_t { i64: limit }));
    }
    if let Some(limit) = value.as_u64() {
        return Some((NVTX_COUNTER_LIMIT_U64, nvtxCounterLimit_t { u64: limit }));
    }
    value
        .as_f64()
        .map(|limit| (NVTX_COUNTER_LIMIT_F64, nvtxCounterLimit_t { f64: limit }))
}

fn header<T>(id: u16, version: u16, next: *const nvtxSemanticsHeader_t) -> nvtxSemanticsHeader_t {
    nvtxSemanticsHeader_t {
        structSize: size_of::<T>() as u32,
        semanticId: id,
        version,
        next,
    }
}
