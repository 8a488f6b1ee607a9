//! A program that probes in the most expensive way: it writes every sector, reads all of them, and restores all.
//!
//! It shows how to implement [`Program`], and the model's own tests run it. Its journal is a list in memory that
//! outlives a kill. Each [`Mistake`] makes it violate one claim, so that the tests can see that the judge notices.

use assay_lab::independent::campaign::Program;
use assay_lab::independent::judge::{Answer, Outcome, RestoreAnswer, SaidReach, SaidSize, Verdict};
use assay_lab::independent::medium::{Error, Medium};
use assay_lab::independent::numbers::{Map64, SECTOR, Set64, fill, hash, hash_bytes};
use assay_lab::independent::truths::Kind;

/// A mistake that the program makes on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// No mistake.
    None,
    /// Every medium is called genuine.
    Trusts,
    /// Every medium is called a fake.
    Accuses,
    /// Stated sizes are a sector too large.
    SizeOff,
    /// The last part is not restored.
    ForgetsLast,
    /// The journal is removed although the first run of a restoration restored nothing.
    DropsJournal,
    /// A restoration writes without reading first.
    RestoresBlindly,
    /// It never flushes.
    NeverFlushes,
    /// It probes although a journal is pending.
    ProbesAgain,
}

/// The program.
#[derive(Debug)]
pub struct Reference {
    mistake: Mistake,
    journal: Option<Journal>,
}

#[derive(Debug, Clone)]
struct Journal {
    salt: u64,
    original: Vec<u8>,
}

/// Bytes that are read or written at once.
const CHUNK: usize = 64 * 1024;

impl Journal {
    fn stamp(&self, at: u64, out: &mut [u8]) {
        fill(hash(self.salt, at), out);
    }

    fn sectors(&self) -> u64 {
        self.original.len() as u64 / SECTOR
    }

    fn original(&self, at: u64) -> &[u8] {
        &self.original[(at * SECTOR) as usize..((at + 1) * SECTOR) as usize]
    }

    /// Maps the hash of each stamp to its address.
    fn stamps(&self) -> Map64<u64> {
        let mut data = [0; SECTOR as usize];
        (0..self.sectors())
            .map(|at| {
                self.stamp(at, &mut data);
                (hash_bytes(&data), at)
            })
            .collect()
    }
}

/// Reads everything; a part that fails reads as zeros, and the error is recorded.
fn read_all(medium: &mut Medium) -> (Vec<u8>, Vec<Error>) {
    let mut all = vec![0; medium.bytes() as usize];
    let mut errors = Vec::new();
    for (i, chunk) in all.chunks_mut(CHUNK).enumerate() {
        if let Err(error) = medium.read((i * CHUNK) as u64, chunk) {
            chunk.fill(0);
            errors.push(error);
            if error == Error::Hung || error == Error::Gone {
                break;
            }
        }
    }
    (all, errors)
}

impl Reference {
    /// A program with an empty disk for its journal.
    pub fn new(mistake: Mistake) -> Self {
        Self { mistake, journal: None }
    }

    fn flush(&self, medium: &mut Medium) -> Result<(), Error> {
        if self.mistake == Mistake::NeverFlushes { Ok(()) } else { medium.flush() }
    }

    /// Restores the saved data of each address that now shows a stamp of any address, until no stamp is left. Returns
    /// whether everything reads as before.
    fn put_back(&self, medium: &mut Medium, journal: &Journal) -> Result<bool, Error> {
        let stamps = journal.stamps();
        let block = medium.block() as usize;
        for _ in 0..3 {
            let (mut all, errors) = read_all(medium);
            if let Some(error) = errors.first() {
                return Err(*error);
            }
            let mut is_clean = true;
            let last = all.len() / CHUNK;
            for (i, chunk) in all.chunks_mut(CHUNK).enumerate() {
                if self.mistake == Mistake::ForgetsLast && i == last.saturating_sub(1) {
                    continue;
                }
                for (j, part) in chunk.chunks_mut(block).enumerate() {
                    let mut is_stamped = false;
                    for (k, sector) in part.chunks_mut(SECTOR as usize).enumerate() {
                        if stamps.contains_key(&hash_bytes(sector)) {
                            let at = (i * CHUNK + j * block) as u64 / SECTOR + k as u64;
                            sector.copy_from_slice(journal.original(at));
                            is_stamped = true;
                        }
                    }
                    if is_stamped {
                        is_clean = false;
                        medium.write((i * CHUNK + j * block) as u64, part)?;
                    }
                }
            }
            self.flush(medium)?;
            if is_clean {
                break;
            }
        }
        let (all, errors) = read_all(medium);
        Ok(errors.is_empty() && all == journal.original)
    }

