//! Where a converted trace goes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use nvtxw::{Backend, Config};
use tempfile::NamedTempFile;

use super::Options;
use super::input::{self, is_standard};
use super::interrupt::{self, Partial};
use crate::error::{Error, Result};
use crate::{library, setting};

/// What takes the trace, and what it is told.
pub struct Output {
    pub backend: Backend,
    pub config: Config,
    /// The same, option by option.
    pub settings: Vec<(String, String)>,
    /// What goes to standard output at the end: a backend may write its file in any order.
    copied: Option<NamedTempFile>,
}

impl Output {
    /// The session has ended well.
    pub fn end(self) -> Result<()> {
        let Some(file) = self.copied else {
            return Ok(());
        };
        let mut out = io::stdout().lock();
        // The backend may have put another file in its place.
        File::open(file.path())
            .and_then(|mut file| io::copy(&mut file, &mut out))
            .and_then(|_| out.flush())
            .map_err(|error| Error::io("write", Path::new("-"), error))
    }
}

/// `earliest` is the trace's first timestamp, if that is known.
pub fn open(options: &Options, earliest: Option<i64>) -> Result<Output> {
    let (mut config, mut settings) = (Config::new(), Vec::new());
    let mut set = |key: &str, value: &str| -> Result<()> {
        config = std::mem::take(&mut config).set(key, value)?;
        settings.push((key.to_owned(), value.to_owned()));
        Ok(())
    };
    for setting in &options.config {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Error::Usage(format!(
                "`--config {setting}` has no `=`: give a key and a value, such as `--config compression=zlib`"
            )));
        };
        if options.backend.is_none() {
            setting::known(key)?;
        }
        if key.trim() == "path" {
            if options.output.is_some() {
                return Err(Error::Usage(format!(
                    "`--config {setting}` says where the file goes, as `--output` does: leave it out"
                )));
            }
            input::spare(&options.input, Path::new(value.trim()))?;
        }
        set(key, value)?;
    }
    let mut copied = None;
    if let Some(output) = &options.output {
        let path = if is_standard(output) {
            let file = NamedTempFile::new()
                .map_err(|error| Error::io("write in", &std::env::temp_dir(), error))?;
            copied.insert(file).path()
        } else {
            output
        };
        let path = path.to_str().ok_or_else(|| {
            let path = path.display();
            Error::Usage(format!("the path {path} is not UTF-8: choose another OUT"))
        })?;
        set("path", path)?;
        if options.overwrite || is_standard(output) {
            set("overwrite", "true")?;
        }
    }
    if let Some(format) = options.format() {
        set("format", format.key())?;
    }
    // The built-in backend would take 0 for the first one until it meets another.
    if let Some(earliest @ ..0) = earliest
        && options.backend.is_none()
        && !options.tells("base")
    {
        set("base", &earliest.to_string())?;
    }
    let is_folder =
        |(key, value): &(String, String)| key.trim() == "format" && value.trim() == "parquet";
    if copied.is_some() && settings.iter().any(is_folder) {
        return Err(Error::Usage(
            "a Parquet dataset is a folder, which can't go to standard output: name a folder as OUT"
                .to_owned(),
        ));
    }
    let backend = match &options.backend {
        Some(library) => library::load(library)?,
        None => Backend::embedded(),
    };
    interrupt::watch(match (&copied, &options.output) {
        (Some(file), _) => Partial::Copied(file.path().to_owned()),
        (None, Some(output)) => Partial::Out(output.clone()),
        (None, None) => Partial::Backend,
    })?;
    Ok(Output {
        backend,
        config,
        settings,
        copied,
    })
}
