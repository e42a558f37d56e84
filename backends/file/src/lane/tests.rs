use super::*;

fn range(start: i64, end: i64, nests: bool) -> Candidate {
    Candidate {
        start,
        end: Some(end),
        nests,
        order: 0,
    }
}

fn push(start: i64, order: u64) -> Candidate {
    Candidate {
        start,
        end: None,
        nests: true,
        order,
    }
}

fn lanes(ranges: &[Candidate]) -> Vec<u32> {
    let mut lanes = Lanes::default();
    ranges.iter().map(|&r| lanes.place(r).lane).collect()
}

fn close(lanes: &mut Lanes, id: u64, end: i64) -> (u64, Vec<(u32, i64)>) {
    let mut ends = Vec::new();
    let moved = lanes.close(id, end, 0, &[], |lane, end, _, _| ends.push((lane, end)));
    (moved, ends)
}

#[test]
fn what_ends_looks_at_nothing_that_started_elsewhere() {
    const PUSHES: u64 = 3000;
    let mut lanes = Lanes::default();
    for order in 1..=PUSHES {
        lanes.place(push(order as i64, order));
    }
    lanes.looks = 0;
    for order in (1..=PUSHES).rev() {
        let end = (2 * PUSHES - order) as i64;
        assert_eq!(close(&mut lanes, order, end).0, 0);
    }
    assert_eq!(lanes.looks, 0);
    assert!(lanes.open.is_empty() && lanes.starts.is_empty());
}

#[test]
fn ranges_that_nest_share_a_lane() {
    let n = |start, end| range(start, end, true);
    assert_eq!(
        lanes(&[n(0, 110), n(0, 100), n(100, 110), n(110, 120)]),
        [0; 4]
    );
    assert_eq!(
        lanes(&[n(0, 10), n(10, 10), n(10, 20), n(10, 10), n(20, 20)]),
        [0; 5]
    );
    assert_eq!(lanes(&[n(0, 300), n(100, 400), n(150, 250)]), [0, 1, 0]);
}

#[test]
fn only_ranges_that_are_declared_to_nest_cross() {
    let mut lanes = Lanes::default();
    assert!(!lanes.place(range(0, 10, true)).crosses);
    assert!(!lanes.place(range(5, 15, false)).crosses);
    let spot = lanes.place(range(6, 20, true));
    assert!(spot.crosses);
    assert_eq!(spot.lane, 2);
}

#[test]
fn what_comes_late_stands_where_it_cannot_disturb() {
    let mut lanes = Lanes::default();
    lanes.place(range(0, 100, true));
    lanes.place(range(200, 300, true));
    // [50, 150] would fit behind the start of the lane's last range only.
    assert_eq!(lanes.place(range(50, 150, true)).lane, 1);
    assert_eq!(lanes.place(range(60, 70, true)).lane, 1);
    assert_eq!(lanes.place(range(55, 58, true)).lane, 2);
    assert_eq!(lanes.place(range(250, 260, true)).lane, 0);
}

#[test]
fn a_rejected_range_does_not_end_what_stands_there() {
    let mut lanes = Lanes::default();
    lanes.place(push(0, 1));
    lanes.place(range(0, 100, true));
    // Not declared to nest: it goes elsewhere, and [50, 150] still meets [0, 100].
    assert_eq!(lanes.place(range(100, 200, false)).lane, 1);
    assert_eq!(lanes.place(range(50, 150, true)).lane, 2);
}

#[test]
fn an_open_push_holds_only_what_nests() {
    let mut lanes = Lanes::default();
    lanes.place(push(0, 1));
    assert_eq!(lanes.place(range(10, 1000, false)).lane, 1);
    assert_eq!(lanes.place(range(20, 30, true)).lane, 0);
    assert_eq!(close(&mut lanes, 1, 500), (0, vec![(0, 500)]));
    assert_eq!(lanes.place(range(499, 1001, true)).lane, 2);
    assert_eq!(lanes.place(range(500, 1001, true)).lane, 0);
}

#[test]
fn a_push_whose_end_is_known_holds_what_ends_before() {
    let mut lanes = Lanes::default();
    lanes.place(push(0, 1));
    lanes.announce(1, 100);
    assert_eq!(lanes.place(range(10, 100, true)).lane, 0);
    assert_eq!(lanes.place(range(20, 101, true)).lane, 1);
    assert_eq!(lanes.place(push(30, 2)).lane, 2);
    assert_eq!(close(&mut lanes, 1, 100), (0, vec![(0, 100)]));
}

#[test]
fn a_push_needs_a_lane_without_known_ends() {
    let mut lanes = Lanes::default();
    lanes.place(range(0, 100, true));
    assert_eq!(lanes.place(push(50, 1)).lane, 1);
    assert_eq!(lanes.place(push(100, 2)).lane, 0);
    assert_eq!(close(&mut lanes, 2, 110), (0, vec![(0, 110)]));
    assert_eq!(close(&mut lanes, 1, 120), (0, vec![(1, 120)]));
}

#[test]
fn an_end_never_comes_before_an_inner_one() {
    let mut lanes = Lanes::default();
    lanes.place(push(0, 1));
    lanes.place(push(10, 2));
    lanes.place(range(20, 80, true));
    assert_eq!(close(&mut lanes, 1, 50), (0, vec![]));
    assert_eq!(close(&mut lanes, 2, 70), (2, vec![(0, 80), (0, 80)]));
    assert_eq!(lanes.place(range(79, 90, true)).lane, 1);
    assert_eq!(lanes.place(range(80, 90, true)).lane, 0);
}

#[test]
fn a_range_that_was_to_stay_open_and_ends_stands_elsewhere() {
    let start = Candidate {
        start: 10,
        end: None,
        nests: false,
        order: 1,
    };
    let mut lanes = Lanes::default();
    lanes.place(range(0, 100, true));
    assert_eq!(lanes.place_alone(start), 1);
    assert!(!lanes.is_unsettled());
    assert_eq!(close(&mut lanes, 1, 20), (0, vec![(1, 20)]));
    assert!(lanes.is_unsettled());
}

#[test]
fn no_push_ends_before_it_starts() {
    let mut lanes = Lanes::default();
    lanes.place(push(100, 1));
    // Its clock was known better when it ended.
    assert_eq!(close(&mut lanes, 1, 60), (1, vec![(0, 100)]));
}

#[test]
fn nesting_is_bounded() {
    let ranges: Vec<_> = (0..600).map(|i| range(i, 2000 - i, true)).collect();
    let lanes = lanes(&ranges);
    assert_eq!(lanes.iter().filter(|&&lane| lane == 0).count(), 511);
    assert_eq!(lanes.iter().filter(|&&lane| lane == 1).count(), 89);
}
