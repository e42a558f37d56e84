//! The layout checks of derived structs, which run while the user's crate is compiled.
//!
//! The functions are `#[track_caller]` all the way down, so that the compiler points at the user's
//! field and not in here.

/// Where a field lies in its struct.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    name: &'static str,
    index: usize,
    size: usize,
    end: usize,
    is_skipped: bool,
}

impl Extent {
    /// The field `name`, the `index`th, with `offset` and `size` in bytes.
    pub const fn new(name: &'static str, index: usize, offset: usize, size: usize) -> Self {
        Self {
            name,
            index,
            size,
            end: offset + size,
            is_skipped: false,
        }
    }

    /// Marks the field as one without an entry, which may have no bytes. The argument is
    /// `SkippedField::SKIPPED` of its type.
    pub const fn skipped(mut self, _: ()) -> Self {
        self.is_skipped = true;
        self
    }

    /// Fails at compile time unless the field has bytes or is skipped, and `next` (at `offset`)
    /// starts where it ends.
    #[track_caller]
    pub const fn assert_before(self, next: &str, offset: usize) {
        self.assert_alone();
        if offset < self.end {
            Failure::out_of_order(next, "isn't behind the field before it");
        }
        let gap = offset - self.end;
        if gap > 0 {
            Failure::of_padding(gap)
                .text(" after field `")
                .text(self.name)
                .text("`, before `")
                .text(next)
                .text("`: ")
                .text(leaks(gap))
                .text("; put `")
                .text(next)
                .text("` before `")
                .text(self.name)
                .text("`, or fill the gap with ")
                .filler(self.index, gap)
                .fail();
        }
    }

    /// Fails at compile time unless the field has bytes or is skipped, and the struct of `size`
    /// bytes ends where it ends.
    #[track_caller]
    pub const fn assert_last(self, size: usize) {
        self.assert_alone();
        if size < self.end {
            Failure::out_of_order(self.name, "isn't the last of the struct");
        }
        let gap = size - self.end;
        if gap > 0 {
            Failure::of_padding(gap)
                .text(" after field `")
                .text(self.name)
                .text("`, at the end of the struct: ")
                .text(leaks(gap))
                .text("; fill the gap with ")
                .filler(self.index, gap)
                .fail();
        }
    }

    #[track_caller]
    const fn assert_alone(self) {
        if self.size == 0 && !self.is_skipped {
            Failure::new()
                .text("field `")
                .text(self.name)
                .text("` has no bytes, so there is nothing to write: remove it, or mark it with `#[nvtx(skip)]`")
                .fail();
        }
        if self.index == 0 && self.end != self.size {
            Failure::out_of_order(self.name, "isn't at the start of the struct");
        }
    }
}

/// What to do where the struct isn't the one that the derive saw.
const REPLACED: &str =
    ": an attribute macro below the derive changed the `repr`; move it above `#[derive(…)]`";

/// Fails at compile time unless `what` has the size that its `repr` gives it.
#[track_caller]
pub(crate) const fn assert_size(what: &str, size: usize, expected: usize) {
    if size != expected {
        Failure::new()
            .text(what)
            .text(" has ")
            .number(size as i128)
            .text(" bytes, and what it is stored as has ")
            .number(expected as i128)
            .text(
                ": remove `align` from its `repr`; if an attribute macro below the derive changed it, move that above \
                 `#[derive(…)]`",
            )
            .fail();
    }
}

/// The type itself and no other. Nobody can name it, so nobody can implement it.
#[diagnostic::on_unimplemented(
    message = "the field is of type `{Self}`, and the derive saw `{T}`",
    label = "replaced after the derive",
    note = "an attribute macro below the derive put another struct in its place: move it above `#[derive(…)]`"
)]
pub trait Same<T> {}

impl<T> Same<T> for T {}

/// Takes a field of the type that the derive saw.
pub fn tie<T, F: Same<T>>(_: F) {}

const fn leaks(bytes: usize) -> &'static str {
    if bytes == 1 {
        "it would leak into the trace"
    } else {
        "they would leak into the trace"
    }
}

/// The message of a compile-time failure, which may hold numbers that are known then only.
pub(crate) struct Failure {
    bytes: [u8; 1024],
    len: usize,
}

