//! A session's options.

/// A session's options, as the producer gave them: text of `key=value` entries separated by line feed, carriage return or
/// `|`. A backend ignores keys that it doesn't know, and refuses a bad value of one that it does.
///
/// Blanks around keys and values are trimmed, an entry that starts with `#` is a comment, entries without `=`, key or value
/// are ignored, and the first of a repeated key wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    entries: Vec<(Box<str>, Box<str>)>,
}

impl Config {
    /// Parses `text` by the ABI's rules; nothing in it is an error.
    ///
    /// ```
    /// use nvtxw_backend::Config;
    ///
    /// let config = Config::parse("path = out.txt | #format=x | format=lines | format=json");
    /// assert_eq!(config.get("path"), Some("out.txt"));
    /// assert_eq!(config.get("format"), Some("lines"));
    /// assert_eq!(config.get("compression"), None);
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut config = Self::default();
        for entry in text.split(['\n', '\r', '|']) {
            let entry = entry.trim_matches([' ', '\t']);
            if entry.starts_with('#') {
                continue;
            }
            let Some((key, value)) = entry.split_once('=') else {
                continue;
            };
            let (key, value) = (
                key.trim_matches([' ', '\t']),
                value.trim_matches([' ', '\t']),
            );
            if !key.is_empty() && !value.is_empty() && config.get(key).is_none() {
                config.entries.push((key.into(), value.into()));
            }
        }
        config
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }

    /// All keys with their values, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (&**key, &**value))
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    fn entries(text: &str) -> Vec<(String, String)> {
        Config::parse(text)
            .iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn the_first_of_a_repeated_key_wins() {
        assert_eq!(entries("a=1|a=2"), pairs(&[("a", "1")]));
    }

    #[test]
    fn a_comment_ends_with_its_entry() {
        assert_eq!(entries("#x|b=2"), pairs(&[("b", "2")]));
        assert_eq!(entries("  # x=1\nb=#2"), pairs(&[("b", "#2")]));
    }

    #[test]
    fn all_three_delimiters_and_blanks() {
        assert_eq!(
            entries("\ta = 1 \r\nb=2|c= 3 4 "),
            pairs(&[("a", "1"), ("b", "2"), ("c", "3 4")])
        );
    }

    #[test]
    fn incomplete_entries_are_ignored() {
        assert_eq!(entries("a|=1|b=| |c==d"), pairs(&[("c", "=d")]));
    }
}
