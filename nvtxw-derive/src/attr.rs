//! The `#[nvtx(…)]` attributes: parses them and keeps each with its span.

use proc_macro2::{Span, TokenTree};
use syn::{
    Attribute, Ident, LitFloat, LitInt, LitStr, Path, Token,
    ext::IdentExt as _,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

use crate::{
    errors::Errors,
    vocabulary::{EventKind, Interpolation, Role, TimestampType, ValueType, Word, list, nearest},
};

/// The attributes of the struct or the enum.
#[derive(Default)]
pub(crate) struct ItemAttributes {
    pub(crate) kind: Option<Placed<EventKind>>,
    /// A `kind` stands there, if only a refused one.
    pub(crate) has_kind: bool,
    /// The schema's name.
    pub(crate) name: Option<LitStr>,
    /// The values of the enum combine.
    pub(crate) flags: Option<Span>,
    /// Where `nvtxw` is.
    pub(crate) krate: Option<Path>,
}

/// The attributes of an enum's variant.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    /// The value's name.
    pub(crate) name: Option<LitStr>,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    /// In order; more than one is an error.
    pub(crate) roles: Vec<Placed<Role>>,
    /// Roles that were probably meant where an attribute was refused.
    pub(crate) meant: Vec<Role>,
    /// The name of the correlation domain, if `correlation` has one.
    pub(crate) correlation: Option<LitStr>,
    pub(crate) registered_string: Option<Span>,
    /// Text of a fixed size.
    pub(crate) string: Option<Span>,
    /// Text in a pool.
    pub(crate) flex: Option<Span>,
    pub(crate) time_domain: Option<Placed<TimestampType>>,
    /// The entry's name.
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) skip: Option<Span>,
    pub(crate) hide: Option<Span>,
    pub(crate) unit: Option<LitStr>,
    /// Numerator and denominator.
    pub(crate) scale: Option<Placed<(u64, u64)>>,
    pub(crate) min: Option<Number>,
    pub(crate) max: Option<Number>,
    pub(crate) interpolation: Option<Placed<Interpolation>>,
    pub(crate) value_type: Option<Placed<ValueType>>,
    /// Every attribute as it was written, for messages.
    pub(crate) all: Vec<Placed<String>>,
}

/// A value and the place where it was written.
#[derive(Clone, Copy)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A literal number with its sign.
pub(crate) struct Number {
    pub(crate) value: NumberValue,
    pub(crate) span: Span,
}

/// The value of a [`Number`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NumberValue {
    Int(i128),
    Float(f64),
}

/// What can have attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Struct,
    Newtype,
    Enum,
    Field,
    Variant,
}

impl Place {
    const ALL: [Self; 5] = [
        Self::Struct,
        Self::Field,
        Self::Enum,
        Self::Variant,
        Self::Newtype,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Struct => "a struct",
            Self::Newtype => "a newtype",
            Self::Enum => "an enum",
            Self::Field => "a field",
            Self::Variant => "a variant",
        }
    }

    fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::Struct => &["kind", "name", "crate"],
            Self::Newtype => &["crate"],
            Self::Enum => &["name", "flags", "crate"],
            Self::Field => &OF_FIELDS,
            Self::Variant => &["name"],
        }
    }
}

/// The attributes that a field can have.
const OF_FIELDS: [&str; 23] = [
    "timestamp",
    "timestamp_start",
    "timestamp_end",
    "range_id",
    "message",
    "registered_string",
    "string",
    "flex",
    "color",
    "category",
    "scope",
    "correlation",
    "time_domain",
    "name",
    "description",
    "skip",
    "hide",
    "unit",
    "scale",
    "min",
    "max",
    "interpolation",
    "value_type",
];

/// Those of them that describe a number.
const OF_NUMBERS: [&str; 6] = ["unit", "scale", "min", "max", "interpolation", "value_type"];

impl ItemAttributes {
    pub(crate) fn parse(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Self {
        let mut parsed = Self::default();
        for_each_item(attributes, errors, |key, input| {
            let word = key.to_string();
            if !place.attributes().contains(&word.as_str()) {
                return Err(unknown(key, &word, place));
            }
            match word.as_str() {
                "kind" => {
                    parsed.has_kind = true;
                    set(&mut parsed.kind, key, kind(key, input)?)
                }
                "name" => set(&mut parsed.name, key, text(key, input)?),
                "flags" => set(&mut parsed.flags, key, flag(key, input)?),
                _ => set(&mut parsed.krate, key, path(key, input)?),
            }
        });
        parsed
    }
}

impl VariantAttributes {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut parsed = Self::default();
        for_each_item(attributes, errors, |key, input| {
            match key.to_string().as_str() {
                "name" => set(&mut parsed.name, key, text(key, input)?),
                other => Err(unknown(key, other, Place::Variant)),
            }
        });
        parsed
    }
}

