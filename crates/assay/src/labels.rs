//! Labels whose name looks like a misspelt one that assay gives a meaning.

use crate::output;

/// The labels that say which model, piece, place and price it is.
const WITH_MEANING: [&str; 4] = ["model", "unit", "slot", "price"];

/// Says of each label that looks misspelt which one was probably meant. Any name is allowed, so nothing is refused.
pub(crate) fn tell_misspelt<'k>(keys: impl Iterator<Item = &'k str>) {
    for (key, meant) in keys.filter_map(|key| Some((key, meant(key)?))) {
        output::tell_wrapped(&format!(
            "label {key} has no meaning to assay; if {meant} was meant: assay label last {key}= {meant}=VALUE"
        ));
    }
}

/// The label with a meaning that the name of another one is most like: at most a third of the letters differ.
fn meant(key: &str) -> Option<&'static str> {
    let alike = |known: &str| strsim::normalized_damerau_levenshtein(&key.to_ascii_lowercase(), known);
    let near = WITH_MEANING.map(|known| (alike(known), known)).into_iter().filter(|(alike, _)| *alike > 0.66);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known).filter(|known| *known != key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_label_is_known_by_the_one_that_was_meant() {
        for (key, known) in [("unti", "unit"), ("Unit", "unit"), ("modle", "model"), ("slots", "slot")] {
            assert_eq!(meant(key), Some(known), "{key}");
        }
        for key in ["unit", "price", "build", "round", "plan", "node", "site", "x"] {
            assert_eq!(meant(key), None, "{key}");
        }
    }
}
