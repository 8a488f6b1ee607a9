//! The quick probe and its restoration, as the independent model runs a program.

use std::panic::resume_unwind;
use std::path::PathBuf;

use assay_core::verification::{FakeKind, Verdict, Verification};
use assay_engine::Control;
use assay_lab::independent::campaign::Program;
use assay_lab::independent::judge::{self, Answer, Outcome, RestoreAnswer, SaidReach, SaidSize};
use assay_lab::independent::medium::{Error, Killed, Medium};
use assay_lab::independent::truths::Kind;
use assay_verify::probe::{
    Device, Fault, Identity, Journal, JournalError, JournalLeft, Restoration, RestoreError, Restored, Salt, Settings,
    Traces, check_suitable, run,
};
use tempfile::TempDir;

/// Less than the default, so that hundreds of media take seconds. The verdict states it, and the judge uses that. On a
/// large device it is as much as keeps the number of single reads below the run as low as by default.
fn settings(bytes: u64) -> Settings {
    let least = (bytes >> 30).div_ceil(12) << 20;
    Settings { cache_limit_bytes: least.max(8 << 20).min(Settings::usual(bytes).cache_limit_bytes) }
}

/// A call of the program with more operations than this counts as endless.
const ENDLESS: u64 = 20_000_000;

/// Whether results and events are printed.
pub fn is_told() -> bool {
    std::env::var_os("ASSAY_CAMPAIGN_WORDS").is_some()
}

/// The program with its journals, which survive a kill.
pub struct Probe {
    directory: TempDir,
    journals: Vec<PathBuf>,
}

impl Probe {
    /// With an empty disk.
    pub fn new() -> Self {
        // Journals are synced thousands of times, so they lie in memory if there is such a directory.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { directory, journals: Vec::new() }
    }

    /// The journal of the last probe that has one.
    fn last(&self) -> Option<&PathBuf> {
        self.journals.iter().rev().find(|path| path.exists())
    }

    fn put_back(&self, medium: &mut Medium, keep_newer: bool) -> RestoreAnswer {
        let Some(path) = self.last() else {
            return RestoreAnswer { outcome: Outcome::NoJournal, journal_kept: false };
        };
        let identity = identity(medium);
        let control = Control::default();
        let mut device = Attached::new(medium, &control);
        let stopped = || control.stopped();
        let restored = Restoration::new(path, &identity).keeping_newer(keep_newer).until(&stopped).run(&mut device);
        if is_told() {
            println!("  restored: {}", restored.as_ref().map_or_else(ToString::to_string, |done| format!("{done:?}")));
        }
        RestoreAnswer { outcome: outcome(&restored), journal_kept: self.last().is_some() }
    }
}

impl Program for Probe {
    fn probe(&mut self, medium: &mut Medium, seed: u64) -> Answer {
        let identity = identity(medium);
        let control = Control::default();
        let mut device = Attached::new(medium, &control);
        if check_suitable(&device).is_err() {
            return refused(self.last().is_some());
        }
        // As in the program, data left by an earlier probe are restored first.
        for path in self.journals.iter().filter(|path| path.exists()) {
            if Traces::from_journal(path).is_ok_and(|traces| traces.on(&mut device).is_some()) {
                return refused(true);
            }
        }
        let path = self.directory.path().join(format!("{}.journal", self.journals.len()));
        self.journals.push(path.clone());
        let journal = Journal::create(&path, &identity, Salt::known(seed)).unwrap();
        let probed = run(&mut device, journal, &settings(identity.bytes), &control, &mut |_| {}).unwrap();
        let all_back =
            probed.restored.as_ref().is_ok_and(Restored::is_complete) && probed.journal != JournalLeft::Needed;
        if is_told() {
            let left = probed.restored.as_ref().map_or_else(ToString::to_string, |done| format!("{done:?}"));
            println!(
                "  {seed}: {} {:?} {:?}, {left}",
                assay_lab::outline(&probed.verification),
                probed.ended,
                probed.journal
            );
        }
        assert_eq!(path.exists(), probed.journal != JournalLeft::Removed, "the journal is what it is said to be");
        Answer {
            journal_kept: self.last().is_some(),
            all_back,
            ..said(&probed.verification, &format!("{:?}", probed.ended))
        }
    }

    fn restore(&mut self, medium: &mut Medium) -> RestoreAnswer {
        self.put_back(medium, false)
    }

    fn restore_keeping_newer(&mut self, medium: &mut Medium) -> Option<RestoreAnswer> {
        Some(self.put_back(medium, true))
    }
}

