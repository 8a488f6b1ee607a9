//! Claims that must hold after each fault, and after the command that follows it.

use std::path::Path;

use assay_lab::SplitMix;
use assay_lab::media::ModelMedium;
use assay_verify::probe::{Device, JournalError, JournalIdentity, JournalLeft, Restoration, RestoreError, Restored};

use crate::world::{Call, Card, Failing, JOURNAL, Stage, World, blocks, changed, identity};

const SECTOR: u64 = 512;
/// Most bytes that one record of the journal covers.
const RECORD: u64 = 1 << 20;

/// The result of a seed.
pub struct Case {
    pub what: String,
    pub end: &'static str,
    pub faults: u64,
    /// The first claim that does not hold.
    pub broken: Option<String>,
}

/// What happens between the fault and the restoration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    /// Another program writes to the card.
    Newer,
    /// A byte of the journal changes.
    Rot,
}

pub fn run(seed: u64, stages: &[Stage]) -> Case {
    let mut dice = SplitMix::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x5eed);
    let stage = &stages[dice.below(stages.len() as u64) as usize];
    let failing =
        [Failing::Power, Failing::Power, Failing::Process, Failing::Call, Failing::Full][dice.below(5) as usize];
    // Half of the faults hit the journal's disk: all kinds of its calls are equally likely.
    let at = if dice.one_in(2) || failing == Failing::Full {
        let kind = [Call::DiskWrite, Call::DiskWrite, Call::DiskSync, Call::DiskSync, Call::DiskRead, Call::DiskName]
            [dice.below(6) as usize];
        let calls: Vec<usize> = (0..stage.calls.len()).filter(|at| stage.calls[*at] == kind).collect();
        calls[dice.below(calls.len() as u64) as usize]
    } else {
        dice.below(stage.calls.len() as u64) as usize
    };
    let between = [Between::Nothing, Between::Nothing, Between::Newer, Between::Rot][dice.below(4) as usize];
    let world = World::new(seed);
    let mut case =
        Case { what: format!("{failing:?} at {:?}, {between:?}", stage.calls[at]), end: "", faults: 0, broken: None };
    world.fail_at(at, failing);
    let mut card = stage.card(&world);
    let mut play = Play { stage, world: &world, dice, faults: 0, plugged: std::cell::Cell::new(0) };
    let end = play.first(&mut card, failing).and_then(|()| play.rest(&mut card, between));
    case.faults = play.faults;
    match end {
        Ok(end) => case.end = end,
        Err(why) => {
            case.broken = Some(format!(
                "{} ({failing:?} at call {at}, {:?}, {between:?}): {why}",
                stage_name(stage),
                stage.calls[at]
            ));
        }
    }
    case
}

fn stage_name(stage: &Stage) -> String {
    format!("{:?}", stage.medium.layout)
}

struct Play<'s> {
    stage: &'s Stage,
    world: &'s World,
    dice: SplitMix,
    faults: u64,
    /// Times that the card was plugged in.
    plugged: std::cell::Cell<u32>,
}

type Claim<T> = Result<T, String>;

