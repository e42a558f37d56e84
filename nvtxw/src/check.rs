//! Holding a program to the contract of NVTXW: what [`Backend::checked`] finds.
//!
//! ```
//! # #[cfg(feature = "file")] {
//! use nvtxw::check::FindingKind;
//! use nvtxw::{Backend, Config, Session, StreamOptions};
//!
//! # let folder = std::env::temp_dir().join("nvtxw-doc-check");
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("run.pftrace");
//! let backend = Backend::embedded().checked();
//! let config = Config::new().set("check.output", "off")?;
//! # let config = config.set("path", path.to_str().unwrap())?.set("overwrite", "true")?;
//! let mut session = Session::begin(&backend, "run", &config)?;
//! let domain = session.domain("sim")?.id();
//! let mut main = session.open_stream("main", StreamOptions::new(domain))?;
//! let out = session.writer(&mut main)?;
//! out.push(100).message("step").write()?;
//! session.end()?;
//!
//! let report = backend.report().expect("it is checked");
//! let [finding] = &report.examples(FindingKind::PushWithoutPop)[..] else { panic!("one") };
//! assert_eq!(finding.to_string(), "stream \"main\", event 0, at 100: pushed, and open when the stream closes");
//! assert_eq!(report.total(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use nvtxw_backend::in_process;
use nvtxw_check::{Behind, Checked};

pub use nvtxw_check::{Finding, FindingKind, Report};

use crate::backend::Backend;

/// The variable that asks for the checker in every program.
const VARIABLE: &str = "NVTXW_CHECK";

impl Backend {
    /// This backend with a checker in front of it, which looks at all that is written, reports what breaks the contract of
    /// NVTXW, and passes on what was accepted: the trace is the same. It takes a few times the time of the writes.
    ///
    /// Findings go into [`report`](Self::report), and to standard error when a session ends; `check.output` and other keys of
    /// the session's [`Config`](crate::Config) say otherwise. They, and the kinds of findings, are described in `docs/check.md`
    /// of the project's repository.
    ///
    /// With `NVTXW_CHECK=1` in the environment, [`embedded`](Self::embedded), [`load`](Self::load) and
    /// [`from_env`](Self::from_env) give checked backends.
    #[must_use]
    pub fn checked(self) -> Self {
        let behind = Behind::relay(self.begin().relay(), self.clone());
        let checked = Checked::new(behind);
        let report = checked.report();
        Self::in_front_of(&self, in_process(checked), report)
    }

    /// This backend, checked if the environment asks for that.
    pub(crate) fn checked_if_asked(self) -> Self {
        let asked = std::env::var_os(VARIABLE);
        match asked.is_some_and(|value| !value.is_empty() && value != "0") {
            true => self.checked(),
            false => self,
        }
    }
}

/// Whether the library there is the checker itself.
pub(crate) fn is_checker(library: &Path) -> bool {
    let name = library.file_stem();
    name.is_some_and(|name| name == "libnvtxw_check" || name == "nvtxw_check")
}
