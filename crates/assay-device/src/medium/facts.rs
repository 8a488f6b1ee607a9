//! What one disk says of itself and the kernel of it, as a [`Medium`] that lies nowhere yet.

use assay_core::medium::{Medium, MediumKind};
use assay_core::text::label;

/// Longest name kept; the longest that a standard allows is an iSCSI name with 223 (RFC 7143, 4.2.7).
const LONGEST: usize = 223;

/// A disk of which its kind alone is known.
pub(crate) fn of_kind(kind: MediumKind) -> Medium {
    Medium { kind, ..Medium::default() }
}

/// Keeps a health figure if there is one.
pub(crate) fn note(medium: &mut Medium, name: &str, value: Option<String>) {
    if let Some(value) = value.and_then(|value| clean(&value)) {
        medium.health.insert(name.to_owned(), value);
    }
}

/// A name from a device, made harmless; `None` where it says nothing.
pub(crate) fn clean(text: &str) -> Option<String> {
    label(text, LONGEST)
}
