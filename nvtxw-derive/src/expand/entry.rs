//! The entries of the const table.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Generics, Type, spanned::Spanned as _};

use crate::{
    ast::{Field, Struct},
    attr::{Number, NumberValue},
    expand::{Target, c_string, word},
    vocabulary::Role,
};

/// The trait that the field's type must implement, and its constant that says how the field is
/// stored.
fn storage(field: &Field, target: Target) -> (Ident, Ident) {
    let attributes = &field.attributes;
    let (name, constant) = match (attributes.role(), target) {
        (Some(Role::Timestamp), Target::CounterGroup) => ("TimestampField", "SAMPLE"),
        (Some(Role::Timestamp), _) => ("TimestampField", "MARK"),
        (Some(Role::TimestampStart), _) => ("TimestampField", "RANGE_BEGIN"),
        (Some(Role::TimestampEnd), _) => ("TimestampField", "RANGE_END"),
        (Some(Role::RangeId), _) => ("RangeIdField", "RANGE_ID"),
        (Some(Role::Message), _) if attributes.flex.is_some() => ("FlexField", "FLEX_MESSAGE"),
        (Some(Role::Message), _) if attributes.string.is_some() => ("TextField", "TEXT_MESSAGE"),
        (Some(Role::Message), _) => ("MessageField", "MESSAGE"),
        (Some(Role::Color), _) => ("ColorField", "COLOR"),
        (Some(Role::Category), _) => ("CategoryField", "CATEGORY"),
        (Some(Role::Scope), _) => ("ScopeField", "SCOPE"),
        (Some(Role::Correlation), _) => ("CorrelationField", "CORRELATION"),
        (None, _) if attributes.skip.is_some() => ("SkippedField", "SKIPPED"),
        (None, _) if attributes.registered_string.is_some() => ("StringField", "STRING"),
        (None, _) if attributes.flex.is_some() => ("FlexField", "FLEX"),
        (None, _) if attributes.string.is_some() => ("TextField", "TEXT"),
        (None, Target::CounterGroup) => ("CounterField", "COUNTER"),
        (None, Target::Event(_) | Target::Payload) => ("NvtxField", "PLAIN"),
    };
    (format_ident!("{name}"), format_ident!("{constant}"))
}

/// The trait that the field's type must implement.
pub(super) fn storage_trait(field: &Field, target: Target) -> Ident {
    storage(field, target).0
}

/// How the field is stored. Named once per field, so that the error for another type comes once.
pub(super) fn stored(field: &Field, target: Target) -> TokenStream {
    let ty = &field.ty;
    let (storage, constant) = storage(field, target);
    quote_spanned!(at(ty.span())=> <#ty as _nvtxw::#storage>::#constant)
}

/// Returns true if making the entry can fail: `nvtxw`'s const functions compare attributes with the type.
pub(super) fn is_checked(field: &Field) -> bool {
    field.attributes.of_numbers().next().is_some()
}

/// The name of the free constant of a checked entry.
pub(super) fn constant(index: usize, field: &Field) -> Ident {
    format_ident!("_NVTXW_{index}", span = at(field.ident.span()))
}

/// The field's row of the table.
pub(super) fn entry(field: &Field, target: Target, this: &TokenStream) -> TokenStream {
    let attributes = &field.attributes;
    let ident = &field.ident;
    let name = c_string(&field.name().0);
    let stored = stored(field, target);
    let mut entry = quote_spanned! {at(ident.span())=>
        _nvtxw::Entry::new(#name, #stored, _nvtxw::offset_of!(#this, #ident))
    };
    if attributes.flex.is_some() {
        let length = c_string(&format!("{} length", field.name().0));
        entry = quote!(_nvtxw::Entry::flex(#entry, #length));
    }
    if let Some(clock) = attributes.time_domain {
        let clock = word("TimestampType", clock.value);
        entry = quote!(_nvtxw::Entry::time_domain(#entry, #clock));
    }
    if let Some(text) = &attributes.description {
        let text = c_string(&text.value());
        entry = quote!(_nvtxw::Entry::description(#entry, #text));
    }
    if attributes.hide.is_some() {
        entry = quote!(_nvtxw::Entry::hidden(#entry));
    }
    if attributes.role() == Some(Role::Correlation) {
        let domain = c_string(&field.correlation().0);
        entry = quote!(_nvtxw::Entry::correlation(#entry, #domain));
    }
    // The spans lead errors of `nvtxw`'s const functions to the attribute.
    if let Some(unit) = &attributes.unit {
        let text = c_string(&unit.value());
        entry = quote_spanned!(at(unit.span())=> _nvtxw::Entry::unit(#entry, #text));
    }
    if let Some(scale) = &attributes.scale {
        let (numerator, denominator) = scale.value;
        let numerator = Literal::u64_unsuffixed(numerator);
        let denominator = Literal::u64_unsuffixed(denominator);
        entry = quote_spanned! {at(scale.span)=>
            _nvtxw::Entry::scale(#entry, #numerator, #denominator)
        };
    }
    if let Some(choice) = &attributes.interpolation {
        let interpolation = word("Interpolation", choice.value);
        entry =
            quote_spanned!(at(choice.span)=> _nvtxw::Entry::interpolation(#entry, #interpolation));
    }
    if let Some(choice) = &attributes.value_type {
        let value_type = word("ValueType", choice.value);
        entry = quote_spanned!(at(choice.span)=> _nvtxw::Entry::value_type(#entry, #value_type));
    }
    if let Some(min) = &attributes.min {
        let number = number(min);
        entry = quote_spanned!(at(min.span)=> _nvtxw::Entry::min(#entry, #number));
    }
    if let Some(max) = &attributes.max {
        let number = number(max);
        entry = quote_spanned!(at(max.span)=> _nvtxw::Entry::max(#entry, #number));
    }
    entry
}

/// Whether all text in a pool lies within `pool` bytes.
pub(super) fn fits(input: &Struct) -> TokenStream {
    let fields = input
        .fields
        .iter()
        .filter(|field| field.attributes.flex.is_some());
    let fits = fields.map(|Field { ident, ty, .. }| {
        quote_spanned!(at(ty.span())=> <#ty as _nvtxw::FlexField>::fits(self.#ident, pool))
    });
    quote_spanned!(at(input.ident.span())=> #(#fits)&&*)
}

/// Whether a field's type names a parameter of its struct.
pub(super) fn depends_on_parameter(ty: &Type, generics: &Generics) -> bool {
    fn names(tokens: TokenStream, parameter: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *parameter,
            TokenTree::Group(group) => names(group.stream(), parameter),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
    let ty = ty.to_token_stream();
    generics
        .type_params()
        .any(|parameter| names(ty.clone(), &parameter.ident))
}

fn number(number: &Number) -> TokenStream {
    let (variant, magnitude, negative) = match number.value {
        NumberValue::Int(int) => ("Int", Literal::u128_unsuffixed(int.unsigned_abs()), int < 0),
        NumberValue::Float(float) => ("Float", Literal::f64_unsuffixed(float.abs()), float < 0.0),
    };
    let variant = format_ident!("{variant}");
    let minus = negative.then(|| quote!(-));
    quote_spanned!(at(number.span)=> _nvtxw::Number::#variant(#minus #magnitude))
}

/// Generated code that errors show at `span`.
pub(super) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
