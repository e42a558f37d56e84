//! Reads a trace file's events one at a time: what is in memory is one event's text, never the document.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

/// Where the JSON text broke, and how.
#[derive(Debug)]
pub struct BadJson {
    byte: u64,
    reason: serde_json::Error,
}

impl fmt::Display for BadJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} (uncompressed): {}", self.byte, self.reason)
    }
}

impl std::error::Error for BadJson {}

/// Opens `path`; a file that begins like gzip is decompressed, whatever its name.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(2).read_to_end(&mut magic)?;
    file.rewind()?;
    Ok(if magic == [0x1f, 0x8b] {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}

/// Hands the text of every event to `each`, in the order of the file, and returns the names of the other top-level
/// members. The document is `{"traceEvents": [...], ...}` or the bare array.
pub fn events(input: impl Read, each: &mut dyn FnMut(&str)) -> Result<Vec<String>, BadJson> {
    let mut reader = Counted {
        inner: BufReader::with_capacity(1 << 16, input),
        bytes: 0,
    };
    let mut json = serde_json::Deserializer::from_reader(&mut reader);
    let result = json
        .deserialize_any(Document(each))
        .and_then(|others| json.end().map(|()| others));
    result.map_err(|reason| {
        // The parser takes single bytes, so the one it refused is the last it took, unless there was none left.
        let byte = if reason.is_eof() || reason.is_io() {
            reader.bytes
        } else {
            reader.bytes.saturating_sub(1)
        };
        BadJson { byte, reason }
    })
}

/// Counts the bytes that the parser has taken.
struct Counted<R> {
    inner: BufReader<R>,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.bytes += n as u64;
        Ok(n)
    }
}

struct Document<'a>(&'a mut dyn FnMut(&str));

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `traceEvents`, or an array of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let (mut others, mut found) = (Vec::new(), false);
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                found = true;
                map.next_value_seed(Events(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
                others.push(key);
            }
        }
        if found {
            Ok(others)
        } else {
            Err(A::Error::missing_field("traceEvents"))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<String>, A::Error> {
        Events(self.0).visit_seq(seq)?;
        Ok(Vec::new())
    }
}

struct Events<'a>(&'a mut dyn FnMut(&str));

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(event) = seq.next_element::<Box<RawValue>>()? {
            (self.0)(event.get());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Result<Vec<String>, String>) {
        let mut seen = Vec::new();
        let result = events(text.as_bytes(), &mut |event| seen.push(event.to_owned()));
        (seen, result.map_err(|e| e.to_string()))
    }

    #[test]
    fn both_forms_of_document() {
        let (seen, others) = read(r#"{"a": [1, {}], "traceEvents": [{"x": 1}, 2], "b": null}"#);
        assert_eq!(seen, [r#"{"x": 1}"#, "2"]);
        assert_eq!(others.unwrap(), ["a", "b"]);
        assert_eq!(read("[{}, {}]").0.len(), 2);
    }

    #[test]
    fn bad_json_names_the_byte_and_keeps_what_came_before() {
        let text = "{\"traceEvents\": [\n{\"x\": 1},\n{\"x\": ?}]}";
        let (seen, result) = read(text);
        assert_eq!(seen, [r#"{"x": 1}"#]);
        let at = text.find('?').unwrap();
        let error = result.unwrap_err();
        assert!(
            error.starts_with(&format!("byte {at} (uncompressed): expected value")),
            "{error}"
        );
    }

    #[test]
    fn a_cut_file_names_its_length() {
        let text = r#"[{"x": 1}, {"y""#;
        let (seen, result) = read(text);
        assert_eq!(seen.len(), 1);
        let error = result.unwrap_err();
        assert!(
            error.starts_with(&format!("byte {} (uncompressed): EOF", text.len())),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_a_trace_is_said() {
        let error = read("{}").1.unwrap_err();
        assert!(error.contains("missing field `traceEvents`"), "{error}");
        let error = read(r#"{"traceEvents": 5}"#).1.unwrap_err();
        assert!(error.contains("expected an array of events"), "{error}");
        let error = read("[] x").1.unwrap_err();
        assert!(
            error.starts_with("byte 3 (uncompressed): trailing characters"),
            "{error}"
        );
    }
}
