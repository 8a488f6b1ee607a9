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

// Contents: the owner's data on a medium, and the data read where a medium has no memory.
//
// Both are functions of the address, so a medium of 8 TiB needs memory only for written sectors.

/// The content of the owner's sectors before the first operation, by the address of the memory cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Every sector is different, as in encrypted or compressed files.
    Random(u64),
    /// All zero, as on a new medium.
    Zeros,
    /// All 0xFF, as on an erased medium.
    Ones,
    /// All sectors hold the same words.
    Text,
    /// Blocks of this many sectors that are all equal.
    Repeated {
        /// Seed of the block.
        seed: u64,
        /// Sectors of the block.
        unit: u64,
    },
    /// Sectors at this distance and its multiples are equal: a genuine medium that looks like a wrap-around.
    Periodic {
        /// Seed of the content.
        seed: u64,
        /// The distance in sectors.
        period: u64,
    },
    /// A master boot record, a boot sector and its copy, two tables that count up, and files with gaps of zeros.
    Tables {
        /// Seed of the files.
        seed: u64,
    },
    /// Each MiB has another of the kinds above.
    Mixed(u64),
    /// The first and last MiB of one content, the rest of another: two cards with the same partition table.
    Ends {
        /// The content of the first and last MiB.
        ends: Box<Content>,
        /// The content of the rest.
        inner: Box<Content>,
        /// Sectors of the card.
        sectors: u64,
    },
    /// A clone that differs in one sector of each `one_in`.
    Clone {
        /// The card that was copied.
        of: Box<Content>,
        /// Seed of the differing sectors and their content.
        seed: u64,
        /// One sector in `one_in` differs.
        one_in: u64,
    },
}

impl Content {
    /// Writes the content of the sector at an address to `out`.
    pub fn sector(&self, at: u64, out: &mut Sector) {
        match self {
            Self::Random(seed) => fill(hash(*seed, at), out),
            Self::Zeros => out.fill(0),
            Self::Ones => out.fill(0xff),
            Self::Text => text(out),
            Self::Repeated { seed, unit } => fill(hash(*seed, at % unit.max(&1)), out),
            Self::Periodic { seed, period } => fill(hash(*seed, at % period.max(&1)), out),
            Self::Tables { seed } => tables(*seed, at, out),
            Self::Mixed(seed) => {
                let region = hash(*seed, at / MIB);
                match region % 6 {
                    0 => out.fill(0),
                    1 => out.fill(0xff),
                    2 => text(out),
                    3 => fill(hash(region, at % 8), out),
                    4 => tables(region, at % MIB, out),
                    _ => fill(hash(region, at), out),
                }
            }
            Self::Ends { ends, inner, sectors } => {
                let is_end = at < MIB || at + MIB >= *sectors;
                if is_end { ends.sector(at, out) } else { inner.sector(at, out) }
            }
            Self::Clone { of, seed, one_in } => {
                of.sector(at, out);
                if hash(*seed, at).is_multiple_of(*one_in.max(&1)) {
                    fill(hash(seed ^ 0xc10e, at), out);
                }
            }
        }
    }
}

fn text(out: &mut Sector) {
    const WORDS: &[u8; 32] = b"The quick brown fox jumps again\n";
    for chunk in out.chunks_mut(WORDS.len()) {
        chunk.copy_from_slice(WORDS);
    }
}

