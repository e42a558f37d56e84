//! What is put beside a newtype.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Generics, parse_quote, spanned::Spanned as _};

use crate::{
    ast::Newtype,
    expand::{copied, entry, scoped, without_lifetimes},
};

/// The impls of a newtype that was found valid.
pub(crate) fn impls(input: &Newtype) -> TokenStream {
    let Some([ty]) = input.fields.as_deref() else {
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
    assemble(input, &generics, &inner)
}

/// Impls that stand in for those of a struct that was refused.
pub(crate) fn stub(input: &Newtype) -> TokenStream {
    let generics = without_lifetimes(copied(&input.generics));
    assemble(input, &generics, &quote!(_nvtxw::u64))
}

fn assemble(input: &Newtype, generics: &Generics, inner: &TokenStream) -> TokenStream {
    let span = entry::at(input.ident.span());
    let ident = &input.ident;
    let (_, arguments, _) = input.generics.split_for_impl();
    let (parameters, _, bounds) = generics.split_for_impl();
    let impls = quote_spanned! {span=>
        #[automatically_derived]
        unsafe impl #parameters _nvtxw::NvtxField for #ident #arguments #bounds {
            #[doc(hidden)]
            const TYPE: _nvtxw::FieldType = <#inner as _nvtxw::NvtxField>::TYPE;
        }

        #[automatically_derived]
        unsafe impl #parameters _nvtxw::Newtype for #ident #arguments #bounds {
            type Inner = #inner;
        }
    };
    scoped(ident, &input.attributes.krate, impls)
}
