//! What was found out about one disk.

use std::collections::BTreeMap;

use assay_core::medium::{Bus, MediumKind};
use assay_core::text::label;

/// Longest name kept; the longest that a standard allows is an iSCSI name with 223 (RFC 7143, 4.2.7).
const LONGEST: usize = 223;

/// What one disk says of itself and the kernel of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) kind: MediumKind,
    pub(crate) vendor: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) bus: Option<Bus>,
    pub(crate) claimed_classes: Vec<String>,
    pub(crate) health: BTreeMap<String, String>,
    pub(crate) queue: BTreeMap<String, String>,
}

impl Facts {
    pub(crate) fn new(kind: MediumKind) -> Self {
        Self {
            kind,
            vendor: None,
            model: None,
            unit: None,
            bus: None,
            claimed_classes: Vec::new(),
            health: BTreeMap::new(),
            queue: BTreeMap::new(),
        }
    }

    /// Keeps a health figure if there is one.
    pub(crate) fn note(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value.and_then(|value| clean(&value)) {
            self.health.insert(name.to_owned(), value);
        }
    }
}

/// A name from a device, made harmless; `None` where it says nothing.
pub(crate) fn clean(text: &str) -> Option<String> {
    label(text, LONGEST)
}
