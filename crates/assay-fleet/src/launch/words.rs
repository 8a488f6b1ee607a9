//! Command lines.

use assay_core::text::posix_word;

use super::what::{Launch, Place};

/// The arguments of the program on a node. The common arguments come first, so that they cannot override those of the
/// node.
pub(super) fn arguments(launch: &Launch<'_>, place: &Place) -> Vec<String> {
    let mut arguments = launch.arguments.clone();
    arguments.extend(["--label".to_owned(), format!("node={}", place.node)]);
    for (key, value) in place.cell.iter().flat_map(|cell| cell.labels()) {
        arguments.extend(["--label".to_owned(), format!("{key}={value}")]);
    }
    arguments.extend(["--rendezvous", &place.rendezvous, "--node", &place.node].map(str::to_owned));
    arguments.extend(["--", &place.target].map(str::to_owned));
    arguments
}

/// Quotes words for a POSIX shell.
pub(super) fn shell<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(posix_word).collect::<Vec<_>>().join(" ")
}
