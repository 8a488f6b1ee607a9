//! Five real runs of one medium, split into two groups in every way. The groups are of one medium, measured by one
//! program on one afternoon, so each difference that `assay compare` reports is an error.
//!
//! Splits of the same five runs are not independent, and the interval of a share (Wilson, for independent answers) is
//! narrower than it should be. A program that never answers would make no errors: different media are therefore
//! compared by the same runs, and have to be distinguished. `ASSAY_SPLITS=DIR` keeps the records there, and uses records
//! that are already there instead of measuring.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::workload::Op;
use assay_lab::{FileSystem, LimitedCard, Limits, LoopDevice, Missing, Mount};
use assay_stats::geometric;
use serde_json::Value;

use super::process::{SuiteFile, binary, record};
use super::report::Target;
use crate::process::finish;
use crate::report::{BenchRow, Report};

const MIB: u64 = 1 << 20;
/// Runs of a medium.
const RUNS: usize = 5;
/// Length of a run in seconds.
const BUDGET_SECONDS: u32 = 15;
/// Mistakes that are stated.
const STATED: f64 = 0.05;
/// The paced card by its limits a second, far below the others.
const PACED: Limits = Limits {
    read_bytes: Some(40_000_000),
    write_bytes: Some(15_000_000),
    read_iops: Some(2000),
    write_iops: Some(400),
};

/// A medium of this machine.
struct Medium {
    name: &'static str,
    kind: Kind,
}

/// What has to stay there while it is measured.
enum Kind {
    Directory(tempfile::TempDir),
    Paced(LimitedCard),
    Loop(Loop),
}

/// A file system on a loop device. Fields are dropped in order: the mount before the device, the device before its file.
struct Loop {
    mount: Mount,
    _device: LoopDevice,
    _directory: tempfile::TempDir,
}

impl Medium {
    fn command(&self, arguments: &[std::ffi::OsString]) -> Command {
        if let Kind::Paced(card) = &self.kind {
            return card.command(binary(), arguments);
        }
        let mut command = Command::new(binary());
        command.args(arguments);
        command
    }

    fn path(&self) -> &Path {
        match &self.kind {
            Kind::Directory(directory) => directory.path(),
            Kind::Paced(card) => card.path(),
            Kind::Loop(on) => on.mount.path(),
        }
    }
}

/// The disk of the machine, XFS on a loop device over it, btrfs on a loop device over memory, and a paced card.
fn media() -> Result<[Medium; 4], Missing> {
    let disk = temporary(Path::new("/var/tmp"))?;
    Ok([
        Medium { name: "disk", kind: Kind::Directory(disk) },
        Medium { name: "xfs-on-disk", kind: mounted(FileSystem::Xfs, Path::new("/var/tmp"), 400 * MIB)? },
        Medium { name: "btrfs-in-memory", kind: mounted(FileSystem::Btrfs, Path::new("/dev/shm"), 400 * MIB)? },
        Medium { name: "paced", kind: Kind::Paced(LimitedCard::new(160 * MIB, PACED)?) },
    ])
}

fn temporary(above: &Path) -> Result<tempfile::TempDir, Missing> {
    let made = tempfile::Builder::new().prefix("assay-lab-").tempdir_in(above);
    made.map_err(|e| Missing(format!("{}: {e}", above.display())))
}

fn mounted(file_system: FileSystem, above: &Path, bytes: u64) -> Result<Kind, Missing> {
    let directory = temporary(above)?;
    let image = directory.path().join("card.img");
    let made = std::fs::File::create(&image).and_then(|file| file.set_len(bytes));
    made.map_err(|e| Missing(format!("{}: {e}", image.display())))?;
    let device = LoopDevice::attach(&image, false)?;
    let mount = Mount::make(file_system, device.path(), &directory.path().join("mnt"))?;
    Ok(Kind::Loop(Loop { mount, _device: device, _directory: directory }))
}

