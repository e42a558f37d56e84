//! Time domains, how they relate, and resources.

use nvtxw::abi::raw;
use nvtxw::{
    Clock, DefaultScope, Error, ResourceId, ResultCode, StaticId, StreamOptions, SyncPoint,
    TimeDomainOptions, TimerStart, TimestampType,
};

use crate::recorder::{self, Call, ResourceName, TimeDomain, answer, call, calls};

const POINT: SyncPoint = SyncPoint {
    source: -5,
    destination: 70,
};

#[test]
fn a_time_domain_arrives_with_all_that_is_known_of_it() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let plain = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let nothing = TimeDomain {
        scope: 0,
        clock: 0,
        static_id: 0,
        flags: 0,
        resolution: 0,
        start: 0,
    };
    assert_eq!(
        call(),
        Call::TimeDomain {
            domain: handle,
            time_domain: nothing.clone(),
            out: plain.id()
        }
    );

    let gpu = domain.scope("GPU 0").unwrap();
    calls();
    let id = StaticId::new(0x0100_0007).unwrap();
    let full = TimeDomainOptions::new()
        .clock(TimestampType::GpuGlobaltimer)
        .ticks_per_second(31_250_000)
        .start(TimerStart::SystemBoot)
        .monotonic()
        .steady()
        .scope(gpu)
        .static_id(id);
    let time_domain = domain.time_domain(full).unwrap();
    assert_eq!(time_domain.id(), 0x0100_0007);
    let expected = TimeDomain {
        scope: gpu.id().to_u64(),
        clock: raw::NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
        static_id: 0x0100_0007,
        flags: raw::NVTX_TIMER_FLAG_CLOCK_MONOTONIC | raw::NVTX_TIMER_FLAG_CLOCK_STEADY,
        resolution: 31_250_000,
        start: raw::NVTX_TIMER_START_SYSTEM_BOOT,
    };
    assert!(matches!(call(), Call::TimeDomain { time_domain, .. } if time_domain == expected));

    let mut arrives = |options| {
        domain.time_domain(options).unwrap();
        let Call::TimeDomain { time_domain, .. } = call() else {
            panic!()
        };
        time_domain
    };
    for (start, number) in [
        (TimerStart::Unknown, raw::NVTX_TIMER_START_UNKNOWN),
        (TimerStart::VmBoot, raw::NVTX_TIMER_START_VM_BOOT),
        (TimerStart::UnixEpoch, raw::NVTX_TIMER_START_UNIX_EPOCH),
        (TimerStart::WinFiletime, raw::NVTX_TIMER_START_WIN_FILETIME),
    ] {
        let found = arrives(TimeDomainOptions::new().start(start));
        assert_eq!(found.start, number);
    }
    let found = arrives(
        TimeDomainOptions::new()
            .scope(DefaultScope::Root)
            .monotonic(),
    );
    assert_eq!((found.scope, found.flags), (1, 2));
    // Clocks have no names: the same again is another one.
    assert_eq!(arrives(TimeDomainOptions::new()), nothing);
}

