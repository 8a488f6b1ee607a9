//! Groups of media by how exactly their size can be known. A report states exactness for each group separately.

use crate::media::{Flips, Layout, MediumSpec};

/// The reason why the size of a fake may not be known to the sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The size can be known: the medium has one fault, and the check evicts its caches.
    Plain,
    /// The medium has a second fault: the real part may end where that fault begins.
    SecondFault,
    /// The memory lies in more than two pieces, and some may be smaller than any distance between samples.
    Pieces,
    /// The cache is larger than the check evicts.
    Cache,
    /// Memory is allocated to the addresses written first: its size shows only when all of it is used.
    Thin,
}

impl Group {
    /// All groups with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Plain, "one fault"),
        (Self::SecondFault, "a second fault"),
        (Self::Pieces, "many pieces"),
        (Self::Cache, "larger cache"),
        (Self::Thin, "thin"),
    ];

    /// The group of a medium for a check that evicts caches of up to `driven_out_bytes`.
    #[must_use]
    pub fn of(spec: &MediumSpec, driven_out_bytes: u64) -> Self {
        let pieces = matches!(&spec.layout, Layout::Holds(ranges) if ranges.len() > 2);
        let lined = spec.misaddress.is_some() && !spec.layout.is_whole(spec.announced_bytes);
        if spec.pool.is_some() {
            Self::Thin
        } else if spec.caches.iter().any(|cache| cache.bytes_to_evict() > driven_out_bytes) {
            Self::Cache
        } else if pieces {
            Self::Pieces
        } else if lined || spec.decay.is_some() || !spec.errors.is_empty() || spec.flips != Flips::none() {
            Self::SecondFault
        } else {
            Self::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::{Cache, Operations};

    const MIB: u64 = 1 << 20;

    #[test]
    fn media_are_grouped_by_what_hides_their_size() {
        let group = |spec: &MediumSpec| Group::of(spec, 32 * MIB);
        let limbo = MediumSpec::limbo(1 << 30, 61 * MIB);
        assert_eq!(group(&limbo), Group::Plain);
        assert_eq!(group(&limbo.clone().with_cache(Cache::of(32 * MIB))), Group::Plain);
        assert_eq!(group(&limbo.clone().with_cache(Cache::of(33 * MIB))), Group::Cache);
        assert_eq!(group(&limbo.with_errors(0..4096, Operations::Reads)), Group::SecondFault);
        let holds = |pieces: u64| Layout::holds((0..pieces).map(|piece| piece * 64 * MIB..(piece * 64 + 1) * MIB));
        assert_eq!(group(&MediumSpec::laid_out(1 << 30, holds(2))), Group::Plain);
        assert_eq!(group(&MediumSpec::laid_out(1 << 30, holds(3))), Group::Pieces);
    }
}
