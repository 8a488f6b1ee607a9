//! Ids of records: short, typeable, roughly in order of time.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::text::digit as digit_of;

pub(crate) use crate::system::random;

/// 2025-01-01 00:00 UTC in seconds since 1970: 25 bits of minutes from there last until 2088.
const EPOCH_SECONDS: u64 = 1_735_689_600;
/// Digits of time, and as many random digits: 2 × 25 bits.
const HALF: u32 = 5;
/// Longest id that is accepted from elsewhere.
const LONGEST: usize = 64;

/// A new id: five digits of the minute, five random digits.
#[must_use]
pub fn new_id() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut bytes = [0u8; 8];
    let chance = match random(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        // Only kernels before 3.17 get here; the hasher of the standard library is seeded randomly too.
        Err(_) => RandomState::new().hash_one((seconds, std::process::id())),
    };
    id_of(seconds, chance)
}

fn id_of(seconds: u64, chance: u64) -> String {
    // A board without a battery may have its clock in 1970: all such ids begin with 00000.
    let minutes = seconds.saturating_sub(EPOCH_SECONDS) / 60;
    let mut id = String::with_capacity(2 * HALF as usize);
    for part in [minutes, chance] {
        for digit in (0..HALF).rev() {
            id.push(digit_of(part >> (5 * digit)));
        }
    }
    id
}

/// Whether an id from elsewhere is safe to type, usable as a file name and distinct from a query: letters, digits, `-`
/// and `_`, not starting like a flag, and no keyword of queries.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !["all", "last"].contains(&text)
}

/// Corrects an id typed by hand: Crockford's base 32 reads i and l as 1, and o as 0.
pub(crate) fn as_meant(typed: &str) -> String {
    typed
        .chars()
        .map(|c| match c.to_ascii_lowercase() {
            'i' | 'l' => '1',
            'o' => '0',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ten_typeable_characters_and_differ() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| new_id()).collect();
        assert!(ids.len() >= 999, "{} of 1000 differ", ids.len());
        for id in &ids {
            assert_eq!(id.len(), 10);
            assert!(id.bytes().all(assay_core::text::is_digit) && is_id(id), "{id}");
        }
    }

    #[test]
    fn later_ids_sort_later() {
        let ids: Vec<String> = [0, EPOCH_SECONDS + 60, EPOCH_SECONDS + 3600, 1_900_000_000, 3_700_000_000]
            .iter()
            .map(|seconds| id_of(*seconds, 7))
            .collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids[0], "0000000007");
        assert_eq!(ids[1], "0000100007");
    }

    #[test]
    fn ids_from_elsewhere_are_harmless_or_refused() {
        for good in ["0y3kq7zz0a", "node7-0042", "A_1"] {
            assert!(is_id(good), "{good}");
        }
        let long = "a".repeat(65);
        for bad in
            ["", "-rf", "--help", "../x", "a b", "a'--", "a%", "a\0", "a\n", "ä", "all", "last", "a=b", "last~1", &long]
        {
            assert!(!is_id(bad), "{bad}");
        }
    }

    #[test]
    fn mistyped_letters_are_read_as_the_digits_they_look_like() {
        assert_eq!(as_meant("OIL7ab"), "0117ab");
    }
}
