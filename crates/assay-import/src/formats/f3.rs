//! f3write, f3read and f3probe, versions 2 to 10 (<https://github.com/AltraMayor/f3>).
//!
//! Its units are powers of 1024 and rounded, so the counts of sectors and blocks are the truth. A file that was not
//! fully read is a failure, whatever was counted in it. The last lines are the speed of reading, and the time of a
//! probe: a log without them proves nothing good, unless the sizes below the news of a probe agree.

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, SourceQuantity};
use assay_core::verification::{Checker, Doubt, FakeKind, Method, Remark, SECTOR_BYTES, Verdict, Verification};
use assay_core::workload::{Op, Pattern};
use regex_lite::Captures;

use crate::number::{Base, check_contradicts, check_decide, check_pass, check_undecided, decimal, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::{QUOTES, Text};

/// f3.
pub(crate) struct F3;

const NAME: &str = "f3";
/// Sectors of each file but the last.
const FILE_SECTORS: u64 = (1 << 30) / SECTOR_BYTES;
/// Least number of lost files before the last one is taken to come from a cache.
const LEAST_LOST: usize = 2;
/// Least share of the free space that has to be written before a check without errors says anything good.
const LEAST_WRITTEN: f64 = 0.9;
/// Most lines between two lines of it that say something.
const MOST_BETWEEN: usize = 12;

static TITLE: LazyLock<Regex> = LazyLock::new(|| regex(r"^F3 (write|read|probe) ([0-9.]+)"));
static FILE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"Validating file \S+ \.\.\.(?: *[0-9.]+% -- .*?)?\s+(\d+)/ *(\d+)/ *(\d+)/ *(\d+)(.*)$"));
/// The progress of a file, which f3 writes over itself: `12.h2w ... 19.69% -- 86.54 MB/s -- 9:22`. A text that was copied
/// meanwhile ends with it, or people took it for a file.
static PROGRESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Validating file \S+ \.\.\.(?:\s*[0-9.]+%(?: --.*)?)?\s*$"));
static SECTORS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(Data OK|Data LOST|Corrupted|Slightly changed|Overwritten): ([0-9.]+) ([KMGT]?B(?:ytes?)?) *\((\d+) sectors?\)",
    )
});
/// `Average writing speed: 9.5 MB/s`, since version 9 `Average sequential write speed: 9.5 MB/s (2097152 sectors / 1'47")`.
static SPEED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"Average (?:([Ww]riting|[Rr]eading)|sequential (write|read)) speed: ([0-9.]+) ([KMGT]?B(?:ytes?)?)/s(?: (\(\d+ (?:sector|block)s? /))?",
    )
});
/// What is free before f3write begins, and at its end: with `-e` it writes some files alone.
static FREE: LazyLock<Regex> = LazyLock::new(|| regex(r"^Free space: ([0-9.]+) ([KMGT]?B(?:ytes?)?)$"));
/// f3 puts a device in quotation marks, which Markdown removes.
static NEWS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:Good|Bad) news: The device (.+?) is (?:the (real) thing|(damaged)|a counterfeit of type (\w+))")
});
/// Asterisks mark the one that counts.
static GEOMETRY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\**(Usable|Announced|Approximate cache)\** size: (?:([0-9.]+) ([KMGT]?B(?:ytes?)?) )?.*\((\d+) blocks?\)")
});
/// A power of two stands behind it, or is left out.
static BLOCK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Physical block size: ([0-9.]+) ([KMGT]?B(?:yte)?)(?: \(2\^(\d+) Bytes?\))?"));
/// The `...` of a list of files that someone shortened.
const ELLIPSES: [&str; 4] = ["...", "…", "[...]", "[…]"];

