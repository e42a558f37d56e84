//! The texts of errors, whatever names hold.

use nvtxw::{Backend, CounterOptions, Error, ResultCode, StreamOptions};

use crate::recorder::session;

/// All characters that could end a line or control a terminal, but for NUL.
fn controls() -> String {
    let controls = ('\u{1}'..='\u{1F}').chain('\u{7F}'..='\u{9F}');
    let controls = controls.chain('\u{2028}'..='\u{202E}');
    "한강\nerror: forged".chars().chain(controls).collect()
}

/// Checks a text that quotes that name.
fn check(text: &str) {
    let is_control = |c: char| c.is_control() || ('\u{2028}'..='\u{202E}').contains(&c);
    assert!(!text.contains(is_control), "{text:?}");
    assert!(text.contains(r"한강\nerror: forged\u{1}"), "{text:?}");
}

#[test]
fn control_characters_of_names_are_escaped() {
    let name = controls();
    let (mut one, mut other) = (session(&name), session("other"));
    let mut domain = one.domain(&name).unwrap();
    let queue = domain.counter::<i64>(&name).unwrap();
    let string = domain.string("text").unwrap();
    let with_unit = CounterOptions::new().unit("B");
    let again = domain.counter_with::<i64>(&name, with_unit);
    check(&again.unwrap_err().to_string());
    let home = other.domain("home").unwrap().id();
    let options = StreamOptions::new(home);
    let mut stream = other.open_stream(&name, options).unwrap();
    let out = other.writer(&mut stream).unwrap();
    check(&out.counter(queue).unwrap_err().to_string());
    let error = out.mark(1).message(string).write().unwrap_err();
    check(&error.to_string());
    check(&format!("{error:?}"));
    check(&error.at(&out).to_string());
    check(&format!("{:?}", error.at(&out)));
    check(&Error::from(error).to_string());
}

#[test]
fn control_characters_of_others_are_escaped() {
    let name = controls();
    let error = Error::Call {
        operation: "open",
        object: "stream `s`".to_owned(),
        code: ResultCode::FAILED,
        reason: Some(name.clone()),
    };
    check(&error.to_string());
    // SAFETY:
    // - There is no such library.
    let error = unsafe { Backend::load(format!("./{name}.so")) }.unwrap_err();
    check(&error.to_string());
    check(&format!("{error:?}"));
}
