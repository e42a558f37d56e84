//! What is put beside an enum.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use crate::{
    ast::Enumeration,
    expand::{c_string, entry, scoped},
};

/// The impls of an enum that was found valid.
pub(crate) fn impls(input: &Enumeration) -> TokenStream {
    let span = entry::at(input.ident.span());
    let ident = &input.ident;
    let name = c_string(&input.name().0);
    let flags = input.attributes.flags.is_some();
    let values = input.variants.iter().flatten().map(|variant| {
        let name = c_string(&variant.name().0);
        let variant = &variant.ident;
        quote_spanned! {span=>
            (#name, _nvtxw::EnumTable::value(#ident::#variant as _nvtxw::i128, _nvtxw::size_of::<#ident>()))
        }
    });
    let table = quote_spanned! {span=>
        _nvtxw::EnumTable {
            name: #name,
            size: _nvtxw::size_of::<#ident>(),
            flags: #flags,
            values: &[#(#values,)*],
        }
    };
    let bits = match &input.repr.other {
        Some((integer, _)) => Ident::new(integer, span),
        None => Ident::new("c_int", span),
    };
    assemble(
        input,
        &table,
        &bits,
        &quote_spanned!(span=> self as _nvtxw::#bits),
    )
}

/// Impls that stand in for those of an enum that was refused.
pub(crate) fn stub(input: &Enumeration) -> TokenStream {
    let span = entry::at(input.ident.span());
    if input.variants.is_none() || !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let table = quote_spanned!(span=> _nvtxw::EnumTable::REFUSED);
    let bits = Ident::new("u8", span);
    assemble(input, &table, &bits, &quote_spanned!(span=> 0))
}

/// `bits` is the integer type of the enum, `value` makes one of `self`.
fn assemble(
    input: &Enumeration,
    table: &TokenStream,
    bits: &Ident,
    value: &TokenStream,
) -> TokenStream {
    let span = entry::at(input.ident.span());
    let ident = &input.ident;
    let flags = input.attributes.flags.map(|_| {
        quote_spanned! {span=>
            #[automatically_derived]
            impl _nvtxw::NvtxFlags for #ident {
                #[inline]
                fn bits(self) -> _nvtxw::#bits {
                    #value
                }
            }
        }
    });
    let impls = quote_spanned! {span=>
        #[automatically_derived]
        unsafe impl _nvtxw::NvtxField for #ident {
            #[doc(hidden)]
            const TYPE: _nvtxw::FieldType = _nvtxw::FieldType::enumeration::<Self>();
        }

        #[automatically_derived]
        unsafe impl _nvtxw::NvtxEnum for #ident {
            type Bits = _nvtxw::#bits;
            #[doc(hidden)]
            const TABLE: _nvtxw::EnumTable = #table;
        }

        #flags
    };
    scoped(ident, &input.attributes.krate, impls)
}