impl FieldAttributes {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut parsed = Self::default();
        for_each_item(attributes, errors, |key, input| {
            let word = key.to_string();
            if OF_FIELDS.contains(&word.as_str()) {
                parsed.all.push(Placed {
                    value: word.clone(),
                    span: key.span(),
                });
            }
            match word.as_str() {
                "correlation" => {
                    let name = input
                        .peek(Token![=])
                        .then(|| text(key, input))
                        .transpose()?;
                    parsed.push_role(Role::Correlation, key)?;
                    parsed.correlation = name;
                    Ok(())
                }
                "registered_string" => set(&mut parsed.registered_string, key, flag(key, input)?),
                "string" => set(&mut parsed.string, key, flag(key, input)?),
                "flex" => set(&mut parsed.flex, key, flag(key, input)?),
                "time_domain" => set(&mut parsed.time_domain, key, word_of(key, input)?),
                "name" => set(&mut parsed.name, key, text(key, input)?),
                "description" => set(&mut parsed.description, key, text(key, input)?),
                "skip" => set(&mut parsed.skip, key, flag(key, input)?),
                "hide" => set(&mut parsed.hide, key, flag(key, input)?),
                "unit" => set(&mut parsed.unit, key, text(key, input)?),
                "scale" => set(&mut parsed.scale, key, scale(key, input)?),
                "min" => set(&mut parsed.min, key, number(key, input)?),
                "max" => set(&mut parsed.max, key, number(key, input)?),
                "interpolation" => set(&mut parsed.interpolation, key, word_of(key, input)?),
                "value_type" => set(&mut parsed.value_type, key, word_of(key, input)?),
                other => match Role::find(other) {
                    Some(role) => {
                        parsed.push_role(role, key)?;
                        flag(key, input).map(|_| ())
                    }
                    None => {
                        parsed
                            .meant
                            .extend(nearest(other, OF_FIELDS).and_then(Role::find));
                        Err(unknown(key, other, Place::Field))
                    }
                },
            }
        });
        parsed
    }

    /// The field's role.
    pub(crate) fn role(&self) -> Option<Role> {
        self.roles.first().map(|role| role.value)
    }

    /// The attributes that describe a number.
    pub(crate) fn of_numbers(&self) -> impl Iterator<Item = &Placed<String>> {
        self.all
            .iter()
            .filter(|attribute| OF_NUMBERS.contains(&attribute.value.as_str()))
    }

    fn push_role(&mut self, role: Role, key: &Ident) -> syn::Result<()> {
        if self.roles.iter().any(|other| other.value == role) {
            return Err(twice(key));
        }
        self.roles.push(Placed {
            value: role,
            span: key.span(),
        });
        Ok(())
    }
}

/// Calls `item` at each key of the comma-separated lists in `#[nvtx(…)]`. A bad item doesn't hide
/// those after it.
fn for_each_item(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut item: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("nvtx"))
    {
        let list = match attribute.meta.require_list() {
            Ok(list) => list,
            Err(_) => {
                let message = "write `#[nvtx(…)]`, with the attributes in the parentheses";
                errors.push(attribute.meta.span(), message);
                continue;
            }
        };
        let parsed = list.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                let result = key(input).and_then(|key| {
                    item(&key, input)?;
                    if input.is_empty() || input.peek(Token![,]) {
                        Ok(())
                    } else {
                        Err(input.error(format!("expected `,` after `{key}`")))
                    }
                });
                if let Err(error) = result {
                    errors.add(error);
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<TokenTree>()?;
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        });
        if let Err(error) = parsed {
            errors.add(error);
        }
    }
}

fn key(input: ParseStream<'_>) -> syn::Result<Ident> {
    Ident::parse_any(input)
        .map_err(|error| syn::Error::new(error.span(), "expected an attribute's name"))
}

/// Stores a value unless the attribute stands there already.
fn set<T>(slot: &mut Option<T>, key: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(twice(key));
    }
    *slot = Some(value);
    Ok(())
}

fn twice(key: &Ident) -> syn::Error {
    syn::Error::new(key.span(), format!("`{key}` stands here twice: remove one"))
}

