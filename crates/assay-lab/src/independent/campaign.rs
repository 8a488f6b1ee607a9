//! Campaigns: a program runs on media drawn by seed, in scenarios, and is judged.
//!
//! [`run_one`] runs one scenario. [`campaign`](super::report::campaign) runs plain ones,
//! [`attack`](super::report::attack) draws a scenario for each seed. A scenario with a moment first runs the program
//! once on a fresh medium, to learn how many operations it takes.
//!
//! Choices:
//!
//! - Where the journal was kept, the medium is plugged in again and restored as it is. If that cannot succeed, all faults
//!   are healed, as if the card were put into a sound reader. The restoration must then bring back everything whose
//!   content the program could save.
//! - After a reader exchanged the card in the middle without notice, "no other device is written" cannot be kept to the
//!   letter: the program may write to the second card what it read from the first. Stamps are arguable, and so is up to a
//!   MiB of the first card's data. More is wrong, since a program can avoid it by reading before it restores.
//!   Where the other card has the same content, or most of it, everything reads as before, and the saved data may be of
//!   either card. So it is arguable if the journal is removed, and if the first card is not as before.
//! - The documents do not say whether a card that was written because it was exchanged can be restored. The journal has
//!   its content, and its owner expects it: sectors that stay changed are arguable.
//! - The documents do not say how a journal ends that is kept until the device is attached anew. It is arguable if the
//!   journal still exists afterwards although everything is restored.
//! - A probe of a device whose journal is pending must be refused, and must not write ("`run` and `verify` refuse the
//!   device until then").
//!   device until then").

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::card::CardSpec;
use super::faults::{Fault, When};
use super::judge::{
    Answer, Claim, Outcome, RestoreAnswer, SaidSize, Severity, Verdict, Violation, judge, judge_foreign, judge_restore,
    violation,
};
use super::maps::Map;
use super::medium::{Counters, Happening, Killed, Medium};
use super::numbers::{Content, MIB, Rng, SECTOR, fill, hash};
use super::spec::Spec;

/// A program that probes media. It keeps its own journal, on a disk that survives everything.
pub trait Program {
    /// `assay verify --quick`. A program may be killed in any operation: [`Killed`] unwinds through it.
    fn probe(&mut self, medium: &mut Medium, seed: u64) -> Answer;

    /// `assay verify --restore`, with the journal of the last probe.
    fn restore(&mut self, medium: &mut Medium) -> RestoreAnswer;

    /// The same with `--keep-newer`; `None` if that is not implemented.
    fn restore_keeping_newer(&mut self, _medium: &mut Medium) -> Option<RestoreAnswer> {
        None
    }
}

/// What happens around a probe. Moments are thousandths of the operations of an undisturbed run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scenario {
    /// No disturbance.
    Plain,
    /// The program is killed, the power is cut, the journal is restored.
    Kill(u64),
    /// The same, but the first restoration is killed at this thousandth of its operations.
    KillTwice(u64, u64),
    /// Ctrl-C once.
    Interrupt(u64),
    /// Ctrl-C, and again at this thousandth of the remaining operations.
    InterruptTwice(u64, u64),
    /// The device is unplugged and the host keeps running.
    Unplug(u64),
    /// The card is exchanged for another in the middle, and exchanged back if a second moment is given.
    Exchange(u64, Option<u64>, Other),
    /// The program is killed. Then another card is in the reader when the journal is restored, then the first again.
    KillExchange(u64, Other),
    /// The program is killed. Then the owner writes new data over a part of the sectors that the probe wrote.
    KillNewer(u64),
    /// Writes that restore data fail this many times.
    ErrorsPuttingBack(u64),
    /// A second probe after the first.
    Twice,
    /// The program is killed. Then a second probe runs without a restoration.
    KillProbe(u64),
}

/// The other card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Other {
    /// Everything is different.
    Stranger,
    /// The first and last MiB are equal.
    SameTable,
    /// A clone with a few different sectors.
    Clone,
    /// A stranger that is larger.
    Larger,
    /// A stranger that is smaller.
    Smaller,
    /// The same content on a larger device.
    Grown,
    /// The same content on a smaller device.
    Shrunk,
}

