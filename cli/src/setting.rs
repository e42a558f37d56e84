//! Settings of the built-in backend that a command is given.

use crate::error::{Error, Result};

/// Refuses a key that the built-in backend doesn't have: it would ignore it. The checker in front of it may have others.
pub fn known(key: &str) -> Result<()> {
    let key = key.trim();
    if nvtxw_file::CONFIG_KEYS.contains(&key)
        || key.starts_with("check.")
        || key.starts_with("metadata.")
    {
        return Ok(());
    }
    let keys = nvtxw_file::CONFIG_KEYS.map(|key| format!("`{key}`"));
    Err(Error::Usage(format!(
        "the built-in backend has no config key `{key}`; it has {}",
        keys.join(", ")
    )))
}
