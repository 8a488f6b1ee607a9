//! What a ledger says: of each block the last acknowledged write, and those issued after it.

use std::collections::BTreeMap;

use crate::entry::{Checked, Entry};
use crate::layout::{BLOCK, GROUP, Layout};
use crate::report::{CutReport, PowerCuts, not_shown, share};
use crate::round::{Begin, Ended, Mode, Round};

/// Most blocks of an area: 4 GiB.
const MOST_BLOCKS: u64 = 1 << 20;
/// Most writes under way for each block of the area: a round that is killed while it fills the area leaves two.
const MOST_PENDING: u64 = 12;

/// The last acknowledged write of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// Its number.
    pub number: u64,
    /// The highest number that had been issued when it was acknowledged: a greater one was issued afterwards.
    pub issued_by_then: u64,
    /// When, since its round began.
    pub at_ns: u64,
    /// Its round if the load wrote it; `None` for what a fill wrote.
    pub loaded_in: Option<u32>,
}

/// A write that was issued and not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// Its number.
    pub number: u64,
    /// The first number of its batch.
    pub batch: u64,
}

/// What is known of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    /// The last acknowledged write; `None` where nothing is known.
    pub acknowledged: Option<Acknowledged>,
    /// Writes issued since then, in their order.
    pub pending: Vec<Pending>,
}

/// Writes of a batch, not all acknowledged.
#[derive(Debug, Clone)]
enum Open {
    Writes { mode: Mode, blocks: Vec<u64>, acknowledged: u64 },
    Fill { runs: Vec<(u64, u64)> },
}

/// The state after the entries of a ledger.
#[derive(Debug, Clone)]
pub struct State {
    begin: Begin,
    layout: Layout,
    blocks: Vec<Held>,
    open: BTreeMap<u64, Open>,
    last_number: u64,
    rounds: u32,
    round: Option<Round>,
    ended: Option<Ended>,
    issued: u64,
    /// Writes under way of all blocks.
    pending: u64,
    acknowledged: BTreeMap<Mode, u64>,
    last_at_ns: u64,
    cuts: Vec<CutReport>,
    /// Runs that the check of this round found wrong.
    failed: Vec<(u64, u64)>,
    checked: bool,
}

impl State {
    /// After the first entry; `None` where it makes no sense.
    #[must_use]
    pub fn begin(begin: Begin) -> Option<Self> {
        let unit = u64::from_str_radix(&begin.id, 16).ok().filter(|_| begin.version == 1)?;
        let layout = Layout { unit, blocks: begin.blocks };
        let sound = (2 * GROUP..=MOST_BLOCKS).contains(&begin.blocks)
            && begin.blocks.is_multiple_of(GROUP)
            && (1..=layout.load_groups()).contains(&begin.writers);
        sound.then(|| Self {
            layout,
            blocks: vec![Held::default(); usize::try_from(begin.blocks).unwrap_or(0)],
            begin,
            open: BTreeMap::new(),
            last_number: 0,
            rounds: 0,
            round: None,
            ended: None,
            issued: 0,
            pending: 0,
            acknowledged: BTreeMap::new(),
            last_at_ns: 0,
            cuts: Vec::new(),
            failed: Vec::new(),
            checked: false,
        })
    }

