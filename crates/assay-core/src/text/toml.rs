//! TOML.

use super::harmless::{is_dangerous, push_escape};

/// A basic string of TOML 1.0 with its quotation marks; it reads back as `text`.
#[must_use]
pub fn toml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_dangerous(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_reads_back_as_it_was(text in any::<String>()) {
            let table: ::toml::Table = ::toml::from_str(&format!("x = {}\n", toml(&text))).unwrap();
            prop_assert_eq!(table["x"].as_str(), Some(text.as_str()));
        }
    }

    #[test]
    fn nothing_ends_the_string_or_hides_in_it() {
        assert_eq!(toml("a\"\\\n\u{1b}\u{e0041}"), r#""a\"\\\n\u001b\U000e0041""#);
    }
}
