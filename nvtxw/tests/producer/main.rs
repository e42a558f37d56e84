//! What a backend gets from this crate, call by call.

#[cfg(feature = "check")]
mod checked;
mod counter_options;
mod counters;
mod describe;
mod enums;
mod events;
mod flex;
mod foreign;
#[cfg(unix)]
mod fork;
mod in_process;
mod loading;
mod messages;
mod payloads;
mod plain;
mod plain_schemas;
mod recorder;
mod recorder_table;
mod records;
mod registration;
mod row_layouts;
mod rows;
mod sessions;
mod time;
