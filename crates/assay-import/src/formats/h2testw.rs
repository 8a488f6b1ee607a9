//! H2testw 1.4 (c't), English and German.
//!
//! Its units are powers of 1024 and cut off, so the counts of sectors are the truth: 1,343,488 sectors are "656 MByte".
//! How much was tested it tells only where that is not all, or where data were lost. A report ends with its version; one
//! without that end is cut off and proves nothing good.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Detail, Finding, Missing, Place, SourceQuantity};
use assay_core::verification::{Checker, Doubt, FirstError, Method, SECTOR_BYTES, SectorClass, Verdict, Verification};
use assay_core::workload::{Op, Pattern};

use crate::number::{Base, check_contradicts, check_decide, check_pass, check_undecided, decimal, unit};
use crate::pattern::{Regex, regex};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// H2testw.
pub(crate) struct H2testw;

const NAME: &str = "H2testw";
/// Most lines of a report.
const MOST_LINES: usize = 40;
/// Most lines between a verdict and the counts or speeds below it.
const MOST_BELOW: usize = 4;
/// Share of the capacity, of ten, below which a test without errors says little.
const LEAST_TESTED: u64 = 9;

/// How a report begins.
const BEGINNINGS: [&str; 6] = [
    "Test finished without errors",
    "The media is likely to be defective",
    "Fertig, kein Fehler aufgetreten",
    "Fertig. Kein Fehler aufgetreten",
    "Der Datenträger ist wahrscheinlich defekt",
    "Das Medium ist wahrscheinlich defekt",
];
static PARTLY: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:[Oo]nly|[Nn]ur) (\S+) (?:of|von) (\S+) MByte"));
static END: LazyLock<Regex> = LazyLock::new(|| regex(r"H2testw v(1\.\d+)"));
static SPEED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(Writing speed|Reading speed|Schreibrate|Leserate): *([0-9.,]+) ([KMG]?)Byte/s"));
static SECTORS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"([0-9.,]+) ([KMGT]?Byte) (OK|DATA LOST|DATEN VERLOREN|overwritten|überschrieben|slightly changed|leicht verändert|corrupted|verfälscht)[^(]*\((?:[^)]*, )?(\d+) (?:sectors?|Sektor(?:en)?)\)",
    )
});
static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:First error at offset|Erster Fehler bei Offset): *0x([0-9a-fA-F]{1,16})\s+(?:Expected|Soll): *0x([0-9a-fA-F]{1,16})\s+(?:Found|Gefunden|Ist): *0x([0-9a-fA-F]{1,16})",
    )
});

impl Format for H2testw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["h2testw", "mbyte/s", "writing speed", "schreibrate", "data lost"]
    }

    fn needs(&self) -> &'static str {
        "its verdict or its counts, in English or German"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        begins(text.line(at)) && !is_prose(text, at) || is_headless(text, at)
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        // A warning stands before the verdict of the same report.
        let verdict = if has_verdict(text.line(at)) || !begins(text.line(at)) {
            at
        } else {
            (at..at + 4).find(|line| has_verdict(text.line(*line))).unwrap_or(at)
        };
        let mut end = verdict + 1;
        for line in verdict..text.len().min(verdict + MOST_LINES) {
            if line > verdict && begins(text.line(line)) {
                break;
            }
            if !text.line(line).trim().is_empty() && known(text.line(line)) {
                end = line + 1;
            }
            if END.is_match(text.line(line)) {
                break;
            }
        }
        let joined = text.joined(at, end);
        // A page may have run several reports together in one line.
        let mut section = Section { end, ..Section::default() };
        let mut from = 0;
        for found in END.find_iter(&joined) {
            section.reports.extend(report(&joined[from..found.end()]));
            from = found.end();
        }
        section.reports.extend(report(&joined[from..]));
        section
    }
}

fn has_verdict(line: &str) -> bool {
    BEGINNINGS.iter().any(|known| line.contains(known))
}

fn begins(line: &str) -> bool {
    has_verdict(line) || line.contains("MByte") && PARTLY.is_match(line)
}

/// Whether a sentence merely names the words of a verdict, as a manual does: others stand around them, and neither counts nor
/// speeds below.
fn is_prose(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    let alone = line.trim_matches(|c: char| !c.is_alphanumeric());
    let told =
        |line: &str| PARTLY.is_match(line) || SPEED.is_match(line) || SECTORS.is_match(line) || END.is_match(line);
    let mut below = (at + 1..=at + MOST_BELOW).map(|next| text.line(next)).take_while(|line| !has_verdict(line));
    !BEGINNINGS.contains(&alone) && !told(line) && !below.any(told)
}

