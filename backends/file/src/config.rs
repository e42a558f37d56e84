//! What a session's name and config say about its file.

use std::ffi::CStr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use nvtxw_backend::{Refusal, Result, SessionRequest};

use crate::destination::Destination;
use crate::metadata;
use crate::timeline::Limits;

/// The keys that a session's config may have; `docs/configuration.md` describes them. That of metadata has any name for `NAME`.
/// Builds without Parquet ignore its keys.
pub const CONFIG_KEYS: [&str; 13] = [
    "path",
    "overwrite",
    "format",
    "base",
    "compression",
    "window",
    "memory",
    "flush_interval",
    "row_group",
    "part",
    "merge",
    "field_units",
    "metadata.NAME",
];

/// How many events a stream's window may hold.
const WINDOW: RangeInclusive<usize> = 2..=1 << 24;

/// How many MiB all windows may take together.
const MEMORY: RangeInclusive<usize> = 1..=1 << 20;
/// The same if nothing is said.
const DEFAULT_MEMORY: usize = 32 << 20;

/// How many milliseconds may lie between two flushes: up to a day.
const FLUSH_INTERVAL: RangeInclusive<u64> = 0..=86_400_000;
/// How many rows a row group of a table may have, and a part of it.
#[cfg(feature = "parquet")]
const ROW_GROUP: RangeInclusive<usize> = 1..=1 << 24;
#[cfg(feature = "parquet")]
const PART: RangeInclusive<usize> = 1..=1 << 40;

/// Where and how a session's file is written.
#[derive(Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) format: FormatName,
    pub(crate) destination: Destination,
    pub(crate) base: Option<i64>,
    pub(crate) limits: Limits,
    /// How many bytes all windows may take together.
    pub(crate) memory: usize,
    /// The level of the compression, if there is one.
    pub(crate) compression: Option<u32>,
    /// Whether a file that is out of order is put in order when the session ends.
    pub(crate) merge: bool,
    /// Shows the units of fields in the names of arguments.
    pub(crate) field_units: bool,
    /// How long what was taken may wait in memory; as long as it may, without.
    pub(crate) flush_interval: Option<Duration>,
    #[cfg(feature = "parquet")]
    pub(crate) parts: PartLimits,
    /// Names and values of the producer's metadata.
    pub(crate) metadata: Vec<(String, String)>,
}

/// How many rows are put together.
#[cfg(feature = "parquet")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PartLimits {
    /// In a row group.
    pub(crate) row_group: usize,
    /// In a file.
    pub(crate) part: usize,
}

