//! What a disk and the kernel report about it, as a [`Medium`] without a path; makers by the names of models.

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

// Makers of SATA and NVMe drives, which have no vendor field, by the beginning of their model names.

/// Beginning of the model name, maker.
const MAKERS: &[(&str, &str)] = &[
    ("samsung", "Samsung"),
    ("wdc", "WDC"),
    ("wd_black", "WDC"),
    ("wd ", "WDC"),
    ("kingston", "KINGSTON"),
    ("sandisk", "SanDisk"),
    ("intel", "INTEL"),
    ("toshiba", "TOSHIBA"),
    ("kioxia", "KIOXIA"),
    ("hgst", "HGST"),
    ("hitachi", "Hitachi"),
    ("crucial", "Crucial"),
    ("micron", "Micron"),
    ("adata", "ADATA"),
    ("transcend", "Transcend"),
    ("corsair", "Corsair"),
    ("seagate", "Seagate"),
    ("sk hynix", "SK hynix"),
    ("skhynix", "SK hynix"),
    ("patriot", "Patriot"),
    ("lexar", "Lexar"),
    ("qemu", "QEMU"),
];

pub(crate) fn maker_of_model(model: &str) -> Option<&'static str> {
    let lower = model.to_lowercase();
    if let Some((_, name)) = MAKERS.iter().find(|(word, _)| lower.starts_with(word)) {
        return Some(name);
    }
    // Seagate ST4000VN008, Crucial CT500MX500SSD1, Western Digital WD40EFRX: letters, then a size.
    let code =
        |letters: &str| lower.strip_prefix(letters).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match () {
        () if code("st") => Some("Seagate"),
        () if code("ct") => Some("Crucial"),
        () if code("wd") => Some("WDC"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::maker_of_model;

    #[test]
    fn makers_are_known_by_their_models() {
        assert_eq!(maker_of_model("Samsung SSD 860 EVO 500GB"), Some("Samsung"));
        assert_eq!(maker_of_model("ST4000VN008-2DR166"), Some("Seagate"));
        assert_eq!(maker_of_model("CT500MX500SSD1"), Some("Crucial"));
        assert_eq!(maker_of_model("STRANGE"), None);
        assert_eq!(maker_of_model(""), None);
    }
}
