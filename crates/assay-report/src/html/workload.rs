//! One workload: finding as title, charts, repeats, all estimates, warnings.

use assay_core::estimate::Estimate;
use assay_core::finding::Warning;
use assay_core::record::{Measurement, Record};
use assay_core::text::{clean, markup, unbroken};
use assay_core::units::{figures, latency, rate};
use assay_core::workload::Pattern;

use super::svg;
use crate::bus;
use crate::facts;
use crate::figure::{MB, in_words, interval, latency_unit, percent};
use crate::notes;
use crate::sensors;
use crate::verdict::capitalised;

pub(crate) fn add(out: &mut String, record: &Record, m: &Measurement, place: (usize, usize)) {
    let (r, w) = place;
    out.push_str(&format!(r#"<section class="workload" id="r{r}-w{w}">"#));
    out.push_str(&format!("<h3>{}</h3>\n", markup(&unbroken(&finding(record, m)))));
    if let Some(words) = facts::instead(m) {
        out.push_str(&format!("<p class=\"hint\">{}.</p>\n", markup(&capitalised(&words))));
    }
    if let Some(soak) = &m.soak {
        out.push_str(&format!("<p>{}. {}.</p>\n", markup(&soak.rates()), markup(&capitalised(&soak.cliff_sentence()))));
    }
    let random = m.workload.pattern == Pattern::Random;
    if !m.repeats.is_empty() {
        out.push_str(&format!("<p class=\"sub\">{}</p>\n<div class=\"grid\">\n", markup(&circumstances(m))));
        chart(out, place, "rate", if random { "Operations per second over time" } else { "Throughput over time" });
        chart(out, place, "distribution", "Distribution of latency");
        chart(out, place, "latency", "Latency over time");
        let with_sensors = sensors::drawn(record).next().is_some();
        let tall = if with_sensors { " tall" } else { "" };
        out.push_str(&format!("<figure class=\"figures{tall}\"><figcaption>Repeats and estimates</figcaption>"));
        out.push_str(&svg::repeats(m, random).unwrap_or_default());
        estimates(out, m);
        out.push_str("</figure>\n");
        if with_sensors {
            chart(out, place, "sensors", "Sensors over the same time");
        }
        out.push_str("</div>\n");
    }
    warnings(out, m.warnings.iter());
    out.push_str("</section>\n");
}

/// `Random read 4 KiB QD32: 1 499 ±12 IOPS, 6.14 MB/s`.
pub(crate) fn finding(record: &Record, m: &Measurement) -> String {
    let title = capitalised(&m.workload.title());
    if let Some(words) = facts::no_figure(record, m) {
        return format!("{title}: {words}");
    }
    let mut parts = Vec::new();
    if m.workload.pattern == Pattern::Random
        && let Some(e) = &m.iops
    {
        parts.push(in_words(e, 1.0, "IOPS"));
    }
    if let Some(e) = &m.bytes_per_second {
        // Of random work the rate is the IOPS in other words: one interval is enough.
        parts.push(if parts.is_empty() { in_words(e, MB, "MB/s") } else { rate(e.point) });
    }
    match &m.durable_bytes_per_second {
        Some(e) if !m.workload.sync.each() => parts.push(format!("{} with the final sync", in_words(e, MB, "MB/s"))),
        _ => {}
    }
    if m.bus_limited
        && let Some(share) = bus::share(record, m)
    {
        parts.push(format!("{} of the bus", percent(share)));
    }
    format!("{title}: {}", parts.join(", "))
}

fn circumstances(m: &Measurement) -> String {
    let repeats = m.repeats.len();
    let mut parts = vec![
        format!("{repeats} repeat{}", if repeats == 1 { "" } else { "s" }),
        format!("{} engine", clean(&m.engine)),
        if m.workload.direct { "direct I/O".to_owned() } else { "cached I/O".to_owned() },
    ];
    if let Some(depth) = m.in_flight {
        parts.push(format!("{} in flight of {} asked for", figures(depth), m.workload.depth()));
    }
    match m.proof_ratio {
        Some(ratio) => parts.push(format!("{} of the bytes crossed the device", percent(ratio))),
        None => parts.push("no device counters to prove it".to_owned()),
    }
    if m.instrument_limited {
        parts.push("limited by the instrument".to_owned());
    }
    parts.join(" · ")
}

fn chart(out: &mut String, (r, w): (usize, usize), kind: &str, caption: &str) {
    out.push_str(&format!(
        r#"<figure class="chart" data-record="{r}" data-workload="{w}" data-chart="{kind}"><figcaption>{caption}</figcaption></figure>
"#
    ));
}

fn estimates(out: &mut String, m: &Measurement) {
    out.push_str("<table class=\"estimates\"><thead><tr><th scope=\"col\">Estimate</th><th scope=\"col\">Value</th><th scope=\"col\">Interval</th><th scope=\"col\">n</th></tr></thead><tbody>\n");
    let l = &m.latency_ns;
    line(out, "IOPS", m.iops.as_ref(), 1.0, "");
    line(out, "rate", m.bytes_per_second.as_ref(), MB, "MB/s");
    line(out, "rate with final sync", m.durable_bytes_per_second.as_ref(), MB, "MB/s");
    for (name, e) in [
        ("latency, mean", &l.mean),
        ("p50", &l.p50),
        ("p90", &l.p90),
        ("p99", &l.p99),
        ("p99.9", &l.p99_9),
        ("largest", &l.max),
    ] {
        let (unit, divisor) = latency_unit(e.as_ref().map_or(0.0, |e| e.point));
        line(out, name, e.as_ref(), divisor, unit);
    }
    out.push_str("</tbody></table>");
}

fn line(out: &mut String, name: &str, e: Option<&Estimate>, divisor: f64, unit: &str) {
    let Some(e) = e else { return };
    let bounds = match (e.low, e.high) {
        (Some(low), Some(high)) => interval(low / divisor, high / divisor),
        _ => "none".to_owned(),
    };
    let level = e.level.map_or_else(String::new, |l| format!("{} interval, ", percent(l)));
    out.push_str(&format!(
        "<tr title=\"{}\"><th scope=\"row\">{name}</th><td>{} <small>{unit}</small></td><td>{bounds}</td><td>{}</td></tr>\n",
        markup(&format!("{level}{}", clean(&e.method))),
        figures(e.point / divisor),
        e.n
    ));
}

/// Warnings with cause and remedy.
pub(crate) fn warnings<'a>(out: &mut String, warnings: impl Iterator<Item = &'a Warning>) {
    let mut list = String::new();
    for warning in warnings {
        let word = notes::word(warning.severity);
        list.push_str(&format!(
            "<li class=\"{word}\"><strong>{word}</strong> <span>{}.</span>",
            markup(&capitalised(&clean(&warning.cause)))
        ));
        if !warning.remedy.is_empty() {
            list.push_str(&format!(
                " <span class=\"remedy\">{}.</span>",
                markup(&capitalised(&clean(&warning.remedy)))
            ));
        }
        list.push_str("</li>\n");
    }
    if !list.is_empty() {
        out.push_str(&format!("<ul class=\"warnings\">\n{list}</ul>\n"));
    }
}

/// A latency for a table cell.
pub(crate) fn time(e: Option<&Estimate>) -> String {
    e.map_or_else(String::new, |e| latency(e.point))
}
