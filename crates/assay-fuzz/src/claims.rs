//! Claims that several targets make.

use assay_core::text::harmless;

/// Longest refusal in characters: what was given is quoted up to a length.
const LONGEST_LINE: usize = 1500;

/// A refusal is one line that a terminal shows as it is, and that a person reads to its end.
#[track_caller]
pub(crate) fn one_line(refusal: &impl std::fmt::Display) {
    let line = refusal.to_string();
    assert!(!line.trim().is_empty(), "an empty refusal");
    assert!(harmless(&line) == line, "a refusal holds a character that a terminal obeys: {line:?}");
    let length = line.chars().count();
    assert!(
        length <= LONGEST_LINE,
        "a refusal of {length} characters: {}…",
        line.chars().take(200).collect::<String>()
    );
}

/// Input as text, for code that is given UTF-8 alone.
pub(crate) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Seeds that are texts.
pub(crate) fn texts(seeds: &[&str]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}
