//! Patterns that stand in the program.

use regex_lite::Regex;

/// A pattern that stands in the program, and is therefore sound: each is used by a test.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed")
}
