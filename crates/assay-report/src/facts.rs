//! The known facts about a record. Card, page, Markdown and `info` each show the part of this list that they have room
//! for.

use std::collections::BTreeMap;
use std::time::Duration;

use Rank::{Card, Detail, Page};
use assay_core::finding::Finding;
use assay_core::medium::{Medium, MediumKind};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record};
use assay_core::text::{clean, label, statement};
use assay_core::units::{Bytes, capacity, grouped, latency, rate, span};

use super::{health, terminal, verdict};
use crate::advise::judge;
use crate::redact::Rule::{Each, Fields, Keep, Known, MountOption, Name, Never, Path, Readings, Text};
use crate::redact::{Kind, Rule};
use crate::results;
use crate::terminal::{Paint, Style};
use crate::verdict::capitalised;

// One fact, and the places with room to show it.

/// The smallest place that shows a fact; larger places show it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// On the card.
    Card,
    /// In Markdown and at the top of a page.
    Page,
    /// In the settings of a page, and in `assay info`.
    Detail,
}

/// A name with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) rank: Rank,
    /// In lower case; at most nine characters if it is shown on the card.
    pub(crate) name: String,
    pub(crate) value: String,
    /// How the value is highlighted on the card.
    pub(crate) paint: Paint,
}

impl Fact {
    /// A fact, unless its value is unknown.
    pub(crate) fn new(rank: Rank, name: &str, value: impl Into<Option<String>>) -> Option<Self> {
        let value = value.into().filter(|value| !value.trim().is_empty())?;
        Some(Self { rank, name: name.to_owned(), value, paint: Paint::Plain })
    }

    /// Writes the fact as a line of terminal text.
    pub(crate) fn line(&self, page: &mut terminal::Page) {
        page.labelled(&self.name, Paint::Dim, &self.value, self.paint);
    }

    /// The name as a title, and the value.
    pub(crate) fn titled(self) -> (String, String) {
        (capitalised(&self.name), self.value)
    }
}

// The facts about a medium, and the redaction rule of each of its fields in a shared report.

/// Longest list of mount options, in characters.
const LONGEST: usize = 300;

/// The known facts about a medium.
pub(crate) fn of_medium(medium: &Medium) -> Vec<Fact> {
    let known = |text: &Option<String>| text.as_deref().map(clean);
    let bus = medium.bus.as_ref().map_or_else(|| "unknown".to_owned(), |bus| clean(&verdict::bus_sentence(bus)));
    let facts = [
        Fact::new(Page, "kind", medium_kind(medium)),
        Fact::new(Detail, "vendor", known(&medium.vendor)),
        Fact::new(Detail, "model", known(&medium.model)),
        Fact::new(Page, "unit", known(&medium.unit)),
        Fact::new(Detail, "capacity", medium.capacity_bytes.map(medium_size)),
        Fact::new(Detail, "claims", clean(&medium.claimed_classes.join(" "))),
        Fact::new(Card, "path", medium_place(medium)),
        Fact::new(Detail, "mount", mount_text(medium)),
        Fact::new(Detail, "stack", stack_text(medium)),
        Fact::new(Card, "bus", bus),
        Fact::new(Detail, "bus limit", medium.reachable().map(limit_text)),
        Fact::new(Detail, "queue", label_pairs(&medium.queue)),
        Fact::new(Detail, "card queue", medium.command_queue.map(|queue| queue.words().to_owned())),
        Fact::new(Detail, "trim", trim_text(medium)),
        health_fact(medium),
        changes_fact(medium),
        Fact::new(Detail, "counters", health::counters(medium)),
        Fact::new(Detail, "not read", health::unread(medium)),
        Fact::new(
            Detail,
            if medium.readings.counters.is_empty() && health::words(medium).is_some() { "smart" } else { "health" },
            label_pairs(&medium.health),
        ),
    ];
    facts.into_iter().flatten().collect()
}

fn health_fact(medium: &Medium) -> Option<Fact> {
    let paint = if health::is_bad(medium) { Paint::Bad } else { Paint::Plain };
    Some(Fact { paint, ..Fact::new(Card, "health", health::words(medium)?)? })
}

/// What got worse by the medium's own counters.
fn changes_fact(medium: &Medium) -> Option<Fact> {
    let failing = medium.readings.failing().next().is_some();
    let paint = if failing { Paint::Bad } else { Paint::Plain };
    Some(Fact { paint, ..Fact::new(Card, "worsened", health::changes(medium)?)? })
}

/// Whether the kernel can tell the medium which blocks are free.
fn trim_text(medium: &Medium) -> Option<String> {
    let most = medium.queue.get("discard_max_bytes")?;
    Some(if most == "0" { "not supported" } else { "supported" }.to_owned())
}

