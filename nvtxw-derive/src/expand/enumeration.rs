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
    let patterns = input.variants.iter().flatten().map(|variant| {
        let variant = &variant.ident;
        quote_spanned!(span=> #ident::#variant)
    });
    // The match compiles if the enum has exactly these variants: an attribute macro below the derive may put another enum
    // in its place.
    let table = quote_spanned! {span=>
        {
            let _ = |_nvtxw_this: Self| match _nvtxw_this { #(#patterns)|* => {} };
            _nvtxw::EnumTable {
                name: #name,
                size: _nvtxw::size_of::<#ident>(),
                flags: #flags,
                values: &[#(#values,)*],
            }
        }
    };
    let bits = match &input.repr.other {
        Some((integer, _)) => Ident::new(integer, span),
        None => Ident::new("c_int", span),
    };
    let ty = quote_spanned!(span=> _nvtxw::FieldType::enumeration::<#ident>());
    let value = quote_spanned!(span=> self as _nvtxw::#bits);
    assemble(input, &ty, &table, &bits, &value)
}

/// Impls that stand in for those of an enum that was refused.
pub(crate) fn stub(input: &Enumeration) -> TokenStream {
    let span = entry::at(input.ident.span());
    if input.variants.is_none() || !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let table = quote_spanned!(span=> _nvtxw::EnumTable::REFUSED);
    let bits = Ident::new("u8", span);
    let ty = quote_spanned!(span=> <_nvtxw::u8 as _nvtxw::NvtxField>::TYPE);
    assemble(input, &ty, &table, &bits, &quote_spanned!(span=> 0))
}

/// `ty` is how the enum lies in memory, `bits` its integer type, `value` makes one of `self`.
fn assemble(
    input: &Enumeration,
    ty: &TokenStream,
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

            #[automatically_derived]
            impl<NvtxwOther: _nvtxw::Into<_nvtxw::Flags<#ident>>> _nvtxw::BitOr<NvtxwOther> for #ident {
                type Output = _nvtxw::Flags<#ident>;

                #[inline]
                fn bitor(self, other: NvtxwOther) -> _nvtxw::Flags<#ident> {
                    <_nvtxw::Flags<#ident> as _nvtxw::From<#ident>>::from(self) | other
                }
            }
        }
    });
    let impls = quote_spanned! {span=>
        #[automatically_derived]
        unsafe impl _nvtxw::NvtxField for #ident {
            #[doc(hidden)]
            const TYPE: _nvtxw::FieldType = #ty;
        }

        #[automatically_derived]
        unsafe impl _nvtxw::NvtxEnum for #ident {
            type Bits = _nvtxw::#bits;
            #[doc(hidden)]
            const TABLE: _nvtxw::EnumTable = #table;
        }

        #flags

        // Evaluated always, which the associated constant isn't.
        const _: _nvtxw::FieldType = #ty;
    };
    scoped(ident, &input.attributes.krate, impls)
}