impl Other {
    /// The card.
    pub fn card(self, of: &CardSpec, seed: u64) -> CardSpec {
        let n = of.sectors;
        let own = || Box::new(of.content.clone());
        let strange = Content::Random(hash(seed, 0xca4d));
        let (sectors, content) = match self {
            Self::Stranger => (n, strange),
            Self::SameTable if n > 4 * MIB => (n, Content::Ends { ends: own(), inner: Box::new(strange), sectors: n }),
            Self::SameTable | Self::Clone => (n, Content::Clone { of: own(), seed, one_in: 997 }),
            Self::Larger => (n * 2, strange),
            Self::Smaller => ((n / 16 * 8).max(128), strange),
            Self::Grown => (n + 8, of.content.clone()),
            Self::Shrunk => ((n - 8).max(64), of.content.clone()),
        };
        CardSpec { sectors, content, map: Map::Genuine, void: of.void.clone(), faults: vec![], cache: None, seed }
    }
}

impl Scenario {
    /// A scenario for a seed.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5ce0);
        // Half of the moments are in the last tenth, where a program restores the data.
        let moment = |rng: &mut Rng| {
            if rng.one_in(2) { rng.range(900, 999) } else { rng.range(1, 999) }
        };
        let other = rng.pick(&[
            Other::Stranger,
            Other::SameTable,
            Other::SameTable,
            Other::Clone,
            Other::Larger,
            Other::Smaller,
            Other::Grown,
            Other::Shrunk,
        ]);
        let (at, then) = (moment(&mut rng), moment(&mut rng));
        match rng.below(14) {
            0 | 1 => Self::Kill(at),
            2 => Self::KillTwice(at, rng.range(1, 999)),
            3 => Self::Interrupt(at),
            4 => Self::InterruptTwice(at, rng.range(1, 999)),
            5 => Self::Unplug(at),
            6 | 7 => Self::Exchange(at, (then > at).then_some(then), other),
            8 | 9 => Self::KillExchange(at, other),
            10 => Self::KillNewer(at),
            11 => Self::ErrorsPuttingBack(rng.pick(&[1, 2, 10, u64::MAX])),
            12 => Self::Twice,
            _ => Self::KillProbe(at),
        }
    }

    /// The moment, if it needs one.
    fn moment(self) -> Option<u64> {
        match self {
            Self::Plain | Self::ErrorsPuttingBack(_) | Self::Twice => None,
            Self::Kill(at) | Self::KillTwice(at, _) | Self::Interrupt(at) | Self::InterruptTwice(at, _) => Some(at),
            Self::Unplug(at) | Self::Exchange(at, ..) | Self::KillExchange(at, _) => Some(at),
            Self::KillNewer(at) | Self::KillProbe(at) => Some(at),
        }
    }
}

/// The result of one run.
#[derive(Debug, Clone)]
pub struct ScenarioRun {
    /// The medium.
    pub spec: Spec,
    /// The scenario.
    pub scenario: Scenario,
    /// The answer of the probe, unless it was killed.
    pub answer: Option<Answer>,
    /// The violated claims.
    pub violations: Vec<Violation>,
    /// The operations on the medium.
    pub counters: Counters,
}

impl ScenarioRun {
    /// Whether a document is violated to the letter.
    pub fn is_wrong(&self) -> bool {
        self.violations.iter().any(|v| v.severity == Severity::Wrong)
    }
}

/// How a call of a program ended.
enum Ended<T> {
    Answer(T),
    Killed,
    Panicked(String),
}

fn guard<T>(call: impl FnOnce() -> T) -> Ended<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(answer) => Ended::Answer(answer),
        Err(payload) if payload.is::<Killed>() => Ended::Killed,
        Err(payload) => Ended::Panicked(
            payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or_default(),
        ),
    }
}

