//! From what was found to what the medium is.

use assay_core::units::{Bytes, capacity};
use assay_core::verification::{FakeKind, SECTOR_BYTES, SectorCounts, Verdict};

use super::tally::Tally;

/// A region that lost nearly everything is one beyond the real size, and not a worn one.
const DENSE: f64 = 0.95;
/// Fakes announce at least a twentieth too much; less than that is damage.
const LEAST_FAKE: f64 = 0.05;
/// Overwritten sectors that prove a wrap-around: one page of a flash translation layer. A single
/// one may be a mishap of its mapping.
const WRAPPED: u64 = 8;
/// So many overwritten sectors, 1 MiB, are no mishap, whatever else is lost.
const SURELY_WRAPPED: u64 = 2048;
/// Of what a wrap-around loses, at least this share is overwritten; the rest may be worn. A chain
/// drops a part of each lap.
const WRAPAROUND: f64 = 0.99;
/// The last writes, in bytes, that a fake may still show from a cache: the most that the quick
/// probe writes before it believes, too.
pub(crate) const CACHED_BYTES: u64 = 64 << 20;

/// What it came to.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) kind: Option<FakeKind>,
    pub(crate) real_bytes: Option<u64>,
    pub(crate) sentence: String,
}

/// How much was checked, and how.
pub(crate) struct Scope {
    /// What could have been checked, in bytes.
    pub(crate) whole_bytes: u64,
    /// Whether all of it was.
    pub(crate) complete: bool,
    /// Why the check ended early, as a clause; empty where it did not.
    pub(crate) ended: String,
}

pub(crate) fn judge(tally: &Tally, scope: &Scope) -> Judged {
    let counts = &tally.counts;
    let checked = counts.total() * SECTOR_BYTES;
    let (verdict, kind) = class(tally);
    // What follows the missing part is shown by a cache, and held by nothing.
    let cached = if kind == Some(FakeKind::Limbo) { tally.good_since } else { 0 };
    let held = (counts.good - cached) * SECTOR_BYTES;
    let real = scope.complete.then_some(held);
    let part = if scope.complete { "all" } else { "the part that was checked" };
    let mut sentence = match verdict {
        Verdict::Genuine => format!("genuine: {part}, {}, holds what was written", capacity(checked)),
        Verdict::Fake => {
            let how = match kind {
                Some(FakeKind::Wraparound) => "later data overwrite earlier ones",
                Some(FakeKind::Limbo) => "the rest is dropped",
                _ => "the rest is overwritten or dropped",
            };
            format!("fake: of {} only {} hold data, {how}", capacity(checked), capacity(held))
        }
        Verdict::Damaged => format!("damaged: of {} {} are lost", capacity(checked), lost(counts)),
        _ => "cannot tell: nothing was read back".to_owned(),
    };
    if verdict != Verdict::Fake
        && let Some(first) = &tally.first
    {
        sentence.push_str(&format!(", the first at {}", Bytes(first.offset_bytes)));
    }
    if !scope.ended.is_empty() {
        sentence.push_str(&format!("; {}", scope.ended));
    } else if !scope.complete {
        sentence.push_str(&format!("; {} were not checked", capacity(scope.whole_bytes.saturating_sub(checked))));
    }
    Judged { verdict, kind, real_bytes: real, sentence }
}

fn lost(counts: &SectorCounts) -> String {
    let kinds = [
        (counts.changed, "slightly changed"),
        (counts.overwritten, "overwritten"),
        (counts.corrupted, "corrupted"),
        (counts.unreadable, "unreadable"),
    ];
    let parts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    format!("{} ({} sectors)", Bytes(counts.lost() * SECTOR_BYTES), parts.join(", "))
}

fn class(tally: &Tally) -> (Verdict, Option<FakeKind>) {
    let counts = &tally.counts;
    if counts.total() == 0 {
        return (Verdict::Undecided, None);
    }
    let lost = counts.lost();
    if lost == 0 {
        return (Verdict::Genuine, None);
    }
    let of_lost = counts.overwritten as f64 / lost as f64;
    if counts.overwritten >= SURELY_WRAPPED || (counts.overwritten >= WRAPPED && of_lost >= LEAST_FAKE) {
        let kind = if of_lost >= WRAPAROUND { FakeKind::Wraparound } else { FakeKind::Chain };
        return (Verdict::Fake, Some(kind));
    }
    // A region that errs is a broken medium; a fake answers, with something else. Beyond its end
    // nothing is good but what a cache shows, and that is little beside what is missing. (So a cache
    // that is not small beside the missing part makes a fake look damaged; it never looks genuine.)
    let missing = tally.missing_at_end(DENSE);
    let large = missing as f64 >= LEAST_FAKE * counts.total() as f64;
    if large && tally.good_since <= CACHED_BYTES / SECTOR_BYTES && tally.good_since * 2 <= missing {
        return (Verdict::Fake, Some(FakeKind::Limbo));
    }
    (Verdict::Damaged, None)
}

#[cfg(test)]
mod tests {
    use super::super::tally::Found;
    use super::*;
    use crate::files::fill;

    const CHUNK: u64 = 16 << 10;

    /// 64 chunks, where chunk `i` holds what `content(i)` says: another chunk, or zeros.
    fn judged(content: impl Fn(u64) -> Option<u64>) -> Judged {
        let mut tally = Tally::new(64 * CHUNK);
        for chunk in 0..64 {
            let mut data = vec![0; CHUNK as usize];
            if let Some(of) = content(chunk) {
                fill(&mut data, of * CHUNK);
            }
            let mut found = Found::default();
            found.sort(&data, chunk * CHUNK);
            tally.add(chunk * CHUNK, &found);
        }
        judge(&tally, &Scope { whole_bytes: 64 * CHUNK, complete: true, ended: String::new() })
    }

    #[test]
    fn fakes_are_told_apart_by_what_their_missing_part_holds() {
        let genuine = judged(Some);
        assert_eq!((genuine.verdict, genuine.real_bytes), (Verdict::Genuine, Some(64 * CHUNK)));
        let limbo = judged(|chunk| (chunk < 16).then_some(chunk));
        assert_eq!((limbo.verdict, limbo.kind), (Verdict::Fake, Some(FakeKind::Limbo)));
        assert_eq!(limbo.real_bytes, Some(16 * CHUNK));
        let wrapped = judged(|chunk| Some(48 + chunk % 16));
        assert_eq!((wrapped.verdict, wrapped.kind), (Verdict::Fake, Some(FakeKind::Wraparound)));
        assert_eq!(wrapped.real_bytes, Some(16 * CHUNK));
        let chain = judged(|chunk| (chunk < 16).then_some(16 + chunk % 16));
        assert_eq!((chain.verdict, chain.kind), (Verdict::Fake, Some(FakeKind::Chain)));
        let damaged = judged(|chunk| (chunk % 30 != 7).then_some(chunk));
        assert_eq!((damaged.verdict, damaged.kind), (Verdict::Damaged, None));
        assert!(damaged.sentence.contains("(64 corrupted sectors)"), "{}", damaged.sentence);
    }
}