/// The formats, as the config calls them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FormatName {
    Perfetto,
    Chrome,
    Capture,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl FormatName {
    /// What the name of a file ends with.
    fn extension(self) -> &'static str {
        match self {
            Self::Perfetto => "pftrace",
            Self::Chrome => "json",
            Self::Capture => "nvtxw",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

impl Settings {
    pub(crate) fn new(request: &SessionRequest<'_>) -> Result<Self> {
        let mut settings = Self::parse(request.name(), |key| request.config().get(key))?;
        settings.metadata = metadata::of(request.config())?;
        let text = request.config_text().unwrap_or_default();
        if text.to_str().is_err()
            && let Some(path) = path_in_bytes(text)
        {
            settings.destination = Destination::new(path, settings.destination.overwrites());
        }
        Ok(settings)
    }

    fn parse<'a>(name: Option<&str>, get: impl Fn(&str) -> Option<&'a str>) -> Result<Self> {
        let format = match get("format") {
            None | Some("perfetto") => FormatName::Perfetto,
            Some("chrome") => FormatName::Chrome,
            Some("capture") => FormatName::Capture,
            #[cfg(feature = "parquet")]
            Some("parquet") => FormatName::Parquet,
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                return Err(Refusal::invalid(
                    "config key `format` has the value `parquet`, which this build leaves out: build the \
                     crate (nvtxw-file, nvtxw or nvtxw-file-so) with its feature `parquet`",
                ));
            }
            Some(other) => return Err(bad("format", other, "perfetto, chrome, parquet, capture")),
        };
        let is_set = |key| match get(key) {
            None => Ok(None),
            Some("false" | "0" | "no") => Ok(Some(false)),
            Some("true" | "1" | "yes") => Ok(Some(true)),
            Some(other) => Err(bad(key, other, "true, false, 1, 0, yes, no")),
        };
        let overwrite = is_set("overwrite")?;
        let merge = is_set("merge")?.unwrap_or(true);
        let field_units = is_set("field_units")?.unwrap_or(true);
        let base = match get("base") {
            None => None,
            Some(text) => match text.parse() {
                Ok(base) => Some(base),
                Err(_) => {
                    let accepted = format!("an integer from {} to {}", i64::MIN, i64::MAX);
                    return Err(bad("base", text, &accepted));
                }
            },
        };
        let number = |key, range: RangeInclusive<usize>, what| match get(key) {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(number) if range.contains(&number) => Ok(Some(number)),
                _ => {
                    let accepted = format!("{} to {} {what}", range.start(), range.end());
                    Err(bad(key, text, &accepted))
                }
            },
        };
        let limits = number("window", WINDOW, "events")?.map_or_else(Limits::default, Limits::of);
        let memory = match number("memory", MEMORY, "MiB")? {
            Some(mebibytes) => mebibytes << 20,
            None => limits.size().max(DEFAULT_MEMORY),
        };
        #[cfg(feature = "parquet")]
        let parts = PartLimits {
            row_group: number("row_group", ROW_GROUP, "rows")?.unwrap_or(1 << 16),
            part: number("part", PART, "rows")?.unwrap_or(1 << 20),
        };
        let flush_interval = match get("flush_interval").map(|text| (text, text.parse())) {
            None => None,
            Some((_, Ok(milliseconds))) if FLUSH_INTERVAL.contains(&milliseconds) => {
                (milliseconds != 0).then(|| Duration::from_millis(milliseconds))
            }
            Some((text, _)) => {
                let (never, longest) = FLUSH_INTERVAL.into_inner();
                let accepted = format!("{never} (never) to {longest} milliseconds");
                return Err(bad("flush_interval", text, &accepted));
            }
        };
        let compression = match get("compression") {
            None | Some("none") => None,
            Some(text) => match level(text) {
                Some(_) if format != FormatName::Perfetto => {
                    return Err(bad(
                        "compression",
                        text,
                        "none, as the format is not perfetto",
                    ));
                }
                Some(level) => Some(level),
                None => return Err(bad("compression", text, "none, zlib, zlib:1 to zlib:9")),
            },
        };
        let destination = match get("path") {
            Some(path) => Destination::new(path, overwrite.unwrap_or(false)),
            None => Destination::of_session(name, format.extension(), overwrite)?,
        };
        Ok(Self {
            format,
            destination,
            base,
            limits,
            memory,
            compression,
            merge,
            field_units,
            flush_interval,
            #[cfg(feature = "parquet")]
            parts,
            metadata: Vec::new(),
        })
    }
}

/// The level that a compression has, 1 to 9.
fn level(compression: &str) -> Option<u32> {
    match compression.strip_prefix("zlib")?.strip_prefix(':') {
        // Higher ones take twice the time and more, for a tenth less.
        None if compression == "zlib" => Some(3),
        None => None,
        Some(level) => level.parse().ok().filter(|level| (1..=9).contains(level)),
    }
}

fn bad(key: &str, value: &str, accepted: &str) -> Refusal {
    Refusal::invalid(format!(
        "config key `{key}` has the value `{value}`; accepted: {accepted}"
    ))
}

/// The path that a config names which is not all UTF-8, as this may be in the path.
#[cfg(unix)]
fn path_in_bytes(config: &CStr) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use nvtxw_backend::Config;

    // With a character for each byte: what a config is taken apart by is ASCII.
    let text: String = config.to_bytes().iter().copied().map(char::from).collect();
    let config = Config::parse(&text);
    let path = config.get("path")?.chars().map(|byte| byte as u8);
    Some(OsString::from_vec(path.collect()).into())
}

