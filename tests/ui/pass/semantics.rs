use nvtxw::__private::{Interpolation, Limit, Semantics, TimestampType, ValueType};
use nvtxw::{NvtxCounterGroup, NvtxEvent};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp, hide)]
    time: i64,
    #[nvtx(unit = "bytes", description = "what was sent")]
    sent: u64,
    #[nvtx(correlation)]
    launch: u64,
    #[nvtx(correlation = "span", name = "parent")]
    span: u64,
    #[nvtx(hide)]
    plain: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Launch {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(correlation = "launch")]
    id: i64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Separate {
    #[nvtx(min = -0x10, max = 10, interpolation = "linear")]
    signed: i64,
    #[nvtx(max = 18446744073709551615, value_type = "delta_since_start", scale = "1/1000")]
    unsigned: u64,
    #[nvtx(min = -0.5, max = 3, unit = "%")]
    float: f64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Embedded {
    queue: u64,
    #[nvtx(timestamp)]
    time: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Clocked {
    #[nvtx(timestamp_start, time_domain = "clock_monotonic_raw")]
    start: i64,
    #[nvtx(timestamp_end, time_domain = "clock_monotonic_raw")]
    end: i64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct ClockedGroup {
    queue: u64,
    #[nvtx(timestamp, time_domain = "gpu_globaltimer")]
    time: i64,
}

fn is_separate<G: nvtxw::__private::SeparateTime>() {}
fn is_embedded<G: nvtxw::__private::EmbeddedTime>() {}

const fn counter() -> Semantics {
    Semantics::Counter { unit: None, scale: (1, 1), min: None, max: None, interpolation: None, value_type: None }
}

fn main() {
    let entries = Event::SCHEMA.entries;
    assert_eq!(entries.iter().map(|entry| entry.hide).collect::<Vec<_>>(), [true, false, false, false, true]);
    assert_eq!(entries[1].description, Some(c"what was sent"));
    assert!(matches!(entries[1].semantics, Semantics::Counter { unit: Some(unit), .. } if unit == c"bytes"));
    // One correlation domain, by name, whatever the field is called.
    assert!(matches!(entries[2].semantics, Semantics::Correlation { name: Some(name), .. } if name == c"launch"));
    assert_eq!(entries[2].semantics, Launch::SCHEMA.entries[1].semantics);
    assert!(matches!(entries[3].semantics, Semantics::Correlation { name: Some(name), .. } if name == c"span"));
    assert_ne!(entries[2].semantics, entries[3].semantics);
    assert_eq!(entries[4].semantics, Semantics::None);

    let entries = Separate::SCHEMA.entries;
    let mut expected = [counter(); 3];
    if let Semantics::Counter { min, max, interpolation, .. } = &mut expected[0] {
        (*min, *max) = (Some(Limit::I64(-16)), Some(Limit::I64(10)));
        *interpolation = Some(Interpolation::Linear);
    }
    if let Semantics::Counter { scale, max, value_type, .. } = &mut expected[1] {
        *scale = (1, 1000);
        *max = Some(Limit::U64(u64::MAX));
        *value_type = Some(ValueType::DeltaSinceStart);
    }
    if let Semantics::Counter { unit, min, max, .. } = &mut expected[2] {
        *unit = Some(c"%");
        (*min, *max) = (Some(Limit::F64(-0.5)), Some(Limit::F64(3.0)));
    }
    assert_eq!(entries.iter().map(|entry| entry.semantics).collect::<Vec<_>>(), expected);
    // Each is flagged as a counter's value, number 4 at bit 12.
    assert!(entries.iter().all(|entry| entry.role_flags == 4 << 12));
    is_separate::<Separate>();

    // Number 2 at bit 10 is a timestamp.
    let flags: Vec<_> = Embedded::SCHEMA.entries.iter().map(|entry| entry.role_flags).collect();
    assert_eq!(flags, [4 << 12, 2 << 10]);
    is_embedded::<Embedded>();

    let clock = Semantics::Time(TimestampType::ClockMonotonicRaw);
    assert!(Clocked::SCHEMA.entries.iter().all(|entry| entry.semantics == clock));
    assert_eq!(ClockedGroup::SCHEMA.entries[1].semantics, Semantics::Time(TimestampType::GpuGlobaltimer));
}
