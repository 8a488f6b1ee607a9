//! The judge compares the answers and actions of a program with the truth.
//!
//! The claims come from `README.md` and `verify.md`. A violation is *wrong* where it contradicts a document to the
//! letter. It is *arguable* where a document can be read in two ways, or is silent and an owner or a buyer expects
//! otherwise.
//!
//! Choices:
//!
//! - The documents state up to which size a cache would not have hidden a loss, and do not restrict the policy of a cache.
//!   A buyer expects that a cache of up to that size hides nothing, whatever its policy: wrong for plain LRU and FIFO
//!   caches, arguable for others. Where no reach is stated, 8 MiB is taken, as for the campaign in `verify.md`.
//! - A fault counts only if it has bitten. If it changed nothing that a host could notice, the medium is what its map
//!   is, and "what begins after the probe" is not seen by definition. A medium whose fault has not bitten is accused
//!   wrongly like a genuine one.
//! - The documents do not say that the power may be cut after the verdict. An owner who reads "everything was put back"
//!   expects to be able to pull the card: the data are judged in the memory itself, after a power cut.
//! - "A bit was read wrong once, when it was saved": cells whose reading a fault changed before they were written are
//!   excused. "Writes land on addresses that were never saved": excused where the verdict is fake. Where the verdict is
//!   genuine, the probe has missed it. Where it is damaged, "operations land elsewhere" says that the journal is kept. A
//!   second copy of a write, which no read of its own address shows, is arguable.
//! - Sectors that a fault left neither as written nor as before look like newer data, which the documents leave alone. It
//!   is arguable if they are not restored.
//! - A pool that gives the memory of the oldest unit to the newest loses data of the owner with every write. No program
//!   can prevent it: units that lost their memory are excused.
//! - *Failed* keeps the journal. The documents do not say whether this holds if nothing is changed: arguable then.
//! - A genuine medium without a cache or a fault: it is a nuisance, arguable, if the journal is kept although everything
//!   is restored, and the program does not say that it is. A journal that is kept until the device is attached anew is
//!   a precaution.
//! - "Ctrl-C during a probe puts everything back", and "at the end everything is put back". So after at most one Ctrl-C,
//!   with the journal kept or not, nothing may be changed on a medium without a cache whose faults have not bitten and
//!   whose map is a function of the address.
//! - The stated cost (300 MB of a genuine device up to 2 TiB, 150 MB more with blocks of 4 KiB) holds for the default
//!   caches: more is arguable.
//!   default caches: more is arguable.

use super::faults::Fault;
use super::maps::Map;
use super::medium::{Counters, Medium};
use super::numbers::{MIB, TIB, human};
use super::spec::Spec;
use super::truths::{Keeps, Kind, Reach, Size, Word};

/// The verdict of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Every tested place holds data.
    Genuine,
    /// The medium announces more than it holds.
    Fake(Kind),
    /// The medium loses data in places.
    Damaged,
    /// The medium failed during the test.
    Failed,
    /// The program cannot tell.
    Undecided,
    /// The program did not probe.
    Refused,
}

impl Verdict {
    /// The verdict as a word.
    pub fn word(&self) -> Word {
        match self {
            Self::Genuine => Word::Genuine,
            Self::Fake(_) => Word::Fake,
            Self::Damaged => Word::Damaged,
            Self::Failed => Word::Failed,
            Self::Undecided => Word::Undecided,
            Self::Refused => Word::Refused,
        }
    }
}

/// The real size that a program states, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SaidSize {
    /// Exact to the sector.
    Exact(u64),
    /// Between these, both included.
    Interval(u64, u64),
    /// None.
    None,
}

/// The stated reach of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SaidReach {
    /// Caches of up to this many bytes would not have hidden a loss.
    pub cache_bytes: u64,
    /// The share of the device that was tested.
    pub share_tested: f64,
    /// The smallest loss in bytes that would have been found; 0 if none is stated.
    pub smallest_loss: u64,
}

/// The complete answer of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// The real size.
    pub size: SaidSize,
    /// Whether the journal still exists.
    pub journal_kept: bool,
    /// Whether the program says that everything reads as before. Then a journal that still exists is a precaution: a
    /// cache may lose, at a power cut, the data that it shows.
    pub all_back: bool,
    /// The reach of the verdict.
    pub reach: Option<SaidReach>,
    /// Why the probe ended early.
    pub stopped: Option<String>,
}

/// How a restoration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is restored.
    Restored,
    /// There was nothing to restore.
    NothingToDo,
    /// It refused this device, and wrote nothing.
    Refused,
    /// Some sectors could not be restored.
    Incomplete,
    /// It ended with an error of the medium.
    Failed,
    /// There is no journal.
    NoJournal,
}

