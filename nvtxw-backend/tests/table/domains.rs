//! Domains: names, categories, strings, scopes, time domains and resources.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{PredefinedScope, ScopeRef, TimerStart, TimestampType};

use crate::program::*;

/// The domain as the backend sees it.
pub fn seen(
    program: &Program,
    session: Session,
    domain: Domain,
) -> std::sync::Arc<nvtxw_backend::Domain> {
    program.open(session, c"", domain);
    program.journal.domain()
}

#[test]
fn the_same_name_is_the_same_domain() {
    let program = Program::new();
    let session = program.begin(c"run");
    let default = program.domain(session, None).expect("the default domain");
    assert_eq!(program.domain(session, Some(c"")), Ok(default));
    let nameless = nvtxwDomainAttributes_t {
        structSize: size_of::<nvtxwDomainAttributes_t>(),
        name: ptr::null(),
    };
    let mut out = ptr::null_mut();
    member!(program, DomainRegister(session, &nameless, &mut out)).expect("the default domain");
    assert_eq!(out, default);
    let short = nvtxwDomainAttributes_t {
        structSize: 8,
        name: garbage(),
    };
    member!(program, DomainRegister(session, &short, &mut out)).expect("the default domain");
    assert_eq!(out, default);

    let sim = program.domain(session, Some(c"sim")).expect("a domain");
    assert_ne!(sim, default);
    assert_eq!(program.domain(session, Some(c"sim")), Ok(sim));
    assert_ne!(
        program.domain(program.begin(c"other"), Some(c"sim")),
        Ok(sim),
        "another session, another domain"
    );

    let (default, sim) = (
        seen(&program, session, ptr::null_mut()),
        seen(&program, session, sim),
    );
    assert_eq!((default.name(), default.index()), (None, 0));
    assert_eq!((sim.name(), sim.index()), (Some("sim"), 1));

    assert_invalid(
        member!(
            program,
            DomainRegister(session, ptr::null(), ptr::null_mut())
        ),
        "DomainRegister on \"run\": domainOut is null, so that the result has no place",
    );
    let small = nvtxwDomainAttributes_t {
        structSize: 4,
        name: ptr::null(),
    };
    assert_invalid(
        member!(program, DomainRegister(session, &small, &mut out)),
        "DomainRegister on \"run\": attr.structSize is 4; at least 8 bytes are needed: set it to the size of the struct",
    );
}

#[test]
fn categories_have_names() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    member!(program, CategoryRegister(domain, 1, c"io".as_ptr())).expect("named");
    member!(
        program,
        CategoryRegister(domain, u32::MAX, c"last\xFF".as_ptr())
    )
    .expect("named");
    assert_invalid(
        member!(program, CategoryRegister(domain, 0, c"none".as_ptr())),
        "CategoryRegister on \"sim\": category is 0, which means no category and can't be named; choose another number",
    );
    assert_invalid(
        member!(program, CategoryRegister(domain, 2, ptr::null())),
        "CategoryRegister on \"sim\": name is null; a category's name is text",
    );
    let seen = seen(&program, session, domain);
    assert_eq!(seen.category(1).as_deref(), Some("io"));
    assert_eq!(seen.category(u32::MAX).as_deref(), Some("last\u{FFFD}"));
    assert_eq!(seen.category(0), None);
    member!(program, CategoryRegister(domain, 1, c"input".as_ptr())).expect("named again");
    assert_eq!(seen.category(1).as_deref(), Some("input"));
}

