//! The checks of the layout: one for each place where padding can be. And the checks that the struct is the one that the
//! derive saw: an attribute macro below the derive may put another in its place.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Type, ext::IdentExt as _, spanned::Spanned as _};

use crate::{
    ast::Struct,
    expand::{Target, entry},
};

/// Calls that fail at compile time where the layout is unfit, one for each field, with its span.
pub(super) fn checks(input: &Struct, target: Target, this: &TokenStream) -> Vec<TokenStream> {
    let mut checks = Vec::new();
    for (index, field) in input.fields.iter().enumerate() {
        let (ident, ty) = (&field.ident, &field.ty);
        let name = ident.unraw().to_string();
        let number = Literal::usize_unsuffixed(index);
        let span = entry::at(ident.span());
        let mut extent = quote_spanned! {span=>
            _nvtxw::Extent::new(#name, #number, _nvtxw::offset_of!(#this, #ident), _nvtxw::size_of::<#ty>())
        };
        if field.attributes.skip.is_some() {
            // A skipped field is in no table, and its bytes are written all the same.
            let skipped = entry::stored(field, target);
            extent = quote_spanned!(span=> #extent.skipped(#skipped));
        }
        checks.push(match input.fields.get(index + 1) {
            Some(next) => {
                let next = &next.ident;
                let next_name = next.unraw().to_string();
                quote_spanned!(span=> #extent.assert_before(#next_name, _nvtxw::offset_of!(#this, #next)))
            }
            None => quote_spanned!(span=> #extent.assert_last(_nvtxw::size_of::<#this>())),
        });
    }
    checks
}

/// An expression that compiles if `Self` has exactly these fields, of exactly these types.
pub(super) fn tie<'a, M: ToTokens + 'a>(
    ident: &Ident,
    fields: impl IntoIterator<Item = (&'a M, &'a Type)>,
) -> TokenStream {
    let mut patterns = Vec::new();
    let mut ties = Vec::new();
    for (index, (member, ty)) in fields.into_iter().enumerate() {
        let span = entry::at(member.span());
        // A constant of the user's of this name would be taken for the pattern.
        let value = format_ident!("_nvtxw_{index}", span = span);
        patterns.push(quote_spanned!(span=> #member: #value));
        ties.push(quote_spanned!(span=> _nvtxw::tie::<#ty, _>(#value)));
    }
    quote_spanned! {entry::at(ident.span())=>
        let _ = |_nvtxw_this: Self| {
            let Self { #(#patterns,)* } = _nvtxw_this;
            #(#ties;)*
        };
    }
}