/// The answer of a restoration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestoreAnswer {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the journal still exists.
    pub journal_kept: bool,
}

/// Severity of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The documents can be read either way, or are silent.
    Arguable,
    /// The documents say otherwise.
    Wrong,
}

/// The claim that is violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// No genuine medium is accused.
    Accused,
    /// No fake and no failing medium within the reach is called genuine.
    Missed,
    /// The word is one of the right ones.
    Word,
    /// The kind of a fake.
    Kind,
    /// A size that is stated as exact is exact.
    ExactSize,
    /// A stated interval contains the size.
    IntervalSize,
    /// If the journal is removed, everything is as before.
    OwnersData,
    /// With the journal, everything that the medium can hold is restored.
    Restore,
    /// The journal is kept where it must be.
    Journal,
    /// Another card is never written.
    Foreign,
    /// The cost is within the stated one.
    Cost,
    /// The program answers at all.
    Behaviour,
}

/// A claim that was violated.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The claim.
    pub claim: Claim,
    /// Its severity.
    pub severity: Severity,
    /// What happened.
    pub text: String,
}

/// Makes a violation.
pub fn violation(claim: Claim, is_wrong: bool, text: impl Into<String>) -> Violation {
    let severity = if is_wrong { Severity::Wrong } else { Severity::Arguable };
    Violation { claim, severity, text: text.into() }
}

/// Size of the caches, in bytes, that cannot hide a loss where the program states none.
pub const DEFAULT_CACHE: u64 = 8 << 20;

/// The faults of card 0 that have bitten.
pub fn bitten(medium: &Medium) -> Vec<Fault> {
    medium.card(0).bites().iter().filter(|b| b.bites > 0).map(|b| b.fault.clone()).collect()
}

/// Whether a fault that would make `word` right has nipped.
fn is_nipped(medium: &Medium, word: Word) -> bool {
    medium.card(0).bites().iter().any(|b| b.nips > 0 && b.fault.accepted_words().0.contains(&word))
}

/// How well a cache excuses a miss.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hides {
    No,
    Perhaps,
    Yes,
}

fn cache_hides(spec: &Spec, answer: &Answer) -> Hides {
    let reach = answer.reach.map_or(DEFAULT_CACHE, |r| r.cache_bytes);
    match &spec.card.cache {
        None => Hides::No,
        Some(c) if c.bytes > reach => Hides::Yes,
        Some(c) if c.is_plain() => Hides::No,
        Some(_) => Hides::Perhaps,
    }
}

/// Judges a probe that ended or was interrupted; `before` holds the counters before it. First the power of the medium
/// is cut.
pub fn judge(spec: &Spec, medium: &mut Medium, answer: &Answer, before: &Counters) -> Vec<Violation> {
    medium.power_cut();
    let mut all = Vec::new();
    judge_verdict(spec, medium, answer, &mut all);
    judge_size(spec, medium, answer, &mut all);
    judge_data(spec, medium, answer, &mut all);
    let counters = medium.counters();
    let moved = counters.bytes_read + counters.bytes_written - before.bytes_read - before.bytes_written;
    let most = if spec.block == 512 { 300_000_000 } else { 450_000_000 };
    let is_plain = spec.card.cache.is_none() && spec.card.faults.is_empty();
    if answer.verdict == Verdict::Genuine && is_plain && spec.card.sectors <= 2 * TIB && moved > most {
        all.push(violation(Claim::Cost, false, format!("moved {} MB of a genuine medium", moved / 1_000_000)));
    }
    all
}

fn judge_verdict(spec: &Spec, medium: &Medium, answer: &Answer, all: &mut Vec<Violation>) {
    let bitten = bitten(medium);
    let truth = spec.truth_with(&bitten);
    let word = answer.verdict.word();
    let was_interrupted = medium.interrupts() > 0;
    if was_interrupted && matches!(word, Word::Undecided | Word::Refused) || truth.right.contains(&word) {
        judge_kind(spec, answer, truth.kind.filter(|_| bitten.is_empty()), all);
        return;
    }
    let hides = cache_hides(spec, answer);
    let text = format!("{word:?}, but right is {:?} ({})", truth.right, truth.name);
    let arguable = truth.arguable.contains(&word);
    if truth.right == [Word::Genuine] {
        if is_nipped(medium, word) {
            return;
        }
        return all.push(violation(Claim::Accused, !arguable, text));
    }
    if word != Word::Genuine {
        // A fault that begins in the middle, or is hidden at first, can look like other faults for a while.
        let mixed = !bitten.is_empty() && spec.card.map != Map::Genuine || hides != Hides::No;
        // "Cannot tell" is not a wrong answer. The campaign limits its share.
        let mixed = mixed || word == Word::Undecided;
        return all.push(violation(Claim::Word, !(arguable || mixed), text));
    }
    let seen = match truth.reach {
        Reach::Beyond => return,
        Reach::Evidence if bitten.is_empty() && medium.card(0).unheld() == 0 => return,
        Reach::Letter => false,
        Reach::Stated | Reach::Evidence => true,
    };
    let said_less = answer.reach.is_some_and(|r| r.smallest_loss > truth.lost) && truth.lost > 0 && !truth.at_end;
    match hides {
        Hides::Yes => {}
        Hides::Perhaps => all.push(violation(Claim::Missed, false, text)),
        Hides::No => all.push(violation(Claim::Missed, seen && !arguable && !said_less, text)),
    }
}