/// A run in progress.
struct Stage<'a> {
    program: &'a mut dyn Program,
    medium: Medium,
    spec: Spec,
    seed: u64,
    /// Operations of an undisturbed run; 0 if the scenario has no moment.
    ops: u64,
    violations: Vec<Violation>,
    /// Whether the program call that ended last kept the journal.
    pending: bool,
    /// Whether the program said that everything is restored.
    is_said_back: bool,
    /// Whether the faults of card 0 were healed.
    is_healed: bool,
    /// Counters of the medium before the last probe.
    before: Counters,
}

impl Stage<'_> {
    fn probe(&mut self, seed: u64) -> Option<Answer> {
        self.before = self.medium.counters();
        match guard(|| self.program.probe(&mut self.medium, seed)) {
            Ended::Answer(answer) => Some(answer),
            Ended::Killed => None,
            Ended::Panicked(text) => {
                self.violations.push(violation(Claim::Behaviour, true, format!("the probe panicked: {text}")));
                None
            }
        }
    }

    fn restore(&mut self) -> Option<RestoreAnswer> {
        match guard(|| self.program.restore(&mut self.medium)) {
            Ended::Answer(answer) => Some(answer),
            Ended::Killed => None,
            Ended::Panicked(text) => {
                self.violations.push(violation(Claim::Behaviour, true, format!("restoring panicked: {text}")));
                None
            }
        }
    }

    /// Plugs card 0 in again and restores it. If that fails, the card is healed, and the restoration must succeed.
    fn put_back(&mut self) {
        self.medium.forget_plan();
        self.medium.replug(0);
        let before = self.medium.card(0).losses();
        if let Some(answer) = self.restore() {
            let found = judge_restore(&self.spec, &mut self.medium, &answer, false);
            self.violations.extend(found);
            self.pending = answer.journal_kept;
            self.note_kept(&answer);
            if !answer.journal_kept {
                return;
            }
        }
        if before.is_none() && self.medium.card(0).losses().is_none() {
            return;
        }
        self.medium.card_mut(0).heal();
        self.is_healed = true;
        self.medium.replug(0);
        let Some(mut answer) = self.restore() else { return };
        if answer.outcome == Outcome::Refused && !self.medium.card(0).losses().is_none() {
            // Sectors that hold neither content may be taken for newer data. The documents offer `--keep-newer` for
            // those.
            self.medium.replug(0);
            if let Ended::Answer(Some(second)) = guard(|| self.program.restore_keeping_newer(&mut self.medium)) {
                answer = second;
            }
        }
        self.pending = answer.journal_kept;
        let found = judge_restore(&self.spec, &mut self.medium, &answer, true);
        self.violations.extend(found);
        self.note_kept(&answer);
    }

    /// Notes a useless journal: the program said before the replug that everything is restored, and that is still true.
    fn note_kept(&mut self, answer: &RestoreAnswer) {
        if answer.journal_kept && self.is_said_back && self.medium.card(0).losses().is_none() {
            let text = format!("{:?}: everything was back and still is, but the journal stays", answer.outcome);
            self.violations.push(violation(Claim::Journal, false, text));
        }
        self.is_said_back |= answer.outcome == Outcome::Restored;
    }

    /// Judges a probe that ended, and restores if the journal was kept.
    fn conclude(&mut self, answer: &Answer) {
        self.is_said_back = answer.all_back;
        let found = judge(&self.spec, &mut self.medium, answer, &self.before);
        self.violations.extend(found);
        if answer.journal_kept {
            self.put_back();
        }
    }

    /// Restores the journal while another card is in the reader.
    fn restore_on(&mut self, other: Other) {
        let card = self.medium.add_card(other.card(&self.spec.card, self.seed));
        self.medium.replug(card);
        let answer = self.restore();
        self.medium.power_cut();
        self.violations.extend(judge_foreign(&self.medium, card, false));
        let Some(answer) = answer else { return };
        let refuses = matches!(answer.outcome, Outcome::Refused | Outcome::NoJournal);
        let is_like = matches!(other, Other::Clone | Other::SameTable);
        let expected = refuses || is_like && matches!(answer.outcome, Outcome::NothingToDo | Outcome::Incomplete);
        if !expected {
            let text = format!("restoring on another card ({other:?}) said {:?}", answer.outcome);
            self.violations.push(violation(Claim::Restore, answer.outcome == Outcome::Restored, text));
        }
        let was_written = self.medium.card(0).written_cells() > 0;
        if !answer.journal_kept && answer.outcome != Outcome::NoJournal && was_written {
            let text = format!("restoring on another card ({other:?}) removed the journal");
            self.violations.push(violation(Claim::Journal, !self.medium.card(0).losses().is_none(), text));
        }
    }

    /// The owner has since made a file system: new data over half of the sectors that the probe changed.
    fn write_newer(&mut self) -> Vec<u64> {
        let changed = self.medium.card(0).changed_cells();
        if changed.len() < 2 || self.spec.card.cache.is_some() || !self.spec.card.faults.is_empty() {
            return vec![];
        }
        let (count, seed) = (changed.len().div_ceil(2), self.seed);
        let newer: Vec<u64> = changed.into_iter().take(count).collect();
        for cell in &newer {
            let mut data = [0; SECTOR as usize];
            fill(hash(seed ^ 0x9e3e, *cell), &mut data);
            self.medium.card_mut(0).owner_writes(*cell, &data);
        }
        newer
    }

    fn judge_newer(&mut self, newer: &[u64], restored: &str) {
        self.medium.power_cut();
        let lost = newer.iter().filter(|cell| {
            let mut data = [0; SECTOR as usize];
            fill(hash(self.seed ^ 0x9e3e, **cell), &mut data);
            self.medium.card(0).cell(**cell) != data
        });
        let lost = lost.count();
        if lost > 0 {
            let text = format!("{restored} overwrote {lost} of {} sectors of newer data", newer.len());
            self.violations.push(violation(Claim::Restore, true, text));
        }
    }

    fn newer(&mut self) {
        self.medium.replug(0);
        let newer = self.write_newer();
        if newer.is_empty() {
            return self.put_back();
        }
        let before = self.medium.card(0).changed_cells().len();
        if let Some(answer) = self.restore() {
            self.judge_newer(&newer, "restoring");
            let left = self.medium.card(0).changed_cells().len();
            if left > newer.len() && (answer.outcome != Outcome::Refused || left != before) {
                let text = format!(
                    "newer data: {:?} instead of refused, {before} changed sectors, {left} now",
                    answer.outcome
                );
                self.violations.push(violation(Claim::Restore, left != before || !answer.journal_kept, text));
            }
        }
        self.medium.replug(0);
        let Ended::Answer(Some(answer)) = guard(|| self.program.restore_keeping_newer(&mut self.medium)) else {
            return;
        };
        self.judge_newer(&newer, "--keep-newer");
        let left = self.medium.card(0).changed_cells().len();
        let excused = !self.spec.card.faults.is_empty() || self.spec.truth().keeps != super::truths::Keeps::All;
        if left > newer.len() {
            let text = format!("--keep-newer: {:?}, {} sectors are not back", answer.outcome, left - newer.len());
            self.violations.push(violation(Claim::Restore, !excused, text));
        }
    }
}

