//! How far a command is, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts bytes, with their rate and the time left; nothing where standard error is no terminal. Without a length,
/// which the caller may set, it tells the bytes and their rate.
pub fn bytes(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_message(what);
    bar.set_style(style(
        "{msg} {wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}, {eta} left)",
    ));
    ticking(bar)
}

/// The same, for `count` things.
pub fn count(what: &'static str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count).with_message(what);
    bar.set_style(style(
        "{msg} {wide_bar} {human_pos}/{human_len} ({per_sec}, {eta} left)",
    ));
    ticking(bar)
}

/// A bar that nobody sees needs no thread that draws it.
fn ticking(bar: ProgressBar) -> ProgressBar {
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(100));
    }
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is one of the two above")
}