impl Format for F3 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["f3 read", "f3 write", "f3 probe", ".h2w", "corrupted/changed/overwritten", "data lost"]
    }

    fn needs(&self) -> &'static str {
        "the counts of a file or of all sectors, or the news of f3probe"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        TITLE.is_match(line.trim_start())
            || line.contains("ok/corrupted/changed/overwritten")
            || line.contains("Validating file ") && FILE.is_match(line)
            // Up to version 6 with a capital.
            || line.contains("riting speed: ") && SPEED.is_match(line)
            // Other programs print the new words alone.
            || line.contains("sequential write speed: ") && SPEED.captures(line).is_some_and(|speed| speed.get(5).is_some())
            || line.contains("Data OK: ") && SECTORS.is_match(line.trim_start())
            || line.contains(" news: The device ") && NEWS.is_match(line)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let mut run = F3Run::default();
        let mut end = at + 1;
        for line in at..text.len() {
            if line > end + MOST_BETWEEN {
                break;
            }
            match run.line(text.line(line).trim()) {
                Said::Something => end = line + 1,
                Said::Nothing => {}
                Said::Another => break,
            }
        }
        let report = run.report();
        if report.is_empty() {
            return Section::nothing(end, text.number(at), "f3 printed no result");
        }
        Section::from_report(report, end)
    }
}

enum Said {
    Something,
    Nothing,
    /// It belongs to the next run.
    Another,
}

#[derive(Debug, Default)]
struct F3Run {
    version: Option<String>,
    /// Whether it writes; whether it reads; whether it probes.
    parts: [bool; 3],
    /// Good, corrupted, changed and overwritten sectors of each file, and whether it was fully read.
    files: Vec<([u64; 4], bool)>,
    /// Whether someone replaced some of them by `...`.
    shortened: bool,
    /// The same in all, as the summary has it, with what is lost in all.
    summary: [Option<u64>; 5],
    partly: bool,
    missing: bool,
    failed_write: bool,
    /// Whether a line of counts could not be read.
    broken: bool,
    /// Counts and sizes that contradict each other.
    wrong: Vec<Finding>,
    write: Option<f64>,
    read: Option<f64>,
    /// Bytes that were free before writing.
    free: Option<f64>,
    /// Device, verdict and kind of a probe.
    news: Option<(String, Verdict, Option<FakeKind>)>,
    /// Usable and announced size and cache in blocks, and the size of a block.
    geometry: [Option<u64>; 4],
    /// The size of a block by a size and its number of blocks, where the line of the block was left out.
    derived: Option<u64>,
    probed: bool,
}

/// Share by which a size that is printed with two digits behind the point may differ from that of its blocks.
const ROUNDED: f64 = 0.01;

/// The size of a block, a power of two, from the size of a number of blocks.
fn block_of(size: f64, blocks: u64) -> Option<u64> {
    let each = Some(size / blocks as f64).filter(|each| each.is_finite() && *each >= 1.0)?;
    let power = each.log2().round().exp2();
    ((each / power - 1.0).abs() < ROUNDED).then_some(power as u64)
}

/// The device, the verdict and the kind that a line of a probe tells.
fn told(news: &Captures<'_>) -> (String, Verdict, Option<FakeKind>) {
    let kind = news.get(4).map(|kind| match kind.as_str() {
        "limbo" => FakeKind::Limbo,
        "wraparound" => FakeKind::Wraparound,
        "chain" => FakeKind::Chain,
        _ => FakeKind::Unknown,
    });
    let verdict = match (news.get(2), kind) {
        (Some(_), _) => Verdict::Genuine,
        (_, Some(_)) => Verdict::Fake,
        _ => Verdict::Damaged,
    };
    (news[1].trim_matches(QUOTES).to_owned(), verdict, kind)
}

