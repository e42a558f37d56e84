//! The `#[repr(…)]` attributes of a struct.

use proc_macro2::Span;
use syn::{Attribute, LitInt, meta::ParseNestedMeta};

/// What the derives need to know of a struct's representation.
#[derive(Default)]
pub(crate) struct Repr {
    /// `C` stands there.
    pub(crate) c: bool,
    /// `packed` is 1, `packed(N)` is N.
    pub(crate) packed: Option<usize>,
    /// A representation beside `C`, `packed` and `align`: its name and place.
    pub(crate) other: Option<(String, Span)>,
}

impl Repr {
    /// Reads all `#[repr(…)]` attributes among `attributes`. What rustc rejects anyway is left to it.
    pub(crate) fn parse(attributes: &[Attribute]) -> Self {
        let mut repr = Self::default();
        for attribute in attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("repr"))
        {
            // A malformed list is an error of rustc's own already.
            let _ = attribute.parse_nested_meta(|meta| repr.item(&meta));
        }
        repr
    }

    fn item(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let argument = if meta.input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in meta.input);
            Some(content.parse::<LitInt>()?)
        } else {
            None
        };
        if meta.path.is_ident("C") {
            self.c = true;
        } else if meta.path.is_ident("packed") {
            self.packed = Some(argument.map_or(Ok(1), |bytes| bytes.base10_parse())?);
        } else if !meta.path.is_ident("align") {
            let name = meta
                .path
                .get_ident()
                .map(ToString::to_string)
                .unwrap_or_default();
            self.other = Some((name, syn::spanned::Spanned::span(&meta.path)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn packed_without_a_number_is_one() {
        let repr = Repr::parse(&[parse_quote!(#[repr(C, packed)])]);
        assert!(repr.c);
        assert_eq!(repr.packed, Some(1));
    }

    #[test]
    fn attributes_add_up() {
        let repr = Repr::parse(&[
            parse_quote!(#[repr(packed(4))]),
            parse_quote!(#[repr(align(8), C)]),
        ]);
        assert!(repr.c);
        assert_eq!(repr.packed, Some(4));
        assert!(repr.other.is_none());
    }

    #[test]
    fn other_representations_are_kept_by_name() {
        let repr = Repr::parse(&[parse_quote!(#[repr(transparent)])]);
        assert!(!repr.c);
        assert_eq!(
            repr.other.map(|(name, _)| name).as_deref(),
            Some("transparent")
        );
    }
}
