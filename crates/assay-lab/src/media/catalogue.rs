//! Named media: those that checks were seen to judge wrongly. They announce 1 GiB unless stated otherwise.

use super::address::{Misaddress, Operations};
use super::decay::{Decay, DroppedRead, Flips, Retention};
use super::failure::{Failure, Hang, Trigger};
use super::layout::Layout;
use super::pool::{Accounting, Pool, WhenFull};
use super::spec::{Cache, Eviction, MediumSpec};
use crate::mount::FileSystem;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A medium with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Its name, for messages.
    pub name: &'static str,
    /// The medium.
    pub spec: MediumSpec,
}

/// Media to test as bare devices.
#[must_use]
pub fn devices() -> Vec<Named> {
    let laid_out = |layout| MediumSpec::laid_out(GIB, layout);
    let limbo = MediumSpec::limbo(GIB, 61 * MIB);
    let genuine = MediumSpec::genuine(GIB);
    let lru = |mib| limbo.clone().with_cache(Cache::with_bytes(mib * MIB));
    let random = Cache { eviction: Eviction::Random, ..Cache::with_bytes(8 * MIB) };
    let decays = |reads| {
        let decay = Some(Decay { retention: Retention::Reads(reads), range: 0..GIB });
        MediumSpec { decay, ..MediumSpec::genuine(GIB) }
    };
    let fails = |megabytes: u64, failure| {
        genuine.clone().that_fails(Trigger::AfterWritten(megabytes * 1_000_000 / 512 * 512), failure)
    };
    let misaddress = Some(Misaddress::Shift { from_bytes: 512 * MIB, by_sectors: -1, on: Operations::Reads });
    let flips = Flips { per_write: 1e-4, ..Flips::none() };
    let named = |name, spec| Named { name, spec };
    vec![
        named("genuine", genuine.clone()),
        named("genuine, 2 TiB", MediumSpec::genuine(2048 * GIB)),
        named("wraparound of 93.76 MiB", laid_out(Layout::wraparound(192_020 * 512))),
        named("wraparound of 127 MiB + 512 KiB", laid_out(Layout::wraparound(127 * MIB + 512 * KIB))),
        named(
            "wraparound of 1999 MiB + 512 KiB in 8 GiB",
            MediumSpec::laid_out(8 * GIB, Layout::wraparound(1999 * MIB + 512 * KIB)),
        ),
        named("wraparound of 7580 MiB in 64 GiB", MediumSpec::laid_out(64 * GIB, Layout::wraparound(7580 * MIB))),
        named("wraparound of 7580 MiB in 2 TiB", MediumSpec::laid_out(2048 * GIB, Layout::wraparound(7580 * MIB))),
        named("limbo of 61 MiB that reads as before", limbo.clone().with_dropped(DroppedRead::Stale)),
        named(
            "limbo of 61 MiB that reads what was last on the bus",
            limbo.clone().with_dropped(DroppedRead::LastOnBus),
        ),
        named("chain of 61 MiB in 256 MiB", laid_out(Layout::chain(256 * MIB, 61 * MIB))),
        named(
            "chain of 61 MiB in 64 MiB, LRU cache of 4 MiB",
            laid_out(Layout::chain(64 * MIB, 61 * MIB)).with_cache(Cache::with_bytes(4 * MIB)),
        ),
        named("500 MiB protected, then a window of 4 MiB", laid_out(Layout::window(500 * MIB, 4 * MIB))),
        named("8 MiB protected, then a window of 4 KiB", laid_out(Layout::window(8 * MIB, 4 * KIB))),
        named("limbo of 61 MiB, LRU cache of 64 MiB", lru(64)),
        named("limbo of 61 MiB, LRU cache of 96 MiB", lru(96)),
        named(
            "limbo of 2 GiB in 16 GiB, random cache of 8 MiB",
            MediumSpec::limbo(16 * GIB, 2 * GIB).with_cache(random),
        ),
        named("flips of 1 in 10000 sectors", MediumSpec { flips, ..genuine.clone() }),
        named("reads 512 bytes lower from 512 MiB on", MediumSpec { misaddress, ..genuine.clone() }),
        named("decays after 1 read", decays(1)),
        named("decays after 2 reads", decays(2)),
        named("decays after 4 reads", decays(4)),
        named(
            "hangs after 1000 operations",
            genuine.clone().that_fails(Trigger::AfterOperations(1000), Failure::Hangs(Hang::TimesOut(30_000_000_000))),
        ),
        named("read-only after 4 MB", fails(4, Failure::ReadOnly)),
        named("read-only after 60 MB", fails(60, Failure::ReadOnly)),
        named("drops writes after 4 MB", fails(4, Failure::DropsWrites)),
        named("drops writes after 60 MB", fails(60, Failure::DropsWrites)),
        named("thin, 61 MiB", thin(GIB, 61 * MIB)),
        named("thin, 256 MiB", thin(GIB, 256 * MIB)),
        named("last 256 MiB", laid_out(Layout::last(GIB, 256 * MIB))),
        named("middle 256 MiB", laid_out(Layout::middle(GIB, 256 * MIB))),
        named("128 MiB at both ends", laid_out(Layout::both_ends(GIB, 256 * MIB))),
        named("errors in the last 124 MiB", genuine.clone().with_errors(900 * MIB..GIB, Operations::Both)),
        named("errors in the first 4 KiB", genuine.with_errors(0..4 * KIB, Operations::Both)),
    ]
}