/// The redaction rules of its fields in a shared report.
pub(crate) const MEDIUM_RULE: Rule = Fields(&[
    ("kind", Keep),
    ("vendor", Text),
    // For a network volume or a loop device this is its source.
    ("model", Text),
    ("unit", Name(Kind::Unit)),
    ("attached", Name(Kind::Id)),
    ("capacity_bytes", Keep),
    ("filesystem", Known),
    ("mount_options", Each(&MountOption)),
    ("mount_point", Path),
    ("path", Path),
    ("device", Path),
    ("stack", Each(&Fields(&[("name", Text), ("role", Known)]))),
    ("bus", BUS),
    ("claimed_classes", Each(&Text)),
    ("health", Readings(&[("firmware", Text), ("manfid", Text), ("manufactured", Text), ("oemid", Text)])),
    (
        "readings",
        Fields(&[
            ("counters", Each(&Fields(&[("kind", Keep), ("source", Keep), ("before", Keep), ("after", Keep)]))),
            ("unread", Each(&Fields(&[("source", Keep), ("why", Keep), ("detail", Text)]))),
            // Bytes of a maker may hold a serial number.
            ("raw", Never),
        ]),
    ),
    ("command_queue", Keep),
    (
        "queue",
        Fields(&[
            ("cmdq_en", Text),
            ("discard_max_bytes", Text),
            ("loop_direct_io", Text),
            ("max_sectors_kb", Text),
            ("nr_requests", Text),
            ("read_ahead_kb", Text),
            ("rotational", Text),
            ("scheduler", Text),
            ("write_cache", Text),
        ]),
    ),
]);

const BUS: Rule = Fields(&[
    ("kind", Known),
    ("mode", Text),
    ("ceiling_bytes_per_second", Keep),
    ("reachable_bytes_per_second", Keep),
    ("driver", Known),
    ("source", Text),
]);

fn medium_kind(medium: &Medium) -> String {
    if medium.kind == MediumKind::Unknown { "not recognised" } else { medium.kind.title() }.to_owned()
}

fn medium_size(bytes: u64) -> String {
    format!("{} ({} bytes)", capacity(bytes), grouped(i64::try_from(bytes).unwrap_or(i64::MAX)))
}

/// `/mnt/card, ext4 on /dev/mmcblk0p2`.
fn medium_place(medium: &Medium) -> String {
    let mut text = clean(&medium.path);
    match (&medium.filesystem, &medium.device) {
        (Some(fs), Some(device)) => text.push_str(&format!(", {} on {}", clean(fs), clean(device))),
        (Some(fs), None) => text.push_str(&format!(", {}", clean(fs))),
        (None, Some(device)) if *device != medium.path => text.push_str(&format!(", raw device {}", clean(device))),
        (None, _) => {}
    }
    text
}

fn mount_text(medium: &Medium) -> Option<String> {
    let point = medium.mount_point.as_deref().map(clean);
    let options = label(&medium.mount_options.join(", "), LONGEST);
    match (point, options) {
        (Some(point), Some(options)) => Some(format!("{point}: {options}")),
        (point, options) => point.or(options),
    }
}

/// `mmcblk0p2 (partition) → mmcblk0 (disk)`.
fn stack_text(medium: &Medium) -> String {
    let node = |name: &str, role: &str| {
        if role.is_empty() { clean(name) } else { format!("{} ({})", clean(name), clean(role)) }
    };
    medium.stack.iter().map(|n| node(&n.name, &n.role)).collect::<Vec<_>>().join(" → ")
}

fn limit_text(reachable: f64) -> String {
    format!("a result within 5 % of {}, or above it, is bus-limited", rate(reachable))
}

fn label_pairs(map: &BTreeMap<String, String>) -> String {
    map.iter().map(|(k, v)| format!("{} {}", clean(k).replace('_', " "), clean(v))).collect::<Vec<_>>().join(" · ")
}

// The facts about a run: what was measured, where and with which program, and its results other than figures.

/// What was measured, where and with which program.
pub(crate) fn about(record: &Record) -> Vec<Fact> {
    let mut facts = of_medium(&record.medium);
    let own = [
        Fact::new(Card, "host", host(&record.host)),
        Fact::new(Page, "machine", machine(&record.host)),
        Fact::new(Card, "run", run_text(record)),
        Fact::new(Card, "manner", manner(record)),
        Fact::new(Page, "record", clean(&record.id)),
    ];
    facts.extend(own.into_iter().flatten());
    let labels: Vec<String> = record.labels.iter().map(|(name, value)| clean(&format!("{name}={value}"))).collect();
    facts.extend(Fact::new(Card, "labels", labels.join(", ")));
    facts
}

