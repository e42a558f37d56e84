//! Scopes: where an event or a counter belongs.

use std::fmt;
use std::sync::Arc;

use nvtxw_abi::PredefinedScope;

use crate::refusal::{Refusal, Result};

/// A registered scope: a place in a tree of names.
///
/// Displays as its whole path, `/GPU[0]/Engine[1]`, with a `\` before what is plain text and would be read otherwise, so that
/// different scopes look different. The `/` at the start is the root; `CurrentVm/…` starts from the virtual machine, and a path
/// that starts with a name from nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Scope {
    id: u64,
    anchor: PredefinedScope,
    path: Box<[Segment]>,
}

impl Scope {
    /// The scope `path`, of which `parent` holds the beginning.
    pub(crate) fn new(id: u64, parent: &ScopeRef, path: Vec<Segment>) -> Self {
        match parent {
            ScopeRef::None => Self {
                id,
                anchor: PredefinedScope::None,
                path: path.into(),
            },
            ScopeRef::Root => Self {
                id,
                anchor: PredefinedScope::Root,
                path: path.into(),
            },
            ScopeRef::Predefined(anchor) => Self {
                id,
                anchor: *anchor,
                path: path.into(),
            },
            ScopeRef::Registered(parent) => {
                let path = parent.path.iter().cloned().chain(path).collect();
                Self {
                    id,
                    anchor: parent.anchor,
                    path,
                }
            }
        }
    }

    /// The scope's ID, unique among the scopes of its domain.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The whole path from the root: the segments of the parents first. Empty for the root itself.
    pub fn path(&self) -> &[Segment] {
        &self.path
    }

    /// What the path starts from: nothing, the root, or the machine or the virtual machine that the trace is of.
    pub fn anchor(&self) -> PredefinedScope {
        self.anchor
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "/";
        match self.anchor {
            PredefinedScope::None => separator = "",
            PredefinedScope::Root if self.path.is_empty() => f.write_str("/")?,
            PredefinedScope::Root => {}
            anchor => write!(f, "{anchor:?}")?,
        }
        for segment in &self.path {
            f.write_str(separator)?;
            separator = "/";
            write_escaped(&segment.name, f)?;
            if let Some(key) = &segment.key {
                f.write_str("[")?;
                write_escaped(key, f)?;
                f.write_str("]")?;
            }
        }
        Ok(())
    }
}

fn write_escaped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write;

    for character in text.chars() {
        if matches!(character, '/' | '[' | ']' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(character)?;
    }
    Ok(())
}

/// One step of a scope's path: `name`, or `name[key]` for one of several siblings. Displays as that, without escapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    name: Box<str>,
    key: Option<Box<str>>,
}

impl Segment {
    /// The name, without escapes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stood in brackets, without escapes.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.key {
            Some(key) => write!(f, "[{key}]"),
            None => Ok(()),
        }
    }
}

/// A scope that something refers to. Displays as a registered [`Scope`] does: `/` is the root, and nothing is no scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeRef {
    /// No scope.
    None,
    /// The root of all scopes.
    Root,
    /// Where the traced code ran; a backend that only reads a trace can't tell which place that was.
    Predefined(PredefinedScope),
    /// A scope of the domain.
    Registered(Arc<Scope>),
}

impl ScopeRef {
    /// The scope's ID.
    #[inline]
    pub fn id(&self) -> u64 {
        match self {
            Self::None => PredefinedScope::None.to_raw(),
            Self::Root => PredefinedScope::Root.to_raw(),
            Self::Predefined(scope) => scope.to_raw(),
            Self::Registered(scope) => scope.id,
        }
    }
}

impl fmt::Display for ScopeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Root => f.write_str("/"),
            Self::Predefined(scope) => write!(f, "{scope:?}"),
            Self::Registered(scope) => scope.fmt(f),
        }
    }
}

impl From<PredefinedScope> for ScopeRef {
    fn from(scope: PredefinedScope) -> Self {
        match scope {
            PredefinedScope::None => Self::None,
            PredefinedScope::Root => Self::Root,
            scope => Self::Predefined(scope),
        }
    }
}

/// Reads a path: segments separated by `/` (leading and doubled ones don't matter), each `name` or `name[key]`. A `\` before
/// `/`, `[` or `]` makes that an ordinary character.
pub(crate) fn parse_path(path: &str) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, end) = part(rest);
        let mut segment = Segment {
            name: name.into(),
            key: None,
        };
        rest = &rest[end..];
        if let Some(inside) = rest.strip_prefix('[') {
            let (key, end) = part(inside);
            rest = match inside[end..].strip_prefix(']') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
                Some(_) => return Err(bad_path(path, "something follows a `]`")),
                None => return Err(bad_path(path, "a `[` is not closed")),
            };
            segment.key = Some(key.into());
        }
        rest = match rest.strip_prefix('/') {
            Some(rest) => rest,
            None if rest.is_empty() => rest,
            None => return Err(bad_path(path, "a `]` has no `[`")),
        };
        if !segment.name.is_empty() || segment.key.is_some() {
            segments.push(segment);
        }
    }
    Ok(segments)
}