/// The records that `measure` left in a directory, if it was given one that has all of them.
fn measured_before(directory: &Path) -> Option<BTreeMap<String, Vec<Record>>> {
    let text = std::fs::read_to_string(directory.join("runs.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Runs of each medium, in turns.
fn measure(report: &Report, store: &Path) -> Result<BTreeMap<String, Vec<Record>>, Missing> {
    let media = media()?;
    let mut all: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for _ in 0..RUNS {
        for medium in &media {
            if !report.has_time_for(Duration::from_secs(u64::from(BUDGET_SECONDS) + 2)) {
                return Err(Missing("its time was over before all runs were made".to_owned()));
            }
            let suite = SuiteFile::new(&quick_like("splits", BUDGET_SECONDS, ""));
            let mut arguments = suite.arguments(medium.path());
            // All of them are kept in one store.
            arguments.retain(|argument| argument != "--no-save");
            let labels = ["--label".to_owned(), format!("model={}", medium.name), "--label".into(), "unit=1".into()];
            arguments.extend(labels.map(Into::into));
            let finished = finish(medium.command(&arguments).env("ASSAY_DATA", store));
            all.entry(medium.name.to_owned()).or_default().push(record(&finished));
        }
    }
    Ok(all)
}

/// What is written into the records of a group. All were made at one host on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    AsItWas,
    /// The second group two days later.
    DayOfGroup,
    /// Each run two days after the one before.
    DayOfRun,
    /// The second group on another computer.
    HostOfGroup,
}

impl Told {
    const ALL: [Self; 4] = [Self::AsItWas, Self::DayOfGroup, Self::DayOfRun, Self::HostOfGroup];

    fn title(self) -> &'static str {
        match self {
            Self::AsItWas => "dates and host as they were",
            Self::DayOfGroup => "each group on a day of its own",
            Self::DayOfRun => "each run on a day of its own",
            Self::HostOfGroup => "each group at a host of its own",
        }
    }

    /// `record` as the run of this number, in the second group or not.
    fn tell(self, record: &Record, number: usize, second: bool) -> Record {
        let days = match self {
            Self::AsItWas | Self::HostOfGroup => 0,
            Self::DayOfGroup => 2 * i64::from(second),
            Self::DayOfRun => 2 * i64::try_from(number).unwrap(),
        };
        let mut told = record.clone();
        let created: jiff::Timestamp = told.created.parse().unwrap();
        told.created = (created + jiff::SignedDuration::from_hours(24 * days)).to_string();
        if self == Self::HostOfGroup && second {
            told.host.hostname = Some("another".to_owned());
            told.host.cpu = Some("another processor".to_owned());
            told.host.board = Some("another board".to_owned());
        }
        told
    }
}

/// Both sides of every split of five runs, each pair of sides once.
fn splits() -> impl Iterator<Item = [Vec<usize>; 2]> {
    // The last run is always in the second group.
    (1..1u32 << (RUNS - 1)).map(|bits| {
        let (first, second) = (0..RUNS).partition(|run| bits >> run & 1 == 1);
        [first, second]
    })
}

/// Answers of comparisons, by what they are.
#[derive(Debug, Default)]
struct Answers(BTreeMap<String, usize>);

impl Answers {
    fn all(&self) -> usize {
        self.0.values().sum()
    }

    fn different(&self) -> usize {
        ["better", "worse"].iter().filter_map(|answer| self.0.get(*answer)).sum()
    }

    fn add(&mut self, more: &Self) {
        more.0.iter().for_each(|(answer, n)| *self.0.entry(answer.clone()).or_default() += n);
    }

    fn row(&self, what: String, target: Target) -> BenchRow {
        let (all, different) = (self.all(), self.different());
        let words = self.0.iter().map(|(answer, n)| format!("{answer} {n}")).collect::<Vec<_>>().join(", ");
        BenchRow {
            what,
            ours: format!("{different} of {all} different ({words})"),
            peer: "–".to_owned(),
            seen: (all > 0).then(|| wilson(different, all)),
            values: (0..all).map(|at| f64::from(u8::from(at < different))).collect(),
            unit: "",
            target,
            planned: all,
        }
    }

    /// Adds what a comparison of two groups of files says of each load.
    fn ask(&mut self, groups: &[Vec<PathBuf>; 2], more: &[&str], store: &Path) {
        let query = |files: &Vec<PathBuf>| files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(",");
        let mut command = Command::new(binary());
        command.arg("compare").args(groups.iter().map(query)).arg("--json").args(more).env("ASSAY_DATA", store);
        let finished = finish(&mut command);
        let document: Value = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|e| panic!("assay compare: {e}: {}", finished.stderr));
        for load in document["comparison"]["loads"].as_array().unwrap() {
            for pair in load["pairs"].as_array().unwrap() {
                let answer = pair["verdict"]["answer"].as_str().unwrap();
                let why = pair["verdict"]["why"].as_str().map_or_else(String::new, |why| format!(": {why}"));
                *self.0.entry(format!("{answer}{why}")).or_default() += 1;
            }
        }
    }
}