/// The results other than figures.
pub(crate) fn results(record: &Record, observation: &Observation) -> Vec<Fact> {
    let source = record.origin.imported().map(|source| clean(&format!("{} from {}", source.format, source.file)));
    let article = record.origin.printed_in().filter(|_| record.is_published()).map(|(_, article)| clean(article));
    let first = [
        Fact::new(Card, "classes", judge(observation).sentence().map(|s| clean(&s))),
        Fact::new(Card, "over days", results::over_days_sentence(observation)),
        Fact::new(Card, "imported", source),
        Fact::new(Card, "source", article),
    ];
    let last = [
        Fact::new(Card, "per watt", results::per_watt(record, observation)),
        Fact::new(Card, "sensors", results::read_sensors(record)),
        Fact::new(Card, "noted", results::noted_sensors(record)),
        Fact::new(Card, "effort", effort(record)),
        outcome_facts(record),
    ];
    let scores = results::score_lines(record).into_iter().map(|line| Fact::new(Card, "score", line));
    let knees = results::load_curve_lines(observation).into_iter().map(|line| Fact::new(Card, "knee", line));
    let beside = results::at_once_lines(observation).into_iter().map(|line| Fact::new(Card, "at once", line));
    first.into_iter().chain(scores).chain(knees).chain(beside).chain(last).flatten().collect()
}

fn outcome_facts(record: &Record) -> Option<Fact> {
    if record.outcome == Outcome::Completed {
        return None;
    }
    let paint = if record.outcome.medium_failed() { Paint::Bad } else { Paint::Care };
    Some(Fact { paint, ..Fact::new(Card, "outcome", statement(&record.outcome.sentence()))? })
}

// Words for facts of a record that several texts share.

/// `node7, Pine64 SOPINE, slot 3`.
pub(crate) fn host(host: &Host) -> String {
    let slot = host.slot.as_ref().map(|s| format!("slot {s}"));
    let parts: Vec<String> =
        [host.hostname.clone(), host.board.clone(), slot].into_iter().flatten().map(|p| clean(&p)).collect();
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

/// `Cortex-A53, 4 cores, 2 GiB, Linux 6.6.31 (aarch64), Debian 12, governor performance`.
pub(crate) fn machine(host: &Host) -> String {
    let parts: Vec<String> = [
        host.cpu.clone(),
        host.cores.map(|n| if n == 1 { "1 core".to_owned() } else { format!("{n} cores") }),
        host.memory_bytes.map(|b| format!("{} memory", Bytes(b))),
        match (&host.kernel, &host.arch) {
            (Some(k), Some(a)) => Some(format!("Linux {k} ({a})")),
            (Some(k), None) => Some(format!("Linux {k}")),
            (None, a) => a.clone(),
        },
        host.os.clone(),
        host.governor.as_ref().map(|g| format!("governor {g}")),
    ]
    .into_iter()
    .flatten()
    .map(|p| clean(&p))
    .collect();
    parts.join(", ")
}

/// `2026-11-21 06:31 UTC`, or the text as it stands where it is no time stamp.
#[must_use]
pub fn when(created: &str) -> String {
    match created.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => clean(created),
    }
}

/// Which piece it is, by its label or by what the medium says; empty where neither does.
pub(crate) fn unit(record: &Observation) -> String {
    record.labels.get("unit").or(record.medium.unit.as_ref()).map(|unit| clean(unit)).unwrap_or_default()
}

/// Where it was.
pub(crate) fn slot(record: &Observation) -> String {
    record.labels.get("slot").or(record.host.slot.as_ref()).map(|slot| clean(slot)).unwrap_or_default()
}

/// Labels that have no column or name of their own: `build main, price 9.90`. Empty without.
pub(crate) fn other_labels(record: &Observation) -> String {
    let others = record.labels.iter().filter(|(key, _)| !["model", "unit", "slot"].contains(&key.as_str()));
    let parts: Vec<String> = others.map(|(key, value)| format!("{} {}", clean(key), clean(value))).collect();
    parts.join(", ")
}

/// A number of nanoseconds as people say it.
pub(crate) fn nanoseconds(ns: u64) -> String {
    span(Duration::from_nanos(ns))
}