impl F3Run {
    fn line(&mut self, line: &str) -> Said {
        let reading_is_over = self.read.is_some() || self.summary[4].is_some() && self.summary[0].is_some();
        if let Some(title) = TITLE.captures(line) {
            let part = ["write", "read", "probe"].iter().position(|name| *name == &title[1]).unwrap_or(0);
            // Writing and the reading that follows are one check.
            if part == 2 && self.parts.contains(&true) || self.parts[1] || self.parts[2] || part == 0 && self.parts[0] {
                return Said::Another;
            }
            self.parts[part] = true;
            self.version = Some(title[2].to_owned());
        } else if line.contains("ok/corrupted/changed/overwritten") {
            if !self.files.is_empty() || reading_is_over {
                return Said::Another;
            }
            self.parts[1] = true;
        } else if let Some(file) = FILE.captures(line) {
            if reading_is_over {
                return Said::Another;
            }
            self.parts[1] = true;
            let count = |at: usize| file[at].parse::<u64>().unwrap_or(0);
            let whole = !file[5].contains("NOT fully read");
            self.partly |= !whole;
            self.files.push(([count(1), count(2), count(3), count(4)], whole));
        } else if let Some(sectors) = SECTORS.captures(line) {
            if !self.sectors(&sectors) {
                return Said::Another;
            }
        } else if let Some(speed) = SPEED.captures(line) {
            let rate = decimal(&speed[3]).zip(unit(&speed[4], Base::Binary)).map(|(rate, unit)| rate * unit);
            let writes = speed.get(1).or(speed.get(2)).is_some_and(|word| word.as_str().starts_with(['W', 'w']));
            let place = if writes { &mut self.write } else { &mut self.read };
            if place.is_some() {
                return Said::Another;
            }
            *place = rate;
        } else if let Some(news) = NEWS.captures(line) {
            if self.news.is_some() {
                return Said::Another;
            }
            self.news = Some(told(&news));
        } else if let Some(found) = GEOMETRY.captures(line) {
            let at =
                ["Usable", "Announced", "Approximate cache"].iter().position(|name| *name == &found[1]).unwrap_or(0);
            self.geometry[at] = found[4].parse().ok();
            let size = found
                .get(2)
                .zip(found.get(3))
                .and_then(|(size, name)| Some(decimal(size.as_str())? * unit(name.as_str(), Base::Binary)?));
            self.derived = self.derived.or_else(|| block_of(size?, self.geometry[at]?));
        } else if let Some(found) = BLOCK.captures(line) {
            let power = found.get(3).and_then(|power| 1_u64.checked_shl(power.as_str().parse().ok()?));
            let size = decimal(&found[1]).zip(unit(&found[2], Base::Binary)).map(|(size, unit)| (size * unit) as u64);
            self.geometry[3] = power.or(size);
        } else if ELLIPSES.contains(&line) && !self.files.is_empty() && !reading_is_over {
            self.shortened = true;
        } else if PROGRESS.is_match(line) {
            self.parts[1] = true;
            self.shortened = true;
        } else if line.starts_with("Probe time:") {
            self.probed = true;
        } else if line.contains("Validating file ") || SECTORS.is_match(line) && line.contains(" sector") {
            // A count in it is no number.
            self.broken = true;
        } else if ["NOT fully read", "fully read due to", "read due to \""].iter().any(|words| line.contains(words)) {
            // Wrapped behind the counts of its file.
            if let Some((_, whole)) = self.files.last_mut() {
                *whole = false;
            }
            self.partly = true;
        } else if line.contains("Not all data was read due to I/O error") {
            self.partly = true;
        } else if line.starts_with("Missing file") || line.contains("Not all F3 files in the range") {
            self.missing = true;
        } else if line.contains("Write failure:") {
            self.failed_write = true;
        } else if let Some(free) = FREE.captures(line) {
            let free = decimal(&free[1]).zip(unit(&free[2], Base::Binary)).map(|(free, unit)| free * unit);
            self.free = self.free.or(free.filter(|_| self.write.is_none()));
        } else if !line.contains("Creating file") && !line.starts_with("Free space:") {
            return Said::Nothing;
        }
        Said::Something
    }

    /// Takes a count of the summary; `false` where it has one already.
    fn sectors(&mut self, sectors: &Captures<'_>) -> bool {
        let names = ["Data OK", "Corrupted", "Slightly changed", "Overwritten", "Data LOST"];
        let at = names.iter().position(|name| *name == &sectors[1]).unwrap_or(0);
        if self.summary[at].is_some() {
            return false;
        }
        self.summary[at] = sectors[4].parse().ok();
        if let Some(count) = self.summary[at] {
            self.wrong.extend(check_contradicts(&sectors[2], unit(&sectors[3], Base::Binary), count));
        }
        true
    }

