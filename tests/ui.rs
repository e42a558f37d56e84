//! What the compiler says: of structs that can't be events, and of code that breaks the rules of the API.
//!
//! See README.md for how the expected messages are blessed.

use std::fs;

/// In one `TestCases` with programs that run, because a generic struct's layout is judged in a build only.
#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    let mut topics: Vec<_> = fs::read_dir("ui")
        .expect("tests run in the folder of their package")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| !path.ends_with("pass"))
        .collect();
    topics.sort();
    for topic in topics {
        cases.compile_fail(topic.join("*.rs"));
    }
}
