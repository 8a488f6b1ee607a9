//! The text that people paste in forums: rows as CrystalDiskMark 8 prints them. It says that assay wrote it, and whether its
//! figures are means, as those of assay, or the best of several runs, as those of CrystalDiskMark. A record with both kinds has
//! rows of its means alone.

use assay_core::finding::Finding;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync};

/// The records one after another.
pub(crate) fn crystaldiskmark(records: &[Record]) -> String {
    records.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(record: &Record) -> String {
    let rule = "-".repeat(78);
    let is_best = |m: &Measurement| m.warnings.iter().any(|w| matches!(w.finding, Finding::BestOf { .. }));
    let all_best = !record.measurements.is_empty() && record.measurements.iter().all(is_best);
    let of = if all_best { "the best of several runs, not means" } else { "means of repeats, not the best" };
    let mut out = format!(
        "{rule}\nassay {}, in the form of CrystalDiskMark 8; {of}\n{rule}\n\
         * MB/s = 1,000,000 bytes/s\n* KB = 1000 bytes, KiB = 1024 bytes\n",
        env!("CARGO_PKG_VERSION")
    );
    let row = |m: &Measurement| row(m).filter(|_| all_best || !is_best(m));
    let left_out = record.measurements.iter().filter(|m| row(m).is_none()).count();
    if left_out > 0 {
        let loads = if left_out == 1 { "load" } else { "loads" };
        out.push_str(&format!("* {left_out} {loads} left out: this form has no row for them\n"));
    }
    for (op, heading) in [(Op::Read, "Read"), (Op::Write, "Write"), (Op::Mixed, "Mix")] {
        let rows: Vec<String> = record.measurements.iter().filter(|m| m.workload.op == op).filter_map(row).collect();
        if !rows.is_empty() {
            out.push_str(&format!("\n[{heading}]\n{}", rows.concat()));
        }
    }
    // The rows may have been repeated differently often.
    let shown = || record.measurements.iter().filter(|m| row(m).is_some()).filter_map(|m| m.bytes_per_second.as_ref());
    let (fewest, most) = (shown().map(|e| e.n).min().unwrap_or(0), shown().map(|e| e.n).max().unwrap_or(0));
    let repeats = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let span = record.measurements.iter().map(|m| m.workload.span_bytes).max().unwrap_or(0);
    let size = if span > 0 { format!("{} ", Bytes(span)) } else { String::new() };
    let facts = [
        ("Test", format!("{size}(x{repeats}) [{}]", record.title())),
        ("Date", date(&record.created)),
        ("OS", record.host.os.as_deref().map(clean).unwrap_or_default()),
        ("Comment", record.labels.get("comment").map(|text| clean(text)).unwrap_or_default()),
    ];
    out.push('\n');
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        out.push_str(&format!("{name:>7}: {value}\n"));
    }
    out
}

/// The date as CrystalDiskMark writes it, in UTC.
fn date(created: &str) -> String {
    created
        .parse::<jiff::Timestamp>()
        .map_or_else(|_| String::new(), |time| time.strftime("%Y/%m/%d %H:%M:%S").to_string())
}

/// A row; `None` for a load that this table cannot name, or without a figure.
fn row(m: &Measurement) -> Option<String> {
    let w = &m.workload;
    let rate = m.bytes_per_second.as_ref()?.point / 1e6;
    let iops = m.iops.as_ref()?.point;
    let all_known = w.unknown.iter().all(|what| matches!(what, assay_core::workload::Unknown::Stop));
    if !all_known || w.sync != Sync::End || !w.is_plain() {
        return None;
    }
    let pattern = match w.pattern {
        Pattern::Sequential => "SEQ",
        Pattern::Random => "RND",
    };
    let block = Bytes(w.block_bytes).to_string().replace(' ', "");
    let latency = m.latency_ns.mean.as_ref().map_or_else(String::new, |mean| format!(" <{:9.2} us>", mean.point / 1e3));
    Some(format!(
        "  {pattern} {block:>7} (Q={:>3}, T={:>2}): {rate:9.3} MB/s [{iops:9.1} IOPS]{latency}\n",
        w.queue_depth, w.jobs
    ))
}
