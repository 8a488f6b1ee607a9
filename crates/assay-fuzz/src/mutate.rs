//! Mutations for the replay: the same for the same seeds.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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
