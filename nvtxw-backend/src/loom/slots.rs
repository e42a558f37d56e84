//! The handle table: entering, overlapping, ending and stale handles.

use std::sync::Arc;

use nvtxw_abi::ResultCode;
use nvtxw_loom::model;

use super::both;
use crate::handle::{Kind, Known, Object};
use crate::sync::atomic::{AtomicU32, Ordering};

fn known(name: &str) -> Known {
    Known {
        name: name.into(),
        ..Known::default()
    }
}

/// A table that is full with three objects.
type Slots<T> = crate::handle::Slots<T, 3>;

impl Object for AtomicU32 {
    const KIND: Kind = Kind::Stream;
}

impl Object for &'static str {
    const KIND: Kind = Kind::Stream;
}

impl Object for u32 {
    const KIND: Kind = Kind::Stream;
}

/// A table with one object in it.
fn slots<T: Object>(object: T) -> (Arc<Slots<T>>, u64) {
    let slots = Slots::new();
    let handle = slots.insert(known("first"), object).expect("room");
    (Arc::new(slots), handle)
}

#[test]
fn who_is_inside_is_alone() {
    model(["both got in", "one was refused"], |[turns, refused]| {
        let (slots, handle) = slots(AtomicU32::new(0));
        // Loses an increment if two are inside, or if one does not see what the one before did.
        let enter = move |slots: &Slots<AtomicU32>| match slots.enter(handle) {
            Ok(entered) => {
                let count = entered.load(Ordering::Relaxed);
                entered.store(count + 1, Ordering::Relaxed);
                1
            }
            Err(refusal) => {
                assert_eq!(refusal.code(), ResultCode::FAILED);
                assert!(
                    refusal
                        .reason()
                        .starts_with("another call is inside this stream")
                );
                0
            }
        };
        let (one, other) = both(&slots, enter, enter);
        match one + other {
            2 => turns.met(),
            1 => refused.met(),
            _ => panic!("nobody got in"),
        }
        let entered = slots.enter(handle).expect("nobody is inside");
        assert_eq!(entered.load(Ordering::Relaxed), one + other);
    });
}

#[test]
fn a_stale_handle_never_leads_to_the_next_object() {
    model(["entered", "busy", "stale"], |outcomes| {
        let (slots, handle) = slots("first");
        let [entered, busy, stale] = outcomes.clone();
        let (second, _) = both(
            &slots,
            move |slots| {
                assert_eq!(slots.remove(handle), Some("first"));
                slots.insert(known("second"), "second").expect("room")
            },
            move |slots| {
                match slots.enter(handle) {
                    Ok(object) => {
                        assert_eq!(*object, "first");
                        entered.met();
                    }
                    Err(refusal) if refusal.code() == ResultCode::INVALID_ARGUMENT => {
                        assert!(refusal.reason().ends_with("is stale: its stream has ended"));
                        stale.met();
                    }
                    Err(refusal) => {
                        assert!(refusal.reason().starts_with("another call is inside"));
                        busy.met();
                    }
                }
                let name = slots.known(handle).unwrap_or_default().name;
                assert!(matches!(&*name, "first" | ""), "{name}");
            },
        );
        assert_ne!(second, handle);
        assert_eq!(slots.get(second).ok(), Some("second"));
        assert!(slots.get(handle).is_err());
    });
}

#[test]
fn a_copy_is_of_the_handle_s_own_object() {
    model([], |[]| {
        let (slots, handle) = slots("first");
        both(
            &slots,
            move |slots| {
                assert_eq!(slots.remove(handle), Some("first"));
                slots.insert(known("second"), "second").expect("room");
            },
            move |slots| match slots.get(handle) {
                Ok(object) => assert_eq!(object, "first"),
                Err(refusal) => assert_eq!(refusal.code(), ResultCode::INVALID_ARGUMENT),
            },
        );
    });
}

#[test]
fn an_object_is_removed_once() {
    model([], |[]| {
        let (slots, handle) = slots("first");
        let remove = move |slots: &Slots<_>| slots.remove(handle).is_some();
        let (one, other) = both(&slots, remove, remove);
        assert!(one != other);
    });
}

#[test]
fn a_free_slot_is_given_to_one() {
    model([], |[]| {
        let (slots, handle) = slots("first");
        slots.remove(handle).expect("inserted above");
        let insert = |text: &'static str| {
            move |slots: &Slots<_>| {
                let handle = slots.insert(known(text), text).expect("room");
                assert_eq!(slots.get(handle).ok(), Some(text));
                handle
            }
        };
        let (one, other) = both(&slots, insert("one"), insert("other"));
        assert_ne!(one, other);
        assert_eq!(slots.get(one).ok(), Some("one"));
        assert_eq!(slots.get(other).ok(), Some("other"));
        assert!(slots.get(handle).is_err());
    });
}

#[test]
fn a_slot_is_free_again_when_its_object_is_gone() {
    model([], |[]| {
        let (slots, handle) = slots(0);
        // Another takes the slot as soon as it is free; until then it makes a new one.
        let (_, second) = both(
            &slots,
            move |slots| slots.remove(handle).expect("inserted above"),
            |slots| slots.insert(known("second"), 2).expect("room"),
        );
        assert_eq!(slots.get(second).ok(), Some(2));
        let third = slots.insert(known("third"), 3).expect("room");
        assert!([handle, second].iter().all(|other| *other != third));
        assert_eq!(slots.get(second).ok(), Some(2));
        assert_eq!(slots.get(third).ok(), Some(3));
    });
}

#[test]
fn a_retired_object_is_entered_by_no_later_call() {
    model(["was inside", "came later"], |outcomes| {
        let (slots, handle) = slots("first");
        let [inside, later] = outcomes.clone();
        both(
            &slots,
            move |slots| assert!(slots.retire(handle)),
            move |slots| match slots.enter(handle) {
                Ok(object) => {
                    assert_eq!(*object, "first");
                    inside.met();
                }
                Err(refusal) => {
                    assert_eq!(refusal.code(), ResultCode::INVALID_ARGUMENT);
                    later.met();
                }
            },
        );
        assert!(slots.enter(handle).is_err());
        // The next object does not inherit its facts.
        let second = slots.insert(known("second"), "second").expect("room");
        assert_eq!(slots.get(second).ok(), Some("second"));
    });
}
