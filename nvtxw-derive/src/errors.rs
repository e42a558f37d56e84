//! Collects every independent error of one derive, so that the user sees them in one compile.

use proc_macro2::Span;

/// The errors so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at `span`.
    pub(crate) fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Adds an error that a parser made.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// The errors, if there are any.
    pub(crate) fn into_option(self) -> Option<syn::Error> {
        self.0
    }
}