/// Media to test through a file system on them.
#[must_use]
pub fn mounted() -> Vec<(Named, FileSystem)> {
    let limbo = |announced, real, cache| MediumSpec::limbo(announced, real).with_cache(Cache::with_bytes(cache));
    let pool = Some(Pool { bytes: 100 * MIB, accounting: Accounting::Compressed, when_full: WhenFull::Drops });
    let row = |name, spec: MediumSpec, file_system| (Named { name, spec: spec.blank() }, file_system);
    vec![
        row("limbo of 200 in 600 MiB, cache of 1 MiB", limbo(600 * MIB, 200 * MIB, MIB), FileSystem::Ext4),
        row("limbo of 200 in 600 MiB, cache of 64 MiB", limbo(600 * MIB, 200 * MIB, 64 * MIB), FileSystem::Ext4),
        row("limbo of 2000 MiB in 2 GiB, cache of 64 MiB", limbo(2 * GIB, 2000 * MIB, 64 * MIB), FileSystem::Ext4),
        row("limbo of 1900 MiB in 2 GiB, cache of 64 MiB", limbo(2 * GIB, 1900 * MIB, 64 * MIB), FileSystem::Xfs),
        row("thin, 100 of 600 MiB", thin(600 * MIB, 100 * MIB), FileSystem::Ext4),
        row(
            "compresses the known pattern, 100 of 600 MiB",
            MediumSpec { pool, ..MediumSpec::genuine(600 * MIB).blank() },
            FileSystem::Ext4,
        ),
        // The test chooses when writes begin to be dropped.
        row("genuine, 600 MiB", MediumSpec::genuine(600 * MIB), FileSystem::Ext4),
    ]
}

/// `real` of `announced` bytes, in units of 1 MiB, none of them used.
fn thin(announced: u64, real: u64) -> MediumSpec {
    let accounting = Accounting::Units { unit_bytes: MIB, zeros_are_free: false };
    let pool = Some(Pool { bytes: real, accounting, when_full: WhenFull::Drops });
    MediumSpec { pool, ..MediumSpec::genuine(announced) }.blank()
}

#[cfg(test)]
mod tests {
    use super::super::truth::{Class, Truth};
    use super::*;

    #[test]
    fn every_medium_can_be_made_and_has_a_name_of_its_own() {
        let mut names: Vec<_> = devices().into_iter().chain(mounted().into_iter().map(|row| row.0)).collect();
        for Named { name, spec } in &names {
            assert!(spec.build().is_ok(), "{name}");
            let genuine = Truth::about_medium(spec).class == Class::Genuine;
            assert_eq!(genuine, name.starts_with("genuine"), "{name}");
        }
        let all = names.len();
        names.sort_by_key(|named| named.name);
        names.dedup_by_key(|named| named.name);
        assert_eq!(names.len(), all);
    }
}