#[test]
fn strings_are_found_by_their_handles_in_their_own_domain() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let strings: Vec<u64> = (0..100)
        .map(|n| {
            let text = std::ffi::CString::new(format!("text {n}")).expect("no null");
            number(program.string(domain, &text).expect("a string"))
        })
        .collect();
    let seen = seen(&program, session, domain);
    for (n, string) in strings.iter().enumerate() {
        assert_eq!(seen.string(*string), Some(&*format!("text {n}")));
    }
    let other = program.domain(session, Some(c"other")).expect("a domain");
    let foreign = number(program.string(other, c"foreign").expect("a string"));
    assert_ne!(foreign, strings[0]);
    assert_eq!(seen.string(foreign), None);
    assert_eq!(seen.string(0), None);
    assert_eq!(seen.string(strings[99] + 1), None);

    let bad = number(program.string(domain, c"bad \xFF\xFE").expect("a string"));
    assert_eq!(seen.string(bad), Some("bad \u{FFFD}\u{FFFD}"));
    let empty = number(program.string(domain, c"").expect("a string"));
    assert_eq!(seen.string(empty), Some(""));
    assert_invalid(
        member!(
            program,
            StringRegister(domain, ptr::null(), &mut ptr::null_mut())
        ),
        "StringRegister on \"sim\": string is null; register text, or don't refer to it",
    );
    assert_invalid(
        member!(
            program,
            StringRegister(domain, c"x".as_ptr(), ptr::null_mut())
        ),
        "StringRegister on \"sim\": stringHandleOut is null, so that the result has no place",
    );
}

#[test]
fn scopes_hold_their_whole_path() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, None).expect("a domain");
    let gpu = program
        .scope(
            domain,
            NVTX_SCOPE_CURRENT_HW_MACHINE,
            Some(c"/node/GPU[0]"),
            0,
        )
        .expect("a scope");
    let stream = program
        .scope(domain, gpu, Some(c"Stream[7]"), 0)
        .expect("a scope");
    let same = program.scope(domain, stream, None, 0).expect("a scope");
    let free = program
        .scope(domain, NVTX_SCOPE_NONE, Some(c"a\\/b"), 0)
        .expect("a scope");
    let seen = seen(&program, session, domain);
    let path = |id: u64| {
        let scope = seen.scope(id).expect("a scope");
        assert_eq!(scope.id(), id);
        let path: Vec<String> = scope.path().iter().map(ToString::to_string).collect();
        (scope.anchor(), path.join(" > "))
    };
    assert_eq!(
        path(gpu),
        (
            PredefinedScope::CurrentHwMachine,
            "node > GPU[0]".to_owned()
        )
    );
    assert_eq!(
        path(stream),
        (
            PredefinedScope::CurrentHwMachine,
            "node > GPU[0] > Stream[7]".to_owned()
        )
    );
    assert_eq!(path(same), path(stream));
    assert_eq!(path(free), (PredefinedScope::None, "a/b".to_owned()));
    let after = |known| seen.scopes_after(known).map(|scope| scope.id());
    assert!(after(0).eq([gpu, stream, same, free]));
    assert!(after(3).eq([free]));
    assert!(after(4).eq([]));

    assert_eq!(seen.scope_ref(0), Some(ScopeRef::None));
    assert_eq!(seen.scope_ref(1), Some(ScopeRef::Root));
    assert_eq!(
        seen.scope_ref(22),
        Some(ScopeRef::Predefined(PredefinedScope::CurrentSwThread))
    );
    assert_eq!(
        seen.scope_ref(gpu),
        seen.scope(gpu).map(ScopeRef::Registered)
    );
    assert_eq!(seen.scope_ref(7), None);
    assert_eq!(seen.scope_ref(free + 1), None);
    for scope in [
        ScopeRef::None,
        ScopeRef::Root,
        ScopeRef::Predefined(PredefinedScope::CurrentVm),
    ] {
        assert_eq!(seen.scope_ref(scope.id()), Some(scope));
    }
}

