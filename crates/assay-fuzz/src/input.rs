//! Inputs: choices taken from their bytes, mutations of them, and what several targets claim or need.

use std::path::Path;

use assay_core::text::harmless;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

// Choices taken from the bytes of an input, so that a mutation of a byte changes one choice.

/// What is left of an input. At its end all choices are 0: the plainest.
pub(crate) struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number below `bound`, which is at most 2^16.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let low = usize::from(self.byte());
        let value = if bound > 256 { low << 8 | usize::from(self.byte()) } else { low };
        value % bound.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = self.below(from.len());
        from.get(at).copied()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

// Mutations for the replay: the same for the same seeds.

/// Pieces that parsers stumble over.
const PIECES: [&[u8]; 16] = [
    b"\"",
    b"=",
    b"\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"-1",
    b"0",
    b"18446744073709551615",
    b"1e999",
    b"\x00",
    b"\xff\xfe",
    "\u{202e}".as_bytes(),
    b"\x1b[2J",
];

/// `count` inputs, each one of `seeds` with one to four changes.
pub fn mutations(seeds: &[Vec<u8>], count: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(9));
    (0..count).map(move |_| {
        let mut input = dice.pick(seeds).cloned().unwrap_or_default();
        for _ in 0..=dice.below(3) {
            dice.change(&mut input, seeds);
        }
        input
    })
}

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// A number from 0 to `most`.
    fn below(&mut self, most: usize) -> usize {
        (self.0.next_u64() % (most as u64 + 1)) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len().checked_sub(1)?))
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len());
        let end = (at + self.below(16)).min(input.len());
        match self.below(6) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let bit = 1 << self.below(7);
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= bit;
                }
            }
            3 => {
                let piece = self.pick(&PIECES).copied().unwrap_or_default();
                input.splice(at..end, piece.iter().copied());
            }
            4 => {
                let again = input.get(at..end).unwrap_or_default().to_vec();
                input.splice(at..at, again);
            }
            5 => {
                // The rest of another seed.
                let other = self.pick(seeds).cloned().unwrap_or_default();
                let from = self.below(other.len());
                input.splice(at.., other.get(from..).unwrap_or_default().iter().copied());
            }
            _ => {
                let byte = self.0.next_u64() as u8;
                input.insert(at, byte);
            }
        }
    }
}

// Claims that several targets make.

/// Longest refusal in characters: what was given is quoted up to a length.
const LONGEST_LINE: usize = 1500;

/// A refusal is one line that a terminal shows as it is, and that a person reads to its end.
#[track_caller]
pub(crate) fn one_line(refusal: &impl std::fmt::Display) {
    let line = refusal.to_string();
    assert!(!line.trim().is_empty(), "an empty refusal");
    assert!(harmless(&line) == line, "a refusal holds a character that a terminal obeys: {line:?}");
    let length = line.chars().count();
    assert!(
        length <= LONGEST_LINE,
        "a refusal of {length} characters: {}…",
        line.chars().take(200).collect::<String>()
    );
}

/// Input as text, for code that is given UTF-8 alone.
pub(crate) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Seeds that are texts.
pub(crate) fn texts(seeds: &[&str]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

// Directories for targets that need files.

/// A directory that is removed when it is dropped; in memory where there is one.
pub(crate) fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap_or_else(|error| panic!("no directory for temporary files: {error}"))
}
