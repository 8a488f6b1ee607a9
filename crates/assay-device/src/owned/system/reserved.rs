//! Names that Windows does not accept for files.

/// Devices that exist in every directory, whatever follows a period in the name (Microsoft, "Naming Files, Paths, and
/// Namespaces").
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// With a digit after them, including superscript digits.
const PORTS: [&str; 2] = ["COM", "LPT"];

/// Whether a name is valid for a file in a directory: not empty, not a device, without path components, without a
/// stream after a colon, and without periods and spaces at the end, which are removed.
pub(in crate::owned) fn is_plain(name: &str) -> bool {
    let forbidden = |c: char| c < ' ' || r#"<>:"/\|?*"#.contains(c);
    !name.is_empty() && !name.contains(forbidden) && !name.ends_with(['.', ' ']) && !is_device(name)
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let port = |port: &&str| {
        let rest = stem.strip_prefix(*port).unwrap_or_default();
        let mut digits = rest.chars();
        matches!((digits.next(), digits.next()), (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None))
    };
    DEVICES.contains(&stem.as_str()) || PORTS.iter().any(port)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn devices_streams_and_ways_elsewhere_are_no_names() {
        for bad in [
            "",
            "CON",
            "con",
            "nul.txt",
            "Nul .tar.gz",
            "aux",
            "COM1",
            "com9.log",
            "LPT\u{b2}",
            "conin$",
            "a:b",
            "data:",
            r"..\data",
            "a/b",
            ".",
            "..",
            "data.",
            "data ",
            "a\u{7}",
            "what?",
            "*",
        ] {
            assert!(!is_plain(bad), "{bad:?}");
        }
        for good in
            ["data", ".assay-0123456789", "lock", "console", "COM", "COM10", "nullable.txt", "new-00ff", "1.h2w"]
        {
            assert!(is_plain(good), "{good:?}");
        }
    }
}
