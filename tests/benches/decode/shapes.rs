//! The structs whose decoding is measured: their schemas, and bytes of them.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::raw::*;

use crate::decoders::{self, Decoder};
use crate::producer::{Data, Way};

/// The field that all events and samples have their time shown as.
pub const TIME: usize = 0;

/// Events of each shape: few enough that all of them stay in a cache, so that it is decoding that is measured.
const EVENTS: usize = 4096;

pub const STRINGS: [&CStr; 8] = [
    c"gemm",
    c"memcpy",
    c"reduce",
    c"softmax",
    c"transpose",
    c"layer norm",
    c"attention",
    c"all reduce",
];

pub struct Shape {
    pub name: &'static str,
    /// Registers the schema of the events, or the counter.
    pub register: fn(&Registrar<'_>) -> u64,
    /// The bytes, with these handles of [`STRINGS`].
    pub data: fn(&[u64]) -> Data,
    pub decoder: Decoder,
    /// Whether an event needs its batch.
    pub in_batches_only: bool,
}

impl Shape {
    pub fn ways(&self) -> &'static [Way] {
        match self.in_batches_only {
            true => &[Way::Batch],
            false => &[Way::Batch, Way::Single],
        }
    }
}

pub fn all() -> Vec<Shape> {
    let shape = |name, register, data, decoder| Shape {
        name,
        register,
        data,
        decoder,
        in_batches_only: false,
    };
    vec![
        shape("numbers", register_numbers, numbers, decoders::numbers),
        shape(
            "numbers, text and registered strings",
            register_texts,
            texts,
            decoders::texts,
        ),
        shape("nested structs", register_nested, nested, decoders::nested),
        shape("arrays", register_arrays, arrays, decoders::arrays),
        shape("enums", register_enums, enums, decoders::enums),
        shape(
            "text of any length",
            register_dynamic,
            dynamic,
            decoders::dynamic,
        ),
        Shape {
            in_batches_only: true,
            ..shape("text in a pool", register_pooled, pooled, decoders::pooled)
        },
        shape("unions", register_unions, unions, decoders::unions),
        shape("groups of counters", register_group, group, decoders::group),
    ]
}

const I64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const I32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
const U32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
const I16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT16;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const F64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64;
const F32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const FIXED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
const BY_LENGTH: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
const BY_NULL: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;

/// Registers in a domain.
pub struct Registrar<'t> {
    pub table: &'t nvtxwInterface_v2_t,
    pub domain: nvtxDomainHandle_t,
}