fn identity(medium: &Medium) -> Identity {
    let attachment = Some(medium.attached().to_string());
    Identity { bytes: medium.bytes(), name: "independent".to_owned(), serial: None, attachment }
}

fn refused(journal_kept: bool) -> Answer {
    Answer {
        verdict: judge::Verdict::Refused,
        size: SaidSize::None,
        journal_kept,
        all_back: false,
        reach: None,
        stopped: None,
    }
}

fn said(verification: &Verification, ended: &str) -> Answer {
    let verdict = match verification.verdict {
        Verdict::Genuine => judge::Verdict::Genuine,
        Verdict::Fake => judge::Verdict::Fake(match verification.kind {
            Some(FakeKind::Limbo) => Kind::Limbo,
            Some(FakeKind::Wraparound) => Kind::WrapAround,
            Some(FakeKind::Chain) => Kind::Chain,
            Some(FakeKind::Unknown | FakeKind::Newest) | None => Kind::Unknown,
        }),
        Verdict::Damaged => judge::Verdict::Damaged,
        Verdict::Failed => judge::Verdict::Failed,
        Verdict::Undecided | Verdict::Other => judge::Verdict::Undecided,
    };
    let between = verification.real_low_bytes.zip(verification.real_high_bytes);
    let size = match (verification.real_bytes, between) {
        (Some(real), _) => SaidSize::Exact(real),
        (None, Some((low, high))) => SaidSize::Interval(low, high),
        (None, None) => SaidSize::None,
    };
    let reach = verification.reach.map(|reach| SaidReach {
        cache_bytes: reach.caches_up_to_bytes.unwrap_or(0),
        share_tested: reach.tested_share,
        smallest_loss: (reach.loss_share * verification.announced_bytes as f64) as u64,
    });
    let stopped = (ended != "Complete").then(|| ended.to_owned());
    Answer { verdict, size, reach, stopped, ..refused(false) }
}

fn outcome(restored: &Result<Restored, RestoreError>) -> Outcome {
    match restored {
        Ok(done) if !done.is_complete() => Outcome::Incomplete,
        Ok(done) if done.untouched || done.already => Outcome::NothingToDo,
        Ok(_) => Outcome::Restored,
        Err(RestoreError::Journal(JournalError::Read { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Outcome::NoJournal
        }
        Err(RestoreError::Journal(_) | RestoreError::Device { .. }) => Outcome::Failed,
        Err(
            RestoreError::OtherSize { .. }
            | RestoreError::AnotherCard { .. }
            | RestoreError::Exchanged { .. }
            | RestoreError::Newer { .. },
        ) => Outcome::Refused,
    }
}

/// The medium as a device of the probe. Ctrl-C takes effect before the next operation; a second one ends the process
/// there.
struct Attached<'m> {
    medium: &'m mut Medium,
    control: &'m Control,
    /// No answer came within the time limit, so it is not used again.
    has_hung: bool,
    first: u64,
}

impl<'m> Attached<'m> {
    fn new(medium: &'m mut Medium, control: &'m Control) -> Self {
        let first = medium.counters().ops;
        Self { medium, control, has_hung: false, first }
    }

    fn ask(&mut self, what: &str, operation: impl FnOnce(&mut Medium) -> Result<(), Error>) -> Result<(), Fault> {
        assert!(self.medium.counters().ops - self.first < ENDLESS, "it does not end");
        match self.medium.interrupts() {
            0 => {}
            1 => self.control.stop(),
            _ => resume_unwind(Box::new(Killed)),
        }
        if self.has_hung {
            return Err(Fault::Hung);
        }
        let inserted = self.medium.inserted();
        let done = operation(self.medium);
        if self.medium.inserted() != inserted && is_told() {
            println!("  {what}, operation {}: now {:?}", self.medium.counters().ops, self.medium.inserted());
        }
        done.map_err(|error| match error {
            Error::Medium => Fault::Medium,
            Error::Gone => Fault::Gone,
            Error::ReadOnly => Fault::ReadOnly,
            Error::Hung => {
                self.has_hung = true;
                Fault::Hung
            }
            Error::Bounds => panic!("an operation beyond the end, or of less than a block"),
        })
    }
}

impl Device for Attached<'_> {
    fn bytes(&self) -> u64 {
        self.medium.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.medium.block()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.ask("reading", |medium| medium.read(offset, buffer))
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.ask("writing", |medium| medium.write(offset, data))
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.ask("syncing", Medium::flush)
    }

    fn present(&mut self) -> bool {
        !self.has_hung && self.medium.present()
    }
}