/// Whether a report begins without its verdict: with its counts of sectors, or with its speeds.
fn is_headless(text: &Text, at: usize) -> bool {
    let (line, next) = (text.line(at), text.line(at + 1));
    let counts = || SECTORS.captures(line).is_some_and(|counts| &counts[3] == "OK");
    let lost = || SECTORS.captures(next).is_some_and(|counts| matches!(&counts[3], "DATA LOST" | "DATEN VERLOREN"));
    line.contains("Byte") && (counts() && lost() || SPEED.is_match(line) && SPEED.is_match(next))
}

fn known(line: &str) -> bool {
    begins(line)
        || SPEED.is_match(line)
        || SECTORS.is_match(line)
        || END.is_match(line)
        || ["h2w", "0x", "Details", "H2testw", "aliased"].iter().any(|word| line.contains(word))
}

fn report(text: &str) -> Option<Report> {
    let finished = BEGINNINGS.iter().position(|known| text.contains(known));
    let mut verdict_lost = false;
    let counted = SECTORS.is_match(text);
    if finished.is_none() && !PARTLY.is_match(text) {
        if !counted && !SPEED.is_match(text) {
            return None;
        }
        verdict_lost = true;
    }
    let good = finished.is_some_and(|at| at == 0 || at == 2 || at == 3);
    let mut report = Report::whole(NAME);
    report.version = END.captures(text).map(|end| end[1].to_owned());
    let complete = report.version.is_some();
    let mut check = check_undecided(Checker::H2testw, Method::Full);
    let Counted { lost, wrong, good_told } = count(text, &mut check)?;
    if let Some(lost) = lost.filter(|lost| *lost != check.counts.lost()) {
        let (whole, kinds) = ((Place::Summary, lost as f64), (Place::Sum, check.counts.lost() as f64));
        let contradiction = Contradiction::places(SourceQuantity::Sectors, "lost", whole, kinds);
        if complete {
            report.findings.push(Finding::SourceContradicts { contradiction });
        }
        let known = check.counts.lost();
        check.counts.corrupted = check.counts.corrupted.saturating_add(lost.saturating_sub(known));
    }
    report.findings.extend(wrong);
    let told = PARTLY.captures(text);
    let partly = told.as_ref().and_then(|partly| {
        let mib = |at: usize| partly[at].parse::<u64>().ok()?.checked_mul(1 << 20);
        Some((mib(1)?, mib(2)?)).filter(|(tested, all)| tested <= all)
    });
    if let Some(told) = told.as_ref().filter(|_| partly.is_none()) {
        let mib = |at: usize| told[at].parse::<f64>().unwrap_or_default() * 1_048_576.0;
        let contradiction =
            Contradiction::places(SourceQuantity::Bytes, "", (Place::Tested, mib(1)), (Place::Whole, mib(2)));
        report.findings.push(Finding::SourceContradicts { contradiction });
    }
    let first = first_error(text);
    let counts = check.counts;
    // Nothing good behind the first loss.
    let tail_is_lost = first.as_ref().is_some_and(|first| {
        first.offset_bytes.abs_diff(counts.good.saturating_mul(SECTOR_BYTES))
            <= (counts.total() / 100).saturating_mul(SECTOR_BYTES)
    });
    check.first_error = first.map(|first| FirstError { class: class(&check.counts, &first), ..first });
    check.announced_bytes = partly.map_or(0, |(_, all)| all);
    let little = told.is_some() && partly.is_none_or(|(tested, all)| tested / LEAST_TESTED * 10 < all);
    check_decide(&mut check, tail_is_lost, good && complete && !little);
    // H2testw calls no medium defective without an error, whatever a copy of the text has kept of the counts. Without the
    // count of good sectors the share of lost ones is unknown.
    let called = finished.is_some() && !good && check.verdict == Verdict::Undecided;
    if called || check.counts.lost() > 0 && !good_told {
        (check.verdict, check.kind, check.real_bytes) = (Verdict::Damaged, None, None);
        report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::SectorCounts]) });
    }
    if let Some((tested, _)) = partly {
        check.checked_bytes = check.checked_bytes.max(tested);
    }
    check.written_bytes = check.checked_bytes;
    check.doubt = match check.verdict {
        Verdict::Undecided if !complete => Some(Doubt::CutOff),
        Verdict::Undecided if little => Some(Doubt::PartTested),
        Verdict::Undecided => Some(Doubt::NothingSaid),
        _ => None,
    };
    if !complete {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
    }
    if verdict_lost {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::lines(&[], &[Detail::Verdict]) });
    }
    report.figures = speeds(text, &mut check);
    // Speeds alone say nothing about errors.
    report.verification = Some(check).filter(|_| !verdict_lost || counted);
    Some(report)
}

