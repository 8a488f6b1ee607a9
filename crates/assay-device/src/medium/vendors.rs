//! Makers of SATA and NVMe drives, which have no vendor field, by the beginning of their model names.

/// Beginning of the model name, maker.
const WORDS: &[(&str, &str)] = &[
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

pub(crate) fn of_model(model: &str) -> Option<&'static str> {
    let lower = model.to_lowercase();
    if let Some((_, name)) = WORDS.iter().find(|(word, _)| lower.starts_with(word)) {
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
    use super::of_model;

    #[test]
    fn makers_are_known_by_their_models() {
        assert_eq!(of_model("Samsung SSD 860 EVO 500GB"), Some("Samsung"));
        assert_eq!(of_model("ST4000VN008-2DR166"), Some("Seagate"));
        assert_eq!(of_model("CT500MX500SSD1"), Some("Crucial"));
        assert_eq!(of_model("STRANGE"), None);
        assert_eq!(of_model(""), None);
    }
}
