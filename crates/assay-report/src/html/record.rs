//! One record: who it is, the verdict, the summary, then each workload.

use assay_core::estimate::Estimate;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_core::text::{clean, markup, unbroken};
use assay_core::units::Bytes;
use assay_core::workload::Pattern;

use super::text::fact;
use super::{svg, workload};
use crate::bus;
use crate::classes::judge;
use crate::facts::{self, nanoseconds};
use crate::figure::{MB, shown};
use crate::sensors;
use crate::verdict::{Tone, capitalised, tone, verdict_sentence, word};

pub(crate) fn add(out: &mut String, record: &Record, index: usize) {
    out.push_str(&format!("<article class=\"record\" id=\"r{index}\">\n"));
    head(out, record);
    if !record.measurements.is_empty() {
        summary(out, record, index);
    }
    crosscheck(out, record);
    crate::verification::html(out, record);
    if !record.warnings.is_empty() {
        out.push_str("<h2>Findings about the run</h2>\n");
        workload::warnings(out, record.warnings.iter());
    }
    if !record.measurements.is_empty() {
        out.push_str("<h2>Workloads</h2>\n");
    }
    for (w, m) in record.measurements.iter().enumerate() {
        workload::add(out, record, m, (index, w));
    }
    if sensors::drawn(record).next().is_some() {
        out.push_str(&format!("<section class=\"workload\"><h3>Sensors over the whole run</h3><div class=\"grid\"><figure class=\"chart wide\" data-record=\"{index}\" data-chart=\"run-sensors\"><figcaption>Readings</figcaption></figure></div></section>\n"));
    }
    provenance(out, record);
    out.push_str("</article>\n");
}

/// CSS class of a tone.
pub(crate) fn tone_class(record: &Record) -> &'static str {
    match tone(record) {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

fn head(out: &mut String, record: &Record) {
    let tone = tone_class(record);
    let medium = &record.medium;
    out.push_str(&format!(
        "<header class=\"head\"><p class=\"kicker\">{} · {}</p><h1>{}</h1>\n<p class=\"verdict {tone}\"><span class=\"pill\">{}</span> {}</p></header>\n<dl class=\"facts\">\n",
        markup(medium.kind.title()),
        markup(&facts::when(&record.created)),
        markup(&record.title()),
        markup(word(record)),
        markup(&unbroken(&capitalised(&verdict_sentence(record)))),
    ));
    if record.outcome != Outcome::Completed {
        fact(out, "Outcome", &clean(&record.outcome.sentence()));
    }
    fact(out, "Bus", &medium.bus.as_ref().map_or_else(|| "unknown".to_owned(), |b| clean(&bus::sentence(b))));
    fact(out, "Classes", &judge(record).sentence().map(|s| clean(&s)).unwrap_or_default());
    fact(out, "Unit", &medium.unit.as_deref().map(clean).unwrap_or_default());
    fact(out, "Path", &facts::place(medium));
    fact(out, "Host", &facts::host(&record.host));
    fact(out, "Effort", &facts::effort(record));
    if let Some(v) = record.verification.as_ref().filter(|_| !record.measurements.is_empty()) {
        fact(out, "Genuine", &clean(&v.sentence));
    }
    if let Some(s) = &record.source {
        fact(out, "Imported", &clean(&format!("{} from {}", s.format, s.file)));
    }
    for (name, words) in [("Per watt", sensors::per_watt(record)), ("Noted", sensors::noted(record))] {
        if let Some(words) = words {
            fact(out, name, &words);
        }
    }
    for (name, value) in &record.labels {
        fact(out, &format!("Label {}", clean(name)), &clean(value));
    }
    out.push_str("</dl>\n");
}

fn summary(out: &mut String, record: &Record, index: usize) {
    let ceiling = record.medium.reachable();
    let durable = record.measurements.iter().any(|m| m.durable_bytes_per_second.is_some());
    let fastest = record
        .measurements
        .iter()
        .filter_map(|m| m.bytes_per_second.as_ref().map(|e| e.high.unwrap_or(e.point).max(e.point)))
        .fold(0.0, f64::max);
    let heading = if ceiling.is_some() { "Share of the bus" } else { "Rate" };
    out.push_str("<h2>At a glance</h2>\n<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">Workload</th><th scope=\"col\">IOPS</th><th scope=\"col\">MB/s</th>");
    if durable {
        out.push_str("<th scope=\"col\">synced</th>");
    }
    out.push_str(&format!("<th scope=\"col\">p50</th><th scope=\"col\">p99</th><th scope=\"col\" class=\"barred\">{heading}</th></tr></thead><tbody>\n"));
    for (w, m) in record.measurements.iter().enumerate() {
        out.push_str(&format!(
            "<tr><th scope=\"row\"><a href=\"#r{index}-w{w}\">{}</a></th>",
            markup(&capitalised(&m.workload.title()))
        ));
        if let Some(words) = facts::no_figure(record, m) {
            let columns = if durable { 6 } else { 5 };
            out.push_str(&format!("<td colspan=\"{columns}\" class=\"words\">{}</td></tr>\n", markup(&words)));
            continue;
        }
        let random = m.workload.pattern == Pattern::Random;
        cell(out, m.iops.as_ref().filter(|_| random), 1.0);
        cell(out, m.bytes_per_second.as_ref(), MB);
        if durable {
            cell(out, m.durable_bytes_per_second.as_ref().filter(|_| !m.workload.sync.each()), MB);
        }
        out.push_str(&format!(
            "<td>{}</td><td>{}</td><td class=\"barred\">{}</td></tr>\n",
            workload::time(m.latency_ns.p50.as_ref()),
            workload::time(m.latency_ns.p99.as_ref()),
            match ceiling {
                Some(reachable) => svg::share_bar(m, reachable),
                None => plain_bar(m, fastest),
            }
        ));
    }
    out.push_str("</tbody></table></div>\n");
    let limited: Vec<&Measurement> = record.measurements.iter().filter(|m| m.bus_limited).collect();
    if !limited.is_empty() {
        let names: Vec<String> = limited.iter().map(|m| m.workload.title()).collect();
        out.push_str(&format!(
            "<p class=\"hint\">Hatched bars are limited by the bus, not by the medium: {}.</p>\n",
            markup(&names.join(", "))
        ));
    }
}

/// How far another instrument agrees.
fn crosscheck(out: &mut String, record: &Record) {
    if record.crosscheck.is_empty() {
        return;
    }
    out.push_str("<h2>Next to fio</h2>\n<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">assay over fio</th><th scope=\"col\">IOPS</th><th scope=\"col\">p50</th><th scope=\"col\">p99</th></tr></thead><tbody>\n");
    for row in crate::crosscheck::rows(record) {
        let trouble = row.trouble.map(|trouble| format!(": {trouble}")).unwrap_or_default();
        out.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            markup(&format!("{}{trouble}", capitalised(&row.workload))),
            markup(&row.rate),
            markup(&row.p50),
            markup(&row.p99)
        ));
    }
    out.push_str("</tbody></table></div>\n");
}

