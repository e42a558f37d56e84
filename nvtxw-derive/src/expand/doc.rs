//! What `cargo doc` shows of a derived struct: its entries as a table.

use std::fmt::Write as _;

use quote::ToTokens as _;
use syn::LitStr;

use crate::{
    ast::{Field, Struct},
    expand::Target,
    vocabulary::Word as _,
};

/// The documentation of the impl.
pub(super) fn table(input: &Struct, target: Target) -> String {
    let what = match target {
        Target::Event(kind) => format!("An event of kind `{}`", kind.spelling()),
        Target::CounterGroup => "A counter group".to_owned(),
        Target::Payload => "A payload".to_owned(),
    };
    let mut text = format!("{what}, `{}` in traces.\n\n", cell(&input.name().0));
    text.push_str("| entry | type | |\n|---|---|---|\n");
    for field in input
        .fields
        .iter()
        .filter(|field| field.attributes.skip.is_none())
    {
        let ty = field.ty.to_token_stream().to_string().replace(" ;", ";");
        let (name, says) = (cell(&field.name().0), says(field));
        // Writing into a `String` can't fail.
        let _ = writeln!(text, "| `{name}` | `{}` | {says} |", cell(&ty));
    }
    text
}

/// What the field's attributes say, in words. The user's own are code, which holds no links.
fn says(field: &Field) -> String {
    let attributes = &field.attributes;
    let role = attributes.role().map(|role| role.spelling().to_owned());
    let clock = attributes
        .time_domain
        .map(|clock| clock.value.spelling().to_owned());
    let code = |text: &LitStr| format!("`{}`", cell(&text.value()));
    let unit = attributes.unit.as_ref().map(code);
    let description = attributes.description.as_ref().map(code);
    let parts: Vec<_> = [role, clock, unit, description]
        .into_iter()
        .flatten()
        .collect();
    parts.join(", ")
}

/// Text that can't end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r', '`'], " ")
}
