//! Words for facts of a record that several texts share.

use std::time::Duration;

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record};
use assay_core::text::clean;
use assay_core::units::{Bytes, grouped, span};

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
pub(crate) fn when(created: &str) -> String {
    match created.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => clean(created),
    }
}

/// Which piece it is, by its label or by what the medium says; empty where neither does.
pub(crate) fn unit(record: &Record) -> String {
    record.labels.get("unit").or(record.medium.unit.as_ref()).map(|unit| clean(unit)).unwrap_or_default()
}

/// Where it was.
pub(crate) fn slot(record: &Record) -> String {
    record.labels.get("slot").or(record.host.slot.as_ref()).map(|slot| clean(slot)).unwrap_or_default()
}

/// Labels that have no column or name of their own: `build main, price 9.90`. Empty without.
pub(crate) fn other_labels(record: &Record) -> String {
    let others = record.labels.iter().filter(|(key, _)| !["model", "unit", "slot"].contains(&key.as_str()));
    let parts: Vec<String> = others.map(|(key, value)| format!("{} {}", clean(key), clean(value))).collect();
    parts.join(", ")
}

/// A number of nanoseconds as people say it.
pub(crate) fn nanoseconds(ns: u64) -> String {
    span(Duration::from_nanos(ns))
}

/// When and by which program it was measured: `2026-11-21 06:31 UTC, assay 0.1.0, suite quick 1, uring engine`.
pub(super) fn run(record: &Record) -> String {
    let parts = [when(&record.created), tool(record)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// How the host did it where that was asked for: `one processor a thread of 0-3, completions polled (3 of 7 workloads)`.
pub(super) fn manner(record: &Record) -> Option<String> {
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

/// `took 84.2 s of 90 s, wrote 812 MiB of at most 1 GiB, read 1.90 GiB`; empty where none of it is known.
pub(super) fn effort(record: &Record) -> String {
    let s = &record.settings;
    if (s.elapsed_ns, s.written_bytes, s.read_bytes) == (0, 0, 0) {
        return String::new();
    }
    let mut text = format!("took {}", nanoseconds(s.elapsed_ns));
    if s.budget_ns > 0 {
        text.push_str(&format!(" of {}", nanoseconds(s.budget_ns)));
    }
    text.push_str(&format!(", wrote {}", Bytes(s.written_bytes)));
    if s.max_write_bytes > 0 && s.max_write_bytes < u64::MAX {
        text.push_str(&format!(" of at most {}", Bytes(s.max_write_bytes)));
    }
    text.push_str(&format!(", read {}", Bytes(s.read_bytes)));
    text
}

/// `assay 0.1.0, suite quick 1, uring engine`.
fn tool(record: &Record) -> String {
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
        Finding::FewerRepeats { reason, .. } => Some(format!("skipped: {}", clean(reason))),
        _ => None,
    });
    Some(skipped.unwrap_or_else(|| match record.outcome {
        Outcome::Completed => "not measured".to_owned(),
        Outcome::Running | Outcome::Failed { .. } => "not reached: the run ended before it".to_owned(),
    }))
}

/// The requested workload where a smaller one was measured: `scaled down from random write 4 KiB, QD32`.
pub(crate) fn scaled_down(measurement: &Measurement) -> Option<String> {
    measurement.requested.as_ref().filter(|r| ***r != *measurement.workload).map(|requested| {
        format!(
            "scaled down from {}",
            difference(&requested.title(), &measurement.workload.title(), requested.span_bytes)
        )
    })
}

fn difference(requested: &str, used: &str, span_bytes: u64) -> String {
    if requested == used { format!("a span of {}", Bytes(span_bytes)) } else { requested.to_owned() }
}
