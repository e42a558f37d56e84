//! What the derives put beside representative structs, compared with files: `tests/expand` of the workspace.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{DeriveInput, Item, parse_quote};

use crate::derive;

/// A derive, by its name.
fn derive_of(name: &str) -> Option<fn(DeriveInput) -> TokenStream> {
    match name {
        "NvtxEvent" => Some(derive::event),
        "NvtxCounterGroup" => Some(derive::counter_group),
        "NvtxPayload" => Some(derive::payload),
        "NvtxEnum" => Some(derive::enumeration),
        "NvtxField" => Some(derive::newtype),
        _ => None,
    }
}

/// What the derives of the items of `source` make, formatted.
fn expand(source: &str) -> String {
    let mut expanded: syn::File = parse_quote!();
    for item in syn::parse_file(source).expect("Rust").items {
        let input: DeriveInput = syn::parse2(item.to_token_stream()).expect("a struct or an enum");
        for attribute in &input.attrs {
            if !attribute.path().is_ident("derive") {
                continue;
            }
            let nested = attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string);
                if let Some(derive) = name.as_deref().and_then(derive_of) {
                    let made: syn::File = syn::parse2(derive(input.clone()))?;
                    expanded.items.extend(made.items);
                }
                Ok(())
            });
            nested.expect("a list of derives whose results are items");
        }
    }
    assert!(
        !expanded
            .items
            .iter()
            .any(|item| matches!(item, Item::Macro(_))),
        "the struct was refused"
    );
    prettyplease::unparse(&expanded)
}

#[test]
fn expansions_are_the_blessed_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expand");
    if !folder.exists() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    let bless = std::env::var_os("BLESS").is_some();
    let mut compared = 0;
    for file in folder.read_dir().expect("a folder") {
        let path = file.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".rs") || name.ends_with(".expanded.rs") {
            continue;
        }
        let found = expand(&std::fs::read_to_string(&path).expect("a text"));
        let blessed = path.with_extension("expanded.rs");
        if bless {
            std::fs::write(&blessed, &found).expect("a writable file");
        }
        let expected = std::fs::read_to_string(&blessed).unwrap_or_default();
        assert!(
            found == expected,
            "{name} expands to other code than {} holds; with BLESS=1 the test writes it anew:\n{found}",
            blessed.display()
        );
        compared += 1;
    }
    assert!(
        compared >= 6,
        "{compared} expansions in {}",
        folder.display()
    );
}