fn judge_kind(spec: &Spec, answer: &Answer, truth: Option<Kind>, all: &mut Vec<Violation>) {
    if let (Verdict::Fake(said), Some(kind)) = (answer.verdict, truth)
        && said != kind
        && said != Kind::Unknown
    {
        // A chain of one lap is a limbo, and a chain with laps that hold all their data is a wrap-around.
        let n = spec.card.sectors;
        let same = matches!(spec.card.map, Map::Chain { period, real } if period >= n || real >= period);
        if !same {
            all.push(violation(Claim::Kind, false, format!("{said:?}, but it is a {kind:?}")));
        }
    }
}

fn judge_size(spec: &Spec, medium: &Medium, answer: &Answer, all: &mut Vec<Violation>) {
    let bitten = bitten(medium);
    let truth = spec.truth_with(&bitten);
    if answer.verdict.word() != Word::Fake || !truth.right.contains(&Word::Fake) {
        return;
    }
    // With a second fault, a cache that is not evicted, or a pool, the size is arguable.
    let is_plain = bitten.is_empty() && cache_hides(spec, answer) == Hides::No && truth.reach == Reach::Stated;
    let text = |said: String| format!("{said}, but it is {:?} ({})", truth.size, truth.name);
    match (answer.size, &truth.size) {
        (SaidSize::Exact(s), Size::Exact(right)) if !right.contains(&s) => {
            all.push(violation(Claim::ExactSize, is_plain, text(format!("{s} ({})", human(s)))));
        }
        (SaidSize::Exact(s), Size::Within(low, high)) if s < *low || s > *high => {
            all.push(violation(Claim::ExactSize, is_plain, text(format!("{s} ({})", human(s)))));
        }
        (SaidSize::Interval(low, high), Size::Exact(right)) if !right.iter().any(|r| low <= *r && *r <= high) => {
            all.push(violation(Claim::IntervalSize, is_plain, text(format!("{low} to {high}"))));
        }
        (SaidSize::Interval(low, high), Size::Within(a, b)) if high < *a || low > *b => {
            all.push(violation(Claim::IntervalSize, is_plain, text(format!("{low} to {high}"))));
        }
        (SaidSize::Interval(low, high), _) if low > high || high > spec.bytes() => {
            all.push(violation(
                Claim::IntervalSize,
                true,
                format!("{low} to {high} is no interval of {}", spec.bytes()),
            ));
        }
        _ => {}
    }
}

