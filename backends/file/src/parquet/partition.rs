//! Names of folders.

use std::fmt::Write;

use crate::intern::hash;

/// What hive and its readers take for no value.
const NONE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Names of files may have 255 bytes: this leaves room for a key.
const LONGEST: usize = 200;

/// The folder of a partition: `key=value`. No value and an empty one are the same to readers.
pub(super) fn partition(key: &str, value: &str) -> String {
    match value {
        "" => format!("{key}={NONE}"),
        _ => format!("{key}={}", escaped(value)),
    }
}

/// The folder of a table. Readers pass over what begins with a point or an underscore.
pub(super) fn table(name: &str) -> String {
    let mut folder = escaped(name);
    if let Some(rest) = folder.strip_prefix('_') {
        folder = format!("%5F{rest}");
    }
    folder
}

/// The text as readers of partitions decode it: other bytes than letters, digits, `-`, `_` and points
/// inside become `%XX`. The end of a long text is a hash of the whole.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let last = text.len().saturating_sub(1);
    for (at, character) in text.char_indices() {
        let before = out.len();
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => out.push(character),
            '.' if at != 0 && at != last => out.push(character),
            _ => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
        if out.len() > LONGEST {
            out.truncate(before);
            let _ = write!(out, "~{:016x}", hash(text.as_bytes()));
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_a_folder_of_its_own() {
        for (value, folder) in [
            ("rank-0_a.b", "k=rank-0_a.b"),
            ("", "k=__HIVE_DEFAULT_PARTITION__"),
            ("..", "k=%2E%2E"),
            (".", "k=%2E"),
            ("a/b=c\\d", "k=a%2Fb%3Dc%5Cd"),
            ("\0%\n ", "k=%00%25%0A%20"),
            ("한", "k=%ED%95%9C"),
        ] {
            assert_eq!(partition("k", value), folder);
        }
        assert_eq!(table("_x"), "%5Fx");
        assert_eq!(table(".x"), "%2Ex");
        assert_eq!(table("a.b"), "a.b");
    }

    #[test]
    fn long_names_stay_apart() {
        let folder = |last: &str| partition("session", &("한".repeat(1000) + last));
        assert_ne!(folder("a"), folder("b"));
        assert!(folder("a").len() < 255);
        // Nothing is cut within a character.
        assert!(folder("a").contains("%9C~"));
    }
}
