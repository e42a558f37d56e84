//! What a derive stands on, as far as the derives need it.

use proc_macro2::Span;
use syn::{
    Data, DeriveInput, Fields, Generics, Ident, LitStr, Member, Type, ext::IdentExt as _,
    spanned::Spanned as _,
};

use crate::{
    attr::{FieldAttributes, ItemAttributes, Place, VariantAttributes},
    errors::Errors,
    repr::Repr,
};

/// The struct, with its attributes.
pub(crate) struct Struct {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) attributes: ItemAttributes,
    pub(crate) repr: Repr,
    pub(crate) shape: Shape,
    /// In order; empty unless the fields have names.
    pub(crate) fields: Vec<Field>,
}

/// An enum of named values.
pub(crate) struct Enumeration {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) attributes: ItemAttributes,
    pub(crate) repr: Repr,
    /// In order; `None` if it is no enum.
    pub(crate) variants: Option<Vec<Variant>>,
}

/// A variant.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) has_fields: bool,
    pub(crate) attributes: VariantAttributes,
}

/// A struct around one value.
pub(crate) struct Newtype {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) attributes: ItemAttributes,
    pub(crate) repr: Repr,
    /// Names, or indices, and types of the fields; `None` if it is no struct.
    pub(crate) fields: Option<Vec<(Member, Type)>>,
}

/// What stands after the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    NamedFields,
    Tuple,
    Unit,
    Enum,
    Union,
}

/// A named field.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) attributes: FieldAttributes,
}

impl Struct {
    pub(crate) fn parse(input: DeriveInput, errors: &mut Errors) -> Self {
        let (shape, fields) = match input.data {
            Data::Struct(data) => match data.fields {
                Fields::Named(fields) => (Shape::NamedFields, fields.named),
                Fields::Unnamed(_) => (Shape::Tuple, Default::default()),
                Fields::Unit => (Shape::Unit, Default::default()),
            },
            Data::Enum(_) => (Shape::Enum, Default::default()),
            Data::Union(_) => (Shape::Union, Default::default()),
        };
        Self {
            attributes: ItemAttributes::parse(&input.attrs, Place::Struct, errors),
            repr: Repr::parse(&input.attrs),
            ident: input.ident,
            generics: input.generics,
            shape,
            fields: fields
                .into_iter()
                .filter_map(|field| Field::parse(field, errors))
                .collect(),
        }
    }

    /// The schema's name and its place.
    pub(crate) fn name(&self) -> (String, Span) {
        name(&self.attributes.name, &self.ident)
    }

    /// Whether the layout depends on parameters.
    pub(crate) fn is_generic(&self) -> bool {
        self.generics.type_params().next().is_some()
            || self.generics.const_params().next().is_some()
    }
}

impl Field {
    fn parse(field: syn::Field, errors: &mut Errors) -> Option<Self> {
        Some(Self {
            ident: field.ident?,
            ty: field.ty,
            attributes: FieldAttributes::parse(&field.attrs, errors),
        })
    }

    /// The entry's name and its place.
    pub(crate) fn name(&self) -> (String, Span) {
        name(&self.attributes.name, &self.ident)
    }

    /// The correlation domain's name and its place.
    pub(crate) fn correlation(&self) -> (String, Span) {
        match &self.attributes.correlation {
            Some(name) => (name.value(), name.span()),
            None => self.name(),
        }
    }
}

impl Enumeration {
    pub(crate) fn parse(input: DeriveInput, errors: &mut Errors) -> Self {
        let variants = match input.data {
            Data::Enum(data) => Some(
                data.variants
                    .into_iter()
                    .map(|variant| Variant {
                        has_fields: !matches!(variant.fields, Fields::Unit),
                        attributes: VariantAttributes::parse(&variant.attrs, errors),
                        ident: variant.ident,
                    })
                    .collect(),
            ),
            Data::Struct(_) | Data::Union(_) => None,
        };
        Self {
            attributes: ItemAttributes::parse(&input.attrs, Place::Enum, errors),
            repr: Repr::parse(&input.attrs),
            ident: input.ident,
            generics: input.generics,
            variants,
        }
    }

    /// The enum's name and its place.
    pub(crate) fn name(&self) -> (String, Span) {
        name(&self.attributes.name, &self.ident)
    }
}

impl Variant {
    /// The value's name and its place.
    pub(crate) fn name(&self) -> (String, Span) {
        name(&self.attributes.name, &self.ident)
    }
}

impl Newtype {
    pub(crate) fn parse(input: DeriveInput, errors: &mut Errors) -> Self {
        let fields = match input.data {
            Data::Struct(data) => {
                for attribute in data.fields.iter().flat_map(|field| &field.attrs) {
                    if attribute.path().is_ident("nvtx") {
                        let message = "what a newtype wraps is no entry: write this above the fields that have the newtype";
                        errors.push(attribute.meta.span(), message);
                    }
                }
                let members: Vec<_> = data.fields.members().collect();
                let types = data.fields.into_iter().map(|field| field.ty);
                Some(members.into_iter().zip(types).collect())
            }
            Data::Enum(_) | Data::Union(_) => None,
        };
        Self {
            attributes: ItemAttributes::parse(&input.attrs, Place::Newtype, errors),
            repr: Repr::parse(&input.attrs),
            ident: input.ident,
            generics: input.generics,
            fields,
        }
    }
}

/// The name in the trace and its place: that of the attribute, else the identifier.
fn name(attribute: &Option<LitStr>, ident: &Ident) -> (String, Span) {
    match attribute {
        Some(name) => (name.value(), name.span()),
        None => (ident.unraw().to_string(), ident.span()),
    }
}
