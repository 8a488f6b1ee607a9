//! Which wrap-arounds a quick check finds: its writes and reads are some distances apart and not others.

use assay_core::verification::SECTOR_BYTES;

use super::stamp::{STAMP, owner};
use crate::files::{Pool, Raw, Readable, StopReason};

const MIB: u64 = 1 << 20;
const PAGE: u64 = STAMP as u64;
/// Bytes of the device that are read at either end: twice the widest gap between stamps, within these limits.
const LOOKED: std::ops::RangeInclusive<u64> = 32 * MIB..=256 * MIB;
/// Bytes of one read.
const PIECE: u64 = MIB;
/// A wrap-around after less than this part of the device also shows at a multiple of its period. A device that lacks
/// less than a twentieth is not a fake that is searched for.
const PERIODS: (f64, f64) = (0.4, 0.95);

/// The wrap-arounds that would have been found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wraparounds {
    /// All that lack a twentieth or more.
    Found,
    /// Those that lack this share or more.
    FoundFrom(f64),
    /// Some are not excluded, or it is unknown.
    NotExcluded,
}

/// Byte addresses of what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    stamps: Vec<u64>,
    /// Starts and ends of the runs that were written.
    runs: Vec<(u64, u64)>,
    /// Bytes of the device that were read at either end.
    looked: u64,
}

impl Known {
    /// From stamps and pages of runs at these addresses.
    pub(crate) fn new(mut stamps: Vec<u64>, pages: &[u64]) -> Self {
        stamps.sort_unstable();
        let mut pages = pages.to_vec();
        pages.sort_unstable();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for page in pages {
            match runs.last_mut() {
                // A stamp lies between them.
                Some((_, end)) if page <= *end + PAGE => *end = page + PAGE,
                _ => runs.push((page, page + PAGE)),
            }
        }
        Self { stamps, runs, looked: 0 }
    }

    /// Sets the number of bytes that were read at either end of the device.
    pub(crate) fn and_looked(self, looked: u64) -> Self {
        Self { looked, ..self }
    }

    /// The wrap-arounds of a device of `bytes` that would have been found.
    pub(crate) fn wraparounds(&self, bytes: u64) -> Wraparounds {
        let part = |share: f64| (bytes as f64 * share) as u64;
        let (least, most) = (part(PERIODS.0), part(PERIODS.1));
        let mut upto = least;
        for (from, to) in self.distances(bytes) {
            if from > upto + PAGE {
                break;
            }
            upto = upto.max(to);
        }
        if upto + PAGE >= most {
            return Wraparounds::Found;
        }
        let lacks = 1.0 - upto as f64 / bytes as f64;
        // A threshold above half of the device is not worth stating.
        if lacks <= 0.5 { Wraparounds::FoundFrom(lacks) } else { Wraparounds::NotExcluded }
    }