fn claim(holds: bool, what: &str) -> Claim<()> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl Play<'_> {
    fn exists(&self) -> bool {
        self.world.exists(Path::new(JOURNAL))
    }

    fn changed(&self, card: &Card<ModelMedium>) -> Vec<u64> {
        changed(card.inner())
    }

    /// The probe that the fault hits.
    fn first(&mut self, card: &mut Card<ModelMedium>, failing: Failing) -> Claim<()> {
        let probed = self.stage.probe(self.world, card);
        self.faults += u64::from(self.world.has_failed());
        if matches!(failing, Failing::Power | Failing::Process) {
            self.world.start(card);
        } else if let Ok(probed) = probed {
            let kept = probed.journal != JournalLeft::Removed;
            claim(kept == self.exists(), "the probe said otherwise of its journal than is so")?;
            let whole = probed.restored.as_ref().is_ok_and(Restored::is_complete);
            claim(whole || kept, "not everything was put back, and no journal kept")?;
            // The journal can still be read, so everything can be restored.
            claim(failing != Failing::Full || whole, "a full disk kept the probe from putting everything back")?;
            self.world.start(card);
        }
        claim(self.exists() || self.changed(card).is_empty(), "the journal is gone and the card is not as before")
    }

    fn rest(&mut self, card: &mut Card<ModelMedium>, between: Between) -> Claim<&'static str> {
        if !self.exists() {
            return Ok("as before, no journal");
        }
        self.another_card()?;
        if !self.exists() {
            return claim(self.changed(card).is_empty(), "closed, and the card is not as before")
                .map(|()| "as before, closed");
        }
        match between {
            Between::Nothing => {
                for _ in 0..self.dice.below(3) {
                    self.meet(card)?;
                }
                self.last(card)
            }
            Between::Newer => self.newer(card),
            Between::Rot => self.rot(card),
        }
    }

    /// A restoration to the wrong card changes nothing.
    fn another_card(&mut self) -> Claim<()> {
        let mut other = self.stage.other(self.world);
        let before = self.world.bytes(Path::new(JOURNAL));
        let done = self.restore(&mut other, self.dice.clone().one_in(2));
        claim(self.changed(&other).is_empty(), "another card was written to")?;
        match done {
            // A journal for which nothing was overwritten belongs to no card. A journal marked as fully restored is no
            // longer needed.
            Ok(done) if done.places == 0 || done.already => Ok(()),
            Err(RestoreError::Journal(JournalError::NotAJournal { .. })) | Err(RestoreError::AnotherCard { .. }) => {
                claim(self.world.bytes(Path::new(JOURNAL)) == before, "another card changed the journal")
            }
            done => Err(format!("another card was not refused: {done:?}")),
        }
    }

    /// Restores to a card that was plugged in anew.
    fn restore(&self, card: &mut Card<ModelMedium>, keep_newer: bool) -> Result<Restored, RestoreError> {
        self.plugged.set(self.plugged.get() + 1);
        let identity = JournalIdentity { attachment: Some(self.plugged.get().to_string()), ..identity(card) };
        Restoration::new(Path::new(JOURNAL), &identity).on(self.world.disk()).keeping_newer(keep_newer).run(card)
    }

    /// A restoration that is itself hit by a fault.
    fn meet(&mut self, card: &mut Card<ModelMedium>) -> Claim<()> {
        let failing = [Failing::Power, Failing::Process, Failing::Call, Failing::Full][self.dice.below(4) as usize];
        // A restoration reads, writes and reads back: at most a third of the calls of a probe.
        let longest = self.stage.calls.len() as u64;
        let at = if self.dice.one_in(2) { self.dice.below(12) } else { self.dice.below(longest) };
        self.world.fail_at(at as usize, failing);
        let done = self.restore(card, false);
        self.faults += u64::from(self.world.has_failed());
        self.world.start(card);
        match done {
            Ok(done) if failing != Failing::Power => {
                let exists = done.journal != JournalLeft::Removed;
                claim(exists == self.exists(), "the restoration said otherwise of its journal than is so")?;
                claim(!done.is_complete() || self.changed(card).is_empty(), "said to be complete, and is not")
            }
            Ok(done) => claim(!done.is_complete() || self.changed(card).is_empty(), "said to be complete, and is not"),
            Err(RestoreError::AnotherCard { .. } | RestoreError::Newer { .. } | RestoreError::OtherSize { .. }) => {
                Err("its own card was refused".to_owned())
            }
            Err(_) => Ok(()),
        }?;
        claim(self.exists() || self.changed(card).is_empty(), "the journal is gone and the card is not as before")
    }

    /// A restoration without a fault.
    fn last(&mut self, card: &mut Card<ModelMedium>) -> Claim<&'static str> {
        if !self.exists() {
            return Ok("as before, by a met restoration");
        }
        let done = self.restore(card, false);
        claim(self.changed(card).is_empty(), &format!("not as before: {done:?}"))?;
        match done {
            Ok(done) if done.is_complete() && done.untouched && done.journal == JournalLeft::Needed => {
                Ok("as before, kept")
            }
            Ok(done) if done.already => claim(!self.exists(), "not needed and kept").map(|()| "seen again"),
            Ok(done) if done.is_complete() => {
                let again = self.restore(card, false);
                claim(
                    again.as_ref().is_ok_and(|again| again.already),
                    &format!("not as before when seen again: {again:?}"),
                )?;
                claim(!self.exists() && self.changed(card).is_empty(), "seen again, and kept").map(|()| "restored")
            }
            Ok(done) => Err(format!("nothing is missing, and it said {done}")),
            Err(RestoreError::Journal(JournalError::NotAJournal { .. })) => Ok("as before, the journal was not begun"),
            Err(error) => Err(format!("refused: {error}")),
        }
    }

    /// The card was written since. Newer data must not be touched, and the rest comes back on request.
    fn newer(&mut self, card: &mut Card<ModelMedium>) -> Claim<&'static str> {
        let touched = self.changed(card);
        let mut newer = Vec::new();
        for _ in 0..=self.dice.below(4) {
            // At a place that the probe wrote, or anywhere.
            let page = match touched.len() as u64 {
                0 => self.dice.below(card.bytes() / 4096) * 4096,
                all if self.dice.one_in(3) => touched[self.dice.below(all) as usize],
                _ => self.dice.below(card.bytes() / 4096) * 4096,
            };
            let at = page + self.dice.below(8) * SECTOR;
            card.inner_mut().write_at(at, &[0xee; SECTOR as usize]).unwrap();
            newer.push(at);
        }
        let stand = |card: &mut Card<ModelMedium>, at: &u64| {
            let mut now = [0; SECTOR as usize];
            card.inner_mut().read_at(*at, &mut now).unwrap();
            now == [0xee; SECTOR as usize]
        };
        // What a limbo dropped was never stored.
        newer.retain(|at| stand(card, at));
        let before = card.inner().clone();
        let refused = self.restore(card, false);
        claim(newer.iter().all(|at| stand(card, at)), "newer data were overwritten")?;
        match refused {
            Err(RestoreError::Newer { .. } | RestoreError::AnotherCard { .. }) => {
                let (was, is) = (changed(&before), self.changed(card));
                claim(was == is && self.exists(), "refused, and yet written, or no journal kept")?;
            }
            Err(RestoreError::Journal(JournalError::NotAJournal { .. })) => return Ok("the journal was not begun"),
            Ok(done) if done.is_complete() => {}
            other => return Err(format!("{other:?}")),
        }
        if self.exists() {
            let done = self.restore(card, true);
            claim(newer.iter().all(|at| stand(card, at)), "newer data were overwritten on request")?;
            let pages: Vec<u64> = self.changed(card);
            let only_newer = |page: &u64| newer.iter().any(|at| self.same_page(card, *at, *page));
            claim(pages.iter().all(only_newer), &format!("more than the newer data is not as before: {done:?}"))?;
            if let Ok(done) = done {
                claim(done.newer.is_empty() || self.exists(), "newer data were left and the journal is gone")?;
            }
        }
        Ok("newer data left")
    }

    /// Whether an address leads to a page of the memory.
    fn same_page(&self, card: &Card<ModelMedium>, at: u64, page: u64) -> bool {
        let (before, mut twin) = (card.inner().snapshot(), card.inner().clone());
        twin.write_at(at, &[0x11; SECTOR as usize]).unwrap();
        blocks(&twin.changed_since(&before)).contains(&page)
    }

    /// A byte of the journal changed: everything else is restored, and the journal stays.
    fn rot(&mut self, card: &mut Card<ModelMedium>) -> Claim<&'static str> {
        let path = Path::new(JOURNAL);
        let mut bytes = self.world.bytes(path).unwrap_or_default();
        if bytes.is_empty() {
            return Ok("an empty journal");
        }
        let at = self.dice.below(bytes.len() as u64) as usize;
        if self.dice.one_in(4) {
            let end = (at + 4096).min(bytes.len());
            bytes[at..end].fill(0);
        } else {
            bytes[at] ^= 1 << self.dice.below(8);
        }
        self.world.set_bytes(path, bytes);
        let done = self.restore(card, false);
        let left = self.changed(card);
        match done {
            Err(RestoreError::Journal(_)) => {
                claim(self.exists(), "a journal that cannot be read was removed").map(|()| "refused")
            }
            Err(error) => Err(error.to_string()),
            Ok(done) if left.is_empty() => {
                let kept = done.is_complete() || self.exists();
                claim(kept, "something is missing, and the journal is gone").map(|()| "as before in spite of damage")
            }
            Ok(done) => {
                claim(self.exists() && !done.is_complete(), &format!("not as before, and not told: {done:?}"))?;
                // The places of damaged records are reported: by offset or, if the mark that names their places is
                // damaged too, as a number of unknown places.
                let reported: Vec<u64> = done
                    .missing
                    .iter()
                    .flatten()
                    .copied()
                    .chain(done.differing.iter().map(|place| place.offset))
                    .collect();
                let unknown = done.missing.iter().filter(|place| place.is_none()).count() as u64;
                let near = |page: &u64| reported.iter().any(|from| self.reaches(card, *from, *page));
                let unreported = left.iter().filter(|page| !near(page)).count() as u64;
                // If the end is missing, the restoration says that more places may be missing. They cannot be named.
                claim(
                    done.cut_off || unreported <= unknown * (RECORD / 4096),
                    &format!("{left:?} are not as before, told were {done:?}"),
                )?;
                Ok("damage told")
            }
        }
    }

    /// Whether a record of this place may cover a page of the memory.
    fn reaches(&self, card: &Card<ModelMedium>, from: u64, page: u64) -> bool {
        if (from..from + RECORD).contains(&page) {
            return true;
        }
        (from..(from + RECORD).min(card.bytes())).step_by(4096).any(|at| self.same_page(card, at, page))
    }
}