impl Registrar<'_> {
    fn schema(&self, shape: u64, flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        let attr = nvtxPayloadSchemaAttr_t {
            fieldMask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
            name: ptr::null(),
            r#type: shape,
            flags,
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            payloadStaticSize: 0,
            packAlign: 0,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        let register = self.table.SchemaRegister.expect("the table is complete");
        // SAFETY:
        // - The domain is registered; the attributes and what they point to live through the call.
        let code = unsafe { register(self.domain, &attr, &mut id) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        id
    }

    fn fixed(&self, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        self.schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, entries)
    }

    /// A schema of marks; the time is its first entry.
    fn marks(&self, shape: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        let time = entry(
            NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK,
            I64,
            c"time",
        );
        let entries = [&[time], entries].concat();
        self.schema(shape, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries)
    }

    fn enumeration(&self, size: usize, values: &[(&'static CStr, u64)]) -> u64 {
        let entries: Vec<_> = values
            .iter()
            .map(|(name, value)| nvtxPayloadEnum_t {
                name: name.as_ptr(),
                value: *value,
                isFlag: 0,
            })
            .collect();
        let attr = nvtxPayloadEnumAttr_t {
            fieldMask: NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
            name: ptr::null(),
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            sizeOfEnum: size,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        let register = self.table.EnumRegister.expect("the table is complete");
        // SAFETY:
        // - The domain is registered; the attributes and what they point to live through the call.
        let code = unsafe { register(self.domain, &attr, &mut id) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        id
    }

    fn counter(&self, schema: u64) -> u64 {
        let attr = nvtxCounterAttr_t {
            structSize: size_of::<nvtxCounterAttr_t>(),
            schemaId: schema,
            name: c"power".as_ptr(),
            description: ptr::null(),
            scopeId: NVTX_SCOPE_NONE,
            semantics: ptr::null(),
            counterId: NVTX_COUNTER_ID_NONE,
        };
        let mut id = 0;
        let register = self.table.CounterRegister.expect("the table is complete");
        // SAFETY:
        // - The domain is registered; the attributes and what they point to live through the call.
        let code = unsafe { register(self.domain, &attr, &mut id) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
        id
    }

    /// The handles of [`STRINGS`].
    pub fn strings(&self) -> Vec<u64> {
        let register = self.table.StringRegister.expect("the table is complete");
        let string = |text: &CStr| {
            let mut handle = ptr::null_mut();
            // SAFETY:
            // - The domain is registered; the text lives through the call.
            let code = unsafe { register(self.domain, text.as_ptr(), &mut handle) };
            assert_eq!(code, NVTXW_RESULT_SUCCESS);
            handle.addr() as u64
        };
        STRINGS.into_iter().map(string).collect()
    }
}

fn entry(flags: u64, ty: u64, name: &'static CStr) -> nvtxPayloadSchemaEntry_t {
    detailed(flags, ty, name, 0)
}

/// With the length of an array, or the entry that tells the length or selects the member.
fn detailed(flags: u64, ty: u64, name: &'static CStr, detail: u64) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        flags,
        r#type: ty,
        name: name.as_ptr(),
        description: ptr::null(),
        arrayOrUnionDetail: detail,
        offset: 0,
        semantics: ptr::null(),
        reserved: ptr::null(),
    }
}

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}

/// Data that `event` makes: it appends the bytes of one event, and tells how many values these are.
fn events(mut event: impl FnMut(u64, &mut Random, &mut Data) -> usize) -> Data {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut data = Data::default();
    for index in 0..EVENTS as u64 {
        data.values += event(index, &mut random, &mut data);
        data.ends.push(data.bytes.len());
    }
    data
}

macro_rules! put {
    ($data:expr, $($value:expr),* $(,)?) => {{
        $( $data.bytes.extend_from_slice(&$value.to_ne_bytes()); )*
    }};
}

fn register_numbers(registrar: &Registrar<'_>) -> u64 {
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(0, U64, c"bytes"),
            entry(0, I64, c"offset"),
            entry(0, F64, c"ratio"),
            entry(0, U32, c"blocks"),
            entry(0, I32, c"delta"),
            entry(0, F32, c"occupancy"),
            entry(0, U16, c"port"),
            entry(0, I16, c"level"),
        ],
    )
}

fn numbers(_: &[u64]) -> Data {
    events(|index, random, data| {
        put!(
            data,
            index * 100,
            random.next(),
            -(random.next() as i64),
            random.next() as f64
        );
        put!(
            data,
            random.next() as u32,
            random.next() as i32,
            random.next() as f32
        );
        put!(data, random.next() as u16, random.next() as i16);
        9
    })
}

fn register_texts(registrar: &Registrar<'_>) -> u64 {
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, STRING, c"message"),
            entry(0, STRING, c"kernel"),
            detailed(FIXED, TEXT, c"text", 24),
            entry(0, U64, c"bytes"),
            entry(0, F64, c"ratio"),
        ],
    )
}

fn texts(strings: &[u64]) -> Data {
    events(|index, random, data| {
        let mut string = || strings[random.next() as usize % strings.len()];
        put!(data, index * 100, string(), string());
        let len = random.next() as usize % 24;
        data.bytes
            .extend((0..24).map(|at| if at < len { b'a' + at as u8 } else { 0 }));
        put!(data, random.next(), random.next() as f64);
        6
    })
}

fn register_nested(registrar: &Registrar<'_>) -> u64 {
    let point = registrar.fixed(&[
        entry(0, F64, c"x"),
        entry(0, F64, c"y"),
        entry(0, F64, c"z"),
    ]);
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(0, point, c"position"),
            entry(0, point, c"velocity"),
            entry(0, U64, c"id"),
        ],
    )
}

fn nested(_: &[u64]) -> Data {
    events(|index, random, data| {
        put!(data, index * 100);
        for _ in 0..6 {
            put!(data, random.next() as f64);
        }
        put!(data, random.next());
        8
    })
}