/// The share of `hits` with its interval at 95 % (Wilson, 1927).
fn wilson(hits: usize, all: usize) -> Estimate {
    const Z: f64 = 1.959_963_985;
    let (n, share) = (all as f64, hits as f64 / all as f64);
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let ends = ((middle - half).max(0.0), (middle + half).min(1.0));
    let bare = Estimate::bare(share, u32::try_from(all).unwrap(), "share, Wilson's interval");
    Estimate { low: Some(ends.0), high: Some(ends.1), level: Some(0.95), ..bare }
}

/// Writes the records of both groups as `told`, and gives their files.
fn files(runs: &[Record], split: &[Vec<usize>; 2], told: Told, directory: &Path) -> [Vec<PathBuf>; 2] {
    let file = |number: usize, second: bool| {
        let path = directory.join(format!("{number}.json"));
        let record = told.tell(&runs[number], number, second);
        std::fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
        path
    };
    let [first, second] = split;
    [first.iter().map(|at| file(*at, false)).collect(), second.iter().map(|at| file(*at, true)).collect()]
}

pub(crate) fn of_four_media(report: &mut Report) -> Result<(), Missing> {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let kept = std::env::var_os("ASSAY_SPLITS").map(PathBuf::from);
    let all = match kept.as_deref().and_then(measured_before) {
        Some(all) => all,
        None => measure(report, &store)?,
    };
    if let Some(kept) = kept {
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::write(kept.join("runs.json"), serde_json::to_string(&all).unwrap()).unwrap();
    }
    for (name, runs) in &all {
        report.note(format!("{name}: {}", rates(runs)));
    }
    for (asked, more) in [("assay compare", &[][..]), ("assay compare --runs", &["--runs"][..])] {
        for told in Told::ALL {
            let (mut answers, mut by_medium) = (Answers::default(), Vec::new());
            let mut two_by_three = Answers::default();
            for (name, runs) in &all {
                let mut of_medium = [Answers::default(), Answers::default()];
                for split in splits() {
                    let unlike = usize::from(split[0].len().min(split[1].len()) == 1);
                    of_medium[unlike].ask(&files(runs, &split, told, directory.path()), more, &store);
                }
                let words = of_medium.each_ref().map(|of| format!("{} of {}", of.different(), of.all()));
                by_medium.push(format!("{name} {} by two and three, {} by one and four", words[0], words[1]));
                let [equal, unlike] = of_medium;
                two_by_three.add(&equal);
                answers.add(&equal);
                answers.add(&unlike);
            }
            by_medium.push(format!("all {} of {} by two and three", two_by_three.different(), two_by_three.all()));
            report.note(format!("{asked}, {}: {}", told.title(), by_medium.join(", ")));
            let what = format!("{asked}, {}: share of loads of equal groups called different", told.title());
            report.add(answers.row(what, Target::AtMost(STATED)));
        }
    }
    let mut answers = Answers::default();
    let paced = &all["paced"];
    for (_, other) in all.iter().filter(|(name, _)| *name != "paced") {
        let both: Vec<Record> = paced.iter().chain(other).cloned().collect();
        let split = [(0..RUNS).collect(), (RUNS..2 * RUNS).collect()];
        answers.ask(&files(&both, &split, Told::AsItWas, directory.path()), &[], &store);
    }
    let what = "assay compare, the paced medium against each other one: share of loads called different";
    report.add(answers.row(what.to_owned(), Target::AtLeast(0.5)));
    Ok(())
}