/// The text up to the first `/`, `[` or `]` that has no `\` before it, without escapes; and where that stands.
fn part(text: &str) -> (String, usize) {
    let mut plain = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match (character, characters.peek()) {
            ('/' | '[' | ']', _) => return (plain, at),
            ('\\', Some(&(_, escaped @ ('/' | '[' | ']')))) => {
                characters.next();
                plain.push(escaped);
            }
            _ => plain.push(character),
        }
    }
    (plain, text.len())
}

fn bad_path(path: &str, defect: &str) -> Refusal {
    Refusal::invalid(format!(
        "attr.path {path:?}: {defect}; a segment is `name` or `name[key]`, and `\\` before `/`, `[` or `]` makes it plain"
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nvtxw_abi::PredefinedScope;

    use super::{Scope, ScopeRef, Segment, parse_path};

    fn path(text: &str) -> Vec<(String, Option<String>)> {
        let segments = parse_path(text).expect("a good path");
        segments
            .iter()
            .map(|segment| (segment.name().to_owned(), segment.key().map(str::to_owned)))
            .collect()
    }

    fn segment(name: &str, key: Option<&str>) -> (String, Option<String>) {
        (name.to_owned(), key.map(str::to_owned))
    }

    #[test]
    fn slashes_separate_and_brackets_hold_a_key() {
        assert_eq!(
            path("GPU[0]/Stream[7]"),
            [segment("GPU", Some("0")), segment("Stream", Some("7"))]
        );
        assert_eq!(path("a/b"), [segment("a", None), segment("b", None)]);
        assert_eq!(path("a[]"), [segment("a", Some(""))]);
    }

    #[test]
    fn leading_doubled_and_trailing_slashes_do_not_matter() {
        assert_eq!(path("//a//b/"), [segment("a", None), segment("b", None)]);
        assert_eq!(path(""), []);
        assert_eq!(path("/"), []);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(path(r"a\/b\[c\]"), [segment("a/b[c]", None)]);
        assert_eq!(
            path(r"NIC[0000\:01\/2]"),
            [segment("NIC", Some(r"0000\:01/2"))]
        );
        assert_eq!(
            path(r"a\b\"),
            [segment(r"a\b\", None)],
            "a backslash before anything else is one"
        );
    }

    #[test]
    fn what_is_unbalanced_is_refused() {
        for (text, defect) in [
            ("GPU[0", "a `[` is not closed"),
            ("GPU[0/1]", "a `[` is not closed"),
            ("GPU[0]x", "something follows a `]`"),
            ("GPU[0][1]", "something follows a `]`"),
            ("GPU]", "a `]` has no `[`"),
            ("a[b[c]]", "a `[` is not closed"),
        ] {
            let refusal = parse_path(text).expect_err(text);
            assert_eq!(
                refusal.reason(),
                format!(
                    "attr.path {text:?}: {defect}; a segment is `name` or `name[key]`, and `\\` before `/`, `[` or `]` \
                     makes it plain"
                )
            );
        }
    }

    #[test]
    fn segments_display_as_they_were_written() {
        let segments = parse_path(r"a\/b[0]/c").expect("a good path");
        let shown: Vec<String> = segments.iter().map(Segment::to_string).collect();
        assert_eq!(shown, ["a/b[0]", "c"]);
    }

    #[test]
    fn different_scopes_display_differently() {
        let scope = |parent: &ScopeRef, path| {
            ScopeRef::Registered(Arc::new(Scope::new(
                9,
                parent,
                parse_path(path).expect(path),
            )))
        };
        let below = |parent: PredefinedScope, path| scope(&parent.into(), path);
        let engine = below(PredefinedScope::Root, "GPU[0]/Engine[1]");
        for (scope, shown) in [
            (ScopeRef::None, ""),
            (ScopeRef::Root, "/"),
            (PredefinedScope::CurrentSwThread.into(), "CurrentSwThread"),
            (below(PredefinedScope::Root, ""), "/"),
            (engine.clone(), "/GPU[0]/Engine[1]"),
            (
                scope(&engine, r"queue \[high\]"),
                r"/GPU[0]/Engine[1]/queue \[high\]",
            ),
            (below(PredefinedScope::Root, r"a\/b"), r"/a\/b"),
            (scope(&below(PredefinedScope::Root, r"a\"), "b"), r"/a\\/b"),
            (
                below(PredefinedScope::CurrentVm, "a/b[]"),
                "CurrentVm/a/b[]",
            ),
            (below(PredefinedScope::None, "a/b"), "a/b"),
        ] {
            assert_eq!(scope.to_string(), shown);
        }
    }
}
