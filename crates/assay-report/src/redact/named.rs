//! What the names of labels and of readings say of their values.

use super::identity::{Kind, run_length};

/// Words in the name of a label whose value is an identity.
const NAMING: [(&str, Kind); 18] = [
    ("serial", Kind::Unit),
    ("serialnumber", Kind::Unit),
    ("serialno", Kind::Unit),
    ("sn", Kind::Unit),
    ("cid", Kind::Unit),
    ("wwn", Kind::Id),
    ("wwid", Kind::Id),
    ("uuid", Kind::Id),
    ("partuuid", Kind::Id),
    ("guid", Kind::Id),
    ("nguid", Kind::Id),
    ("eui", Kind::Id),
    ("eui64", Kind::Id),
    ("mac", Kind::Id),
    ("iqn", Kind::Id),
    ("nqn", Kind::Id),
    ("ip", Kind::Host),
    ("hostname", Kind::Host),
];

/// What kind of identity a label of this name has: `serial`, `disk-sn`, `card_cid2`.
pub(super) fn named_identity(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let kind = |word: &str| NAMING.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind);
    let bare = |word: &str| kind(word).or_else(|| kind(word.trim_end_matches(|c: char| c.is_ascii_digit())));
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(bare)
}

// Readings of health.

/// `Reallocated_Sector_Ct`, `power_on_hours`; not `serial`.
pub(super) fn is_reading_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    plain && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 64 && named_identity(name).is_none()
}

/// Words in a reading beside numbers, in small letters.
const READING_WORDS: [&str; 10] =
    ["true", "false", "min", "max", "avg", "average", "lifetime", "celsius", "hours", "c"];

/// `true`, `-12`, `34 (Min/Max 19/54)`, `54118h+30m+12.1s`, `0x04`: numbers of at most 20 digits, and words that mean something.
pub(super) fn is_reading(text: &str) -> bool {
    let part = |part: &str| {
        let digits = run_length(part, |c| c.is_ascii_digit());
        let unit = part.len() - digits;
        let letters = part.bytes().skip(digits).all(|b| b.is_ascii_alphabetic());
        let known = || part.is_empty() || READING_WORDS.contains(&part.to_ascii_lowercase().as_str());
        let word = letters && if digits == 0 { known() } else { unit <= 2 };
        let hexadecimal =
            part.strip_prefix("0x").is_some_and(|hex| hex.len() <= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
        digits <= 20 && (word || hexadecimal)
    };
    let begins = ["true", "false"].contains(&text) || text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    begins && text.len() <= 64 && text.split(|c: char| c.is_whitespace() || "()/+,.:-%".contains(c)).all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_a_number_and_no_name() {
        for reading in ["0", "-12", "true", "54118h+30m+12.1s", "34 (Min/Max 19/54)", "0x04", "100%", "1,234,567"] {
            assert!(is_reading(reading), "{reading}");
        }
        for name in ["S649NX0R", "15411140A3C2", "alice", "0xdeadbeef00", "7 alice", "", "12 of nas.example"] {
            assert!(!is_reading(name), "{name}");
        }
        assert!(is_reading_name("Reallocated_Sector_Ct") && is_reading_name("Ave_Block-Erase_Count"));
        assert!(!is_reading_name("serial_number") && !is_reading_name("disk sn") && !is_reading_name("wwn"));
    }
}
