//! What a session is told at its begin.

use std::ffi::{CStr, CString};

use crate::error::{Error, Result};
use crate::text;

/// The options of a session, as `key=value` entries. Which keys there are is the backend's matter: it ignores those that
/// it doesn't know.
///
/// ```
/// use nvtxw::Config;
///
/// let config = Config::new().set("path", "run.pftrace")?.set("overwrite", "true")?;
/// assert!(Config::new().set("path", "a|b").is_err());
/// # Ok::<(), nvtxw::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    text: CString,
}

impl Config {
    /// No options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Options in the ABI's own form: entries separated by `|` or line ends, `#` before a comment.
    ///
    /// ```
    /// # use nvtxw::Config;
    /// let config = Config::raw("path=run.pftrace|overwrite=true")?;
    /// assert_eq!(config, Config::new().set("path", "run.pftrace")?.set("overwrite", "true")?);
    /// # Ok::<(), nvtxw::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InteriorNul`].
    pub fn raw(text: &str) -> Result<Self> {
        Ok(Self {
            text: text::c_string(text, "session config")?,
        })
    }

    /// Adds an option. Blanks around the key and the value are dropped.
    ///
    /// # Errors
    /// [`Error::Config`] if the key or the value is empty or holds `|`, a line end or NUL; if the key begins with `#`,
    /// holds `=`, or is set already (a backend heeds the first of a repeated key).
    pub fn set(self, key: &str, value: &str) -> Result<Self> {
        let (key, value) = (trim(key), trim(value));
        if let Some(problem) = self.problem(key, value) {
            return Err(Error::Config {
                key: key.to_owned(),
                problem,
            });
        }
        let mut text = self.text.into_string().expect("made of `str`s");
        if !text.is_empty() {
            text.push('|');
        }
        text.push_str(key);
        text.push('=');
        text.push_str(value);
        Ok(Self {
            text: CString::new(text).expect("neither has a NUL"),
        })
    }

    fn problem(&self, key: &str, value: &str) -> Option<&'static str> {
        if key.is_empty() {
            Some("it is empty")
        } else if key.starts_with('#') {
            Some("`#` at its start makes a comment of it")
        } else if key.contains('=') {
            Some("`=` ends a key")
        } else if key.contains(FORBIDDEN) {
            Some("`|`, line ends and NUL end an entry")
        } else if value.is_empty() {
            Some("its value is empty, and an entry without a value is ignored; leave it out")
        } else if value.contains(FORBIDDEN) {
            Some("its value has a `|`, a line end or a NUL, which end an entry")
        } else if self.keys().any(|set| set == key) {
            Some("it is set already, and the first of a repeated key counts; set it once")
        } else {
            None
        }
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        let text = self.text.to_str().expect("made of `str`s");
        text.split(['|', '\n', '\r'])
            .map(trim)
            .filter(|entry| !entry.starts_with('#'))
            .filter_map(|entry| {
                let (key, value) = entry.split_once('=')?;
                let key = trim(key);
                (!key.is_empty() && !trim(value).is_empty()).then_some(key)
            })
    }

    /// `None` for no options.
    pub(crate) fn as_c_str(&self) -> Option<&CStr> {
        (!self.text.is_empty()).then_some(&*self.text)
    }
}

const FORBIDDEN: [char; 4] = ['|', '\n', '\r', '\0'];

/// Drops what the ABI drops around keys and values.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\u{B}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(config: &Config) -> &str {
        config.as_c_str().map_or("", |text| text.to_str().unwrap())
    }

    #[test]
    fn entries_are_trimmed_and_joined() {
        let config = Config::new()
            .set(" path\t", "  a b.pftrace ")
            .unwrap()
            .set("n", "1=2")
            .unwrap();
        assert_eq!(text(&config), "path=a b.pftrace|n=1=2");
        assert_eq!(Config::new().as_c_str(), None);
    }

    #[test]
    fn what_would_be_misread_is_refused() {
        for (key, value, problem) in [
            ("", "1", "it is empty"),
            (" ", "1", "it is empty"),
            ("#x", "1", "`#` at its start makes a comment of it"),
            ("a=b", "1", "`=` ends a key"),
            ("a|b", "1", "`|`, line ends and NUL end an entry"),
            ("a\nb", "1", "`|`, line ends and NUL end an entry"),
            (
                "a",
                "",
                "its value is empty, and an entry without a value is ignored; leave it out",
            ),
            (
                "a",
                "1|b=2",
                "its value has a `|`, a line end or a NUL, which end an entry",
            ),
            (
                "a",
                "1\r2",
                "its value has a `|`, a line end or a NUL, which end an entry",
            ),
            (
                "a",
                "1\n2",
                "its value has a `|`, a line end or a NUL, which end an entry",
            ),
            (
                "a",
                "1\0",
                "its value has a `|`, a line end or a NUL, which end an entry",
            ),
            (
                "set",
                "2",
                "it is set already, and the first of a repeated key counts; set it once",
            ),
        ] {
            let error = Config::raw("#a=0|set = 1|=3|a=")
                .unwrap()
                .set(key, value)
                .unwrap_err()
                .to_string();
            assert_eq!(
                error,
                format!(
                    "the session config can't have the key `{}`: {problem}",
                    nvtxw_abi::OneLine(trim(key))
                )
            );
        }
    }

    #[test]
    fn raw_text_is_kept() {
        assert_eq!(text(&Config::raw("a=1|a=2\n#b").unwrap()), "a=1|a=2\n#b");
        let error = Config::raw("a=\0").unwrap_err().to_string();
        assert_eq!(
            error,
            "the session config has a NUL byte at position 2, where C's text ends: take it out"
        );
    }
}
