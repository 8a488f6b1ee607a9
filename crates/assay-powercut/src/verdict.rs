//! The judgement of one cut: what is there is compared with what was acknowledged. A write that was not acknowledged may be
//! there, in part, or not; only what it cannot explain accuses the medium.

use std::collections::BTreeMap;

use crate::entry::Checked;
use crate::layout::{BLOCK, SECTORS};
use crate::look::Seen;
use crate::report::{Answer, Cannot, CutKind, CutReport, Example, FileSystem, Unacknowledged};
use crate::sector::{Damage, Sector};
use crate::state::{Acknowledged, Held, State, runs};

/// Examples that a report has.
const MOST_EXAMPLES: usize = 32;

/// What is known of a cut beside the content of the medium.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// When the medium was read (RFC 3339).
    pub at: String,
    /// What shows that the power was cut.
    pub how: CutKind,
    /// The file system, where a file is written.
    pub file_system: Option<FileSystem>,
}

/// What a place of one block holds, against what was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// What was acknowledged, or what an unacknowledged write explains.
    Kept,
    /// An older content.
    Lost,
    /// The acknowledged content in part.
    Torn,
    /// What was never written there.
    Damaged,
    /// Nothing that can be read.
    Unreadable,
    /// A write that the ledger does not know.
    Unknown,
}

/// Judges a cut by what the medium holds: `Err` says why that is not known.
#[must_use]
pub fn judge(state: &State, seen: Result<&Seen, Cannot>, about: Circumstances) -> Checked {
    let report = CutReport {
        cut: state.rounds(),
        at: about.at,
        how: about.how,
        ended: state.ended().map(|ended| ended.end),
        answer: Answer::Kept,
        issued: state.issued(),
        acknowledged: state.acknowledged().values().sum(),
        modes: state.acknowledged().clone(),
        places: 0,
        lost: 0,
        torn: 0,
        reordered: 0,
        garbage: 0,
        older_damaged: 0,
        unreadable: 0,
        kinds: BTreeMap::new(),
        longest_ago_ns: None,
        unacknowledged: Unacknowledged::default(),
        examples: Vec::new(),
        file_system: about.file_system,
    };
    let cannot = |reason, mut report: CutReport| {
        report.answer = Answer::CannotTell { reason };
        Checked { report, failed: Vec::new() }
    };
    let seen = match seen.and_then(|seen| stranger(state, seen).map_or(Ok(seen), Err)) {
        Ok(seen) => seen,
        Err(reason) => return cannot(reason, report),
    };
    let mut judging = Judging { state, seen, report, found: 0, lost: Vec::new(), failed: Vec::new() };
    for block in 0..state.layout().blocks {
        if !judging.block(block) {
            return cannot(Cannot::LedgerBehind, judging.blank());
        }
    }
    judging.unacknowledged();
    judging.end()
}

/// Whether what was read can be of this test's medium at all.
fn stranger(state: &State, seen: &Seen) -> Option<Cannot> {
    let unreadable = |block: &[Sector; SECTORS]| *block == [Sector::Damaged(Damage::Unreadable); SECTORS];
    if seen.blocks.iter().all(unreadable) {
        return Some(Cannot::OnlyErrors);
    }
    let known = (0..state.layout().blocks).any(|block| state.held(block).acknowledged.is_some());
    // A serial number would say no more: units of cheap models share one.
    if known && (seen.ours == 0 || seen.ours < seen.others) {
        return Some(Cannot::NotTheMedium);
    }
    None
}

struct Judging<'a> {
    state: &'a State,
    seen: &'a Seen,
    report: CutReport,
    /// The highest number that is there.
    found: u64,
    /// Acknowledged writes that are not there.
    lost: Vec<Acknowledged>,
    failed: Vec<u64>,
}