fn unknown(key: &Ident, word: &str, place: Place) -> syn::Error {
    let other = Place::ALL
        .into_iter()
        .find(|other| other.attributes().contains(&word));
    let place_name = place.name();
    let message = if let Some(other) = other {
        let other = other.name();
        format!("`{word}` is an attribute of {other}, not of {place_name}")
    } else {
        let known = || place.attributes().iter().copied();
        let hint = nearest(word, known())
            .map(|nearest| format!(": did you mean `{nearest}`?"))
            .unwrap_or_default();
        let known = list(known(), "and");
        format!("unknown attribute `{word}`{hint}\n{place_name} can have {known}")
    };
    syn::Error::new(key.span(), message)
}

/// A key without a value.
fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<Span> {
    if input.peek(Token![=]) || input.peek(syn::token::Paren) {
        let message = format!("`{key}` takes no value: write `{key}` alone");
        return Err(syn::Error::new(key.span(), message));
    }
    Ok(key.span())
}

/// The `=` of a key that needs a value; `form` shows how it is written.
fn equals(key: &Ident, input: ParseStream<'_>, form: &str) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>().map(|_| ())
    } else {
        let message = format!("`{key}` needs a value: write `{key} = {form}`");
        Err(syn::Error::new(key.span(), message))
    }
}

fn text(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    equals(key, input, "\"…\"")?;
    input.parse().map_err(|error| {
        let message = format!("the value of `{key}` is text: write `{key} = \"…\"`");
        syn::Error::new(error.span(), message)
    })
}

fn path(key: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    let literal = text(key, input)?;
    literal.parse_with(Path::parse_mod_style).map_err(|_| {
        let message = format!("the value of `{key}` is the path of `nvtxw`, such as `\"::nvtxw\"`");
        syn::Error::new(literal.span(), message)
    })
}

fn number(key: &Ident, input: ParseStream<'_>) -> syn::Result<Number> {
    equals(key, input, "…")?;
    input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("the value of `{key}` is {error}"))
    })
}

/// The numbers of `"1/1000"` or `"1000"`.
fn scale(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<(u64, u64)>> {
    const FORM: &str = "`scale` is a fraction of positive integers, in quotes: write `scale = \"1/1000\"` for 0.001, or \
                        `scale = \"60\"`";
    equals(key, input, "\"…\"")?;
    let literal: LitStr = input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), FORM))?;
    let text = literal.value();
    let (numerator, denominator) = text.split_once('/').unwrap_or((&text, "1"));
    let number = |digits: &str| {
        digits
            .trim()
            .parse::<u64>()
            .ok()
            .filter(|number| *number > 0)
    };
    match (number(numerator), number(denominator)) {
        (Some(numerator), Some(denominator)) => Ok(Placed {
            value: (numerator, denominator),
            span: literal.span(),
        }),
        _ => Err(syn::Error::new(literal.span(), FORM)),
    }
}