    /// Distances between something written and something else written or read, as sorted starts and ends.
    fn distances(&self, bytes: u64) -> Vec<(u64, u64)> {
        let looked = [(0, self.looked), (bytes.saturating_sub(self.looked), bytes)];
        let looked = looked.iter().filter(|_| self.looked > 0);
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (start, end) in self.runs.iter().chain(looked) {
            for stamp in &self.stamps {
                if *stamp >= *end {
                    found.push((stamp - end, stamp - start));
                } else if stamp < start {
                    found.push((start - stamp, end - stamp));
                } else {
                    found.push((0, (stamp - start).max(end - stamp)));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// Reads both ends of the device for stamps that were written elsewhere. Returns how much was read at either end, and
/// the stamps that were found at another address than their own: place, and address of its first sector there.
///
/// # Errors
/// Where the medium does not answer.
pub(crate) fn look(
    raw: &Raw,
    pool: &Pool,
    addresses: &[u64],
    salt: u64,
) -> Result<(u64, Vec<(usize, u64)>), StopReason> {
    let mut device = raw.by(pool);
    let bytes = device.bytes();
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    let gap = sorted.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let looked = (gap * 2).clamp(*LOOKED.start(), *LOOKED.end()).min(bytes / 2) / PIECE * PIECE;
    let high = (bytes - looked) / PIECE * PIECE;
    let mut elsewhere = Vec::new();
    let mut buffer = vec![0; PIECE as usize];
    for at in (0..looked).chain(high..bytes).step_by(PIECE as usize) {
        if pool.stopped() {
            return Err(StopReason::Stopped);
        }
        let length = PIECE.min(bytes - at) as usize;
        if device.read(at, &mut buffer[..length])?.is_err() {
            continue;
        }
        for (sector, nth) in buffer[..length].chunks(SECTOR_BYTES as usize).zip(0..) {
            let Some((place, within)) = owner(sector, salt) else { continue };
            let stands = (at + nth * SECTOR_BYTES).checked_sub(within as u64 * SECTOR_BYTES);
            let Some(own) = usize::try_from(place).ok().and_then(|place| addresses.get(place)) else { continue };
            if let Some(stands) = stands.filter(|stands| stands != own) {
                elsewhere.push((place as usize, stands));
            }
        }
    }
    elsewhere.dedup();
    Ok((looked, elsewhere))
}

/// Whether stamps are at one distance from their own addresses, or at multiples of one. Copies that a file system makes
/// are not.
pub(crate) fn are_of_one_period(addresses: &[u64], found: &[(usize, u64)]) -> bool {
    const LEAST: usize = 3;
    const LEAST_PERIOD: u64 = 64 << 10;
    let distances = found.iter().filter_map(|(place, at)| Some(addresses.get(*place)?.abs_diff(*at)));
    found.len() >= LEAST && distances.fold(0, gcd) >= LEAST_PERIOD
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stamp in each MiB of 300 MiB behind 16 MiB of tables.
    fn stamps() -> Vec<u64> {
        (16..300).map(|mib| mib * MIB + (mib * 37 % 256) * PAGE).collect()
    }

    fn pages(mib: std::ops::Range<u64>) -> Vec<u64> {
        (mib.start * MIB..mib.end * MIB).step_by(STAMP).collect()
    }

    #[test]
    fn runs_at_both_ends_meet_stamps_at_any_distance_but_the_largest() {
        let both: Vec<u64> = pages(16..32).into_iter().chain(pages(284..300)).collect();
        match Known::new(stamps(), &both).wraparounds(300 * MIB) {
            // The file system's tables are where data would be overwritten.
            Wraparounds::FoundFrom(share) => assert!((0.05..0.07).contains(&share), "{share}"),
            other => panic!("{other:?}"),
        }
        let looked = Known::new(stamps(), &both).and_looked(32 * MIB);
        assert_eq!(looked.wraparounds(300 * MIB), Wraparounds::Found);
    }

    #[test]
    fn copies_at_any_distance_are_no_period() {
        let addresses = stamps();
        let at = |distance: fn(u64) -> u64| -> Vec<(usize, u64)> {
            (200..210).map(|place| (place, addresses[place] - distance(place as u64))).collect()
        };
        assert!(are_of_one_period(&addresses, &at(|_| 100 * MIB + 512)));
        assert!(are_of_one_period(&addresses, &at(|place| 10 * MIB * (1 + place % 3))));
        assert!(!are_of_one_period(&addresses, &at(|place| place * place * PAGE)));
        assert!(!are_of_one_period(&addresses, &at(|_| 100 * MIB)[..2]), "too few");
    }

    #[test]
    fn one_run_somewhere_does_not_exclude_a_wraparound() {
        let middle = Known::new(stamps(), &pages(140..156));
        match middle.wraparounds(300 * MIB) {
            Wraparounds::FoundFrom(share) => assert!(share > 0.45, "{share}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(Known::new(stamps(), &[]).wraparounds(300 * MIB), Wraparounds::NotExcluded);
    }
}