/// When and by which program it was measured: `2026-11-21 06:31 UTC, assay 0.1.0, suite quick 1, uring engine`.
fn run_text(record: &Record) -> String {
    let parts = [when(&record.created), tool_text(record)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// How the host did it where that was asked for: `one processor a thread of 0-3, completions polled (3 of 7 workloads)`.
fn manner(record: &Record) -> Option<String> {
    let mut parts: Vec<(String, usize)> = Vec::new();
    for words in record.measurements.iter().flat_map(|m| m.workload.manner()) {
        match parts.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => parts.push((words, 1)),
        }
    }
    let all = record.measurements.len();
    let with_count = |(words, count): (String, usize)| {
        if count == all { words } else { format!("{words} ({count} of {all} workloads)") }
    };
    let parts: Vec<String> = parts.into_iter().map(with_count).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `took 84.2 s of 90 s, waited 21.3 s for others, wrote 812 MiB of at most 1 GiB, read 1.90 GiB`; empty if nothing is known.
fn effort(record: &Record) -> String {
    let Some(s) = record.settings() else { return String::new() };
    if (s.elapsed_ns, s.written_bytes, s.read_bytes) == (0, 0, 0) {
        return String::new();
    }
    let mut parts = Vec::new();
    // What was killed early does not say how long it took.
    if s.elapsed_ns > 0 {
        let waited = s.waited_ns.unwrap_or(0);
        let took = format!("took {}", nanoseconds(s.elapsed_ns.saturating_sub(waited)));
        parts.push(match s.budget_ns {
            0 => took,
            budget_ns => format!("{took} of {}", nanoseconds(budget_ns)),
        });
        if waited > 0 {
            parts.push(format!("waited {} for others", nanoseconds(waited)));
        }
    }
    parts.push(format!("wrote {}", Bytes(s.written_bytes)));
    let mut text = parts.join(", ");
    if s.max_write_bytes > 0 && s.max_write_bytes < u64::MAX {
        text.push_str(&format!(" of at most {}", Bytes(s.max_write_bytes)));
    }
    text.push_str(&format!(", read {}", Bytes(s.read_bytes)));
    text
}

/// `assay 0.1.0, suite quick 1, uring engine`.
fn tool_text(record: &Record) -> String {
    let t = &record.tool;
    if record.is_printed() {
        let mut engines: Vec<String> = Vec::new();
        for engine in record.measurements.iter().map(|m| clean(&m.engine)) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        if record.is_published() {
            return format!("figures as published, measured with {}", engines.join(", "));
        }
        return format!("{} {}", clean(&t.name), clean(&t.version)).trim_end().to_owned() + ", imported";
    }
    if record.verification.is_some() && record.measurements.is_empty() {
        return format!("{} {}, {}", clean(&t.name), clean(&t.version), clean(&t.engine));
    }
    format!(
        "{} {}, suite {} {}, {} engine",
        clean(&t.name),
        clean(&t.version),
        clean(&record.suite.name),
        record.suite.version,
        clean(&t.engine)
    )
}

/// Why a measurement has no figure, as text; `None` where it has one.
pub(crate) fn no_figure(record: &Record, measurement: &Measurement) -> Option<String> {
    if measurement.bytes_per_second.is_some() || measurement.iops.is_some() {
        return None;
    }
    if !measurement.repeats.is_empty() {
        let operations = measurement.repeats.iter().fold(0u64, |sum, r| sum.saturating_add(r.operations));
        return Some(match operations {
            0 => "no operation completed".to_owned(),
            n => format!("cut short after {} operations", grouped(i64::try_from(n).unwrap_or(i64::MAX))),
        });
    }
    let skipped = measurement.warnings.iter().find_map(|w| match &w.finding {
        Finding::FewerRepeats { shortfall, .. } => Some(format!("skipped: {}", clean(&shortfall.to_string()))),
        _ => None,
    });
    // Of an access time nothing else is printed.
    let mean = measurement.latency_ns.mean.as_ref().map(|mean| format!("mean latency {}", latency(mean.point)));
    Some(skipped.or(mean).unwrap_or_else(|| match record.outcome {
        Outcome::Completed => "not measured".to_owned(),
        Outcome::Running | Outcome::Failed { .. } => "not reached: the run ended before it".to_owned(),
    }))
}

/// The requested workload where a smaller one was measured: `scaled down from random write 4 KiB, QD32`.
pub(crate) fn scaled_down(measurement: &Measurement) -> Option<String> {
    measurement.requested.as_ref().filter(|r| ***r != *measurement.workload).map(|requested| {
        format!(
            "scaled down from {}",
            host_difference(&requested.title(), &measurement.workload.title(), requested.span_bytes)
        )
    })
}

fn host_difference(requested: &str, used: &str, span_bytes: u64) -> String {
    if requested == used { format!("a span of {}", Bytes(span_bytes)) } else { requested.to_owned() }
}

// Terminal text of a medium, for `assay info`.

/// The known facts about a medium and the host it is attached to.
#[must_use]
pub fn info(medium: &Medium, host: &Host, style: &Style) -> String {
    let mut page = terminal::Page::new(style.bounded());
    let title = label(&medium.title(), 160).unwrap_or_else(|| medium.kind.title().to_owned());
    page.text(Paint::Bold, 0, &title);
    page.rule();
    let name = Some(self::host(host)).filter(|name| name != "unknown");
    let hosts = [Fact::new(Rank::Card, "host", name), Fact::new(Rank::Page, "machine", machine(host))];
    of_medium(medium).into_iter().chain(hosts.into_iter().flatten()).for_each(|fact| fact.line(&mut page));
    page.finish()
}
