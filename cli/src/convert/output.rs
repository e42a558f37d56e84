//! Where a converted trace goes.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use nvtxw::{Backend, Config};
use tempfile::NamedTempFile;

use super::input::{self, is_standard};
use super::interrupt::{self, Partial};
use super::metadata::one_line;
use super::names::unique;
use super::{Format, Options};
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

/// Greater times in nanoseconds have no exact microseconds in a double.
const EXACT: i64 = 1 << 53;

/// `earliest` is the trace's first timestamp, if that is known; `metadata` has values as JSON.
pub fn open(
    options: &Options,
    earliest: Option<i64>,
    metadata: &[(String, String)],
) -> Result<Output> {
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
    let format = options.format()?;
    if let Some(format) = format {
        set("format", format.key())?;
    }
    let name = format.map(Format::key).or(options.setting("format"));
    let is_perfetto = name == Some("perfetto") && options.backend.is_none();
    match &options.compression {
        Some(compression) => set("compression", compression)?,
        None if is_perfetto && options.setting("compression").is_none() => {
            set("compression", "zlib")?;
        }
        None => {}
    }
    // The built-in backend would take 0 for the first one until it meets another, and readers of JSON take times for doubles.
    if let Some(earliest) = earliest
        && (earliest < 0 || name == Some("chrome") && earliest > EXACT)
        && options.backend.is_none()
        && options.setting("base").is_none()
    {
        set("base", &earliest.to_string())?;
    }
    let mut used = HashSet::new();
    for (name, value) in metadata {
        let name = name.replace(|c: char| c < ' ' || matches!(c, '|' | '='), "_");
        let value = one_line(value);
        let key = format!("metadata.{}", unique(&mut used, name.trim()));
        if !name.trim().is_empty() && !value.is_empty() && options.setting(&key).is_none() {
            set(&key, &value)?;
        }
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
