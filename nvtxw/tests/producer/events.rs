//! Typed events: the registered layout, and the caller's own bytes in one call.

use nvtxw::abi::raw;
use nvtxw::{Argb, BatchOrdering, NvtxEvent, RangeId, StreamOptions, StringHandle};

use crate::recorder::{self, Call, Entry, answer, call, calls};

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(color)]
    color: Argb,
    grid: [u32; 3],
    #[nvtx(unit = "bytes", min = 0)]
    shared: u64,
    #[nvtx(correlation = "launch")]
    launch: u64,
    flags: [bool; 8],
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_start)]
struct Begin {
    #[nvtx(timestamp_start)]
    time: i64,
    #[nvtx(range_id)]
    id: RangeId,
    done: [bool; 8],
}

fn kernel(start: i64) -> Kernel {
    Kernel {
        start,
        end: start + 5,
        name: StringHandle::NONE,
        color: Argb::GREEN,
        grid: [1, 2, 3],
        shared: 4096,
        launch: 17,
        flags: [true; 8],
    }
}

/// The initialised bytes of a kernel, assembled from its fields.
fn bytes(kernel: &Kernel) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(kernel.start.to_ne_bytes());
    bytes.extend(kernel.end.to_ne_bytes());
    bytes.extend(0_usize.to_ne_bytes());
    bytes.extend(kernel.color.to_u32().to_ne_bytes());
    bytes.extend(kernel.grid.into_iter().flat_map(u32::to_ne_bytes));
    bytes.extend(kernel.shared.to_ne_bytes());
    bytes.extend(kernel.launch.to_ne_bytes());
    bytes.extend(kernel.flags.map(u8::from));
    bytes
}