/// Runs one scenario on one medium. The factory makes a program with an empty disk for its journal.
pub fn run_one<P: Program>(factory: &mut impl FnMut() -> P, spec: &Spec, scenario: Scenario, seed: u64) -> ScenarioRun {
    let mut spec = spec.clone();
    if let Scenario::ErrorsPuttingBack(times) = scenario {
        spec.card.faults.push(Fault::ErrorsPuttingBack { times });
    }
    let (mut ops, mut violations) = (0, vec![]);
    if scenario.moment().is_some() {
        let mut medium = spec.build();
        let mut program = factory();
        if let Ended::Panicked(text) = guard(|| program.probe(&mut medium, seed)) {
            violations.push(violation(Claim::Behaviour, true, format!("undisturbed, the probe panicked: {text}")));
        }
        ops = medium.counters().ops.max(1);
    }
    let mut program = factory();
    let medium = spec.build();
    let mut stage = Stage {
        program: &mut program,
        medium,
        spec: spec.clone(),
        seed,
        ops,
        violations,
        pending: false,
        is_said_back: false,
        is_healed: false,
        before: Counters::default(),
    };
    stage.prepare(scenario);
    let answer = stage.probe(seed);
    match &answer {
        Some(answer) => stage.after_answer(scenario, answer),
        None => stage.after_kill(scenario),
    }
    let counters = stage.medium.counters();
    ScenarioRun { violations: stage.violations, spec, scenario, answer, counters }
}

