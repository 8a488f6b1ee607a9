//! Numbers: the generator of random numbers, hashes of addresses, and maps with a fast hash.
//!
//! The model is a function of a seed only. It uses no clock, no memory address and no hash of the standard library, so
//! a seed gives the same medium on every machine.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// The bytes of a sector, the smallest unit of every map.
pub const SECTOR: u64 = 512;
/// The sectors of one KiB, MiB, GiB and TiB.
pub const KIB: u64 = 2;
/// See [`KIB`].
pub const MIB: u64 = 1024 * KIB;
/// See [`KIB`].
pub const GIB: u64 = 1024 * MIB;
/// See [`KIB`].
pub const TIB: u64 = 1024 * GIB;

/// The content of a sector.
pub type Sector = [u8; SECTOR as usize];

/// The step of splitmix64: mixes all bits of a number into all bits of the result.
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of two numbers.
pub fn hash(seed: u64, x: u64) -> u64 {
    mix(mix(seed) ^ x.wrapping_mul(0xd6e8_feb8_6659_fd93))
}

/// A hash of a sector's bytes.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0x1234_5678, |h, c| {
        let mut word = [0; 8];
        word[..c.len()].copy_from_slice(c);
        mix(h ^ u64::from_le_bytes(word))
    })
}

/// Fills bytes with random words derived from a seed.
pub fn fill(seed: u64, out: &mut [u8]) {
    let mut state = mix(seed);
    for chunk in out.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        chunk.copy_from_slice(&(word ^ (word >> 32)).to_le_bytes()[..chunk.len()]);
    }
}

/// A generator of random numbers (xoshiro256**).
#[derive(Debug, Clone)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self([mix(seed), mix(seed ^ 1), mix(seed ^ 2), mix(seed ^ 3)])
    }

    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included; `low` if they are in the wrong order.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        if high <= low { low } else { low + self.below(high - low + 1) }
    }

    /// Returns a number from `low` to `high` whose logarithm is uniform, so that small numbers are as frequent as large
    /// ones.
    pub fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (low.max(1), high.max(low.max(1)));
        let (a, b) = ((low as f64).ln(), (high as f64).ln());
        let unit = self.next() as f64 / u64::MAX as f64;
        ((a + (b - a) * unit).exp() as u64).clamp(low, high)
    }

    /// Returns true once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of the choices.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

/// Whether a number is prime.
pub fn is_prime(n: u64) -> bool {
    n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

/// The largest prime up to `n`, which must be at least 2.
pub fn prime_up_to(n: u64) -> u64 {
    (2..=n).rev().find(|&p| is_prime(p)).unwrap_or(2)
}

/// The hasher of [`Map64`]: one multiplication.
#[derive(Default, Clone)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(bytes);
    }

    fn write_u64(&mut self, x: u64) {
        let x = (x ^ (x >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = x ^ (x >> 29);
    }
}

/// A map with addresses as keys.
pub type Map64<V> = HashMap<u64, V, BuildHasherDefault<Quick>>;
/// A set of addresses.
pub type Set64 = HashSet<u64, BuildHasherDefault<Quick>>;

/// The name of the variant of an enum's value.
pub fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string()
}

/// Formats bytes in a readable unit.
pub fn human(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{:.3} GiB", b as f64 / (1u64 << 30) as f64),
        b if b >= 1 << 20 => format!("{:.3} MiB", b as f64 / (1u64 << 20) as f64),
        b if b >= 1 << 10 => format!("{:.1} KiB", b as f64 / 1024.0),
        b => format!("{b} B"),
    }
}