/// Systems whose paths are no bytes.
#[cfg(not(unix))]
fn path_in_bytes(_config: &CStr) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use nvtxw_backend::ResultCode;

    fn parse(name: Option<&str>, config: &[(&str, &'static str)]) -> Result<Settings> {
        Settings::parse(name, |key| {
            config.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
        })
    }

    fn reason(name: Option<&str>, config: &[(&str, &'static str)]) -> String {
        let refusal = parse(name, config).unwrap_err();
        assert_eq!(refusal.code(), ResultCode::INVALID_ARGUMENT);
        refusal.reason().to_owned()
    }

    #[test]
    fn keys_are_those_that_are_read_and_documented() {
        let asked = std::cell::RefCell::new(BTreeSet::new());
        Settings::parse(None, |key| {
            asked.borrow_mut().insert(key.to_owned());
            None
        })
        .unwrap();
        let mut asked = asked.into_inner();
        asked.insert("metadata.NAME".to_owned());
        if cfg!(not(feature = "parquet")) {
            asked.extend(["row_group", "part"].map(str::to_owned));
        }
        let keys = BTreeSet::from(CONFIG_KEYS.map(str::to_owned));
        assert_eq!(asked, keys);
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().skip_while(|line| !line.starts_with("| key |"));
        let documented = rows
            .skip(2)
            .map_while(|row| row.strip_prefix("| `")?.split('`').next())
            .map(str::to_owned);
        assert_eq!(documented.collect::<BTreeSet<_>>(), keys);
    }

    #[test]
    fn the_session_names_the_file_unless_path_does() {
        let path = |name, config: &[_]| parse(name, config).unwrap().destination.path().to_owned();
        assert_eq!(path(Some("run-42"), &[]), PathBuf::from("run-42.pftrace"));
        assert_eq!(path(None, &[]), PathBuf::from("nvtxw.pftrace"));
        assert_eq!(
            path(Some("a/b"), &[("path", "/x/y.bin")]),
            PathBuf::from("/x/y.bin")
        );
        #[cfg(feature = "parquet")]
        assert_eq!(
            path(Some("a"), &[("format", "parquet")]),
            PathBuf::from("a.parquet")
        );
        let chrome = [("format", "chrome")];
        assert_eq!(path(Some("a"), &chrome), PathBuf::from("a.json"));
        assert_eq!(path(None, &chrome), PathBuf::from("nvtxw.json"));
    }

    #[test]
    fn values_are_read_and_unknown_keys_are_ignored() {
        let settings = parse(
            None,
            &[
                ("overwrite", "yes"),
                ("base", "-5"),
                ("window", "1000"),
                ("memory", "3"),
                ("format", "perfetto"),
                ("colour", "blue"),
            ],
        )
        .unwrap();
        assert!(settings.destination.overwrites());
        assert_eq!(settings.base, Some(-5));
        assert_eq!(settings.limits.items, 1000);
        assert_eq!(settings.memory, 3 << 20);
        assert_eq!(parse(None, &[]).unwrap().memory, DEFAULT_MEMORY);
        let large = parse(None, &[("window", "1000000")]).unwrap();
        assert_eq!(large.memory, large.limits.size());
        assert!(large.memory > DEFAULT_MEMORY);
        for (text, want) in [("true", true), ("1", true), ("0", false), ("no", false)] {
            let settings = parse(None, &[("overwrite", text)]).unwrap();
            assert_eq!(settings.destination.overwrites(), want);
            assert_eq!(parse(None, &[("merge", text)]).unwrap().merge, want);
        }
        assert!(parse(None, &[]).unwrap().merge);
        assert!(parse(None, &[]).unwrap().field_units);
        assert!(!parse(None, &[("field_units", "no")]).unwrap().field_units);
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn a_build_without_a_format_names_its_feature() {
        assert_eq!(
            reason(None, &[("format", "parquet")]),
            "config key `format` has the value `parquet`, which this build leaves out: build the crate \
             (nvtxw-file, nvtxw or nvtxw-file-so) with its feature `parquet`"
        );
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn rows_are_put_together_as_asked() {
        let parts = |config| parse(None, config).unwrap().parts;
        let (row_group, part) = (1 << 16, 1 << 20);
        assert_eq!(parts(&[]), PartLimits { row_group, part });
        let config = [("row_group", "1"), ("part", "5000000000")];
        let (row_group, part) = (1, 5_000_000_000);
        assert_eq!(parts(&config), PartLimits { row_group, part });
        assert_eq!(
            reason(None, &[("row_group", "0")]),
            "config key `row_group` has the value `0`; accepted: 1 to 16777216 rows"
        );
        assert_eq!(
            reason(None, &[("part", "x")]),
            "config key `part` has the value `x`; accepted: 1 to 1099511627776 rows"
        );
    }

    #[test]
    fn an_interval_is_in_milliseconds_and_0_is_none() {
        let interval = |config: &[_]| parse(None, config).unwrap().flush_interval;
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[("flush_interval", "0")]), None);
        let quarter = Some(Duration::from_millis(250));
        assert_eq!(interval(&[("flush_interval", "250")]), quarter);
    }

    #[test]
    fn compressions_have_levels() {
        let level = |text| parse(None, &[("compression", text)]).unwrap().compression;
        assert_eq!(parse(None, &[]).unwrap().compression, None);
        assert_eq!(level("none"), None);
        assert_eq!(level("zlib"), Some(3));
        assert_eq!(level("zlib:1"), Some(1));
        assert_eq!(level("zlib:9"), Some(9));
        for text in ["zlib:0", "zlib:10", "zlib:", "zlib9", "zlib:x", "gzip", ""] {
            assert_eq!(
                reason(None, &[("compression", text)]),
                format!(
                    "config key `compression` has the value `{text}`; accepted: none, zlib, \
                     zlib:1 to zlib:9"
                )
            );
        }
        let chrome = [("format", "chrome"), ("compression", "zlib:9")];
        assert_eq!(
            reason(None, &chrome),
            "config key `compression` has the value `zlib:9`; accepted: none, as the format is not \
             perfetto"
        );
    }

    #[test]
    fn bad_values_are_named() {
        assert_eq!(
            reason(None, &[("overwrite", "maybe")]),
            "config key `overwrite` has the value `maybe`; accepted: true, false, 1, 0, yes, no"
        );
        assert_eq!(
            reason(None, &[("merge", "")]),
            "config key `merge` has the value ``; accepted: true, false, 1, 0, yes, no"
        );
        assert_eq!(
            reason(None, &[("format", "xml")]),
            "config key `format` has the value `xml`; accepted: perfetto, chrome, parquet, capture"
        );
        assert_eq!(
            reason(None, &[("base", "9223372036854775808")]),
            "config key `base` has the value `9223372036854775808`; accepted: an integer from \
             -9223372036854775808 to 9223372036854775807"
        );
        for text in ["-1", "0.5", "86400001", "often"] {
            assert_eq!(
                reason(None, &[("flush_interval", text)]),
                format!(
                    "config key `flush_interval` has the value `{text}`; accepted: 0 (never) to 86400000 \
                     milliseconds"
                )
            );
        }
        for text in ["0", "1048577", "1 MiB"] {
            assert_eq!(
                reason(None, &[("memory", text)]),
                format!("config key `memory` has the value `{text}`; accepted: 1 to 1048576 MiB")
            );
        }
        for text in ["1", "-4", "16777217", "many"] {
            assert_eq!(
                reason(None, &[("window", text)]),
                format!(
                    "config key `window` has the value `{text}`; accepted: 2 to 16777216 events"
                )
            );
        }
    }
}
