//! Programs to copy from; the index is README.md.
#![forbid(unsafe_code)]
