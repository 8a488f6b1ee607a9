//! JSON.

use super::harmless::is_dangerous;

/// A JSON document in which no character is left that a terminal could obey: they are written as
/// `\u009b`. It means the same, since such characters stand in strings alone; the white space between
/// them stays.
#[must_use]
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if matches!(c, '\n' | '\r' | '\t') || !is_dangerous(c) {
            out.push(c);
        } else {
            // Beyond the first plane as two surrogates (RFC 8259, section 7).
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn what_hides_in_strings_is_written_out() {
        let value = Value::from("a\u{9b}2J\u{202e}\u{e0041}\u{7f}µ");
        assert_eq!(json(&value.to_string()), "\"a\\u009b2J\\u202e\\udb40\\udc41\\u007fµ\"");
    }

    proptest! {
        #[test]
        fn it_means_the_same(key in any::<String>(), text in any::<String>()) {
            let value = serde_json::json!({ key: [text, null, 1.5] });
            let written = json(&format!("{value:#}"));
            prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
            prop_assert!(!written.chars().any(|c| c != '\n' && is_dangerous(c)), "{}", written);
        }
    }
}
