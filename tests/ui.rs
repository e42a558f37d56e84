//! What the compiler says: of structs that can't be events, and of code that breaks the rules of the API.
//!
//! See README.md for how the expected messages are blessed.

/// In one `TestCases` with programs that run, because a generic struct's layout is judged in a build only.
#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    for topic in [
        "attributes",
        "batch",
        "borrow",
        "enums",
        "generics",
        "kinds",
        "layout",
        "nesting",
        "newtypes",
        "payloads",
        "repr",
        "roles",
        "storage",
        "swapped",
        "text",
        "threads",
        "writers",
    ] {
        cases.compile_fail(format!("ui/{topic}/*.rs"));
    }
}
