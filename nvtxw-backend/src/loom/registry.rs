//! Registration beside reading: lists, maps of IDs, and what is made of them.

use std::sync::Arc;

use nvtxw_abi::IdClass;
use nvtxw_loom::model;

use super::both;
use crate::handle::{self, Kind};
use crate::id_map::IdMap;
use crate::list::List;
use crate::registry::Registry;
use crate::string::Strings;
use crate::sync::atomic::{AtomicU32, Ordering};

/// What is pushed: an atomic of the model's, which complains if it is reached by a thread that has not seen it made.
type Item = (u32, AtomicU32);

fn item(index: u32) -> Item {
    (index, AtomicU32::new(index + 7))
}

fn is_whole(item: &Item) -> bool {
    item.1.load(Ordering::Relaxed) == item.0 + 7
}

#[test]
fn pushes_take_a_place_each_until_the_list_is_full() {
    model([], |[]| {
        let list = Arc::new(List::new());
        // Three places, in two chunks.
        let push = |list: &List<Item>| {
            [(), ()].map(|()| {
                let item = list.push_with(item)?;
                assert!(is_whole(item));
                Some(item.0)
            })
        };
        let (one, other) = both(&list, push, push);
        let mut places: Vec<_> = one.into_iter().chain(other).flatten().collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2]);
        for place in places {
            assert_eq!(list.get(place).map(|item| item.0), Some(place));
        }
        assert!(list.push_with(item).is_none());
    });
}

#[test]
fn a_reader_finds_an_item_whole_or_not_at_all() {
    model([], |[]| {
        let list = Arc::new(List::new());
        let (_, found) = both(
            &list,
            |list| {
                list.push_with(item);
                list.push_with(item);
            },
            |list| {
                [1, 0].map(|index| match list.get(index) {
                    None => false,
                    Some(item) => {
                        assert!(item.0 == index && is_whole(item));
                        true
                    }
                })
            },
        );
        let [second, first] = found;
        assert!(first || !second, "who sees the second sees the first");
    });
}

#[test]
fn of_two_with_one_id_one_wins() {
    model([], |[]| {
        let map = Arc::new(IdMap::new());
        let (one, other) = both(
            &map,
            |map| map.insert(1 << 24, item(1)),
            |map| map.insert(1 << 24, item(2)),
        );
        assert!(one != other);
        let found = map.get(1 << 24).expect("inserted");
        assert!(is_whole(found));
        assert_eq!(found.0, if one { 1 } else { 2 });
    });
}

#[test]
fn ids_that_meet_in_the_tree_are_both_kept_beside_a_reader() {
    model([], |[]| {
        let map = Arc::new(IdMap::new());
        let insert = |id: u32| move |map: &IdMap<Item>| map.insert(id.into(), item(id));
        let read = |map: &IdMap<Item>, id: u32| match map.get(id.into()) {
            None => false,
            Some(item) => {
                assert!(item.0 == id && is_whole(item));
                true
            }
        };
        // The root is free, so that both begin there.
        let (one, (other, _)) = both(&map, insert(1 << 24), move |map| {
            (insert(2 << 24)(map), read(map, 1 << 24))
        });
        assert!(one && other);
        assert!(read(&map, 1 << 24) && read(&map, 2 << 24));
    });
}

#[test]
fn registered_things_have_ids_of_their_own_and_are_found_at_once() {
    model([], |[]| {
        let registry = Arc::new(Registry::new("thing"));
        let register = |registry: &Registry<(u64, Item)>| {
            let id = registry.register(0, |id| (id, item(1))).expect("not full");
            let found = registry.get(id).expect("registered above");
            assert!(found.0 == id && is_whole(&found.1));
            id
        };
        let guess = IdClass::DYNAMIC_START + 1;
        let (one, other) = both(&registry, register, move |registry| {
            if let Some(found) = registry.get(guess) {
                assert!(found.0 == guess && is_whole(&found.1));
            }
            register(registry)
        });
        assert_ne!(one, other);
    });
}

#[test]
fn a_static_id_is_given_once() {
    model([], |[]| {
        let registry = Arc::new(Registry::new("thing"));
        let register = |registry: &Registry<u64>| registry.register(1 << 24, |id| id).is_ok();
        let (one, other) = both(&registry, register, register);
        assert!(one != other);
        assert_eq!(registry.get(1 << 24).map(|found| **found), Some(1 << 24));
    });
}

#[test]
fn strings_are_found_by_their_own_handles() {
    model([], |[]| {
        let strings = Arc::new(Strings::new(5));
        let register = |text: &'static str| {
            move |strings: &Strings| {
                let handle = strings.register(text).expect("not full");
                assert_eq!(strings.get(handle).map(|found| found.text()), Some(text));
                handle
            }
        };
        let guess = handle::encode(Kind::String, 5, 0);
        let (one, (other, guessed)) = both(&strings, register("one"), move |strings| {
            let guessed = strings.get(guess).map(|found| found.text().to_owned());
            (register("other")(strings), guessed)
        });
        assert_ne!(one, other);
        assert!(guessed.is_none_or(|text| text == "one"));
    });
}
