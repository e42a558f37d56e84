//! What the cross-crate tests share: where the workspace and the shared material are, and how a test says that it skips.

use std::io::Write;
use std::path::PathBuf;

/// The workspace's root folder.
pub fn workspace_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ stands in the workspace")
        .to_path_buf()
}

/// A file or folder of the shared material: below `NVTXW_SHARED`, by default `../shared` seen from the workspace's root.
/// `None`, said aloud, where it is absent.
pub fn shared(what: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("NVTXW_SHARED") {
        Some(folder) if !folder.is_empty() => workspace_root().join(folder),
        _ => workspace_root().join("../shared"),
    };
    let path = folder.join(what);
    if path.exists() {
        return Some(path);
    }
    skip(&format!(
        "{} is not here; set NVTXW_SHARED to the folder that holds {what}",
        path.display()
    ));
    None
}

/// Says on standard error, past the test harness's capture, that a test skips; fails where `NVTXW_NO_SKIP` forbids that.
pub fn skip(why: &str) {
    assert!(
        std::env::var_os("NVTXW_NO_SKIP").is_none(),
        "skipped although NVTXW_NO_SKIP is set: {why}"
    );
    // The harness captures only what the print macros write.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The example in README.md, which runs as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