/// Content as of a file system. Sector 0 has a partition table. Sector 2048, and its copy six sectors further, is a
/// boot sector. Tables count clusters, directories have short entries, and half of the files' clusters are zero.
fn tables(seed: u64, at: u64, out: &mut Sector) {
    out.fill(0);
    match at {
        0 => {
            out[446..462].copy_from_slice(&[0, 32, 33, 0, 12, 254, 255, 255, 0, 8, 0, 0, 0, 0, 240, 0]);
            out[510..].copy_from_slice(&[0x55, 0xaa]);
        }
        32 | 38 | 2048 | 2054 => {
            out[..11].copy_from_slice(&[0xeb, 0x58, 0x90, b'm', b'k', b'f', b's', b'.', b'f', b'a', b't']);
            out[67..71].copy_from_slice(&(seed as u32).to_le_bytes());
            out[510..].copy_from_slice(&[0x55, 0xaa]);
        }
        64..512 | 2080..3072 => {
            let first = (at % 512) * 128;
            for (i, entry) in out.chunks_mut(4).enumerate() {
                let next =
                    if hash(seed, first + i as u64).is_multiple_of(9) { 0x0fff_ffff } else { first + i as u64 + 1 };
                entry.copy_from_slice(&(next as u32).to_le_bytes());
            }
        }
        _ => match hash(seed, at / 8) % 8 {
            0..4 => {}
            4 => text(out),
            5 => {
                for (i, entry) in out.chunks_mut(32).enumerate() {
                    entry[..11].copy_from_slice(format!("FILE{:04}TXT", (at + i as u64) % 10_000).as_bytes());
                    entry[28..32].copy_from_slice(&(hash(seed, at) as u32).to_le_bytes());
                }
            }
            _ => fill(hash(seed, at), out),
        },
    }
}

/// The data read at an address without memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Void {
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// Noise that is the same at each read of the address.
    AddressHash(u64),
    /// Data of an earlier owner: plausible tables and files, the same at each read.
    Foreign(u64),
    /// The data last transferred over the bus, in either direction.
    LastOnBus,
    /// The data at the address modulo this many sectors.
    Mirror(u64),
    /// An error.
    Error,
}

impl Void {
    /// The content for kinds that do not depend on the medium; `None` for the others.
    pub fn sector(&self, at: u64, out: &mut Sector) -> Option<()> {
        match self {
            Self::Zeros => out.fill(0),
            Self::Ones => out.fill(0xff),
            Self::AddressHash(seed) => fill(hash(*seed, at), out),
            Self::Foreign(seed) => Content::Tables { seed: *seed }.sector(at, out),
            Self::LastOnBus | Self::Mirror(_) | Self::Error => return None,
        }
        Some(())
    }
}

/// The sectors that were written. All others hold the owner's content.
#[derive(Debug, Default)]
pub struct Store {
    pages: Map64<Box<Page>>,
}

#[derive(Debug)]
struct Page {
    written: u8,
    data: [u8; 4096],
}

impl Store {
    /// Copies a written sector; returns false if it was never written.
    pub fn get(&self, at: u64, out: &mut Sector) -> bool {
        let Some(page) = self.pages.get(&(at / 8)).filter(|p| p.written & 1 << (at % 8) != 0) else {
            return false;
        };
        let from = (at % 8) as usize * 512;
        out.copy_from_slice(&page.data[from..from + 512]);
        true
    }

    /// Whether a sector was written.
    pub fn has(&self, at: u64) -> bool {
        self.pages.get(&(at / 8)).is_some_and(|p| p.written & 1 << (at % 8) != 0)
    }

    /// Writes a sector.
    pub fn set(&mut self, at: u64, data: &Sector) {
        let page = self.pages.entry(at / 8).or_insert_with(|| Box::new(Page { written: 0, data: [0; 4096] }));
        page.written |= 1 << (at % 8);
        let from = (at % 8) as usize * 512;
        page.data[from..from + 512].copy_from_slice(data);
    }

    /// Forgets that a sector was written.
    pub fn forget(&mut self, at: u64) {
        if let Some(page) = self.pages.get_mut(&(at / 8)) {
            page.written &= !(1 << (at % 8));
        }
    }

    /// The addresses that were written, in order.
    pub fn addresses(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self
            .pages
            .iter()
            .flat_map(|(p, page)| (0..8).filter(|i| page.written & 1 << i != 0).map(move |i| p * 8 + i))
            .collect();
        all.sort_unstable();
        all
    }
}