#[test]
fn a_time_domain_that_cannot_be_registered_says_why() {
    let mut session = recorder::session("run");
    let scope = session.domain("other").unwrap().scope("GPU 0").unwrap();
    let mut domain = session.domain("sim").unwrap();
    calls();
    let mut refused =
        |options: TimeDomainOptions| domain.time_domain(options).unwrap_err().to_string();
    assert_eq!(
        refused(TimeDomainOptions::new().ticks_per_second(1 << 63)),
        "can't register a time domain of 9223372036854775808 ticks per second: give at most 2^63 - 1, or 0 if the number is \
         unknown"
    );
    assert_eq!(
        refused(TimeDomainOptions::new().scope(scope)),
        "a scope that was passed belongs to domain `other` of session `run`; the time domain is for domain `sim` of session \
         `run`: use it where it belongs, or register it there too"
    );
    let options = TimeDomainOptions::new().scope(scope);
    let error = domain.time_domain(options).unwrap_err();
    assert_eq!((error.code(), error.is_not_supported()), (None, false));
    assert_eq!(calls(), []);
    answer("TimeDomainRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let options = TimeDomainOptions::new().clock(TimestampType::CpuTsc);
    let error = domain.time_domain(options).unwrap_err();
    assert!(error.is_not_supported());
    assert_eq!(error.code(), Some(ResultCode::NOT_SUPPORTED));
    assert_eq!(
        error.to_string(),
        "can't register a time domain (CpuTsc) in domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7), \
         which means that it doesn't offer this; do without it, or use another backend"
    );
}

#[test]
fn a_stream_has_a_known_or_a_registered_clock() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let clock = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let options = StreamOptions::new(domain.id()).plain_events(false);
    calls();
    let mut arrives = |name: &str, options| {
        session.open_stream(name, options).unwrap();
        let Call::StreamOpen { stream, .. } = call() else {
            panic!()
        };
        stream.time_domain
    };
    assert_eq!(arrives("a", options), 0);
    assert_eq!(
        arrives("b", options.time_domain(TimestampType::WinQpc)),
        raw::NVTX_TIMESTAMP_TYPE_WIN_QPC
    );
    assert_eq!(arrives("c", options.time_domain(clock)), clock.id());
    assert_eq!(
        arrives("d", options.time_domain(Clock::Registered(clock))),
        clock.id()
    );

    let other = session.domain("other").unwrap().id();
    let options = StreamOptions::new(other).time_domain(clock);
    calls();
    assert_eq!(
        session.open_stream("e", options).unwrap_err().to_string(),
        "the time domain of stream `e` belongs to domain `sim` of session `run`; the stream is for domain `other` of session \
         `run`: use it where it belongs, or register it there too"
    );
    assert_eq!(calls(), []);
}