impl Judging<'_> {
    /// The report without what was found so far.
    fn blank(&self) -> CutReport {
        CutReport {
            places: 0,
            lost: 0,
            torn: 0,
            garbage: 0,
            older_damaged: 0,
            unreadable: 0,
            kinds: BTreeMap::new(),
            unacknowledged: Unacknowledged::default(),
            examples: Vec::new(),
            ..self.report.clone()
        }
    }

    /// Judges a block; `false` where it holds a write that the ledger does not know.
    fn block(&mut self, block: u64) -> bool {
        let (held, sectors) = (self.state.held(block), &self.seen.blocks[block as usize]);
        for sector in sectors {
            if let Sector::Write(number) = sector {
                self.found = self.found.max(*number);
            }
        }
        let verdict = of_block(held, sectors, self.state.last_number());
        if verdict == Verdict::Unknown {
            return false;
        }
        if !held.pending.is_empty() {
            self.under_way(held, sectors);
        }
        let Some(known) = held.acknowledged else { return true };
        self.report.places += 1;
        if verdict == Verdict::Kept {
            return true;
        }
        self.failed.push(block);
        self.count(verdict, known);
        let mut told = false;
        for (sector, address) in sectors.iter().zip(block * SECTORS as u64..) {
            let (found, damage) = match sector {
                Sector::Write(number) if *number >= known.number => continue,
                Sector::Write(number) => (Some(*number), None),
                Sector::Mixed => (None, None),
                Sector::Damaged(damage) => (None, Some(*damage)),
            };
            if let Some(damage) = damage {
                *self.report.kinds.entry(damage).or_default() += 1;
            }
            if !std::mem::replace(&mut told, true) && self.report.examples.len() < MOST_EXAMPLES {
                let offset_bytes = address * BLOCK / SECTORS as u64;
                self.report.examples.push(Example { offset_bytes, acknowledged: known.number, found, damage });
            }
        }
        true
    }

    fn count(&mut self, verdict: Verdict, known: Acknowledged) {
        let loaded = known.loaded_in == Some(self.state.rounds());
        let report = &mut self.report;
        match verdict {
            Verdict::Lost => report.lost += 1,
            Verdict::Torn => report.torn += 1,
            Verdict::Damaged if loaded => report.garbage += 1,
            Verdict::Unreadable if loaded => report.unreadable += 1,
            Verdict::Damaged | Verdict::Unreadable => report.older_damaged += 1,
            Verdict::Kept | Verdict::Unknown => {}
        }
        if matches!(verdict, Verdict::Lost | Verdict::Torn) {
            self.lost.push(known);
            if loaded {
                let ago = self.state.last_at_ns().saturating_sub(known.at_ns);
                report.longest_ago_ns = Some(report.longest_ago_ns.unwrap_or(0).max(ago));
            }
        }
    }

    /// Sectors of a place whose last write was not acknowledged.
    fn under_way(&mut self, held: &Held, sectors: &[Sector; SECTORS]) {
        let counts = &mut self.report.unacknowledged;
        for sector in sectors {
            match sector {
                Sector::Mixed => counts.torn_sectors += 1,
                Sector::Damaged(_) if held.acknowledged.is_some() => counts.damaged_sectors += 1,
                _ => {}
            }
        }
    }

    /// Which unacknowledged writes are there. Of several to one place only the last that left a trace is counted as there.
    fn unacknowledged(&mut self) {
        // By batch: the numbers that are there, and the first that is not.
        let mut batches = BTreeMap::<u64, (Vec<u64>, Option<u64>)>::new();
        for block in 0..self.state.layout().blocks {
            let (held, sectors) = (self.state.held(block), &self.seen.blocks[block as usize]);
            let mut overwritten = false;
            for pending in held.pending.iter().rev() {
                let parts = sectors.iter().filter(|sector| **sector == Sector::Write(pending.number)).count();
                let (there, missing) = batches.entry(pending.batch).or_default();
                match parts {
                    SECTORS => {
                        self.report.unacknowledged.there += 1;
                        there.push(pending.number);
                    }
                    0 if overwritten => {}
                    0 => {
                        self.report.unacknowledged.absent += 1;
                        *missing = Some(missing.map_or(pending.number, |first| first.min(pending.number)));
                    }
                    _ => self.report.unacknowledged.partly += 1,
                }
                overwritten |= parts > 0;
            }
        }
        let late = |(there, missing): &(Vec<u64>, Option<u64>)| {
            missing.map_or(0, |missing| there.iter().filter(|number| **number > missing).count() as u64)
        };
        self.report.unacknowledged.out_of_order = batches.values().map(late).sum();
    }

    fn end(mut self) -> Checked {
        let after = |known: &&Acknowledged| self.found > known.issued_by_then;
        self.report.reordered = self.lost.iter().filter(after).count() as u64;
        let report = &mut self.report;
        let wrong = report.lost + report.torn + report.garbage + report.older_damaged + report.unreadable;
        report.answer = match (wrong, report.acknowledged) {
            (0, 0) => Answer::CannotTell { reason: Cannot::NothingAcknowledged },
            (0, _) => Answer::Kept,
            _ if report.how == CutKind::Unseen => Answer::CannotTell { reason: Cannot::NoCutSeen },
            _ => Answer::Failed,
        };
        Checked { report: self.report, failed: runs(self.failed.into_iter()) }
    }
}

