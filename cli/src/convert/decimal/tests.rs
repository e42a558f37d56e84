use super::*;

#[test]
fn nanoseconds_are_exact() {
    for (text, want) in [
        ("1712195495519689.047", Some(1_712_195_495_519_689_047)),
        ("1695835542514261", Some(1_695_835_542_514_261_000)),
        ("2.503", Some(2_503)),
        ("-1.5", Some(-1_500)),
        ("1e3", Some(1_000_000)),
        ("1.25E-2", Some(12)),
        ("0.0005", Some(0)),
        ("0.0015", Some(2)),
        ("0.00251", Some(3)),
        ("-0.0015", Some(-2)),
        ("0.000", Some(0)),
        ("0e99", Some(0)),
        ("1e-99", Some(0)),
        ("9223372036854775.807", Some(i64::MAX)),
        ("-9223372036854775.808", Some(i64::MIN)),
        ("9223372036854775.808", None),
        ("9999999999999999.999", None),
        ("99999999999999999999", None),
        ("12345678.9", Some(12_345_678_900)),
        ("1234567/", None),
        ("12345678:", None),
        ("1234567\u{b1}", None),
        ("1.2.3", None),
        ("1e99", None),
        ("", None),
        ("-", None),
        (".5", None),
        ("1.x", None),
        ("one", None),
        ("1.-5", None),
    ] {
        assert_eq!(scaled(text, 3), want, "{text}");
    }
    assert_eq!(scaled("1.5", 0), Some(2));
    assert_eq!(scaled("7", 9), Some(7_000_000_000));
}

#[test]
fn words_are_floats() {
    for word in [
        "nan",
        "-NaN",
        "NAN",
        "-nan(ind)",
        "nan(0x8)",
        "1.#IND",
        "-1.#QNAN00",
    ] {
        assert!(float_word(word).is_some_and(f64::is_nan), "{word}");
    }
    for word in [
        "inf",
        "Inf",
        "INF",
        "infinity",
        "+Infinity",
        "1.#INF",
        "1.#INF00",
    ] {
        assert_eq!(float_word(word), Some(f64::INFINITY), "{word}");
        let negative = format!("-{}", word.trim_start_matches('+'));
        assert_eq!(float_word(&negative), Some(f64::NEG_INFINITY), "{word}");
    }
    for word in [
        "",
        "-",
        "None",
        "1.5",
        "1.#",
        "infinite",
        "nan(",
        "1.#infinity",
    ] {
        assert_eq!(float_word(word), None, "{word}");
    }
}

#[test]
fn sums_are_rounded_once() {
    for (first, second, want) in [
        (("10.0004", 3), ("5.0004", 3), Some(15_001)),
        (("12.0008", 3), ("3.0000", 3), Some(15_001)),
        (("0.25", 9), ("12.5", 3), Some(250_012_500)),
        (("1", 0), ("1e-30", 0), Some(1)),
        (("9223372036854775807", 0), ("1", 0), None),
        (("-1.5", 0), ("2", 0), Some(0)),
        (("x", 0), ("2", 0), None),
    ] {
        assert_eq!(sum(first, second), want, "{first:?} {second:?}");
    }
}
