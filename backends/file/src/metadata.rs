//! Metadata of a session that the producer gives in the config: `metadata.NAME=VALUE`.

use nvtxw_backend::{Config, Refusal, Result};

const PREFIX: &str = "metadata.";

/// Prefix of the backend's own attributes.
const OWN: &str = "nvtxw.";

/// The names and values, in the order of the config.
pub(crate) fn of(config: &Config) -> Result<Vec<(String, String)>> {
    let entries = config.iter();
    let entries = entries.filter_map(|(key, value)| Some((key.strip_prefix(PREFIX)?, value)));
    let mut metadata = Vec::new();
    for (name, value) in entries {
        if name.is_empty() || name.starts_with(OWN) {
            return Err(Refusal::invalid(format!(
                "config key `{PREFIX}{name}` names no metadata of the producer's: give it a name that does not begin with `{OWN}`"
            )));
        }
        let text = string(value).unwrap_or_else(|| value.to_owned());
        metadata.push((name.to_owned(), text));
    }
    Ok(metadata)
}

/// The text of a JSON string; `None` for other values. It may hold what ends an entry of a config, as an escape.
fn string(json: &str) -> Option<String> {
    let mut rest = json.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let (c, len) = match escape.bytes().next()? {
            b'u' => {
                let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
                let high = unit(&escape[1..])?;
                let after = escape[5..].strip_prefix("\\u");
                match (high, after.and_then(unit)) {
                    (0xD800..=0xDBFF, Some(low)) => {
                        (char::decode_utf16([high, low]).next()?.ok()?, 11)
                    }
                    _ => (char::from_u32(high.into())?, 5),
                }
            }
            b'b' => ('\u{8}', 1),
            b'f' => ('\u{c}', 1),
            b'n' => ('\n', 1),
            b'r' => ('\r', 1),
            b't' => ('\t', 1),
            same @ (b'"' | b'\\' | b'/') => (char::from(same), 1),
            _ => return None,
        };
        text.push(c);
        rest = &escape[len..];
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_and_json_strings_are_unescaped() {
        let config = Config::parse(
            r#"path=x|metadata.host=node 7|metadata.cfg={"a":"b\u007cc"}|metadata.note="a\u007cb\n\"\ud83d\ude00"|metadata.half="\ud800"|metadata.empty="""#,
        );
        let found = of(&config).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        assert_eq!(
            found,
            [
                ("host", "node 7"),
                ("cfg", r#"{"a":"b\u007cc"}"#),
                ("note", "a|b\n\"\u{1F600}"),
                ("half", r#""\ud800""#),
                ("empty", ""),
            ]
        );
    }

    #[test]
    fn names_of_the_backend_are_rejected() {
        for (name, key) in [
            ("nvtxw.session", "metadata.nvtxw.session"),
            ("", "metadata."),
        ] {
            let refusal = of(&Config::parse(&format!("metadata.{name}=x"))).unwrap_err();
            assert_eq!(
                refusal.reason(),
                format!(
                    "config key `{key}` names no metadata of the producer's: give it a name that does not begin with `nvtxw.`"
                )
            );
        }
    }
}
