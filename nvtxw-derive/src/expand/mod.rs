//! What the derives put beside the struct. Logic is in `nvtxw`; here are calls and constants.

mod doc;
mod entry;
pub(crate) mod enumeration;
mod layout;
pub(crate) mod newtype;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Generics, Path, parse_quote};

use crate::{
    ast::Struct,
    attr::FieldAttributes,
    vocabulary::{EventKind, Role, Word},
};

/// What is derived.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Event(EventKind),
    CounterGroup,
    Payload,
}

/// The parts of the impls that differ.
struct Parts {
    generics: Generics,
    schema: TokenStream,
    check: TokenStream,
    /// What `cargo doc` shows.
    doc: Option<String>,
    /// The traits without items.
    markers: &'static [&'static str],
    /// Whether the text of an event lies in its pool, if it has such text.
    fits: Option<TokenStream>,
    /// What stands beside the impls.
    items: TokenStream,
}

/// The impls of a struct that was found valid.
pub(crate) fn impls(input: &Struct, target: Target) -> TokenStream {
    let this = if input.is_generic() {
        quote!(Self)
    } else {
        input.ident.to_token_stream()
    };
    let checks = layout::checks(input, target, &this);
    let fields = input.fields.iter().map(|field| (&field.ident, &field.ty));
    let tie = layout::tie(&input.ident, fields);
    let (check, items) = if input.is_generic() {
        (quote!({ #tie #(#checks;)* }), TokenStream::new())
    } else {
        // Free constants: rustc evaluates them always, associated ones only where they are used. The schema names those of
        // entries, so that an error in one comes once.
        let checked = (0..)
            .zip(&input.fields)
            .filter(|(_, field)| entry::is_checked(field));
        let checked = checked.map(|(index, field)| {
            let constant = entry::constant(index, field);
            let entry = entry::entry(field, target, &this);
            quote!(const #constant: _nvtxw::Entry = #entry;)
        });
        let items = quote! {
            #(const _: () = #checks;)*
            #(#checked)*
        };
        (quote!({ #tie }), items)
    };
    let has = |wanted: fn(&FieldAttributes) -> bool| {
        input.fields.iter().any(|field| wanted(&field.attributes))
    };
    let embeds_time = has(|attributes| attributes.role() == Some(Role::Timestamp));
    let has_flex = has(|attributes| attributes.flex.is_some());
    let parts = Parts {
        generics: bounded(input, target),
        schema: schema(input, target, &this),
        check,
        doc: Some(doc::table(input, target)),
        markers: match target {
            Target::Event(_) if has_flex => &["CompleteEvent"],
            Target::Event(kind) if kind.is_complete() => &["CompleteEvent", "FixedEvent"],
            Target::Event(_) => &["FixedEvent"],
            Target::CounterGroup if embeds_time => &["EmbeddedTime"],
            Target::CounterGroup => &["SeparateTime"],
            Target::Payload => &[],
        },
        fits: has_flex.then(|| entry::fits(input)),
        items,
    };
    assemble(input, target, parts)
}

/// Impls that stand in for those of a struct that was refused.
pub(crate) fn stub(input: &Struct, target: Target) -> TokenStream {
    let parts = Parts {
        generics: without_lifetimes(copied(&input.generics)),
        schema: quote!(_nvtxw::SchemaTable::REFUSED),
        check: quote!(()),
        doc: None,
        markers: match target {
            Target::Event(_) => &["CompleteEvent", "FixedEvent"],
            Target::CounterGroup => &["EmbeddedTime", "SeparateTime"],
            Target::Payload => &[],
        },
        fits: matches!(target, Target::Event(_)).then(|| quote!(true)),
        items: TokenStream::new(),
    };
    assemble(input, target, parts)
}

fn assemble(input: &Struct, target: Target, parts: Parts) -> TokenStream {
    let Parts {
        generics,
        schema,
        check,
        doc,
        markers,
        fits,
        items,
    } = parts;
    let doc = doc.map(|doc| quote!(#[doc = #doc]));
    let span = entry::at(input.ident.span());
    let ident = &input.ident;
    let trait_name = target.trait_name();
    let markers = markers.iter().map(|marker| Ident::new(marker, span));
    let kind = match target {
        Target::Event(kind) => {
            let kind = word("EventKind", kind);
            quote!(const KIND: _nvtxw::EventKind = #kind;)
        }
        Target::CounterGroup | Target::Payload => TokenStream::new(),
    };
    let (_, arguments, _) = input.generics.split_for_impl();
    let (parameters, _, bounds) = generics.split_for_impl();
    let field = (target == Target::Payload).then(|| {
        quote_spanned! {span=>
            #[automatically_derived]
            unsafe impl #parameters _nvtxw::NvtxField for #ident #arguments #bounds {
                #[doc(hidden)]
                const TYPE: _nvtxw::FieldType = _nvtxw::FieldType::payload::<Self>();
            }
        }
    });
    let fits = fits.map(|fits| {
        quote_spanned! {span=>
            #[automatically_derived]
            impl #parameters _nvtxw::FlexEvent for #ident #arguments #bounds {
                #[inline]
                fn fits(&self, pool: _nvtxw::usize) -> _nvtxw::bool {
                    #fits
                }
            }
        }
    });
    let impls = quote_spanned! {span=>
            #doc
            #[automatically_derived]
            unsafe impl #parameters _nvtxw::#trait_name for #ident #arguments #bounds {
                #[doc(hidden)]
                const SCHEMA: _nvtxw::SchemaTable = #schema;
                #[doc(hidden)]
                const CHECK: () = #check;
                #kind
            }

            #(
                #[automatically_derived]
                impl #parameters _nvtxw::#markers for #ident #arguments #bounds {}
            )*

            #field
            #fits
            #items
    };
    scoped(&input.ident, &input.attributes.krate, impls)
}

/// Items that name nothing but `_nvtxw`, and that nothing outside can name.
fn scoped(ident: &Ident, krate: &Option<Path>, items: TokenStream) -> TokenStream {
    let span = entry::at(ident.span());
    let nvtxw = match krate {
        Some(path) => quote!(#path),
        None => quote_spanned!(span=> ::nvtxw),
    };
    quote_spanned! {span=>
        const _: () = {
            use #nvtxw::__private as _nvtxw;

            #items
        };
    }
}

/// The const table.
fn schema(input: &Struct, target: Target, this: &TokenStream) -> TokenStream {
    let name = c_string(&input.name().0);
    let role = match target {
        Target::Event(kind) => {
            let kind = word("EventKind", kind);
            quote!(_nvtxw::SchemaRole::Event(#kind))
        }
        Target::CounterGroup => quote!(_nvtxw::SchemaRole::CounterGroup),
        Target::Payload => quote!(_nvtxw::SchemaRole::Generic),
    };
    let pack_align = match input.repr.packed {
        Some(bytes) => {
            let bytes = Literal::usize_unsuffixed(bytes);
            quote!(_nvtxw::Option::Some(#bytes))
        }
        None => quote!(_nvtxw::Option::None),
    };
    let entries = (0..)
        .zip(&input.fields)
        .filter(|(_, field)| field.attributes.skip.is_none())
        .map(|(index, field)| {
            if !input.is_generic() && entry::is_checked(field) {
                entry::constant(index, field).into_token_stream()
            } else {
                entry::entry(field, target, this)
            }
        });
    quote! {
        _nvtxw::SchemaTable {
            name: #name,
            role: #role,
            size: _nvtxw::size_of::<#this>(),
            pack_align: #pack_align,
            entries: &[#(#entries,)*],
        }
    }
}

/// The struct's generics, with the bounds of the impls: a type that depends on a parameter must be
/// storable.
fn bounded(input: &Struct, target: Target) -> Generics {
    let mut generics = copied(&input.generics);
    for field in input
        .fields
        .iter()
        .filter(|field| entry::depends_on_parameter(&field.ty, &input.generics))
    {
        let (ty, storage) = (&field.ty, entry::storage_trait(field, target));
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#ty: _nvtxw::#storage));
    }
    generics
}

/// The struct's generics, with parameters that a `Copy` type can have.
fn copied(generics: &Generics) -> Generics {
    let mut copied = generics.clone();
    for parameter in generics.type_params() {
        let parameter = &parameter.ident;
        copied
            .make_where_clause()
            .predicates
            .push(parse_quote!(#parameter: _nvtxw::Copy + 'static));
    }
    copied
}

/// The generics of a stub, which can't borrow either.
fn without_lifetimes(mut generics: Generics) -> Generics {
    let lifetimes: Vec<_> = generics
        .lifetimes()
        .map(|parameter| parameter.lifetime.clone())
        .collect();
    for lifetime in lifetimes {
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#lifetime: 'static));
    }
    generics
}

impl Target {
    fn trait_name(self) -> Ident {
        match self {
            Self::Event(_) => format_ident!("NvtxEvent"),
            Self::CounterGroup => format_ident!("NvtxCounterGroup"),
            Self::Payload => format_ident!("NvtxPayload"),
        }
    }
}

/// The variant of `nvtxw`'s enum.
fn word(of: &str, word: impl Word) -> TokenStream {
    let (of, variant) = (format_ident!("{of}"), word.variant());
    quote!(_nvtxw::#of::#variant)
}

/// A C string literal; the text has no NUL in it.
fn c_string(text: &str) -> Literal {
    Literal::c_string(&std::ffi::CString::new(text).expect("valid.rs refuses NUL"))
}
