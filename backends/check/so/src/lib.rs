//! `libnvtxw_check.so`: the checker, for programs in C, Python and any other language that loads NVTXW backends.
//!
//! It stands in front of the backend whose library the environment variable `NVTXW_CHECK_BACKEND` names; without that
//! variable nothing is behind it, and there are findings alone.

#![deny(unsafe_code)]

mod library;

use std::sync::OnceLock;

use nvtxw_backend::{Backend, Refusal, Result, SessionRequest};
use nvtxw_check::{Behind, Checked, CheckedSession};

use crate::library::Library;

nvtxw_backend::export_backend!(Front::default());

/// The checker in front of the library, which is loaded for the first session.
#[derive(Default)]
struct Front(OnceLock<Result<(Checked<Behind>, Option<Library>)>>);

impl Backend for Front {
    type Session = CheckedSession<<Behind as Backend>::Session>;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Self::Session> {
        match self.0.get_or_init(load) {
            Ok((checked, _)) => checked.begin(request),
            Err(refusal) => Err(refusal.clone()),
        }
    }

    fn finalize(&self) {
        if let Some(Ok((_, Some(library)))) = self.0.get() {
            library.finalize();
        }
    }
}

fn load() -> Result<(Checked<Behind>, Option<Library>)> {
    const VARIABLE: &str = "NVTXW_CHECK_BACKEND";

    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok((Checked::new(Behind::nothing()), None));
    };
    let library = Library::load(&path).map_err(|problem| {
        Refusal::failed(format!(
            "{VARIABLE}: {}: {problem}; set it to the path of a backend's library, or unset it for findings alone",
            path.display()
        ))
    })?;
    let behind = Behind::relay(library.relay()?, ());
    Ok((Checked::new(behind), Some(library)))
}