/// What the counts of sectors say, beside their numbers.
struct Counted {
    /// Sectors that are lost in all.
    lost: Option<u64>,
    wrong: Option<Finding>,
    /// Whether those that are good are counted.
    good_told: bool,
}

/// Takes the counts of sectors; `None` where one is no number.
fn count(text: &str, check: &mut Verification) -> Option<Counted> {
    let (mut lost, mut wrong, mut good_told) = (None, None, false);
    let mut kinds = BTreeMap::new();
    for sectors in SECTORS.captures_iter(text) {
        let count: u64 = sectors[4].parse().ok()?;
        if let Some(before) = kinds.insert(sectors[3].to_owned(), count) {
            let twice = ((Place::First, before as f64), (Place::Again, count as f64));
            let contradiction = Contradiction::places(SourceQuantity::Sectors, &sectors[3], twice.0, twice.1);
            wrong = wrong.or(Some(Finding::SourceContradicts { contradiction }));
        }
        wrong = wrong.or(check_contradicts(&sectors[1], unit(&sectors[2], Base::Binary), count));
        match &sectors[3] {
            "OK" => (check.counts.good, good_told) = (count, true),
            "DATA LOST" | "DATEN VERLOREN" => lost = Some(count),
            "overwritten" | "überschrieben" => check.counts.overwritten = count,
            "slightly changed" | "leicht verändert" => check.counts.changed = count,
            _ => check.counts.corrupted = count,
        }
    }
    Some(Counted { lost, wrong, good_told })
}

/// Speeds as loads, and as the passes of the check.
fn speeds(text: &str, check: &mut Verification) -> Vec<Figure> {
    let mut figures = Vec::new();
    // One of writing and one of reading.
    for speed in SPEED.captures_iter(text).take(2) {
        let scale = match &speed[3] {
            "K" => 1024.0,
            "M" => 1_048_576.0,
            "G" => 1_073_741_824.0,
            _ => 1.0,
        };
        let Some(rate) = decimal(&speed[2]).map(|rate| rate * scale).filter(|rate| *rate > 0.0) else { continue };
        let write = speed[1].starts_with(['W', 'S']);
        let pass = check_pass(check.checked_bytes, Some(rate));
        if write {
            check.write = pass
        } else {
            check.read = pass
        }
        let (name, op) = if write { ("H2testw write", Op::Write) } else { ("H2testw read", Op::Read) };
        let span_bytes = (check.checked_bytes > 0).then_some(check.checked_bytes);
        let load = Load { pattern: Some(Pattern::Sequential), jobs: Some(1), span_bytes, ..Load::new(name, op) };
        let mut figure = Figure::new(load);
        figure.bytes_per_second = Some(rate);
        figures.push(figure);
    }
    figures
}

/// The first place that is lost, and what stands there; an offset of zero is one like others.
fn first_error(text: &str) -> Option<FirstError> {
    let first = FIRST.captures(text)?;
    let hex = |at: usize| u64::from_str_radix(&first[at], 16).ok();
    let found = hex(3)?;
    // The data of a sector begin with its offset.
    let other = found != hex(2)? && found != 0 && found % SECTOR_BYTES == 0 && found < 1 << 48;
    Some(FirstError {
        offset_bytes: hex(1)?,
        class: if other { SectorClass::Overwritten } else { SectorClass::Corrupted },
        holds_offset_bytes: other.then_some(found),
    })
}

/// What became of the first lost sector: what became of all, where that is one thing.
fn class(counts: &assay_core::verification::SectorCounts, first: &FirstError) -> SectorClass {
    match (counts.changed, counts.overwritten, counts.corrupted) {
        (1.., 0, 0) => SectorClass::Changed,
        (0, 1.., 0) => SectorClass::Overwritten,
        (0, 0, 1..) => SectorClass::Corrupted,
        _ => first.class,
    }
}