impl Failure {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; 1024],
            len: 0,
        }
    }

    const fn of_padding(bytes: usize) -> Self {
        let bytes_of = if bytes == 1 {
            " uninitialised padding byte"
        } else {
            " uninitialised padding bytes"
        };
        Self::new().number(bytes as i128).text(bytes_of)
    }

    /// Appends text; what doesn't fit any more is left out.
    pub(crate) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if text.len() <= self.bytes.len() - self.len {
            let mut at = 0;
            while at < text.len() {
                self.bytes[self.len] = text[at];
                self.len += 1;
                at += 1;
            }
        }
        self
    }

    /// Fails because the struct isn't `#[repr(C)]` any more.
    #[track_caller]
    const fn out_of_order(name: &str, problem: &str) -> ! {
        Self::new()
            .text("field `")
            .text(name)
            .text("` ")
            .text(problem)
            .text(REPLACED)
            .fail()
    }

    pub(crate) const fn number(self, number: i128) -> Self {
        if number < 0 {
            return self.text("-").number(-number);
        }
        let before = if number >= 10 {
            self.number(number / 10)
        } else {
            self
        };
        let digit = [b'0' + (number % 10) as u8];
        match str::from_utf8(&digit) {
            Ok(digit) => before.text(digit),
            Err(_) => before,
        }
    }

    /// The field that fills a gap after the field of this index.
    const fn filler(self, index: usize, bytes: usize) -> Self {
        self.text("`#[nvtx(skip)] _pad")
            .number(index as i128)
            .text(": [u8; ")
            .number(bytes as i128)
            .text("]`")
    }

    #[track_caller]
    pub(crate) const fn fail(&self) -> ! {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a struct that can't be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn failure(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *std::panic::catch_unwind(check)
            .expect_err("the check passed")
            .downcast()
            .expect("a text")
    }

    #[test]
    fn a_gap_names_both_fields_and_the_filler() {
        let a = Extent::new("a", 0, 0, 1);
        assert_eq!(
            failure(move || a.assert_before("t", 8)),
            "7 uninitialised padding bytes after field `a`, before `t`: they would leak into the trace; put `t` \
             before `a`, or fill the gap with `#[nvtx(skip)] _pad0: [u8; 7]`"
        );
    }

    #[test]
    fn one_byte_is_singular() {
        let a = Extent::new("a", 0, 0, 1);
        let text = failure(move || a.assert_before("t", 2));
        assert!(
            text.starts_with("1 uninitialised padding byte after field `a`, before `t`: it would"),
            "{text}"
        );
    }

    #[test]
    fn the_tail_is_a_gap_too() {
        let c = Extent::new("größe", 12, 100, 4);
        assert_eq!(
            failure(move || c.assert_last(128)),
            "24 uninitialised padding bytes after field `größe`, at the end of the struct: they would leak into the \
             trace; fill the gap with `#[nvtx(skip)] _pad12: [u8; 24]`"
        );
    }

    #[test]
    fn no_gap_passes() {
        Extent::new("a", 0, 0, 8).assert_before("b", 8);
        Extent::new("b", 1, 8, 8).assert_last(16);
    }

    #[test]
    fn an_empty_field_is_refused_wherever_it_stands() {
        let empty = Extent::new("e", 1, 8, 0);
        let text = "field `e` has no bytes, so there is nothing to write: remove it, or mark it with `#[nvtx(skip)]`";
        assert_eq!(failure(move || empty.assert_before("b", 8)), text);
        assert_eq!(failure(move || empty.assert_last(8)), text);
    }

    #[test]
    fn skipped_field_may_be_empty_and_gaps_are_still_found() {
        let marker = |offset| Extent::new("marker", 1, offset, 0).skipped(());
        marker(8).assert_before("b", 8);
        marker(8).assert_last(8);
        let text = failure(move || marker(4).assert_before("b", 8));
        assert!(
            text.starts_with("4 uninitialised padding bytes after field `marker`"),
            "{text}"
        );
        let text = failure(move || marker(4).assert_last(8));
        assert!(
            text.starts_with("4 uninitialised padding bytes after field `marker`"),
            "{text}"
        );
    }

    #[test]
    fn a_struct_that_is_not_in_order_is_refused_whatever_its_size() {
        const MOVE: &str = ": an attribute macro below the derive changed the `repr`; move it above `#[derive(…)]`";
        let late = Extent::new("a", 0, 8, 8);
        let at_start = format!("field `a` isn't at the start of the struct{MOVE}");
        assert_eq!(failure(move || late.assert_before("b", 16)), at_start);
        assert_eq!(failure(move || late.assert_last(16)), at_start);
        let a = Extent::new("a", 1, 8, 8);
        assert_eq!(
            failure(move || a.assert_before("b", 0)),
            format!("field `b` isn't behind the field before it{MOVE}")
        );
        assert_eq!(
            failure(move || a.assert_last(8)),
            format!("field `a` isn't the last of the struct{MOVE}")
        );
    }

    #[test]
    fn another_size_names_both() {
        assert_size("the enum", 4, 4);
        assert_eq!(
            failure(|| assert_size("the enum", 4, 1)),
            "the enum has 4 bytes, and what it is stored as has 1: remove `align` from its `repr`; if an attribute macro \
             below the derive changed it, move that above `#[derive(…)]`"
        );
    }

    #[test]
    fn names_too_long_for_the_message_are_left_out() {
        const LONG: &[u8] = &[b'x'; 2000];
        let field = Extent::new(str::from_utf8(LONG).unwrap(), 0, 0, 1);
        assert!(
            failure(move || field.assert_before("t", 2)).contains("after field ``, before `t`")
        );
    }
}