/// Judges the owner's data after a probe that removed its journal, and whether it should have kept it.
fn judge_data(spec: &Spec, medium: &Medium, answer: &Answer, all: &mut Vec<Violation>) {
    let card = medium.card(0);
    let losses = card.losses();
    let word = answer.verdict.word();
    let bitten = bitten(medium);
    if answer.journal_kept {
        let unbitten = card.bites().iter().all(|b| b.bites + b.nips == 0);
        let is_sound = spec.card.cache.is_none() && unbitten && !spec.card.map.is_asymmetric();
        if is_sound && losses.changed > 0 && medium.interrupts() < 2 && losses.evicted == 0 {
            let text = format!("{} sectors are not put back on a sound medium, journal kept, {word:?}", losses.changed);
            all.push(violation(Claim::OwnersData, true, text));
        }
        if answer.all_back && losses.changed > 0 && spec.card.cache.is_none() && !is_sound {
            let text = format!("said to read as before, journal kept, {word:?}, {losses:?}");
            all.push(violation(Claim::OwnersData, false, text));
        }
        if is_sound && losses.is_none() && word == Word::Genuine && !answer.all_back {
            all.push(violation(
                Claim::Journal,
                false,
                "the journal of a genuine medium is kept though all is as before",
            ));
        }
        return;
    }
    if word == Word::Failed && card.written_cells() > 0 {
        all.push(violation(Claim::Journal, losses.changed > 0, "failed, but the journal is not kept"));
    }
    if losses.changed + losses.elsewhere > 0 {
        let lies = spec.card.cache.as_ref().is_some_and(|c| c.lies());
        let hides = if lies || !bitten.is_empty() { cache_hides(spec, answer) } else { Hides::No };
        // A read that a cache serves may also hide a loss in the storage behind it.
        let hides =
            if spec.card.cache.is_some() && spec.card.map != Map::Genuine { cache_hides(spec, answer) } else { hides };
        let evicts = spec.truth().keeps == Keeps::NotEvicted;
        let text = format!(
            "{} sectors changed, no journal, verdict {word:?}; first {:?}, {} lost in a cache",
            losses.changed + losses.elsewhere,
            losses.first,
            card.lost_in_cache()
        );
        match hides {
            Hides::Yes => {}
            Hides::Perhaps => all.push(violation(Claim::OwnersData, false, text)),
            Hides::No => all.push(violation(Claim::OwnersData, !evicts && !spec.card.map.is_fickle(), text)),
        }
    }
    let unseen = word == Word::Genuine && spec.truth_with(&bitten).reach == Reach::Beyond;
    if losses.collateral > 0 && word != Word::Fake && !unseen && cache_hides(spec, answer) != Hides::Yes {
        let copies = spec.card.faults.iter().any(|f| matches!(f, Fault::Duplicates { .. }));
        let text =
            format!("{} sectors changed by writes that landed elsewhere, no journal, {word:?}", losses.collateral);
        all.push(violation(Claim::OwnersData, !copies, text));
    }
}

/// Judges a restoration of card 0 that says that it succeeded, or that must succeed (`must`). First the power is cut.
/// `must` is for media whose faults are healed.
pub fn judge_restore(spec: &Spec, medium: &mut Medium, answer: &RestoreAnswer, must: bool) -> Vec<Violation> {
    medium.power_cut();
    let mut all = Vec::new();
    let losses = medium.card(0).losses();
    // The documents do not say which caches a restoration evicts: a cache that lies excuses it.
    let lies = spec.card.cache.as_ref().is_some_and(|c| c.lies());
    // A stamp with a wrong bit cannot be told from newer data, which is left alone.
    let corrupts = spec.card.faults.iter().any(Fault::corrupts);
    let excused =
        spec.truth().keeps != Keeps::All || losses.evicted > 0 || lies || corrupts || spec.card.map.is_fickle();
    // A cache may show data that a second fault has dropped, and no reach is stated for a restoration. Data that were
    // read from another cell are saved under the requested address.
    let lower = spec.card.map != Map::Genuine && spec.card.faults.iter().any(|f| matches!(f, Fault::ReadsLower { .. }));
    let is_double = spec.card.map.is_asymmetric() || spec.card.cache.is_some() || lower;
    let excused = excused || is_double && !spec.card.faults.is_empty();
    // Writes that wrap around where reads do not, behind a cache, are documented as not restored.
    let excused = excused || spec.card.map.is_asymmetric() && spec.card.cache.is_some();
    let text = format!("{:?}, journal kept: {}, {losses:?}", answer.outcome, answer.journal_kept);
    let says_done = !answer.journal_kept || answer.outcome == Outcome::Restored;
    if losses.changed > 0 && (says_done || must) {
        all.push(violation(Claim::Restore, !excused, format!("sectors are not back: {text}")));
    } else if must && matches!(answer.outcome, Outcome::Failed | Outcome::NoJournal) {
        all.push(violation(Claim::Restore, false, format!("a sound device fails: {text}")));
    }
    all
}

/// Judges that another card was left alone. A probe that has read the first card when the other is inserted may write
/// before it can notice: up to a MiB of the first card's data, and stamps, are arguable. A restoration can read first.
pub fn judge_foreign(medium: &Medium, card: usize, is_probe: bool) -> Vec<Violation> {
    let foreign = medium.card(card);
    let cells = foreign.changed_cells();
    if cells.is_empty() {
        return vec![];
    }
    let owner = medium.card(0);
    let put_back = cells.iter().filter(|c| foreign.cell(**c) == owner.original(**c)).count();
    let what = if is_probe { "probing" } else { "restoring" };
    let first = cells[0];
    let text = format!(
        "{what}: {} sectors of another card changed, first {first}; {put_back} hold data of the first card",
        cells.len()
    );
    vec![violation(Claim::Foreign, put_back as u64 > MIB || !is_probe, text)]
}