    fn report(self) -> Report {
        let mut report = Report::whole(NAME);
        report.version.clone_from(&self.version);
        if let Some((device, verdict, kind)) = &self.news {
            report.medium.device = Some(device.clone());
            report.medium.path.clone_from(device);
            let check = self.probe(*verdict, *kind);
            if !self.probed && check.verdict != *verdict {
                report
                    .findings
                    .push(Finding::SourceIncomplete { missing: Missing::End { tool: "f3probe".to_owned() } });
            }
            report.verification = Some(check);
        }
        if self.parts[1] || self.summary.iter().any(Option::is_some) {
            self.check(&mut report);
        }
        if self.failed_write {
            report
                .findings
                .push(Finding::SourceIncomplete { missing: Missing::AfterFailure { failed: "f3write".to_owned() } });
        }
        let span = report.verification.as_ref().map(|check| check.checked_bytes).filter(|bytes| *bytes > 0);
        for (name, op, rate) in [("f3write", Op::Write, self.write), ("f3read", Op::Read, self.read)] {
            let Some(rate) = rate.filter(|rate| *rate > 0.0) else { continue };
            // Both go through the page cache and drop it behind them (libflow.c, libutils.c).
            let load = Load {
                pattern: Some(Pattern::Sequential),
                jobs: Some(1),
                queue_depth: Some(1),
                span_bytes: span,
                direct: Some(false),
                ..Load::new(name, op)
            };
            let mut figure = Figure::new(load);
            figure.bytes_per_second = Some(rate);
            report.figures.push(figure);
        }
        report
    }

    fn probe(&self, verdict: Verdict, kind: Option<FakeKind>) -> Verification {
        let mut check = check_undecided(Checker::F3, Method::QuickProbe);
        let [usable, announced, cache, block] = self.geometry;
        let block = block.or(self.derived);
        let bytes = |blocks: Option<u64>| blocks.zip(block).map(|(blocks, block)| blocks.saturating_mul(block));
        check.announced_bytes = bytes(announced).unwrap_or(0);
        check.cache_bytes = bytes(cache).filter(|bytes| *bytes > 0);
        // Bad news stay bad in a log that is cut off, and good ones below which the sizes agree are whole.
        let agrees = usable == announced && check.announced_bytes > 0;
        let certain = self.probed || verdict != Verdict::Genuine || agrees;
        if certain {
            check.verdict = verdict;
            check.kind = kind;
            check.real_bytes = bytes(usable).filter(|_| verdict != Verdict::Damaged);
        }
        check.doubt = (!certain).then_some(Doubt::CutOff);
        check
    }