#[test]
fn time_domains_are_related() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let clock = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let domain = domain.id();
    let options = StreamOptions::new(domain).plain_events(false);
    let mut stream = session.open_stream("s", options).unwrap();
    let Some(Call::StreamOpen { out: handle, .. }) = calls().pop() else {
        panic!()
    };
    let out = session.writer(&mut stream).unwrap();
    let tsc = TimestampType::CpuTsc;

    out.sync_point(clock, tsc, POINT).unwrap();
    let domains = (clock.id(), raw::NVTX_TIMESTAMP_TYPE_CPU_TSC);
    assert_eq!(
        call(),
        Call::SyncPoint {
            stream: handle,
            domains,
            times: (-5, 70)
        }
    );
    let points = [
        POINT,
        SyncPoint {
            source: i64::MAX,
            destination: i64::MIN,
        },
    ];
    out.sync_points(tsc, clock, &points).unwrap();
    assert_eq!(
        call(),
        Call::SyncPoints {
            stream: handle,
            domains: (domains.1, domains.0),
            address: points.as_ptr().addr(),
            times: vec![(-5, 70), (i64::MAX, i64::MIN)]
        }
    );
    out.sync_points(tsc, clock, &[]).unwrap();
    assert_eq!(calls(), []);
    out.conversion(clock, tsc, 0.25, POINT).unwrap();
    assert_eq!(
        call(),
        Call::Conversion {
            stream: handle,
            domains,
            slope: 0.25,
            times: (-5, 70)
        }
    );

    for (slope, text) in [(0.0, "0"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        assert_eq!(
            out.conversion(clock, tsc, slope, POINT)
                .unwrap_err()
                .to_string(),
            format!(
                "can't convert between two clocks with {text} ticks of the destination per tick of the source: give a finite \
                 number other than 0"
            )
        );
    }
    assert_eq!(calls(), []);

    for (member, what, error) in [
        (
            "TimeSyncPointWrite",
            "a sync point",
            (|out: &nvtxw::Writer<'_>, clock| out.sync_point(clock, TimestampType::CpuTsc, POINT))
                as fn(&nvtxw::Writer<'_>, nvtxw::TimeDomain) -> nvtxw::Result<()>,
        ),
        ("TimeSyncPointTableWrite", "sync points", |out, clock| {
            out.sync_points(clock, TimestampType::CpuTsc, &[POINT])
        }),
        (
            "TimestampConversionFactorWrite",
            "a conversion factor",
            |out, clock| out.conversion(clock, TimestampType::CpuTsc, 1.0, POINT),
        ),
    ] {
        answer(member, raw::NVTXW_RESULT_NOT_SUPPORTED);
        let error = error(&out, clock).unwrap_err();
        assert!(error.is_not_supported(), "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "can't write {what} to stream `s` of domain `sim` of session `run`: the backend answered NOT_SUPPORTED (7), \
                 which means that it doesn't offer this; do without it, or use another backend"
            )
        );
    }
}

#[test]
fn time_domains_of_another_domain_are_not_related() {
    let mut session = recorder::session("run");
    let mut other = session.domain("other").unwrap();
    let foreign = other.time_domain(TimeDomainOptions::new()).unwrap();
    let domain = session.domain("sim").unwrap().id();
    let options = StreamOptions::new(domain).plain_events(false);
    let mut stream = session.open_stream("s", options).unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let tsc = TimestampType::CpuTsc;
    for error in [
        out.sync_point(foreign, tsc, POINT),
        out.sync_point(tsc, foreign, POINT),
        out.sync_points(foreign, tsc, &[POINT]),
        out.conversion(tsc, foreign, 1.0, POINT),
    ] {
        assert_eq!(
            error.unwrap_err().to_string(),
            "a time domain that was passed belongs to domain `other` of session `run`; stream `s` writes to domain `sim` of \
             session `run`: use it where it belongs, or register it there too"
        );
    }
    assert_eq!(calls(), []);
}

#[test]
fn a_resource_gets_its_name() {
    let mut session = recorder::session("run");
    let foreign = session.domain("other").unwrap().string("pool").unwrap();
    let mut domain = session.domain("sim").unwrap();
    let Some(Call::Domain { out: handle, .. }) = calls().pop() else {
        panic!()
    };
    for (id, identifier_type, identifier) in [
        (ResourceId::Pointer(u64::MAX), 0x1_0001, u64::MAX),
        (ResourceId::Handle(2), 0x1_0002, 2),
        (ResourceId::NativeThread(3), 0x1_0003, 3),
        (ResourceId::PosixThread(4), 0x1_0004, 4),
        (
            ResourceId::Other {
                identifier_type: 0x7_0009,
                identifier: 5,
            },
            0x7_0009,
            5,
        ),
    ] {
        domain.resource(id, "größe").unwrap();
        assert_eq!(
            call(),
            Call::Resource {
                domain: handle,
                version: 3,
                struct_size: 32,
                identifier_type,
                identifier,
                name: ResourceName::Ascii("größe".into())
            }
        );
    }
    let pool = domain.string("pool").unwrap();
    let Call::String { out, .. } = call() else {
        panic!()
    };
    domain.resource(ResourceId::Handle(1), pool).unwrap();
    assert!(
        matches!(call(), Call::Resource { name: ResourceName::Registered(string), .. } if string == out)
    );

    let error = domain
        .resource(ResourceId::Handle(1), foreign)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "a string that was passed belongs to domain `other` of session `run`; the resource is named in domain `sim` of \
         session `run`: use it where it belongs, or register it there too"
    );
    let error = domain.resource(ResourceId::Handle(1), "a\0").unwrap_err();
    assert!(matches!(error, Error::InteriorNul { position: 1, .. }));
    assert_eq!(calls(), []);
    answer("ResourceRegister", raw::NVTXW_RESULT_NOT_SUPPORTED);
    let error = domain.resource(ResourceId::Handle(255), "a").unwrap_err();
    assert!(error.is_not_supported());
    assert!(
        error.to_string().starts_with(
            "can't name resource 0xff (type 0x10002) in domain `sim` of session `run`: the backend"
        ),
        "{error}"
    );
}