fn register_arrays(registrar: &Registrar<'_>) -> u64 {
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            detailed(FIXED, F32, c"weights", 8),
            detailed(FIXED, U16, c"ports", 4),
            entry(0, U64, c"id"),
        ],
    )
}

fn arrays(_: &[u64]) -> Data {
    events(|index, random, data| {
        put!(data, index * 100);
        for _ in 0..8 {
            put!(data, random.next() as f32);
        }
        put!(data, random.next(), random.next());
        14
    })
}

fn register_enums(registrar: &Registrar<'_>) -> u64 {
    let values = [(c"idle", 0), (c"running", 1), (c"waiting", 2), (c"done", 3)];
    let [wide, short, byte] = [4, 2, 1].map(|size| registrar.enumeration(size, &values));
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(0, wide, c"state"),
            entry(0, short, c"before"),
            entry(0, byte, c"after"),
            entry(0, U8, c"tries"),
            entry(0, U64, c"id"),
        ],
    )
}

fn enums(_: &[u64]) -> Data {
    events(|index, random, data| {
        let mut value = || random.next() % 4;
        put!(
            data,
            index * 100,
            value() as u32,
            value() as u16,
            value() as u8,
            value() as u8
        );
        put!(data, random.next());
        6
    })
}

fn register_dynamic(registrar: &Registrar<'_>) -> u64 {
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
        &[
            entry(0, U32, c"length"),
            detailed(BY_LENGTH, TEXT, c"path", 1),
            entry(BY_NULL, TEXT, c"user"),
            entry(0, U32, c"size"),
        ],
    )
}

fn dynamic(_: &[u64]) -> Data {
    events(|index, random, data| {
        let start = data.bytes.len();
        let len = random.next() as usize % 32;
        put!(data, index * 100, len as u32);
        data.bytes.extend((0..len).map(|at| b'a' + at as u8));
        data.bytes
            .extend_from_slice(&b"operator\0"[random.next() as usize % 8..]);
        let end = data.bytes.len() - start;
        data.bytes.resize(start + end.next_multiple_of(4), 0);
        put!(data, random.next() as u32);
        5
    })
}

fn register_pooled(registrar: &Registrar<'_>) -> u64 {
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(0, U32, c"length"),
            entry(0, U32, c"size"),
            detailed(
                BY_LENGTH | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
                TEXT,
                c"path",
                1,
            ),
            entry(0, F64, c"ratio"),
        ],
    )
}

fn pooled(_: &[u64]) -> Data {
    events(|index, random, data| {
        let len = random.next() as usize % 32;
        put!(data, index * 100, len as u32, random.next() as u32);
        put!(data, data.pool.len() as u64, random.next() as f64);
        data.pool.extend((0..len).map(|at| b'a' + at as u8));
        5
    })
}

fn register_unions(registrar: &Registrar<'_>) -> u64 {
    let point = registrar.fixed(&[entry(0, U32, c"x"), entry(0, U32, c"y")]);
    let value = registrar.schema(
        NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
        0,
        &[
            entry(0, U64, c"integer"),
            entry(0, F64, c"real"),
            entry(0, point, c"point"),
        ],
    );
    registrar.marks(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        &[
            entry(0, U32, c"which"),
            entry(0, U32, c"size"),
            detailed(0, value, c"value", 1),
        ],
    )
}

fn unions(_: &[u64]) -> Data {
    events(|index, random, data| {
        let which = random.next() as u32 % 3;
        put!(data, index * 100, which, random.next() as u32);
        match which {
            1 => put!(data, random.next() as f64),
            _ => put!(data, random.next()),
        }
        match which {
            2 => 5,
            _ => 4,
        }
    })
}

fn register_group(registrar: &Registrar<'_>) -> u64 {
    let sample = registrar.schema(
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
        &[
            entry(0, F64, c"power"),
            entry(0, U64, c"memory"),
            entry(0, U32, c"clock"),
            entry(0, F32, c"temperature"),
        ],
    );
    registrar.counter(sample)
}

fn group(_: &[u64]) -> Data {
    let mut data = events(|_, random, data| {
        put!(
            data,
            random.next() as f64,
            random.next(),
            random.next() as u32,
            random.next() as f32
        );
        5
    });
    data.times = Some((0..EVENTS as i64).map(|index| index * 100).collect());
    data
}
