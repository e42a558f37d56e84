//! The way of a derive: parse, reject, expand.

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::{
    ast::{Enumeration, Newtype, Struct},
    errors::Errors,
    expand::{self, Target},
    valid,
    vocabulary::EventKind,
};

/// `#[derive(NvtxEvent)]`.
pub(crate) fn event(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let input = Struct::parse(input, &mut errors);
    valid::event(&input, &mut errors);
    let kind = input
        .attributes
        .kind
        .map_or(EventKind::Mark, |kind| kind.value);
    finish(&input, Target::Event(kind), errors)
}

/// `#[derive(NvtxCounterGroup)]`.
pub(crate) fn counter_group(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let input = Struct::parse(input, &mut errors);
    valid::counter_group(&input, &mut errors);
    finish(&input, Target::CounterGroup, errors)
}

/// `#[derive(NvtxPayload)]`.
pub(crate) fn payload(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let input = Struct::parse(input, &mut errors);
    valid::payload(&input, &mut errors);
    finish(&input, Target::Payload, errors)
}

/// `#[derive(NvtxEnum)]`.
pub(crate) fn enumeration(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let input = Enumeration::parse(input, &mut errors);
    valid::enumeration(&input, &mut errors);
    match errors.into_option() {
        None => expand::enumeration::impls(&input),
        Some(errors) => beside(errors, expand::enumeration::stub(&input)),
    }
}

/// `#[derive(NvtxField)]`.
pub(crate) fn newtype(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let input = Newtype::parse(input, &mut errors);
    valid::newtype(&input, &mut errors);
    match errors.into_option() {
        None => expand::newtype::impls(&input),
        Some(errors) => beside(errors, expand::newtype::stub(&input)),
    }
}

/// The impls, or the errors and stubs: without a stub every use of the struct would be an error
/// too.
fn finish(input: &Struct, target: Target, errors: Errors) -> TokenStream {
    match errors.into_option() {
        None => expand::impls(input, target),
        Some(errors) => beside(errors, expand::stub(input, target)),
    }
}

fn beside(errors: syn::Error, stub: TokenStream) -> TokenStream {
    let mut tokens = errors.into_compile_error();
    tokens.extend(stub);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenTree;
    use syn::parse_quote;

    fn idents(tokens: TokenStream) -> Vec<String> {
        tokens
            .into_iter()
            .flat_map(|token| match token {
                TokenTree::Group(group) => idents(group.stream()),
                TokenTree::Ident(ident) => vec![ident.to_string()],
                _ => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn a_renamed_crate_is_named_nowhere_else() {
        let accepted = event(parse_quote! {
            #[repr(C)]
            #[nvtx(kind = mark, crate = "tracing")]
            struct Event {
                #[nvtx(timestamp)]
                time: i64,
                #[nvtx(skip)]
                rest: [u8; 8],
                #[nvtx(max = 9, interpolation = "point", value_type = "delta")]
                sent: u64,
            }
        });
        let refused = event(parse_quote! {
            #[nvtx(crate = "tracing")]
            struct Event;
        });
        for idents in [idents(accepted), idents(refused)] {
            assert!(!idents.contains(&"nvtxw".to_owned()), "{idents:?}");
            assert_eq!(idents.iter().filter(|ident| *ident == "tracing").count(), 1);
        }
    }
}