/// By load, the factor from the least to the largest run.
fn rates(runs: &[Record]) -> String {
    let of = |at: usize| {
        let title = runs[0].measurements[at].workload.title();
        let rate = |run: &Record| Some(run.measurements.get(at)?.bytes_per_second.as_ref()?.point);
        let rates: Vec<f64> = runs.iter().filter_map(rate).collect();
        let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(l, m), rate| (l.min(*rate), m.max(*rate)));
        format!("{title} {:.1} to {:.1} MB/s", least / 1e6, most / 1e6)
    };
    (0..runs[0].measurements.len()).map(of).collect::<Vec<_>>().join("; ")
}

// How much sooner a suite ends if it stops workloads whose figures are known well enough, and whether its results are
// the same.

/// Bytes of a card.
const CARD_BYTES: u64 = 128 << 20;
/// Seconds of the plan that ends when its time is over: those of `quick`, as shorter repeats vary more.
const CARD_BUDGET_SECONDS: u32 = 90;
/// A figure of the one plan may differ from that of the other one by this share.
const SAME: f64 = 0.05;

/// Cards by their limits a second: megabytes read and written, operations read and written.
const CARDS: [[u64; 4]; 12] = [
    [12, 4, 500, 40],
    [18, 9, 900, 120],
    [20, 10, 1500, 500],
    [23, 10, 1600, 150],
    [23, 18, 2500, 700],
    [40, 15, 3000, 300],
    [45, 20, 4000, 1000],
    [45, 40, 2000, 60],
    [80, 30, 4000, 2000],
    [90, 60, 5000, 1200],
    [95, 90, 3500, 800],
    [200, 150, 8000, 4000],
];

/// What the suite says of when it ends.
const FIXED: &str = "";
const SOONER: &str = "enough = \"5%\"\n";

/// The workloads of `quick` on a smaller area, as a suite of this name and length; `more` are lines of its head.
pub(crate) fn quick_like(name: &str, budget_seconds: u32, more: &str) -> String {
    let workload = |name: &str, op: &str, pattern: &str, block: &str, depth: u32, more: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nop = \"{op}\"\npattern = \"{pattern}\"\nblock = \"{block}\"\n\
             queue_depth = {depth}\n{more}"
        )
    };
    let head = format!(
        "name = \"{name}\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget_seconds}s\"\nmax_write = \"1GiB\"\n\
         repeats = 3\n{more}span = \"32MiB\"\n"
    );
    let workloads = [
        workload("rs", "read", "sequential", "1MiB", 8, ""),
        workload("r1", "read", "random", "4KiB", 1, ""),
        workload("r32", "read", "random", "4KiB", 32, ""),
        workload("ws", "write", "sequential", "1MiB", 8, ""),
        workload("w1", "write", "random", "4KiB", 1, ""),
        workload("w32", "write", "random", "4KiB", 32, ""),
        workload("wf", "write", "random", "4KiB", 1, "sync = \"fsync\"\n"),
    ];
    head + &workloads.concat()
}