#[test]
fn a_schema_is_registered_once_with_what_it_refers_to() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let schema = domain.schema::<Kernel>().unwrap();
    let calls_made = calls();
    let [
        Call::Enum {
            domain: of,
            mask,
            ref name,
            size,
            ref values,
            static_id: 0,
            out: boolean,
        },
        Call::Schema {
            domain: of_schema,
            schema: ref registered,
            ..
        },
    ] = calls_made[..]
    else {
        panic!("{calls_made:#?}")
    };
    assert_eq!((of, of_schema), (handle, handle));
    assert_eq!((mask, name.as_str(), size), (0b1_1110, "bool", 1));
    assert_eq!(*values, [("false".into(), 0, 0), ("true".into(), 1, 0)]);

    assert_eq!(
        registered.mask, 0b0111_1110,
        "name, type, flags, entries, their number, size"
    );
    assert_eq!(registered.name.as_deref(), Some("Kernel"));
    assert_eq!(registered.ty, raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
    assert_eq!(
        registered.flags,
        raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND
    );
    assert_eq!(
        (registered.size, registered.pack_align),
        (size_of::<Kernel>(), 0)
    );
    let entry = |flags, ty, name: &str, detail, offset| Entry {
        flags,
        ty,
        name: name.into(),
        description: None,
        detail,
        offset,
        semantics: Vec::new(),
    };
    let begin = raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
    let end = raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | raw::NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
    let array = raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    let message = raw::NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
    let mut shared = entry(0, raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "shared", 0, 40);
    let mut launch = entry(0, raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "launch", 0, 48);
    shared.semantics = vec![recorder::Semantics::Counter {
        struct_size: 72,
        version: 2,
        flags: raw::NVTX_COUNTER_FLAG_LIMIT_MIN,
        unit: Some("bytes".into()),
        scale: (1, 1),
        limit_type: raw::NVTX_COUNTER_LIMIT_U64,
        min: 0,
        max: 0,
    }];
    let recorder::Semantics::Correlation { uuid, .. } = registered.entries[6].semantics[0] else {
        panic!()
    };
    assert_ne!(uuid, [0; 16]);
    launch.semantics = vec![recorder::Semantics::Correlation {
        struct_size: 48,
        version: 1,
        uuid,
        name: Some("launch".into()),
        role: 0,
    }];
    let expected = [
        entry(begin, raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64, "start", 0, 0),
        entry(end, raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", 0, 8),
        entry(
            message,
            raw::NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
            "name",
            0,
            16,
        ),
        entry(0, raw::NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", 0, 24),
        entry(array, raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "grid", 3, 28),
        shared,
        launch,
        entry(array, boolean, "flags", 8, 56),
    ];
    assert_eq!(registered.entries, expected);

    assert_eq!(domain.schema::<Kernel>().unwrap(), schema);
    assert_eq!(calls(), []);
    // The enum isn't registered again either.
    domain.schema::<Begin>().unwrap();
    assert!(matches!(call(), Call::Schema { .. }));
    session.domain("other").unwrap().schema::<Kernel>().unwrap();
    assert_eq!(calls().len(), 3);
}

#[test]
fn a_schema_that_cannot_be_registered_is_named() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    answer("EnumRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let error = domain.schema::<Kernel>().unwrap_err().to_string();
    let prefix = "can't register the enum of `bool` in domain `sim` of session `run`: the backend answered NOT_SUPPORTED";
    assert!(error.starts_with(prefix), "{error}");
    answer("EnumRegister", 0);
    answer("SchemaRegister", raw::NVTXW_RESULT_INVALID_ARGUMENT);
    let error = domain.schema::<Kernel>().unwrap_err().to_string();
    let prefix = "can't register schema `Kernel` in domain `sim` of session `run`: the backend answered INVALID_ARGUMENT";
    assert!(error.starts_with(prefix), "{error}");
    answer("SchemaRegister", 0);
    domain.schema::<Kernel>().unwrap();
}

#[test]
fn a_batch_is_one_call_with_the_slice_itself_whatever_its_length() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (schema, domain) = (domain.schema::<Kernel>().unwrap(), domain.id());
    let Some(Call::Schema { out: schema_id, .. }) = calls().pop() else {
        panic!()
    };
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    let Call::StreamOpen { out: handle, .. } = call() else {
        panic!()
    };
    let out = session.writer(&mut stream).unwrap();
    let kernels = out.events(schema).unwrap();
    for len in [1, 2, 3, 1000, 65536] {
        let batch: Vec<Kernel> = (0..len).map(kernel).collect();
        kernels.write_batch(&batch).unwrap();
        let Call::Batch {
            stream,
            schema,
            address,
            bytes: written,
            scope,
            flags,
            flex,
        } = call()
        else {
            panic!()
        };
        assert_eq!(
            (stream, schema, address),
            (handle, schema_id, batch.as_ptr().addr())
        );
        assert_eq!(written, batch.iter().flat_map(bytes).collect::<Vec<_>>());
        assert_eq!(
            (scope, flags, flex),
            (0, raw::NVTX_BATCH_FLAG_UNSORTED, (0, 0, 0))
        );
    }
    kernels.write_batch(&[]).unwrap();
    assert_eq!(calls(), []);

    let one = kernel(7);
    kernels.write(&one).unwrap();
    let Call::Event { stream, payloads } = call() else {
        panic!()
    };
    assert_eq!((stream, payloads.len()), (handle, 1));
    assert_eq!(
        (payloads[0].schema, payloads[0].address),
        (schema_id, std::ptr::from_ref(&one).addr())
    );
    assert_eq!(payloads[0].bytes, bytes(&one));

    answer("EventBatchWrite", raw::NVTXW_RESULT_FAILED);
    answer("EventWrite", raw::NVTXW_RESULT_NOT_SUPPORTED);
    assert_eq!(
        kernels.write_batch(&[one]).unwrap_err().code().get(),
        raw::NVTXW_RESULT_FAILED
    );
    let error = kernels.write(&one).unwrap_err();
    assert!(error.is_not_supported());
    assert_eq!(
        error.at(&kernels).to_string(),
        "can't write events of schema `Kernel` to stream `s` of domain `sim` of session `run`: the backend answered \
         NOT_SUPPORTED (7), which means that it doesn't offer this; do without it, or use another backend"
    );
}

#[test]
fn several_writers_of_one_stream_interleave() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (kernel_schema, begin_schema) = (
        domain.schema::<Kernel>().unwrap(),
        domain.schema::<Begin>().unwrap(),
    );
    let queue = domain.counter::<i64>("queue").unwrap();
    let domain = domain.id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let kernels = out.events(kernel_schema).unwrap();
    let begins = out.events(begin_schema).unwrap();
    let depth = out.counter(queue).unwrap();
    kernels.write(&kernel(1)).unwrap();
    out.mark(2).write().unwrap();
    begins
        .write(&Begin {
            time: 3,
            id: RangeId::new(1).unwrap(),
            done: [false; 8],
        })
        .unwrap();
    depth.sample(4, 12).unwrap();
    kernels.write_batch(&[kernel(5)]).unwrap();
    let kinds: Vec<_> = calls()
        .iter()
        .map(|call| match call {
            Call::Event { payloads, .. } => payloads.len(),
            Call::Sample { .. } => 10,
            Call::Batch { .. } => 20,
            call => panic!("{call:?}"),
        })
        .collect();
    assert_eq!(kinds, [1, 2, 1, 10, 20]);
}

#[test]
fn a_batch_carries_its_order_and_its_scope() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (schema, scope, domain) = (
        domain.schema::<Kernel>().unwrap(),
        domain.scope("GPU 0").unwrap(),
        domain.id(),
    );
    let options = StreamOptions::new(domain)
        .plain_events(false)
        .batch_ordering(BatchOrdering::SortedPerScope);
    let mut stream = session.open_stream("s", options).unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let kernels = out.events(schema).unwrap();
    kernels.write_batch(&[kernel(1)]).unwrap();
    let sorted = out
        .events(schema)
        .unwrap()
        .ordering(BatchOrdering::Sorted)
        .scope(scope)
        .unwrap();
    sorted.write_batch(&[kernel(1)]).unwrap();
    // A single event has no place for a scope: it goes as a batch of one.
    sorted.write(&kernel(1)).unwrap();
    let found: Vec<_> = calls()
        .into_iter()
        .map(|call| match call {
            Call::Batch {
                scope,
                flags,
                bytes,
                ..
            } => (scope, flags, bytes.len() / size_of::<Kernel>()),
            call => panic!("{call:?}"),
        })
        .collect();
    let (id, per_scope) = (
        scope.id().to_u64(),
        raw::NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE,
    );
    assert_eq!(found, [(0, per_scope, 1), (id, 0, 1), (id, 0, 1)]);
}
