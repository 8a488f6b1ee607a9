//! A whole medium in a few numbers, and what a check has to say about it.

use std::ops::Range;

use assay_core::verification::{FakeKind, Verdict};

use super::cache::{CacheOfRandom, CacheOfSequence};
use super::damaged::{Damage, Damaged};
use super::fake::{Fake, Geometry, GeometryError};
use super::memory::Memory;

/// Sparse memory, the lie, damage and both caches.
pub type Stack = CacheOfSequence<CacheOfRandom<Damaged<Fake<Memory>>>>;

/// A medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Sizes and what lies beyond.
    pub geometry: Geometry,
    /// Bad places, as byte ranges of the announced addresses.
    pub damage: Vec<(Range<u64>, Damage)>,
    /// Cache of random writes in bytes; 0 for none.
    pub random_cache_bytes: u64,
    /// Cache of sequential writes in bytes; 0 for none.
    pub sequence_cache_bytes: u64,
    /// What dropped places read as.
    pub dropped: u8,
    /// Determines what the medium held before.
    pub seed: u64,
}

/// What a check has to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// The verdict.
    pub verdict: Verdict,
    /// The kind, where it is a fake.
    pub kind: Option<FakeKind>,
    /// The real size in bytes; `None` for a damaged medium.
    pub real_bytes: Option<u64>,
}

impl Model {
    /// Without damage and caches.
    #[must_use]
    pub fn of(geometry: Geometry) -> Self {
        Self { geometry, damage: Vec::new(), random_cache_bytes: 0, sequence_cache_bytes: 0, dropped: 0, seed: 0 }
    }

    /// The same with caches for random and for sequential writes.
    #[must_use]
    pub fn with_caches(self, random_bytes: u64, sequence_bytes: u64) -> Self {
        Self { random_cache_bytes: random_bytes, sequence_cache_bytes: sequence_bytes, ..self }
    }

    /// The same with one more bad place.
    #[must_use]
    pub fn with_damage(mut self, range: Range<u64>, damage: Damage) -> Self {
        self.damage.push((range, damage));
        self
    }

    /// Makes it.
    ///
    /// # Errors
    /// Where the geometry is impossible.
    pub fn build(&self) -> Result<Stack, GeometryError> {
        let memory = Memory::new(self.geometry.real_bytes, self.seed);
        let fake = Fake::new(memory, self.geometry, self.dropped)?;
        let damaged = Damaged::new(fake, self.damage.clone());
        let random = CacheOfRandom::new(damaged, self.random_cache_bytes);
        Ok(CacheOfSequence::new(random, self.sequence_cache_bytes))
    }

    /// The memory under a medium that was made.
    #[must_use]
    pub fn memory(stack: &Stack) -> &Memory {
        stack.inner().inner().inner().inner()
    }

    /// Whether the medium reads as when it was made. What lies under a corrupting place cannot be
    /// read and does not matter.
    #[must_use]
    pub fn is_as_before(&self, stack: &Stack) -> bool {
        let hidden = |offset: &u64| {
            let bad = |(range, damage): &(Range<u64>, Damage)| {
                *damage == Damage::Corrupts && range.start < offset + 4096 && *offset < range.end
            };
            self.geometry.kind().is_none() && self.damage.iter().any(bad)
        };
        Self::memory(stack).changed().iter().all(hidden)
    }

    /// What a check has to find.
    #[must_use]
    pub fn expected(&self) -> Expected {
        let kind = self.geometry.kind();
        let holds = self.geometry.holds_bytes();
        match kind {
            _ if holds == 0 => Expected { verdict: Verdict::Damaged, kind: None, real_bytes: Some(0) },
            Some(kind) => Expected { verdict: Verdict::Fake, kind: Some(kind), real_bytes: Some(holds) },
            None if self.damage.is_empty() => {
                Expected { verdict: Verdict::Genuine, kind: None, real_bytes: Some(holds) }
            }
            None => Expected { verdict: Verdict::Damaged, kind: None, real_bytes: None },
        }
    }
}
