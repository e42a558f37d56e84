//! Strings, categories, scopes.

use nvtxw::abi::raw;
use nvtxw::{CategoryId, NvtxEvent, ScopeParent, StaticId, StringHandle};

use crate::recorder::{Call, answer, call, calls, session};

#[test]
fn a_string_is_registered_once_in_each_domain() {
    let mut session = session("run");
    let mut a = session.domain("a").unwrap();
    let gemm = a.string("gemm").unwrap();
    let [
        Call::Domain { out: a_handle, .. },
        Call::String {
            domain,
            ref text,
            out,
        },
    ] = calls()[..]
    else {
        panic!()
    };
    assert_eq!((domain, text.as_str()), (a_handle, "gemm"));
    assert_eq!(
        format!("{:?}", gemm.handle()),
        format!("StringHandle({out:#x})")
    );
    assert_eq!(a.string("gemm").unwrap(), gemm);
    assert_eq!(calls(), []);
    assert_ne!(a.string("gemn").unwrap(), gemm);
    a.string("").unwrap();
    assert_eq!(calls().len(), 2);
    assert_ne!(session.domain("b").unwrap().string("gemm").unwrap(), gemm);

    assert!(StringHandle::NONE.is_none() && !gemm.handle().is_none());
    assert_eq!(StringHandle::default(), StringHandle::NONE);
    assert_eq!(size_of::<StringHandle>(), size_of::<usize>());
}

#[test]
fn a_string_that_cannot_be_registered_is_named() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let error = domain.string("ge\0mm").unwrap_err().to_string();
    assert_eq!(
        error,
        "the registered string has a NUL byte at position 2, where C's text ends: take it out"
    );
    answer("StringRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    assert_eq!(
        domain.string("gemm").unwrap_err().to_string(),
        "can't register string `gemm` in domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7), which means \
         that it doesn't offer this; do without it, or use another backend"
    );
    answer("StringRegister", 0);
    answer("null string", 1);
    assert_eq!(
        domain.string("gemm").unwrap_err().to_string(),
        "can't register string `gemm` in domain `sim` of session `run`: the backend is broken, it answered SUCCESS and gave \
         no handle; report it to its makers"
    );
    answer("null string", 0);
    domain.string("gemm").unwrap();
}

#[test]
fn categories_are_numbered_from_1_around_the_given_ones() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let one = domain.category("one").unwrap();
    assert_eq!(one, CategoryId::from_u32(1));
    assert_eq!(
        domain.category_at(2, "two").unwrap(),
        CategoryId::from_u32(2)
    );
    assert_eq!(domain.category("three").unwrap(), CategoryId::from_u32(3));
    assert_eq!(
        domain.category_at(7, "one").unwrap(),
        CategoryId::from_u32(7)
    );
    assert_eq!(
        domain.category_at(u32::MAX, "last").unwrap(),
        CategoryId::from_u32(u32::MAX)
    );
    let expected = [
        (1, "one"),
        (2, "two"),
        (3, "three"),
        (7, "one"),
        (u32::MAX, "last"),
    ]
    .map(|(id, name)| Call::Category {
        domain: handle,
        id,
        name: name.into(),
    });
    assert_eq!(calls(), expected);

    assert_eq!(domain.category("one").unwrap(), one);
    assert_eq!(domain.category("two").unwrap().to_u32(), 2);
    assert_eq!(domain.category_at(7, "one").unwrap().to_u32(), 7);
    assert_eq!(calls(), []);
}

#[test]
fn a_category_that_cannot_be_named_says_why() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    assert_eq!(
        domain.category_at(0, "none").unwrap_err().to_string(),
        "can't name category 0 `none`: 0 says that an event has no category; take 1 or more"
    );
    domain.category_at(3, "a").unwrap();
    assert_eq!(
        domain.category_at(3, "b").unwrap_err().to_string(),
        "can't name category 3 `b`: it is named `a` already; take another number"
    );
    let error = domain.category("\0").unwrap_err().to_string();
    assert_eq!(
        error,
        "the category name has a NUL byte at position 0, where C's text ends: take it out"
    );
    answer("CategoryRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let error = domain.category("c").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "can't register category `c` in domain `sim` of session `run`: the backend"
        ),
        "{error}"
    );
    // Not numbered, since it wasn't registered.
    answer("CategoryRegister", 0);
    assert_eq!(domain.category("d").unwrap().to_u32(), 1);
}