pub(crate) fn twelve_cards(report: &mut Report) -> Result<(), Missing> {
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    let mut worst = (0.0f64, "–".to_owned());
    for (number, card) in CARDS.iter().enumerate() {
        if !report.has_time_for(2 * Duration::from_secs(u64::from(CARD_BUDGET_SECONDS) + 2)) {
            report.note(format!("its time was over after {number} of {} cards", CARDS.len()));
            break;
        }
        // Which goes first alternates.
        let (fixed, sooner) = if number.is_multiple_of(2) {
            let fixed = run_card(card, FIXED)?;
            (fixed, run_card(card, SOONER)?)
        } else {
            let sooner = run_card(card, SOONER)?;
            (run_card(card, FIXED)?, sooner)
        };
        times.push(sooner.settings().unwrap().elapsed_ns as f64 / fixed.settings().unwrap().elapsed_ns as f64);
        bytes.push(sooner.settings().unwrap().written_bytes as f64 / fixed.settings().unwrap().written_bytes as f64);
        for (a, b) in sooner.measurements.iter().zip(&fixed.measurements) {
            // A slow card may have had to be asked for less, by the one plan more than by the other one.
            let (one, other) = (a.workload.title(), b.workload.title());
            if one != other {
                report.note(format!("card {}: {one} and {other} are not the same", number + 1));
                continue;
            }
            let figure = |m: &Measurement| m.bytes_per_second.as_ref().map_or(f64::NAN, |e| e.point);
            let off = (figure(a) / figure(b) - 1.0).abs();
            if !off.is_finite() || off > worst.0 {
                worst = (off, format!("card {}, {one}", number + 1));
            }
        }
    }
    let what = "largest difference of a figure to that of the fixed plan";
    report.add(BenchRow::exact(what, worst.0, "", worst.1, Target::AtMost(SAME)));
    for (what, shares) in
        [("time by that of the fixed plan", times), ("bytes written by those of the fixed plan", bytes)]
    {
        report.add(BenchRow {
            what: format!("a suite that ends where 5 % is known, on twelve cards: {what}"),
            ours: "–".to_owned(),
            peer: "–".to_owned(),
            seen: geometric(&shares),
            values: shares,
            unit: "",
            target: Target::AtMost(1.0),
            planned: CARDS.len(),
        });
    }
    Ok(())
}

fn run_card(card: &[u64; 4], enough: &str) -> Result<Record, Missing> {
    let [read, write, read_iops, write_iops] = *card;
    let limits = Limits {
        read_bytes: Some(read * 1_000_000),
        write_bytes: Some(write * 1_000_000),
        read_iops: Some(read_iops),
        write_iops: Some(write_iops),
    };
    let medium = LimitedCard::new(CARD_BYTES, limits)?;
    let suite = SuiteFile::new(&quick_like("sooner", CARD_BUDGET_SECONDS, enough));
    let finished = finish(&mut medium.command(binary(), &suite.arguments(medium.path())));
    let record = record(&finished);
    assert!(record.measurements.iter().any(|m| m.workload.op == Op::Read), "{}", finished.stderr);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_runs_are_split_in_fifteen_ways() {
        let mut all: Vec<[Vec<usize>; 2]> = splits().collect();
        assert!(all.iter().all(|[a, b]| !a.is_empty() && !b.is_empty() && a.len() + b.len() == RUNS));
        let two_by_three = all.iter().filter(|[a, b]| a.len().min(b.len()) == 2).count();
        all.iter_mut().for_each(|split| split.sort());
        all.sort();
        all.dedup();
        assert_eq!((all.len(), two_by_three), (15, 10));
    }

    /// Brown, Cai and DasGupta, 2001: of 0 of n the upper end is z² / (n + z²); 5 of 100 are 2.15 to 11.18 %.
    #[test]
    fn intervals_are_those_of_wilson() {
        let near = |seen: Option<f64>, wanted: f64| assert!((seen.unwrap() - wanted).abs() < 5e-4, "{seen:?} {wanted}");
        near(wilson(0, 100).low, 0.0);
        near(wilson(0, 100).high, 0.0370);
        near(wilson(5, 100).low, 0.0215);
        near(wilson(5, 100).high, 0.1118);
    }
}
