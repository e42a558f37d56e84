//! Streams that tell the date, and others.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const REAL: u64 = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME;
const TODAY: i64 = 1_700_000_000_000_000_000;

/// A scene whose stream `gpu` has timestamps of no clock, and a stream with those of this one, each with a mark.
fn beside(time_domain: u64) -> (Scene, Stream) {
    let scene = Scene::new();
    let attr = nvtxwStreamAttributes_t {
        timeDomainId: time_domain,
        ..stream_attr(c"cpu", scene.domain)
    };
    let other = scene
        .program
        .open_with(scene.session, &attr)
        .expect("a stream");
    let marks = scene.marks();
    scene.write_marks(marks, &[5, 10]);
    scene
        .program
        .write(other, &[payload(marks, &bytes![TODAY])])
        .expect("written");
    (scene, other)
}

#[test]
fn timestamps_of_no_clock_next_to_dates_are_noticed() {
    let (scene, _) = beside(REAL);
    assert_eq!(
        scene.found(),
        [
            "undated-stream: stream \"gpu\", event 0, at 5: its timestamps are of no clock, those of stream \"cpu\" tell the date"
        ]
    );
}

#[test]
fn timestamps_that_are_related_to_a_clock_have_its_dates() {
    let (scene, other) = beside(REAL);
    member!(
        scene.program,
        TimeSyncPointWrite(other, NVTX_TIMESTAMP_TYPE_NONE, REAL, 0, TODAY)
    )
    .expect("related");
    assert_eq!(scene.found(), [""; 0]);
}

#[test]
fn without_dates_there_is_nothing_to_notice() {
    for time_domain in [
        NVTX_TIMESTAMP_TYPE_NONE,
        NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
    ] {
        let (scene, _) = beside(time_domain);
        assert_eq!(scene.found(), [""; 0]);
    }
    // A stream without events is shown nowhere.
    let scene = Scene::new();
    let attr = nvtxwStreamAttributes_t {
        timeDomainId: REAL,
        ..stream_attr(c"cpu", scene.domain)
    };
    scene
        .program
        .open_with(scene.session, &attr)
        .expect("a stream");
    scene.write_marks(scene.marks(), &[5]);
    assert_eq!(scene.found(), [""; 0]);
}