fn kind(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<EventKind>> {
    equals(key, input, "mark")?;
    if let Ok(quoted) = input.parse::<LitStr>() {
        let message = format!("write `kind = {}`, without quotes", quoted.value());
        return Err(syn::Error::new(quoted.span(), message));
    }
    let word = Ident::parse_any(input)?;
    choose(&word.to_string(), "kind", word.span())
}

/// One of the words of `T`, in quotes.
fn word_of<T: Word>(key: &Ident, input: ParseStream<'_>) -> syn::Result<Placed<T>> {
    equals(key, input, "\"…\"")?;
    if let Ok(word) = input.call(Ident::parse_any) {
        let message = format!("write `{key} = \"{word}\"`, with quotes");
        return Err(syn::Error::new(word.span(), message));
    }
    let literal: LitStr = input.parse()?;
    choose(&literal.value(), &key.to_string(), literal.span())
}

fn choose<T: Word>(word: &str, what: &str, span: Span) -> syn::Result<Placed<T>> {
    let known = || T::ALL.iter().map(|word| word.spelling());
    T::find(word)
        .map(|value| Placed { value, span })
        .ok_or_else(|| {
            let hint = nearest(word, known())
                .map(|nearest| format!(": did you mean `{nearest}`?"))
                .unwrap_or_default();
            let known = list(known(), "or");
            syn::Error::new(
                span,
                format!("`{word}` is no `{what}`{hint}\n`{what}` is {known}"),
            )
        })
}

impl Parse for Number {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let minus = input.parse::<Option<Token![-]>>()?;
        let lookahead = input.lookahead1();
        let (value, suffix, span) = if lookahead.peek(LitInt) {
            let literal: LitInt = input.parse()?;
            let value = literal
                .base10_parse::<i128>()
                .map_err(|_| syn::Error::new(literal.span(), "a number of at most 64 bits"))?;
            (
                NumberValue::Int(value),
                literal.suffix().to_owned(),
                literal.span(),
            )
        } else if lookahead.peek(LitFloat) {
            let literal: LitFloat = input.parse()?;
            (
                NumberValue::Float(literal.base10_parse()?),
                literal.suffix().to_owned(),
                literal.span(),
            )
        } else {
            return Err(syn::Error::new(
                input.span(),
                "a literal number, as `-1` or `0.5`",
            ));
        };
        if !suffix.is_empty() {
            let message = format!("a number without a type: remove `{suffix}`");
            return Err(syn::Error::new(span, message));
        }
        let value = match value {
            NumberValue::Float(float) if !float.is_finite() => {
                return Err(syn::Error::new(span, "a finite number"));
            }
            value if minus.is_none() => value,
            NumberValue::Int(int) => NumberValue::Int(-int),
            NumberValue::Float(float) => NumberValue::Float(-float),
        };
        Ok(Self { value, span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn field(attributes: &[Attribute]) -> (FieldAttributes, Vec<String>) {
        let mut errors = Errors::default();
        let parsed = FieldAttributes::parse(attributes, &mut errors);
        let messages = errors
            .into_option()
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect();
        (parsed, messages)
    }

    #[test]
    fn a_bad_item_does_not_hide_those_after_it() {
        let (parsed, messages) = field(&[
            parse_quote!(#[nvtx(nmae = "a", skip = 1, unit = 3, hide)]),
            parse_quote!(#[nvtx(max = -0.5)]),
        ]);
        assert!(parsed.hide.is_some());
        assert_eq!(
            parsed.max.map(|number| number.value),
            Some(NumberValue::Float(-0.5))
        );
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(messages[0].starts_with("unknown attribute `nmae`: did you mean `name`?\n"));
        assert_eq!(messages[1], "`skip` takes no value: write `skip` alone");
        assert_eq!(
            messages[2],
            "the value of `unit` is text: write `unit = \"…\"`"
        );
    }

    #[test]
    fn numbers_keep_sign_and_class() {
        let value = |number: Number| number.value;
        assert_eq!(value(parse_quote!(-7)), NumberValue::Int(-7));
        assert_eq!(
            value(parse_quote!(18446744073709551615)),
            NumberValue::Int(i128::from(u64::MAX))
        );
        assert_eq!(value(parse_quote!(1e3)), NumberValue::Float(1000.0));
        assert_eq!(value(parse_quote!(0x10)), NumberValue::Int(16));
        for bad in ["1e999", "5u8", "\"5\"", "x"] {
            assert!(syn::parse_str::<Number>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_list_of_attributes_is_the_parser_s() {
        for word in OF_FIELDS {
            let key = Ident::new(word, Span::call_site());
            let (_, messages) = field(&[parse_quote!(#[nvtx(#key)])]);
            assert!(
                messages.iter().all(|message| !message.contains("unknown")),
                "{messages:?}"
            );
        }
    }

    #[test]
    fn the_place_of_an_attribute_is_told() {
        let (_, messages) = field(&[parse_quote!(#[nvtx(kind = mark)])]);
        assert_eq!(
            messages,
            ["`kind` is an attribute of a struct, not of a field"]
        );
    }

    #[test]
    fn scales_are_fractions_of_positive_integers() {
        let scale = |text: &str| field(&[parse_quote!(#[nvtx(scale = #text)])]);
        for (text, value) in [("1/1000", (1, 1000)), ("60", (60, 1)), (" 2 / 3 ", (2, 3))] {
            let (parsed, messages) = scale(text);
            assert_eq!(parsed.scale.map(|scale| scale.value), Some(value));
            assert!(messages.is_empty(), "{messages:?}");
        }
        let bad = ["", "0", "1/0", "1/2/3", "0.5", "-1"].map(scale);
        let unquoted = field(&[parse_quote!(#[nvtx(scale = 0.001)])]);
        for (parsed, messages) in bad.into_iter().chain([unquoted]) {
            assert!(parsed.scale.is_none());
            let form = "write `scale = \"1/1000\"` for 0.001";
            assert!(messages[0].contains(form), "{messages:?}");
        }
    }
}
