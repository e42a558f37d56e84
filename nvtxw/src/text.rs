//! Text on its way to C.

use std::ffi::CString;

use crate::error::{Error, Result};

/// `text` with a terminator; `argument` says in an error what it is.
pub(crate) fn c_string(text: impl AsRef<[u8]>, argument: &'static str) -> Result<CString> {
    CString::new(text.as_ref()).map_err(|error| Error::InteriorNul {
        argument,
        position: error.nul_position(),
    })
}