#[test]
fn a_scope_is_registered_once_under_each_parent() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let gpu = domain.scope("GPU 0/engine[3]").unwrap();
    let scope = |path: &str, parent, out| Call::Scope {
        domain: handle,
        struct_size: 32,
        path: path.into(),
        parent,
        static_id: 0,
        out,
    };
    let Call::Scope { out, .. } = call() else {
        panic!()
    };
    assert_eq!(gpu.id().to_u64(), out);
    assert_eq!(domain.scope("GPU 0/engine[3]").unwrap(), gpu);
    assert_eq!(
        domain
            .scope_in(ScopeParent::Root, "GPU 0/engine[3]")
            .unwrap(),
        gpu
    );
    assert_eq!(calls(), []);

    for (parent, number) in [
        (ScopeParent::Scope(gpu), out),
        (ScopeParent::None, raw::NVTX_SCOPE_NONE),
        (ScopeParent::Root, raw::NVTX_SCOPE_ROOT),
        (
            ScopeParent::CurrentMachine,
            raw::NVTX_SCOPE_CURRENT_HW_MACHINE,
        ),
        (ScopeParent::CurrentVm, raw::NVTX_SCOPE_CURRENT_VM),
    ] {
        let queue = domain.scope_in(parent, "queue").unwrap();
        assert_eq!(call(), scope("queue", number, queue.id().to_u64()));
    }

    let error = domain.scope("a/\0").unwrap_err().to_string();
    assert_eq!(
        error,
        "the scope path has a NUL byte at position 2, where C's text ends: take it out"
    );
    answer("ScopeRegister", raw::NVTXW_RESULT_INVALID_ARGUMENT);
    let error = domain.scope("]").unwrap_err().to_string();
    assert!(
        error.starts_with("can't register scope `]` in domain `sim` of session `run`: the backend"),
        "{error}"
    );
}

#[test]
fn a_string_of_bytes_is_the_same_as_that_of_text() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let gemm = domain.string("gemm").unwrap();
    calls();
    assert_eq!(domain.string_bytes(b"gemm").unwrap(), gemm);
    assert_eq!(calls(), []);
    let other = domain.string_bytes("größe".as_bytes()).unwrap();
    assert!(matches!(call(), Call::String { text, .. } if text == "größe"));
    assert_eq!(domain.string("größe").unwrap(), other);
    assert_eq!(
        domain.string_bytes(b"ge\0mm").unwrap_err().to_string(),
        "the registered string has a NUL byte at position 2, where C's text ends: take it out"
    );
    assert_eq!(calls(), []);
}

#[test]
fn claimed_categories_are_left_alone() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    assert_eq!(domain.claim_category(1).unwrap(), CategoryId::from_u32(1));
    domain.claim_category(3).unwrap();
    domain.claim_category(3).unwrap();
    assert_eq!(domain.claim_category(0).unwrap(), CategoryId::NONE);
    assert_eq!(calls(), []);
    assert_eq!(domain.category("a").unwrap().to_u32(), 2);
    assert_eq!(domain.category("b").unwrap().to_u32(), 4);
    // A claimed number can still be named.
    assert_eq!(domain.category_at(3, "mine").unwrap().to_u32(), 3);
    assert_eq!(calls().len(), 3);
    assert_eq!(
        domain.claim_category(2).unwrap_err().to_string(),
        "can't claim category 2: it is named `a` already; claim numbers before categories are named, or take another one"
    );
}

#[test]
fn a_scope_may_have_a_static_id() {
    let mut session = session("run");
    let foreign = session.domain("other").unwrap().scope("x").unwrap();
    let mut domain = session.domain("sim").unwrap();
    calls();
    let id = StaticId::new(0x0100_0001).unwrap();
    let gpu = domain.scope_at(id, ScopeParent::Root, "GPU 0").unwrap();
    assert_eq!(gpu.id().to_u64(), 0x0100_0001);
    let Call::Scope {
        path,
        parent,
        static_id,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!((&*path, parent, static_id), ("GPU 0", 1, 0x0100_0001));
    assert_eq!(domain.scope("GPU 0").unwrap(), gpu);
    assert_eq!(
        domain.scope_at(id, ScopeParent::Root, "GPU 0").unwrap(),
        gpu
    );
    assert_eq!(calls(), []);
    let another = StaticId::new(0x0100_0002).unwrap();
    assert_eq!(
        domain
            .scope_at(another, ScopeParent::Root, "GPU 0")
            .unwrap_err()
            .to_string(),
        "scope `GPU 0` is registered under the number 16777217, and asked for under 16777218: use one number for it"
    );
    let error = domain.scope_at(another, foreign, "y").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a scope that was passed belongs to domain `other` of session `run`; scope `y` is for domain `sim` of session `run`: \
         use it where it belongs, or register it there too"
    );
    domain.scope_at(another, gpu, "y").unwrap();
    assert!(matches!(
        call(),
        Call::Scope {
            parent: 0x0100_0001,
            static_id: 0x0100_0002,
            ..
        }
    ));
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Tick {
    #[nvtx(timestamp)]
    time: i64,
}

#[test]
fn a_schema_may_have_a_static_id() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let id = StaticId::new(0x0100_0001).unwrap();
    let tick = domain.schema_at::<Tick>(id).unwrap();
    let Call::Schema { schema, .. } = call() else {
        panic!()
    };
    assert_eq!((tick.id(), schema.static_id), (0x0100_0001, 0x0100_0001));
    assert_eq!(schema.mask & 1 << 8, 1 << 8);
    assert_eq!(domain.schema::<Tick>().unwrap(), tick);
    assert_eq!(domain.schema_at::<Tick>(id).unwrap(), tick);
    let other = StaticId::new(0x0100_0002).unwrap();
    assert_eq!(
        domain.schema_at::<Tick>(other).unwrap_err().to_string(),
        "schema `Tick` is registered under the number 16777217, and asked for under 16777218: use one number for it"
    );
    assert_eq!(calls(), []);
    let _ = Tick { time: 0 };
}
