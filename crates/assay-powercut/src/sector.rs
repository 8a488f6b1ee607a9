//! What a sector holds: which write, parts of several, or something else.

use assay_endure::{SECTOR, Stamp};
use serde::{Deserialize, Serialize};

/// A sector is blank if at most this many of its 4,096 bits say otherwise: one in a hundred.
const STRAY: u32 = 40;

/// What a sector holds that is no write of the test for its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// Only zeros.
    Zeros,
    /// Only ones.
    Ones,
    /// What was written to another place.
    OtherAddress,
    /// What another test wrote.
    OtherTest,
    /// A write with some of its bits wrong.
    BitFlips,
    /// Reading it gives an error.
    Unreadable,
    /// Anything else.
    Garbage,
}

impl Damage {
    /// Its words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
            Self::OtherAddress => "another address",
            Self::OtherTest => "another test",
            Self::BitFlips => "bit flips",
            Self::Unreadable => "unreadable",
            Self::Garbage => "garbage",
        }
    }
}

/// What a sector holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sector {
    /// The write of this number, in whole.
    Write(u64),
    /// Words of several writes, each in its place.
    Mixed,
    /// Something else.
    Damaged(Damage),
}

/// Tells what a sector holds. `numbers` are writes that may be there beside those that its headers name.
#[must_use]
pub fn sector(bytes: &[u8], unit: u64, address: u64, numbers: &[u64]) -> Sector {
    let headers = Stamp::headers(bytes);
    let here = |stamp: &Stamp| stamp.unit == unit && stamp.address == address;
    let mut known: Vec<u64> = headers.iter().filter(|stamp| here(stamp)).map(|stamp| stamp.round).collect();
    if let Some(number) = known.iter().find(|number| holds(bytes, unit, address, **number)) {
        return Sector::Write(*number);
    }
    known.extend(numbers);
    if is_mixed(bytes, unit, address, &known) {
        return Sector::Mixed;
    }
    let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    if ones <= STRAY {
        return Sector::Damaged(Damage::Zeros);
    }
    if ones >= SECTOR as u32 * 8 - STRAY {
        return Sector::Damaged(Damage::Ones);
    }
    Sector::Damaged(match Stamp::read(bytes) {
        Some(stamp) if stamp.unit != unit => Damage::OtherTest,
        Some(stamp) if stamp.address != address => Damage::OtherAddress,
        Some(_) => Damage::BitFlips,
        None => Damage::Garbage,
    })
}

fn holds(bytes: &[u8], unit: u64, address: u64, number: u64) -> bool {
    let mut wanted = [0; SECTOR];
    Stamp { unit, round: number, address }.fill(&mut wanted);
    bytes == wanted
}

/// Whether each word is that of one of these writes.
fn is_mixed(bytes: &[u8], unit: u64, address: u64, numbers: &[u64]) -> bool {
    let contents: Vec<[u8; SECTOR]> = numbers
        .iter()
        .map(|number| {
            let mut content = [0; SECTOR];
            Stamp { unit, round: *number, address }.fill(&mut content);
            content
        })
        .collect();
    let words = |bytes: &[u8], word: usize| bytes[word * 8..word * 8 + 8].to_vec();
    let known = |word: usize| contents.iter().any(|content| words(content, word) == words(bytes, word));
    !contents.is_empty() && (0..SECTOR / 8).all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(unit: u64, number: u64, address: u64) -> Vec<u8> {
        let mut bytes = vec![0; SECTOR];
        Stamp { unit, round: number, address }.fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_sector_says_which_write_it_holds_or_what_else() {
        let here = |bytes: &[u8]| sector(bytes, 7, 20, &[5, 9]);
        assert_eq!(here(&filled(7, 3, 20)), Sector::Write(3));
        assert_eq!(here(&vec![0; SECTOR]), Sector::Damaged(Damage::Zeros));
        assert_eq!(here(&vec![0xff; SECTOR]), Sector::Damaged(Damage::Ones));
        assert_eq!(here(&vec![0x5a; SECTOR]), Sector::Damaged(Damage::Garbage));
        assert_eq!(here(&filled(7, 5, 21)), Sector::Damaged(Damage::OtherAddress));
        assert_eq!(here(&filled(8, 5, 20)), Sector::Damaged(Damage::OtherTest));
        let mut flipped = filled(7, 5, 20);
        flipped[100] ^= 1;
        assert_eq!(here(&flipped), Sector::Damaged(Damage::BitFlips));
    }

    #[test]
    fn parts_of_two_writes_are_told_from_damage() {
        let (one, other) = (filled(7, 5, 20), filled(7, 9, 20));
        for at in (8..SECTOR).step_by(8) {
            let mixed = [&one[..at], &other[at..]].concat();
            assert_eq!(sector(&mixed, 7, 20, &[5, 9]), Sector::Mixed, "{at}");
            // The headers name both where neither is cut.
            let named = sector(&mixed, 7, 20, &[]);
            assert!(named == Sector::Mixed || !(48..=SECTOR - 48).contains(&at), "{at}: {named:?}");
        }
        let garbage = [&one[..256], &[0x5a; 256]].concat();
        assert!(matches!(sector(&garbage, 7, 20, &[5, 9]), Sector::Damaged(_)));
    }
}