impl Stage<'_> {
    /// The operation at a thousandth of the undisturbed run.
    fn op(&self, thousandth: u64) -> When {
        When::Op((self.ops * thousandth / 1000).max(1))
    }

    /// Plans the events during the probe.
    fn prepare(&mut self, scenario: Scenario) {
        let (spec, seed) = (&self.spec, self.seed);
        match scenario {
            Scenario::Kill(at)
            | Scenario::KillTwice(at, _)
            | Scenario::KillExchange(at, _)
            | Scenario::KillNewer(at)
            | Scenario::KillProbe(at) => self.medium.plan(self.op(at), Happening::Kill),
            Scenario::Interrupt(at) => self.medium.plan(self.op(at), Happening::Interrupt),
            Scenario::InterruptTwice(at, then) => {
                self.medium.plan(self.op(at), Happening::Interrupt);
                let rest = (1000 - at) * then / 1000;
                self.medium.plan(self.op(at + rest), Happening::Interrupt);
            }
            Scenario::Unplug(at) => self.medium.plan(self.op(at), Happening::PowerCut),
            Scenario::Exchange(at, back, other) => {
                let card = self.medium.add_card(other.card(&spec.card, seed));
                self.medium.plan(self.op(at), Happening::Insert(card));
                if let Some(back) = back {
                    self.medium.plan(self.op(back), Happening::Insert(0));
                }
            }
            Scenario::Plain | Scenario::ErrorsPuttingBack(_) | Scenario::Twice => {}
        }
    }

    /// Continues after the probe ended with an answer.
    fn after_answer(&mut self, scenario: Scenario, answer: &Answer) {
        match scenario {
            Scenario::Exchange(_, _, other) => self.exchanged(other, answer.journal_kept),
            Scenario::Unplug(_) => {
                // The program noticed the loss of the device: the verdict is failed, and the journal is kept if
                // anything was written.
                if answer.journal_kept {
                    self.put_back();
                } else if self.medium.card(0).losses().changed > 0 {
                    let text = format!("unplugged, the journal is removed, {:?}", self.medium.card(0).losses());
                    self.violations.push(violation(Claim::OwnersData, true, text));
                }
                if answer.verdict == Verdict::Genuine && self.medium.counters().ops <= self.ops {
                    self.violations.push(violation(Claim::Missed, false, "unplugged in the middle, but genuine"));
                }
            }
            Scenario::Twice => {
                self.conclude(answer);
                self.again(answer);
            }
            _ => self.conclude(answer),
        }
    }

    /// Continues after the probe was killed, by the scenario or by a second Ctrl-C, or panicked.
    fn after_kill(&mut self, scenario: Scenario) {
        match scenario {
            Scenario::Exchange(_, _, other) => return self.exchanged(other, true),
            Scenario::KillTwice(_, then) => {
                self.medium.forget_plan();
                self.medium.replug(0);
                let start = self.medium.counters().ops;
                self.medium.plan(When::Op(start + 1 + self.ops * then / 2000), Happening::Kill);
                _ = self.restore();
            }
            Scenario::KillExchange(_, other) => {
                self.medium.forget_plan();
                self.restore_on(other);
            }
            Scenario::KillNewer(_) => {
                self.medium.forget_plan();
                return self.newer();
            }
            Scenario::KillProbe(_) => {
                self.medium.forget_plan();
                self.medium.replug(0);
                self.probe_pending();
            }
            _ => {}
        }
        self.put_back();
    }

    /// Judges after the card was exchanged in the middle.
    fn exchanged(&mut self, other: Other, journal_kept: bool) {
        self.medium.power_cut();
        let found = judge_foreign(&self.medium, 1, true);
        self.violations.extend(found);
        // On a card with the same content everything reads as before.
        let differs = matches!(other, Other::Stranger | Other::Larger | Other::Smaller)
            || other == Other::SameTable && self.spec.card.sectors > 4 * MIB;
        let is_like = !differs;
        // The journal may not be needed, but the first card must be whole in the end, with or without it.
        if journal_kept {
            let before = self.violations.len();
            self.put_back();
            if is_like {
                self.violations[before..].iter_mut().for_each(|v| v.severity = Severity::Arguable);
            }
        } else if self.medium.card(0).losses().changed > 0 {
            let text = format!("the card was exchanged, the journal is removed, {:?}", self.medium.card(0).losses());
            self.violations.push(violation(Claim::OwnersData, !is_like && self.spec.card.cache.is_none(), text));
        }
        self.put_back_other(1);
    }

    /// Judges the card that was inserted in between. The program saved its content before writing, so its owner may be
    /// able to restore it.
    fn put_back_other(&mut self, card: usize) {
        let before = self.medium.card(card).changed_cells().len();
        if before == 0 {
            return;
        }
        self.medium.replug(card);
        let mut last = self.restore();
        if !self.medium.card(card).changed_cells().is_empty() {
            self.medium.replug(card);
            last = match guard(|| self.program.restore_keeping_newer(&mut self.medium)) {
                Ended::Answer(Some(answer)) => Some(answer),
                _ => last,
            };
        }
        let left = self.medium.card(card).changed_cells().len();
        if left > 0 {
            let text = format!("{before} sectors of the other card were changed; restored there, {left} are: {last:?}");
            self.violations.push(violation(Claim::Foreign, false, text));
        }
    }

    /// Runs a second probe after one that ended.
    fn again(&mut self, first: &Answer) {
        if self.is_healed || !self.medium.card(0).losses().is_none() {
            // The second probe would be judged by faults that have ended, or blamed for changes by the first.
            return;
        }
        self.medium.replug(0);
        let Some(second) = self.probe(self.seed ^ 1) else { return };
        if self.pending && second.verdict == Verdict::Refused {
            return;
        }
        self.conclude(&second);
        let both = (first.verdict.word(), second.verdict.word());
        let steady = self.spec.card.faults.is_empty() && self.spec.truth().reach == super::truths::Reach::Stated;
        if both.0 != both.1 && steady && self.spec.card.cache.is_none() {
            let text = format!("{:?} at first, then {:?}", both.0, both.1);
            self.violations.push(violation(Claim::Word, false, text));
        }
    }

    /// Runs a probe while a journal is pending.
    fn probe_pending(&mut self) {
        let before = self.medium.counters().bytes_written;
        let is_pending = !self.medium.card(0).changed_cells().is_empty();
        let Some(second) = self.probe(self.seed ^ 1) else { return };
        let wrote = self.medium.counters().bytes_written - before;
        if is_pending && (second.verdict != Verdict::Refused || wrote > 0) {
            let text = format!("{:?} with a journal pending, {wrote} bytes written", second.verdict);
            self.violations.push(violation(Claim::Journal, self.spec.card.faults.is_empty(), text));
        }
    }
}

/// A row for [`Report`](super::report::Report): whether the stated size was exact, inside or outside.
pub fn size_word(run: &ScenarioRun) -> Option<&'static str> {
    let answer = run.answer.as_ref().filter(|a| matches!(a.verdict, Verdict::Fake(_)))?;
    let outside = run.violations.iter().any(|v| matches!(v.claim, Claim::ExactSize | Claim::IntervalSize));
    Some(match answer.size {
        _ if outside => "outside",
        SaidSize::Exact(_) => "exact",
        SaidSize::Interval(..) => "inside",
        SaidSize::None => "none",
    })
}
