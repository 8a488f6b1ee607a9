//! What tells one machine from all others, taken out of a text that is kept.

use std::sync::LazyLock;

use crate::pattern::{Regex, regex};

/// Addresses of network interfaces, and serial numbers as tools print them.
static IDENTITIES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b",
        r#"|\b(serial(?:[ _]?(?:number|no\.?))?"?\s*[:=]\s*)"?[0-9a-z_-]{4,}"?"#,
        // The head of a table of comma separated values.
        r"|(?m:^(serial,)[0-9a-z_-]{4,}\s*$)"
    );
    regex(pattern)
});

/// A text with a mark in the place of each.
pub(crate) fn without_identities(text: &str) -> String {
    IDENTITIES
        .replace_all(text, |found: &regex_lite::Captures<'_>| {
            format!("{}\"left out\"", found.get(1).or(found.get(2)).map_or("", |key| key.as_str()))
        })
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_serial_numbers_are_left_out() {
        let text = "rev: c03112 serial: 10000000abcd1234 \nIF: eth0 mac: dc:a6:32:00:11:22\nSerial Number=ABC_123-X, 12:30:01\n";
        let want =
            "rev: c03112 serial: \"left out\" \nIF: eth0 mac: \"left out\"\nSerial Number=\"left out\", 12:30:01\n";
        assert_eq!(without_identities(text), want);
        assert_eq!(without_identities("\"serial_number\": \"S4EWNX0\""), "\"serial_number\": \"left out\"");
        assert_eq!(without_identities("serial: N/A"), "serial: N/A");
        assert_eq!(without_identities("Model,A 1\nSerial,S4EWNX0\nCPU,B"), "Model,A 1\nSerial,\"left out\"\nCPU,B");
        assert_eq!(without_identities("parallel, serial, both"), "parallel, serial, both");
    }
}
