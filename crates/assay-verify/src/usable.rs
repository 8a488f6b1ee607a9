//! The part of a fake or partly dead medium that can still be used, as a partition.

use assay_core::verification::{Extent, FakeKind, Offsets, SECTOR_BYTES, Sign, Verdict, Verification};

/// Partitions begin and end at multiples of this.
const ALIGNED: u64 = 1 << 20;
/// Less is no use.
const LEAST: u64 = 16 << 20;
/// Sectors that the table of an MBR can count.
const MOST_SECTORS: u64 = u32::MAX as u64;

/// The longest part of the medium that held what was written, as a partition could have it: from 1 MiB on, in whole MiB.
/// `start_bytes` is where the checked device begins on its disk. `None` where nothing was lost, where a loss is not one of
/// addresses, or where they are not known.
#[must_use]
pub fn usable_part(v: &Verification, start_bytes: u64) -> Option<Extent> {
    let fits = match (v.verdict, v.kind, v.sign) {
        // What keeps the newest data, or shares memory, holds any address and not all of them.
        (Verdict::Fake, Some(FakeKind::Newest | FakeKind::Unknown), _) => false,
        (Verdict::Fake, _, None | Some(Sign::OnlyWritesWrap { .. })) | (Verdict::Damaged, _, None) => true,
        _ => false,
    };
    if !fits || v.offsets != Offsets::Device {
        return None;
    }
    let real = v.real_bytes.or(v.real_low_bytes).filter(|_| v.verdict == Verdict::Fake).unwrap_or(u64::MAX);
    let parts = v.holds.iter().filter_map(|part| {
        let end = part.offset_bytes.saturating_add(part.bytes).min(real);
        let limit = MOST_SECTORS * SECTOR_BYTES;
        let start = part.offset_bytes.saturating_add(start_bytes).max(ALIGNED).next_multiple_of(ALIGNED);
        let end = end.saturating_add(start_bytes).min(limit) / ALIGNED * ALIGNED;
        (start.saturating_add(LEAST) <= end).then(|| Extent { offset_bytes: start, bytes: end - start })
    });
    parts.max_by_key(|part| part.bytes)
}

/// The first and the last sector of a partition of this part.
#[must_use]
pub fn sectors(part: Extent) -> (u64, u64) {
    (part.offset_bytes / SECTOR_BYTES, (part.offset_bytes + part.bytes) / SECTOR_BYTES - 1)
}

#[cfg(test)]
mod tests {
    use assay_core::verification::Method;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn fake(kind: FakeKind, holds: &[(u64, u64)]) -> Verification {
        Verification {
            verdict: Verdict::Fake,
            kind: Some(kind),
            offsets: Offsets::Device,
            real_bytes: Some(100 * MIB + 512),
            holds: holds
                .iter()
                .map(|(offset_bytes, bytes)| Extent { offset_bytes: *offset_bytes, bytes: *bytes })
                .collect(),
            ..Verification::undecided(Method::QuickProbe)
        }
    }

    #[test]
    fn the_part_ends_before_the_end_of_the_fake_whatever_held_behind_it() {
        let part = usable_part(&fake(FakeKind::Limbo, &[(0, 100 * MIB + 512), (500 * MIB, 300 * MIB)]), 0);
        assert_eq!(part, Some(Extent { offset_bytes: MIB, bytes: 99 * MIB }));
        assert_eq!(part.map(sectors), Some((2048, 100 * 2048 - 1)));
        let part = usable_part(&fake(FakeKind::Wraparound, &[(0, 100 * MIB + 512)]), 4 * MIB);
        assert_eq!(part, Some(Extent { offset_bytes: 4 * MIB, bytes: 100 * MIB }));
    }

    #[test]
    fn of_a_damaged_medium_it_is_the_longest_part_that_held() {
        let damaged = Verification {
            verdict: Verdict::Damaged,
            kind: None,
            real_bytes: None,
            ..fake(FakeKind::Limbo, &[(0, 20 * MIB), (21 * MIB + 512, 60 * MIB), (90 * MIB, 30 * MIB)])
        };
        assert_eq!(usable_part(&damaged, 0), Some(Extent { offset_bytes: 22 * MIB, bytes: 59 * MIB }));
        for sign in [Sign::Decays, Sign::HoldsLater, Sign::Misplaced { distance_bytes: None }] {
            assert_eq!(usable_part(&Verification { sign: Some(sign), ..damaged.clone() }, 0), None);
        }
    }

    #[test]
    fn nothing_is_said_where_no_address_can_be_trusted() {
        let limbo = fake(FakeKind::Limbo, &[(0, 100 * MIB)]);
        assert!(usable_part(&limbo, 0).is_some());
        assert_eq!(usable_part(&Verification { offsets: Offsets::Files, ..limbo.clone() }, 0), None);
        assert_eq!(usable_part(&Verification { verdict: Verdict::Genuine, ..limbo.clone() }, 0), None);
        assert_eq!(usable_part(&Verification { holds: Vec::new(), ..limbo.clone() }, 0), None);
        assert_eq!(usable_part(&fake(FakeKind::Newest, &[(0, 100 * MIB)]), 0), None);
        assert_eq!(usable_part(&fake(FakeKind::Limbo, &[(0, 16 * MIB)]), 0), None, "too small");
    }
}
