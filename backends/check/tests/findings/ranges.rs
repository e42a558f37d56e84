//! Ranges whose halves are written one by one.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

struct Halves {
    scene: Scene,
    push: u64,
    pop: u64,
    start: u64,
    end: u64,
}

fn halves() -> Halves {
    let scene = Scene::new();
    let begin = entry(BEGIN_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"time");
    let finish = entry(END_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"time");
    let id = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id");
    Halves {
        push: scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH, &[begin]),
        pop: scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP, &[finish]),
        start: scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START, &[begin, id]),
        end: scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END, &[finish, id]),
        scene,
    }
}

impl Halves {
    fn write(&self, schema: u64, values: &[i64]) {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        self.scene.write(schema, &bytes).expect("written");
    }
}

#[test]
fn what_is_balanced_is_fine() {
    let all = halves();
    all.write(all.push, &[10]);
    all.write(all.push, &[20]);
    all.write(all.pop, &[30]);
    all.write(all.pop, &[30]);
    all.write(all.start, &[40, 7]);
    all.write(all.end, &[40, 7]);
    all.write(all.start, &[50, 7]);
    all.write(all.end, &[60, 7]);
    assert_eq!(all.scene.found(), [""; 0]);
}

#[test]
fn a_pop_needs_a_push() {
    let all = halves();
    all.write(all.push, &[10]);
    all.write(all.pop, &[20]);
    all.write(all.pop, &[30]);
    assert_eq!(
        all.scene.found(),
        [
            "pop-without-push: stream \"gpu\", event 2, at 30: popped, but nothing is pushed in this scope of the stream"
        ]
    );
}

#[test]
fn a_push_needs_a_pop() {
    let all = halves();
    all.write(all.push, &[10]);
    all.write(all.push, &[20]);
    all.write(all.pop, &[30]);
    assert_eq!(all.scene.so_far(), [""; 0], "a pop may still come");
    all.scene.program.close(all.scene.stream).expect("closed");
    let found = [
        "push-without-pop: stream \"gpu\", event 0, at 10: pushed, and open when the stream closes",
    ];
    assert_eq!(all.scene.so_far(), found);
    assert_eq!(all.scene.found(), found);
}

#[test]
fn an_end_needs_a_start() {
    let all = halves();
    all.write(all.end, &[10, 7]);
    all.write(all.start, &[20, 7]);
    all.write(all.end, &[30, 7]);
    all.write(all.end, &[40, 7]);
    assert_eq!(
        all.scene.found(),
        [
            "end-without-start: stream \"gpu\", event 0, at 10: ends the range 7, which is not open",
            "end-without-start: stream \"gpu\", event 3, at 40: ends the range 7, which is not open",
        ]
    );
}

#[test]
fn a_start_needs_an_end_in_any_stream() {
    let all = halves();
    all.write(all.start, &[10, 7]);
    all.write(all.start, &[20, 8]);
    let other = all
        .scene
        .program
        .open(all.scene.session, c"other", all.scene.domain);
    let end = bytes![30_i64, 7_u64];
    all.scene
        .program
        .write(other, &[payload(all.end, &end)])
        .expect("written");
    assert_eq!(
        all.scene.found(),
        [
            "start-without-end: stream \"gpu\", event 1, at 20: starts the range 8, which has not ended when the session does"
        ]
    );
}

#[test]
fn ranges_that_are_open_at_once_have_different_ids() {
    let all = halves();
    all.write(all.start, &[10, 7]);
    all.write(all.start, &[20, 7]);
    all.write(all.end, &[30, 7]);
    all.write(all.end, &[40, 7]);
    assert_eq!(
        all.scene.found(),
        [
            "started-twice: stream \"gpu\", event 1, at 20: starts the range 7, which is open since 10"
        ]
    );
}

#[test]
fn no_range_ends_before_it_starts() {
    let all = halves();
    all.write(all.push, &[10]);
    all.write(all.pop, &[9]);
    all.write(all.start, &[20, 7]);
    all.write(all.end, &[19, 7]);
    assert_eq!(
        all.scene.found(),
        [
            "end-before-start: stream \"gpu\", event 1, at 9: ends at 9 what was pushed at 10",
            "end-before-start: stream \"gpu\", event 3, at 19: ends at 19 what was started at 20",
        ]
    );
}