    /// Takes an entry; `false` where it does not follow, and the state is then of no use.
    #[must_use]
    pub fn apply(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Begin(_) => false,
            Entry::Round(round) => {
                self.begin_round(round.clone());
                true
            }
            Entry::Writes { first, mode, blocks } => self.issue(*first, *mode, blocks),
            Entry::Fill { number, runs } => self.fill(*number, runs),
            Entry::Acknowledged { first, count, at_ns } => self.acknowledge(*first, *count, *at_ns),
            Entry::Ended(end) => {
                let follows = self.is_under_way();
                self.ended = Some(*end);
                follows
            }
            Entry::Checked(checked) => self.check(checked),
        }
    }

    fn begin_round(&mut self, round: Round) {
        for (start, length) in std::mem::take(&mut self.failed) {
            for block in start..start.saturating_add(length).min(self.layout.blocks) {
                let held = std::mem::take(&mut self.blocks[block as usize]);
                self.pending -= held.pending.len() as u64;
            }
        }
        self.open.clear();
        (self.round, self.ended, self.checked) = (Some(round), None, false);
        self.rounds += 1;
        (self.issued, self.last_at_ns) = (0, 0);
        self.acknowledged.clear();
    }

    /// Whether runs ascend within the area and do not overlap.
    fn are_apart(&self, runs: &[(u64, u64)]) -> bool {
        let mut free = 0;
        runs.iter().all(|(start, length)| {
            let end =
                start.checked_add(*length).filter(|end| *length > 0 && *start >= free && *end <= self.layout.blocks);
            free = end.unwrap_or(free);
            end.is_some()
        })
    }

    /// Takes the count of writes that will be under way; `false` for more than a load ever has, which would take memory without
    /// a bound.
    fn may_hold(&mut self, writes: u64) -> bool {
        self.pending = self.pending.saturating_add(writes);
        self.pending <= MOST_PENDING.saturating_mul(self.layout.blocks)
    }

    fn is_under_way(&self) -> bool {
        self.round.is_some() && self.ended.is_none() && !self.checked
    }

    fn issue(&mut self, first: u64, mode: Mode, blocks: &[u64]) -> bool {
        let sound = |block: &u64| *block < self.layout.blocks && self.layout.is_load(*block);
        if !self.is_under_way() || first != self.last_number + 1 || blocks.is_empty() || !blocks.iter().all(sound) {
            return false;
        }
        if !self.may_hold(blocks.len() as u64) {
            return false;
        }
        for (number, block) in (first..).zip(blocks) {
            self.blocks[*block as usize].pending.push(Pending { number, batch: first });
        }
        self.last_number += blocks.len() as u64;
        self.issued += blocks.len() as u64;
        self.open.insert(first, Open::Writes { mode, blocks: blocks.to_vec(), acknowledged: 0 });
        true
    }

    fn fill(&mut self, number: u64, runs: &[(u64, u64)]) -> bool {
        let blocks = runs.iter().fold(0u64, |sum, (_, length)| sum.saturating_add(*length));
        if !self.is_under_way() || number != self.last_number + 1 || !self.are_apart(runs) || !self.may_hold(blocks) {
            return false;
        }
        for block in of(runs) {
            self.blocks[block as usize].pending.push(Pending { number, batch: number });
        }
        self.last_number = number;
        self.open.insert(number, Open::Fill { runs: runs.to_vec() });
        true
    }

    fn acknowledge(&mut self, first: u64, count: u64, at_ns: u64) -> bool {
        if !self.is_under_way() || count == 0 {
            return false;
        }
        let issued_by_then = self.last_number;
        let Some((batch, open)) = self.open.range_mut(..=first).next_back() else { return false };
        let batch = *batch;
        self.last_at_ns = self.last_at_ns.max(at_ns);
        let settle = |held: &mut Held, number: u64, loaded_in: Option<u32>, all: &mut u64| {
            let before = held.pending.len();
            held.pending.retain(|pending| pending.number > number);
            *all -= (before - held.pending.len()) as u64;
            if held.acknowledged.is_none_or(|known| known.number < number) {
                held.acknowledged = Some(Acknowledged { number, issued_by_then, at_ns, loaded_in });
            }
        };
        let done = match open {
            Open::Fill { runs } => {
                if (first, count) != (batch, 1) {
                    return false;
                }
                of(runs).for_each(|block| settle(&mut self.blocks[block as usize], first, None, &mut self.pending));
                true
            }
            Open::Writes { mode, blocks, acknowledged } => {
                let from = first - batch;
                // Those of a batch are acknowledged in their order.
                if from != *acknowledged || from.checked_add(count).is_none_or(|end| end > blocks.len() as u64) {
                    return false;
                }
                for (number, block) in (first..).zip(&blocks[from as usize..(from + count) as usize]) {
                    settle(&mut self.blocks[*block as usize], number, Some(self.rounds), &mut self.pending);
                }
                *acknowledged += count;
                *self.acknowledged.entry(*mode).or_default() += count;
                *acknowledged == blocks.len() as u64
            }
        };
        if done {
            self.open.remove(&batch);
        }
        true
    }

    fn check(&mut self, checked: &Checked) -> bool {
        if self.round.is_none() || checked.report.cut != self.rounds || !self.are_apart(&checked.failed) {
            return false;
        }
        // The same cut may be read again; the last reading counts.
        self.cuts.retain(|cut| cut.cut != self.rounds);
        self.cuts.push(checked.report.clone());
        self.failed.clone_from(&checked.failed);
        // Without an answer the cut waits for another reading.
        self.checked = checked.report.is_answered();
        true
    }

    /// How the test began.
    #[must_use]
    pub fn begun(&self) -> &Begin {
        &self.begin
    }

    /// The area.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// What is known of a block of the area.
    #[must_use]
    pub fn held(&self, block: u64) -> &Held {
        &self.blocks[block as usize]
    }

    /// The highest number that was issued.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Rounds that began.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The last round that began.
    #[must_use]
    pub fn round(&self) -> Option<&Round> {
        self.round.as_ref()
    }

    /// How the load of the last round ended; `None` where the host went down with it, or it goes on.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Whether the last round has to be checked.
    #[must_use]
    pub fn is_unchecked(&self) -> bool {
        self.round.is_some() && !self.checked
    }

    /// Writes of the load in this round.
    #[must_use]
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Acknowledged writes of the load in this round, by mode.
    #[must_use]
    pub fn acknowledged(&self) -> &BTreeMap<Mode, u64> {
        &self.acknowledged
    }

    /// When the last write of this round was acknowledged.
    #[must_use]
    pub fn last_at_ns(&self) -> u64 {
        self.last_at_ns
    }

    /// Cuts that were checked.
    #[must_use]
    pub fn cuts(&self) -> &[CutReport] {
        &self.cuts
    }

    /// Runs of places whose content is not known.
    #[must_use]
    pub fn unknown(&self) -> Vec<(u64, u64)> {
        runs((0..self.layout.blocks).filter(|block| self.held(*block).acknowledged.is_none()))
    }

    /// What the next round writes before its load: all places of the load, and older data that are not known any more.
    #[must_use]
    pub fn to_fill(&self) -> Vec<(u64, u64)> {
        let wanted = |block: &u64| self.layout.is_load(*block) || self.held(*block).acknowledged.is_none();
        runs((0..self.layout.blocks).filter(wanted))
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> PowerCuts {
        let begin = &self.begin;
        let area_bytes = begin.blocks * BLOCK;
        let flushes = self.round.as_ref().and_then(|round| round.flushes);
        PowerCuts {
            schema: 1,
            id: begin.id.clone(),
            started: begin.started.clone(),
            model: begin.model.clone(),
            unit: begin.unit.clone(),
            capacity_bytes: begin.capacity_bytes,
            area_bytes,
            target: begin.target,
            flushes,
            cuts: self.cuts.clone(),
            unchecked: self.is_unchecked(),
            share: share(&self.cuts),
            not_shown: not_shown(&self.cuts, flushes, area_bytes + GROUP * BLOCK > begin.capacity_bytes),
            labels: begin.labels.clone(),
        }
    }
}

fn of(runs: &[(u64, u64)]) -> impl Iterator<Item = u64> + '_ {
    runs.iter().flat_map(|(start, length)| *start..start + length)
}

/// Ascending blocks as runs.
pub(crate) fn runs(blocks: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for block in blocks {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == block => *length += 1,
            _ => runs.push((block, 1)),
        }
    }
    runs
}
