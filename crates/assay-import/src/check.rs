//! Results of tests that fill a medium and read it back.

use assay_core::finding::Finding;
use assay_core::verification::{FakeKind, Method, Pass, SECTOR_BYTES, SectorCounts, Verdict, Verification};

use crate::number::printed;

/// Share of the sectors from which on a loss may be that of a fake, in percent: the limit of `verify`. Fakes announce at
/// least a twentieth too much, and a worn medium loses less.
const FAKE_PERCENT: u64 = 5;

/// A check of which nothing is known but how it was made.
pub(crate) fn undecided(method: Method) -> Verification {
    Verification { read_back: "not told".to_owned(), ..Verification::undecided(method) }
}

/// What losses come to. Data of another place, and a good beginning with nothing good behind it, are what a fake
/// leaves, where at least a twentieth is lost; other losses are damage. A text that does not tell that all was read proves
/// no medium good.
pub(crate) fn decide(check: &mut Verification, tail_is_lost: bool, complete: bool) {
    let counts = check.counts;
    let (lost, total) = (counts.lost(), counts.total());
    let many = lost.saturating_mul(100) >= total.saturating_mul(FAKE_PERCENT);
    check.verdict = match lost {
        0 if complete => Verdict::Genuine,
        0 => Verdict::Undecided,
        _ if many && (counts.overwritten > 0 || tail_is_lost) => Verdict::Fake,
        _ => Verdict::Damaged,
    };
    if check.verdict == Verdict::Fake {
        check.kind = Some(FakeKind::Unknown);
        check.real_bytes = Some(counts.good.saturating_mul(SECTOR_BYTES));
    }
    check.checked_bytes = total.saturating_mul(SECTOR_BYTES);
    check.announced_bytes = check.announced_bytes.max(check.checked_bytes);
}

/// What contradicts a count of sectors: a size that is printed beside it, rounded or cut off.
pub(crate) fn contradicts(size: &str, unit: Option<f64>, sectors: u64, of: &str) -> Option<Finding> {
    let size = printed(size)?.times(unit?);
    let counted = sectors.saturating_mul(SECTOR_BYTES) as f64;
    // Without digits behind the point a size below one is printed as none.
    let differs = (size.value - counted).abs() > size.step.max(counted * 0.01);
    let how = || format!("{sectors} sectors {of} are not {} bytes", size.value.round());
    differs.then(|| Finding::SourceContradicts { how: how() })
}

/// How many sectors are lost, in words.
pub(crate) fn losses(counts: &SectorCounts, verdict: Verdict) -> String {
    let (lost, total) = (counts.lost(), counts.total());
    let are = if lost == 1 { "is" } else { "are" };
    match counts.overwritten {
        // Too few for a fake, and no usual damage.
        1.. if verdict == Verdict::Damaged => {
            format!("{lost} of {total} sectors {are} lost, {} of them to data of another place", counts.overwritten)
        }
        _ => format!("{lost} of {total} sectors {are} lost"),
    }
}

/// A pass over so many bytes at a rate.
pub(crate) fn pass(bytes: u64, rate: Option<f64>) -> Option<Pass> {
    let rate = rate.filter(|rate| *rate > 0.0 && bytes > 0)?;
    Some(Pass { bytes, elapsed_ns: (bytes as f64 / rate * 1e9) as u64, speed: Vec::new() })
}