    fn check(&self, report: &mut Report) {
        let mut check = check_undecided(Checker::F3, Method::Full);
        let mut sums = [0_u64; 4];
        for (file, _) in &self.files {
            for (sum, count) in sums.iter_mut().zip(file) {
                *sum = sum.saturating_add(*count);
            }
        }
        let summed = [0, 1, 2, 3].map(|at| self.summary[at]);
        let summary = match summed {
            [Some(good), Some(corrupted), Some(changed), Some(overwritten)] => {
                Some([good, corrupted, changed, overwritten])
            }
            _ => None,
        };
        report.findings.extend(self.wrong.iter().take(1).cloned());
        // The sums of a shortened list are only some of the whole.
        let differs = |summary: &[u64; 4]| match self.shortened {
            true => sums.iter().zip(summary).any(|(sum, whole)| sum > whole),
            false => *summary != sums,
        };
        if let Some(summary) = summary.filter(|summary| differs(summary) && !self.files.is_empty()) {
            report.findings.extend(contradictions(&summary, &sums, self.shortened));
        }
        // Losses of single files prove damage, and a summary without them proves nothing good.
        let hides_losses = summary.is_some_and(|summary| (1..4).any(|kind| sums[kind] > summary[kind]));
        [check.counts.good, check.counts.corrupted, check.counts.changed, check.counts.overwritten] =
            summary.unwrap_or(sums);
        if let Some(lost) = self.summary[4].filter(|_| summary.is_none() && self.files.is_empty()) {
            check.counts.good = self.summary[0].unwrap_or(0);
            check.counts.corrupted = lost;
        }
        // The part of a file that was not read, if others follow; the length of the last file is not printed.
        for (file, _) in self.files.iter().rev().skip(1).filter(|(_, whole)| !whole) {
            let read = file.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
            check.counts.unreadable = check.counts.unreadable.saturating_add(FILE_SECTORS.saturating_sub(read));
        }
        let complete = self.read.is_some() && !self.missing && !self.partly && !self.failed_write && !self.broken;
        let complete = complete && !hides_losses;
        // f3read ends with a summary.
        let complete = complete && summary.is_some();
        let bad_from = self.files.iter().position(|(file, whole)| !whole || file[1..] != [0, 0, 0]);
        // Behind the first file with losses no sector is good, and there are files behind it.
        let tail = bad_from.and_then(|from| self.files.get(from + 1..)).unwrap_or_default();
        let is_lost = |(file, whole): &([u64; 4], bool)| *whole && file[0] == 0;
        // What was written last may still be in the cache of the device, and be read out of it (f3's manual).
        let cached = match tail {
            [lost @ .., last] if lost.len() >= LEAST_LOST && lost.iter().all(is_lost) && !is_lost(last) => last.0[0],
            _ => 0,
        };
        let tail_is_lost = !tail.is_empty() && (cached > 0 || tail.iter().all(is_lost));
        // It fills what is free, so the last file is no whole one, unless `-e` has ended it.
        let total = check.counts.total();
        let ended = self.free.is_none() && total > 0 && total.is_multiple_of(FILE_SECTORS);
        let written = total.saturating_mul(SECTOR_BYTES) as f64;
        let little = ended || self.free.is_some_and(|free| written < free * LEAST_WRITTEN);
        let all_read = complete && check.counts.good > 0 && !little;
        check_decide(&mut check, tail_is_lost, all_read);
        check.real_bytes = check.real_bytes.map(|bytes| bytes.saturating_sub(cached.saturating_mul(SECTOR_BYTES)));
        // A file that was not fully read is a failure, even where nothing else is known of it.
        if self.partly && !check.verdict.is_bad() {
            check.verdict = Verdict::Damaged;
        }
        check.doubt = match check.verdict {
            Verdict::Undecided if self.missing => Some(Doubt::FilesMissing),
            Verdict::Undecided if hides_losses => Some(Doubt::LossesLeftOut),
            Verdict::Undecided if self.broken && self.read.is_some() => Some(Doubt::CountsUnreadable),
            Verdict::Undecided if complete && little => Some(Doubt::PartTested),
            Verdict::Undecided => Some(Doubt::CutOff),
            _ => None,
        };
        check.remarks.extend(self.partly.then_some(Remark::PartlyUnread));
        if self.broken || summary.is_none() && self.read.is_some() {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::SectorCounts]) });
        }
        if self.files.is_empty() && check.verdict == Verdict::Damaged {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::LostFiles]) });
        }
        if self.read.is_none() {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: "f3read".to_owned() } });
        } else if self.missing {
            report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::MissingFiles]) });
        }
        check.written_bytes = check.checked_bytes;
        check.write = check_pass(check.checked_bytes, self.write);
        check.read = check_pass(check.checked_bytes, self.read);
        report.verification = Some(check);
    }
}

/// Which sectors a summary counts otherwise than the files, whose list may be shortened.
fn contradictions(summary: &[u64; 4], sums: &[u64; 4], shortened: bool) -> Vec<Finding> {
    let kinds = ["OK", "corrupted", "slightly changed", "overwritten"];
    let all = kinds.into_iter().zip(summary.iter().zip(sums));
    let differ = all.filter(|(_, (whole, sum))| if shortened { sum > whole } else { sum != whole });
    differ
        .map(|(of, (whole, sum))| {
            let (here, there) = ((Place::Summary, *whole as f64), (Place::Sum, *sum as f64));
            Finding::SourceContradicts {
                contradiction: Contradiction::places(SourceQuantity::Sectors, of, here, there),
            }
        })
        .collect()
}
