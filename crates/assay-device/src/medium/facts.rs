//! What a disk and the kernel report about it, as a [`Medium`] without a path.

use assay_core::medium::{Medium, MediumKind};
use assay_core::text::label;

/// Longest name that is kept. The longest that a standard allows is an iSCSI name with 223 (RFC 7143, 4.2.7).
const LONGEST: usize = 223;

/// A disk with only its kind known.
pub(crate) fn of_kind(kind: MediumKind) -> Medium {
    Medium { kind, ..Medium::default() }
}

/// Stores a health value if there is one.
pub(crate) fn note(medium: &mut Medium, name: &str, value: Option<String>) {
    if let Some(value) = value.and_then(|value| clean(&value)) {
        medium.health.insert(name.to_owned(), value);
    }
}

/// A name from a device, made harmless; `None` if it is empty.
pub(crate) fn clean(text: &str) -> Option<String> {
    label(text, LONGEST)
}
