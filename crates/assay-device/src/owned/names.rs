//! Unpredictable temporary names.

use std::io;

const PREFIX: &str = "new-";
/// Digits of a 64 bit number in hexadecimal.
const DIGITS: usize = 16;

/// A name for a file that is not complete yet.
pub(super) fn temporary() -> io::Result<String> {
    let mut bytes = [0; 8];
    crate::random(&mut bytes)?;
    Ok(format!("{PREFIX}{:016x}", u64::from_ne_bytes(bytes)))
}

/// Whether a name is a temporary one of [`super::OwnDir::replace_small`], for a file that is not complete yet. A killed
/// process leaves such a file.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    name.strip_prefix(PREFIX).is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_is_known_again_and_is_never_the_same() {
        let (one, other) = (temporary().unwrap(), temporary().unwrap());
        assert!(is_temporary(&one) && is_temporary(&other) && one != other);
        assert!(!is_temporary("new-") && !is_temporary("new-0123456789abcdeg") && !is_temporary("state.json"));
    }
}