fn plain_bar(m: &Measurement, fastest: f64) -> String {
    m.bytes_per_second.as_ref().map_or_else(String::new, |e| svg::bar(e, fastest, &shown(e, MB).text(), ""))
}

/// A figure with its certainty, as a table cell.
pub(crate) fn cell(out: &mut String, e: Option<&Estimate>, unit: f64) {
    match e.map(|e| shown(e, unit)) {
        Some(s) => out.push_str(&format!("<td><b>{}</b> <small>{}</small></td>", markup(&s.value), markup(&s.spread))),
        None => out.push_str("<td></td>"),
    }
}

fn provenance(out: &mut String, record: &Record) {
    let (t, s) = (&record.tool, &record.settings);
    out.push_str("<details class=\"provenance\"><summary>Settings and provenance</summary><dl class=\"facts\">\n");
    fact(out, "Record", &clean(&record.id));
    fact(out, "Tool", &format!("{} {}", clean(&t.name), clean(&t.version)));
    fact(out, "Engine", &format!("{}: {}", clean(&t.engine), clean(&t.engine_reason)));
    fact(out, "Suite", &format!("{}, version {}", clean(&record.suite.name), record.suite.version));
    fact(out, "Machine", &facts::machine(&record.host));
    medium(out, &record.medium);
    fact(
        out,
        "Test area",
        &format!("{}, seed {}{}", Bytes(s.span_bytes), s.seed, if s.raw_device { ", on the raw device" } else { "" }),
    );
    if let Some(l) = &s.layout {
        fact(
            out,
            "Layout",
            &format!("{} written in {} before anything was timed", Bytes(l.bytes), nanoseconds(l.elapsed_ns)),
        );
    }
    let alignment =
        s.direct_alignment_bytes.map_or_else(|| "not possible".to_owned(), |b| format!("aligned to {b} bytes"));
    fact(
        out,
        "Direct I/O",
        &[alignment, clean(&s.direct_source)].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", "),
    );
    fact(
        out,
        "Planned",
        &format!(
            "{} repeats, {} to be written, at most {}",
            s.repeats,
            Bytes(s.planned_write_bytes),
            Bytes(s.max_write_bytes)
        ),
    );
    if let Some(ns) = s.null_ns_per_operation {
        fact(out, "Instrument", &format!("{} for one operation to no device at all", assay_core::units::latency(ns)));
    }
    fact(out, "Format", &format!("record {}", clean(&record.schema)));
    out.push_str("</dl></details>\n");
}

fn medium(out: &mut String, medium: &Medium) {
    fact(out, "Mount options", &clean(&medium.mount_options.join(", ")));
    let stack: Vec<String> = medium.stack.iter().map(|n| format!("{} ({})", clean(&n.name), clean(&n.role))).collect();
    fact(out, "Block devices", &stack.join(" → "));
    for (name, map) in [("Queue", &medium.queue), ("Health", &medium.health)] {
        let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{} {}", clean(k), clean(v))).collect();
        fact(out, name, &pairs.join(" · "));
    }
}
