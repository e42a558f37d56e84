//! Messages that quote text of others.

use core::fmt::{self, Write};

/// A message for one line of a terminal or a log: characters that could end the line or control the terminal are escaped.
///
/// Names come from the data: an escape sequence or a line feed in one could forge lines. Control characters, line and
/// paragraph separators and controls of the writing direction become `\n`, `\u{1b}` and so on; all else stays as it is, so
/// that an escaped message is not escaped twice.
///
/// ```
/// use nvtxw_abi::OneLine;
///
/// assert_eq!(OneLine("größe \u{1b}[31m\n").to_string(), r"größe \u{1b}[31m\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OneLine<T>(pub T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(is_control) {
            let mut rest = part.chars();
            match rest.next_back() {
                Some(last) if is_control(last) => {
                    self.0.write_str(rest.as_str())?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use super::OneLine;

    #[test]
    fn only_control_characters_are_escaped() {
        let text = "한강 \"größe\" \\ \u{301} 🦀 \u{200D}";
        assert_eq!(OneLine(text).to_string(), text);
        let text = "\u{1b}[31ma\r\nb\t\0\u{7f}\u{9b}\u{2028}\u{202e}\u{2066}";
        let escaped = r"\u{1b}[31ma\r\nb\t\u{0}\u{7f}\u{9b}\u{2028}\u{202e}\u{2066}";
        assert_eq!(OneLine(text).to_string(), escaped);
        assert_eq!(OneLine(OneLine(text)).to_string(), escaped);
    }

    #[test]
    fn each_control_character_is_escaped_alone_and_between_others() {
        let controls = ('\0'..='\u{1F}')
            .chain('\u{7F}'..='\u{9F}')
            .chain('\u{2028}'..='\u{202E}')
            .chain('\u{2066}'..='\u{2069}');
        for control in controls {
            for text in [String::from(control), std::format!("ä{control}{control}ö")] {
                let shown = OneLine(&text).to_string();
                assert!(!shown.contains(control), "{shown:?}");
                assert!(shown.contains('\\'), "{shown:?}");
            }
        }
    }
}