    fn look(&mut self, medium: &mut Medium, seed: u64) -> Result<Answer, Error> {
        let ((original, errors), (again, _)) = (read_all(medium), read_all(medium));
        if !errors.is_empty() || original != again {
            let gone = errors.iter().any(|e| matches!(e, Error::Gone | Error::Hung));
            let verdict = if gone { Verdict::Failed } else { Verdict::Damaged };
            return Ok(Answer { verdict, ..undecided(false) });
        }
        let journal = Journal { salt: hash(seed, medium.counters().ops), original };
        self.journal = Some(journal.clone());
        let mut stamps = vec![0; journal.original.len()];
        for (at, sector) in stamps.chunks_mut(SECTOR as usize).enumerate() {
            journal.stamp(at as u64, sector);
        }
        for (i, chunk) in stamps.chunks(CHUNK).enumerate() {
            if medium.interrupts() > 0 {
                break;
            }
            medium.write((i * CHUNK) as u64, chunk)?;
        }
        self.flush(medium)?;
        let (all, _) = read_all(medium);
        let known = journal.stamps();
        let (mut live, mut own) = (Set64::default(), 0);
        for (at, sector) in all.chunks(SECTOR as usize).enumerate() {
            if let Some(whose) = known.get(&hash_bytes(sector)) {
                live.insert(*whose);
                own += u64::from(*whose == at as u64);
            }
        }
        let is_back = self.put_back(medium, &journal)?;
        if is_back || self.mistake == Mistake::ForgetsLast {
            self.journal = None;
        }
        let kept = self.journal.is_some();
        if medium.interrupts() > 0 {
            return Ok(undecided(kept));
        }
        let size = live.len() as u64 * SECTOR;
        let answer = Answer {
            reach: Some(SaidReach { cache_bytes: medium.bytes() / 4, share_tested: 1.0, smallest_loss: SECTOR }),
            ..undecided(kept)
        };
        Ok(match own == journal.sectors() {
            true if self.mistake == Mistake::Accuses => {
                Answer { verdict: Verdict::Fake(Kind::Limbo), size: SaidSize::Exact(size / 2), ..answer }
            }
            true if !is_back => Answer { verdict: Verdict::Damaged, ..answer },
            true => Answer { verdict: Verdict::Genuine, ..answer },
            false if self.mistake == Mistake::Trusts => Answer { verdict: Verdict::Genuine, ..answer },
            false => {
                let off = if self.mistake == Mistake::SizeOff { SECTOR } else { 0 };
                Answer { verdict: Verdict::Fake(Kind::Unknown), size: SaidSize::Exact(size + off), ..answer }
            }
        })
    }
}

fn undecided(journal_kept: bool) -> Answer {
    Answer {
        verdict: Verdict::Undecided,
        size: SaidSize::None,
        journal_kept,
        all_back: !journal_kept,
        reach: None,
        stopped: None,
    }
}

impl Program for Reference {
    fn probe(&mut self, medium: &mut Medium, seed: u64) -> Answer {
        if self.journal.is_some() && self.mistake != Mistake::ProbesAgain {
            return Answer { verdict: Verdict::Refused, ..undecided(true) };
        }
        match self.look(medium, seed) {
            Ok(answer) => answer,
            Err(error) => Answer {
                verdict: Verdict::Failed,
                stopped: Some(error.to_string()),
                ..undecided(self.journal.is_some())
            },
        }
    }

    fn restore(&mut self, medium: &mut Medium) -> RestoreAnswer {
        let Some(journal) = self.journal.clone() else {
            return RestoreAnswer { outcome: Outcome::NoJournal, journal_kept: false };
        };
        let says = |outcome, journal_kept| RestoreAnswer { outcome, journal_kept };
        if self.mistake == Mistake::RestoresBlindly {
            for (i, chunk) in journal.original.chunks(CHUNK).enumerate() {
                _ = medium.write((i * CHUNK) as u64, chunk);
            }
            return says(Outcome::Restored, true);
        }
        if medium.bytes() != journal.original.len() as u64 {
            return says(Outcome::Refused, true);
        }
        let (all, errors) = read_all(medium);
        if !errors.is_empty() {
            return says(Outcome::Failed, true);
        }
        let stamps = journal.stamps();
        let (mut stamped, mut newer) = (0, 0);
        for (sector, own) in all.chunks(SECTOR as usize).zip(journal.original.chunks(SECTOR as usize)) {
            let is_stamp = stamps.contains_key(&hash_bytes(sector));
            stamped += u64::from(is_stamp);
            newer += u64::from(!is_stamp && sector != own);
        }
        match (stamped, newer) {
            (0, 0) => return says(Outcome::NothingToDo, true),
            (_, 1..) => return says(Outcome::Refused, true),
            _ => {}
        }
        if self.mistake == Mistake::DropsJournal {
            self.journal = None;
            return says(Outcome::Restored, false);
        }
        match self.put_back(medium, &journal) {
            Ok(true) => {
                self.journal = None;
                says(Outcome::Restored, false)
            }
            Ok(false) => says(Outcome::Incomplete, true),
            Err(_) => says(Outcome::Failed, true),
        }
    }
}
