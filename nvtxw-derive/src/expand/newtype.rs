//! What is put beside a newtype.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Generics, parse_quote, spanned::Spanned as _};

use crate::{
    ast::Newtype,
    expand::{copied, entry, layout, scoped, without_lifetimes},
};

/// The impls of a newtype that was found valid.
pub(crate) fn impls(input: &Newtype) -> TokenStream {
    let Some([(member, ty)]) = input.fields.as_deref() else {
        return TokenStream::new();
    };
    let mut generics = copied(&input.generics);
    if entry::depends_on_parameter(ty, &generics) {
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#ty: _nvtxw::NvtxField));
    }
    let inner = quote_spanned!(entry::at(ty.span())=> #ty);
    let tie = layout::tie(&input.ident, [(member, ty)]);
    let span = entry::at(input.ident.span());
    let stored = |this: &TokenStream| quote_spanned!(span=> _nvtxw::FieldType::newtype::<#this>(<#inner as _nvtxw::NvtxField>::TYPE));
    let in_impl = stored(&quote!(Self));
    // Evaluated always, which the associated constant isn't.
    let check = input.generics.params.is_empty().then(|| {
        let stored = stored(&input.ident.to_token_stream());
        quote_spanned!(span=> const _: _nvtxw::FieldType = #stored;)
    });
    let ty = quote_spanned!(span=> { #tie #in_impl });
    assemble(input, &generics, &inner, &ty, check)
}

/// Impls that stand in for those of a struct that was refused.
pub(crate) fn stub(input: &Newtype) -> TokenStream {
    let generics = without_lifetimes(copied(&input.generics));
    let inner = quote!(_nvtxw::u64);
    let ty = quote!(<#inner as _nvtxw::NvtxField>::TYPE);
    assemble(input, &generics, &inner, &ty, None)
}

/// `inner` is what it wraps, `ty` how it lies in memory, `check` stands beside the impls.
fn assemble(
    input: &Newtype,
    generics: &Generics,
    inner: &TokenStream,
    ty: &TokenStream,
    check: Option<TokenStream>,
) -> TokenStream {
    let span = entry::at(input.ident.span());
    let ident = &input.ident;
    let (_, arguments, _) = input.generics.split_for_impl();
    let (parameters, _, bounds) = generics.split_for_impl();
    let impls = quote_spanned! {span=>
        #[automatically_derived]
        unsafe impl #parameters _nvtxw::NvtxField for #ident #arguments #bounds {
            #[doc(hidden)]
            const TYPE: _nvtxw::FieldType = #ty;
        }

        #[automatically_derived]
        unsafe impl #parameters _nvtxw::Newtype for #ident #arguments #bounds {
            type Inner = #inner;
        }

        #check
    };
    scoped(ident, &input.attributes.krate, impls)
}