#[test]
fn bad_scopes_are_refused() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let foreign = program.domain(session, None).expect("a domain");
    let foreign = program
        .scope(foreign, NVTX_SCOPE_ROOT, Some(c"x"), 0)
        .expect("a scope");
    for parent in [
        NVTX_SCOPE_CURRENT_HW_SOCKET,
        NVTX_SCOPE_CURRENT_SW_PROCESS,
        NVTX_SCOPE_CURRENT_SW_INNERMOST,
    ] {
        assert_invalid(
            program.scope(domain, parent, Some(c"x"), 0),
            &format!(
                "ScopeRegister on \"sim\": attr.parentScope {parent} depends on where code runs; a parent is \
                 NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT, NVTX_SCOPE_CURRENT_HW_MACHINE, NVTX_SCOPE_CURRENT_VM or a scope of the \
                 domain"
            ),
        );
    }
    for parent in [9, foreign, 1 << 24] {
        assert_invalid(
            program.scope(domain, parent, Some(c"x"), 0),
            &format!(
                "ScopeRegister on \"sim\": attr.parentScope {parent} is not registered in the domain: register it first"
            ),
        );
    }
    assert_invalid(
        program.scope(domain, NVTX_SCOPE_ROOT, Some(c"GPU[0"), 0),
        "ScopeRegister on \"sim\": attr.path \"GPU[0\": a `[` is not closed; a segment is `name` or `name[key]`, and `\\` \
         before `/`, `[` or `]` makes it plain",
    );
    assert_invalid(
        member!(program, ScopeRegister(domain, ptr::null(), &mut 0)),
        "ScopeRegister on \"sim\": attr is null",
    );
}

pub fn time_domain_attr() -> nvtxTimeDomainAttr_t {
    nvtxTimeDomainAttr_t {
        scopeId: NVTX_SCOPE_NONE,
        timestampTypeId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
        timeDomainId: 0,
        timerFlags: NVTX_TIMER_FLAG_CLOCK_STEADY,
        timerResolution: 3_000_000_000,
        timerStart: NVTX_TIMER_START_SYSTEM_BOOT,
    }
}

#[test]
fn time_domains_are_checked_and_kept() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let register = |attr: &nvtxTimeDomainAttr_t| {
        let mut out = 0;
        member!(program, TimeDomainRegister(domain, attr, &mut out)).map(|()| out)
    };
    let good = time_domain_attr();
    let scope = program
        .scope(domain, NVTX_SCOPE_ROOT, Some(c"NIC"), 0)
        .expect("a scope");
    let id = register(&nvtxTimeDomainAttr_t {
        scopeId: scope,
        ..good
    })
    .expect("a time domain");
    let unknown = register(&nvtxTimeDomainAttr_t {
        timerResolution: 0,
        ..good
    })
    .expect("a time domain");
    program
        .open_with(
            session,
            &nvtxwStreamAttributes_t {
                timeDomainId: id,
                ..stream_attr(c"nic", domain)
            },
        )
        .expect("a stream");
    assert_eq!(program.journal.stream().time_domain(), id);
    let seen = program.journal.domain();
    let kept = seen.time_domain(id).expect("registered");
    assert_eq!(kept.id(), id);
    assert_eq!(kept.scope().id(), scope);
    assert_eq!(kept.timestamp_type(), TimestampType::CpuTsc);
    assert!(kept.is_steady() && !kept.is_monotonic());
    assert_eq!(kept.resolution(), Some(3_000_000_000));
    assert_eq!(kept.start(), TimerStart::SystemBoot);
    assert_eq!(
        seen.time_domain(unknown).expect("registered").resolution(),
        None
    );
    assert_eq!(
        seen.time_domain(NVTX_TIMESTAMP_TYPE_CPU_TSC),
        None,
        "predefined, not registered"
    );

    for (attr, reason) in [
        (
            nvtxTimeDomainAttr_t {
                scopeId: 77,
                ..good
            },
            "attr.scopeId 77 is not registered in the domain: register it first",
        ),
        (
            nvtxTimeDomainAttr_t {
                timestampTypeId: 9,
                ..good
            },
            "attr.timestampTypeId is 9, which the ABI does not define",
        ),
        (
            nvtxTimeDomainAttr_t {
                timerResolution: -1,
                ..good
            },
            "attr.timerResolution is -1; ticks per second are positive, or 0 if unknown",
        ),
    ] {
        assert_invalid(
            register(&attr),
            &format!("TimeDomainRegister on \"sim\": {reason}"),
        );
    }
    assert_invalid(
        member!(program, TimeDomainRegister(domain, ptr::null(), &mut 0)),
        "TimeDomainRegister on \"sim\": attr is null",
    );
}

