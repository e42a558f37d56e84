//! `libnvtxw3.so`: the built-in backend for programs in C, Python and any other language that loads NVTXW backends.

#![forbid(unsafe_code)]

nvtxw_backend::export_backend!(nvtxw_file::FileBackend::new());
