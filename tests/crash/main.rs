//! Programs that die or can't write, and what is in their files: each runs in a process of its own.

#![cfg(target_os = "linux")]

mod child;
mod exit;
mod fault;
mod format;
mod kill;
mod limit;
mod load;
mod number;
mod posix;
#[cfg(feature = "parquet")]
mod retime;
// The reader of the file backend's own tests; they use more of it.
#[cfg(feature = "parquet")]
#[allow(dead_code)]
#[path = "../../backends/file/tests/trace/dataset.rs"]
mod dataset;
#[allow(dead_code)]
#[path = "../../backends/file/tests/trace/reader.rs"]
mod reader;
#[allow(dead_code)]
#[path = "../../backends/file/src/replay.rs"]
mod replay;
#[cfg(feature = "parquet")]
mod tables;

#[test]
#[ignore = "run by the other tests, each with its plan"]
fn child() {
    let Some((plan, path)) = child::plan() else {
        return;
    };
    match &*plan {
        "write on" => kill::write_on(&path, ("flush_interval", "0")),
        "write on, flushed" => kill::write_on(&path, ("flush_interval", "1")),
        "write on, captured" => kill::write_on(&path, ("format", "capture")),
        "write and wait" => kill::write_and_wait(&path),
        "open and wait" => kill::open_and_wait(&path),
        "write and end" => kill::write_and_end(&path, kill::LARGE),
        "write and merge" => kill::write_and_end(&path, kill::WINDOW),
        "full disk" => fault::write_beyond_the_end(&path, "No space left on device (os error 28)"),
        "full merge" => fault::merge_without_room(&path),
        "limited" => fault::write_beyond_a_limit(&path),
        "read-only" => fault::begin_read_only(&path),
        "many streams" => fault::open_many_streams(&path),
        "sessions of one name" => number::write_sessions(&path, &[("run", ""), ("run", "")]),
        "odd names" => number::write_odd_names(&path),
        "many sessions" => limit::begin_many_sessions(&path),
        "end without file handles" => limit::end_without_handles(&path),
        #[cfg(feature = "parquet")]
        "more tables than files" => limit::write_more_tables_than_files(&path),
        #[cfg(feature = "parquet")]
        "tables without file handles" => limit::write_tables_without_handles(&path),
        "exit" | "return" | "abort" => exit::leave(&path, &plan),
        "exit beside writers" => exit::leave_beside_writers(&path),
        "return after a child" => exit::leave_after_a_child(&path),
        "fork" => exit::fork(&path, "0"),
        "fork, beside writers" => exit::fork_beside_writers(&path),
        "fork, flushed" => exit::fork(&path, "1"),
        "fork, again" => exit::fork_and_begin_again(&path, "0"),
        "fork, flushed, again" => exit::fork_and_begin_again(&path, "1"),
        #[cfg(feature = "parquet")]
        "full retime" => retime::without_room(&path),
        #[cfg(feature = "parquet")]
        "long retime" => retime::of_long_rows(&path),
        other => panic!("no plan is called `{other}`"),
    }
}