#[test]
fn resources_have_a_name_in_any_form() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let string = program.string(domain, c"registered").expect("a string");
    let wide: Vec<wchar_t> = "weit 한\0".chars().map(|c| c as wchar_t).collect();
    let attr = |kind: i32, message: nvtxMessageValue_t| nvtxResourceAttributes_t {
        version: NVTX_VERSION,
        size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
        identifierType: NVTX_RESOURCE_TYPE_GENERIC_HANDLE,
        identifier: nvtxResourceIdentifier_t { ullValue: 42 },
        messageType: kind,
        message,
    };
    let ascii = |text: &'static CStr| nvtxMessageValue_t {
        ascii: text.as_ptr(),
    };
    let good = [
        attr(NVTX_MESSAGE_TYPE_ASCII, ascii(c"mutex\xFF")),
        attr(
            NVTX_MESSAGE_TYPE_UNICODE,
            nvtxMessageValue_t {
                unicode: wide.as_ptr(),
            },
        ),
        attr(
            NVTX_MESSAGE_TYPE_REGISTERED,
            nvtxMessageValue_t { registered: string },
        ),
        attr(
            NVTX_MESSAGE_UNKNOWN,
            nvtxMessageValue_t { ascii: garbage() },
        ),
        attr(
            NVTX_MESSAGE_TYPE_ASCII,
            nvtxMessageValue_t { ascii: ptr::null() },
        ),
        // An older struct ends before the message.
        nvtxResourceAttributes_t {
            size: 16,
            ..attr(99, nvtxMessageValue_t { ascii: garbage() })
        },
    ];
    for attr in &good {
        member!(program, ResourceRegister(domain, attr)).expect("registered");
    }
    let resources = seen(&program, session, domain).resources();
    let names: Vec<_> = resources.iter().map(|resource| resource.name()).collect();
    assert_eq!(
        names,
        [
            Some("mutex\u{FFFD}"),
            Some("weit 한"),
            Some("registered"),
            None,
            None,
            None
        ]
    );
    assert!(
        resources
            .iter()
            .all(|resource| resource.kind() == NVTX_RESOURCE_TYPE_GENERIC_HANDLE)
    );
    assert!(resources.iter().all(|resource| resource.identifier() == 42));
    let other = nvtxResourceAttributes_t {
        identifier: nvtxResourceIdentifier_t { ullValue: 7 },
        ..attr(NVTX_MESSAGE_TYPE_ASCII, ascii(c"other"))
    };
    member!(program, ResourceRegister(domain, &other)).expect("registered");
    let seen = seen(&program, session, domain);
    let name = |kind, identifier| {
        seen.resource(kind, identifier)
            .map(|it| it.name().map(str::to_owned))
    };
    assert_eq!(
        name(NVTX_RESOURCE_TYPE_GENERIC_HANDLE, 42),
        Some(None),
        "the last one"
    );
    assert_eq!(
        name(NVTX_RESOURCE_TYPE_GENERIC_HANDLE, 7),
        Some(Some("other".to_owned()))
    );
    assert_eq!(name(NVTX_RESOURCE_TYPE_GENERIC_POINTER, 7), None);

    for (attr, reason) in [
        (
            attr(4, ascii(c"x")),
            "attr.messageType is 4; the ABI defines 0 to 3",
        ),
        (
            attr(
                NVTX_MESSAGE_TYPE_REGISTERED,
                nvtxMessageValue_t {
                    registered: handle(0xBAD),
                },
            ),
            "attr.message.registered is 0xbad, which is no string of the domain",
        ),
        (
            nvtxResourceAttributes_t {
                size: 12,
                ..attr(0, ascii(c"x"))
            },
            "attr.size is 12; at least 16 bytes are needed: set it to the size of the struct",
        ),
    ] {
        assert_invalid(
            member!(program, ResourceRegister(domain, &attr)),
            &format!("ResourceRegister on \"sim\": {reason}"),
        );
    }
    assert_invalid(
        member!(program, ResourceRegister(domain, ptr::null())),
        "ResourceRegister on \"sim\": attr is null",
    );
}
