//! Digits of ids.

/// Crockford's base 32 in lower case: no i, l, o or u, which people mistake for others.
/// <https://www.crockford.com/base32.html>
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The digit of the lowest five bits.
#[must_use]
pub fn digit(bits: u64) -> char {
    char::from(ALPHABET[(bits & 31) as usize])
}

/// Whether it is a digit.
#[must_use]
pub fn is_digit(byte: u8) -> bool {
    ALPHABET.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_32_digits_and_none_is_mistaken_for_another() {
        let digits: std::collections::BTreeSet<char> = (0..64).map(digit).collect();
        assert_eq!(digits.len(), 32);
        assert!(digits.iter().all(|digit| is_digit(*digit as u8)));
        assert!(!b"ilouA-".iter().any(|byte| is_digit(*byte)));
    }
}