fn of_block(held: &Held, sectors: &[Sector; SECTORS], last_number: u64) -> Verdict {
    let count = |is: &dyn Fn(&Sector) -> bool| sectors.iter().filter(|sector| is(sector)).count();
    if count(&|sector| matches!(sector, Sector::Write(number) if *number > last_number)) > 0 {
        return Verdict::Unknown;
    }
    let Some(known) = held.acknowledged else { return Verdict::Kept };
    let is_pending = |number: u64| held.pending.iter().any(|pending| pending.number == number);
    if count(&|sector| matches!(sector, Sector::Write(number) if *number > known.number && !is_pending(*number))) > 0 {
        return Verdict::Unknown;
    }
    let new = count(&|sector| *sector == Sector::Write(known.number));
    let old = count(&|sector| matches!(sector, Sector::Write(number) if *number < known.number));
    if !held.pending.is_empty() {
        // Only an older content is nothing that a write under way leaves.
        return match (old, new) {
            (0, _) => Verdict::Kept,
            (_, 0) => Verdict::Lost,
            _ => Verdict::Torn,
        };
    }
    let unreadable = count(&|sector| *sector == Sector::Damaged(Damage::Unreadable));
    let damaged = count(&|sector| matches!(sector, Sector::Damaged(_)));
    let mixed = count(&|sector| *sector == Sector::Mixed);
    match () {
        () if new == SECTORS => Verdict::Kept,
        () if damaged > unreadable => Verdict::Damaged,
        () if unreadable > 0 => Verdict::Unreadable,
        () if old == SECTORS && mixed == 0 => Verdict::Lost,
        () => Verdict::Torn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Pending;

    fn held(acknowledged: u64, pending: &[u64]) -> Held {
        Held {
            acknowledged: Some(Acknowledged {
                number: acknowledged,
                issued_by_then: acknowledged,
                at_ns: 0,
                loaded_in: None,
            }),
            pending: pending.iter().map(|number| Pending { number: *number, batch: *number }).collect(),
        }
    }

    /// A block whose first sectors hold one thing and whose others hold another.
    fn sectors(one: Sector, count: usize, other: Sector) -> [Sector; SECTORS] {
        std::array::from_fn(|place| if place < count { one } else { other })
    }

    #[test]
    fn a_place_without_a_write_under_way_holds_what_was_acknowledged() {
        use Sector::{Damaged, Mixed, Write};
        let of = |one, count, other| of_block(&held(5, &[]), &sectors(one, count, other), 9);
        assert_eq!(of(Write(5), 8, Write(5)), Verdict::Kept);
        assert_eq!(of(Write(3), 8, Write(3)), Verdict::Lost);
        assert_eq!(of(Write(3), 4, Write(2)), Verdict::Lost);
        assert_eq!(of(Write(5), 7, Write(3)), Verdict::Torn);
        assert_eq!(of(Write(5), 7, Mixed), Verdict::Torn);
        assert_eq!(of(Write(5), 7, Damaged(Damage::Zeros)), Verdict::Damaged);
        assert_eq!(of(Write(5), 7, Damaged(Damage::Unreadable)), Verdict::Unreadable);
        assert_eq!(of(Write(7), 1, Write(5)), Verdict::Unknown, "the ledger knows no such write");
        assert_eq!(of(Write(10), 1, Write(5)), Verdict::Unknown);
    }

    #[test]
    fn a_write_under_way_explains_all_but_an_older_content() {
        use Sector::{Damaged, Mixed, Write};
        let of = |one, count, other| of_block(&held(5, &[7, 8]), &sectors(one, count, other), 9);
        for one in [Write(5), Write(7), Write(8), Mixed, Damaged(Damage::Garbage), Damaged(Damage::Unreadable)] {
            assert_eq!(of(one, 3, Write(7)), Verdict::Kept, "{one:?}");
        }
        assert_eq!(of(Write(4), 8, Write(4)), Verdict::Lost);
        assert_eq!(of(Write(4), 3, Write(7)), Verdict::Lost);
        assert_eq!(of(Write(4), 3, Write(5)), Verdict::Torn);
        assert_eq!(of(Write(6), 1, Write(5)), Verdict::Unknown);
        assert_eq!(of_block(&Held::default(), &sectors(Mixed, 8, Mixed), 9), Verdict::Kept, "nothing is known");
    }
}
