//! One workload: finding as title, charts, repeats, all estimates, warnings.

use assay_core::estimate::Estimate;
use assay_core::finding::Warning;
use assay_core::record::{Batching, Measurement, Record};
use assay_core::text::{clean, harmless, statement};
use assay_core::units::figures;
use assay_core::workload::Op;
use maud::{Markup, html};

use super::said;
use crate::figure::{MB, interval, latency_unit, percent};
use crate::presented::LoadRow;
use crate::verdict::capitalised;
use crate::{notes, results};

/// A workload's section; `place` is the number of its record and its own.
pub(crate) fn load_section(record: &Record, load: &LoadRow<'_>, place: (usize, usize)) -> Markup {
    let (m, random) = (load.measurement, load.is_random());
    let with_sensors = results::sensor_is_drawn(record).next().is_some();
    html! {
        section.workload id={"r" (place.0) "-w" (place.1)} {
            h3 { (said(&load.finding())) }
            @if let Some(words) = &load.scaled_down { p.hint { (harmless(&capitalised(words))) "." } }
            @if let Some(soak) = &m.soak {
                p { (harmless(&soak.rates())) ". " (harmless(&capitalised(&soak.cliff_sentence()))) "." }
            }
            @if !m.repeats.is_empty() {
                p.sub { (harmless(&circumstances(m))) }
                div.grid {
                    (chart(place, "rate", if random { "Operations per second over time" } else { "Throughput over time" }))
                    (chart(place, "distribution", "Distribution of latency"))
                    (chart(place, "latency", "Latency over time"))
                    figure.figures.tall[with_sensors] {
                        figcaption { "Repeats and estimates" }
                        @if let Some(drawing) = repeats(m, random) { (drawing) }
                        (estimates(m))
                    }
                    @if with_sensors { (chart(place, "sensors", "Sensors over the same time")) }
                }
            }
            (warnings(&m.warnings))
        }
    }
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
    parts.extend(m.workload.manner());
    parts.extend(m.batching.as_deref().map(waited));
    match m.proof_ratio {
        Some(ratio) => parts.push(format!("{} of the bytes crossed the device", percent(ratio))),
        None => parts.push("no device counters to prove it".to_owned()),
    }
    if m.instrument_limited {
        parts.push("limited by the instrument".to_owned());
    }
    parts.join(" · ")
}

/// For how many completions at once was waited, and what that changed.
fn waited(batching: &Batching) -> String {
    let Batching { wait_for, tried, iops_ratio, p50_ratio, p99_ratio } = *batching;
    let ratio = |name: &str, ratio: Option<f64>| ratio.map(|r| format!("{name} {}", figures(r)));
    let ratios = [ratio("IOPS", Some(iops_ratio)), ratio("p50", p50_ratio), ratio("p99", p99_ratio)];
    let ratios: Vec<String> = ratios.into_iter().flatten().collect();
    let completions = if wait_for == 1 { "completion" } else { "completions" };
    format!(
        "waited for {wait_for} {completions} at once (in the warm-up, {tried} at once gave {} times those of one)",
        ratios.join(", ")
    )
}

/// Where a script draws a chart of the data at the end of the page.
fn chart((record, workload): (usize, usize), kind: &str, caption: &str) -> Markup {
    html! {
        figure.chart data-record=(record) data-workload=(workload) data-chart=(kind) { figcaption { (caption) } }
    }
}

fn estimates(m: &Measurement) -> Markup {
    let l = &m.latency_ns;
    let mut latencies = vec![
        ("latency, mean", &l.mean),
        ("p50", &l.p50),
        ("p90", &l.p90),
        ("p99", &l.p99),
        ("p99.9", &l.p99_9),
        ("largest", &l.max),
    ];
    if let Some(service) = &m.service_ns {
        latencies.extend([("service time, mean", &service.mean), ("its p50", &service.p50), ("its p99", &service.p99)]);
    }
    html! {
        table.estimates {
            thead { tr { @for title in ["Estimate", "Value", "Interval", "n"] { th scope="col" { (title) } } } }
            tbody {
                (estimate_line("IOPS", m.iops.as_ref(), 1.0, ""))
                (estimate_line("rate", m.bytes_per_second.as_ref(), MB, "MB/s"))
                @let synced = if m.workload.op == Op::Mixed { SYNCED_WRITES } else { SYNCED };
                (estimate_line(synced, m.durable_bytes_per_second.as_ref(), MB, "MB/s"))
                @for (name, e) in latencies {
                    @let (unit, divisor) = latency_unit(e.as_ref().map_or(0.0, |e| e.point));
                    (estimate_line(name, e.as_deref(), divisor, unit))
                }
            }
        }
    }
}

/// The rate with its sync, and the same of a mixed load, which is that of its writes alone.
const SYNCED: &str = "rate including the final sync";
const SYNCED_WRITES: &str = "rate of the writes including the final sync";

fn estimate_line(name: &str, e: Option<&Estimate>, divisor: f64, unit: &str) -> Markup {
    let Some(e) = e else { return Markup::default() };
    let bounds = match (e.low, e.high) {
        (Some(low), Some(high)) => interval(low / divisor, high / divisor),
        _ => "none".to_owned(),
    };
    let level = e.level.map_or_else(String::new, |l| format!("{} interval, ", percent(l)));
    html! {
        tr title={ (level) (statement(&e.method)) } {
            th scope="row" { (name) }
            td { (figures(e.point / divisor)) " " small { (unit) } }
            td { (bounds) }
            td { (e.n) }
        }
    }
}

/// Warnings with cause and remedy.
pub(crate) fn warnings(warnings: &[Warning]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            ul.warnings {
                @for warning in warnings {
                    @let word = notes::word(warning.severity);
                    li class=(word) {
                        strong { (word) } " "
                        span { (capitalised(&statement(&warning.cause()))) "." }
                        @if !warning.remedy().is_empty() {
                            " " span.remedy { (capitalised(&statement(warning.remedy()))) "." }
                        }
                    }
                }
            }
        }
    }
}

// Small static drawings that need no script.

/// A horizontal bar from 0 to `scale` with the interval as a whisker; both in the same unit.
pub(crate) fn interval_bar(estimate: &Estimate, scale: f64, label: &str, class: &str) -> Markup {
    const WIDTH: f64 = 200.0;
    let at = |value: f64| if scale > 0.0 { (value / scale).clamp(0.0, 1.0) * WIDTH } else { 0.0 };
    html! {
        svg class={"bar " (class)} viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label=(harmless(label)) {
            rect.track width="200" height="14" {}
            rect.fill width=(format!("{:.2}", at(estimate.point).max(0.8))) height="14" {}
            @if let (Some(low), Some(high)) = (estimate.low, estimate.high) && low.is_finite() && high.is_finite() {
                path.whisker d=(format!("M{:.2} 7H{:.2}", at(low), at(high))) {}
            }
        }
    }
}

/// A rate against what the bus lets through.
pub(crate) fn share_bar(rate: &Estimate, reachable: f64, share: f64, limited: bool) -> Markup {
    let share = percent(share);
    let label = format!("{share} of the reachable rate of the bus");
    html! { (interval_bar(rate, reachable, &label, if limited { "limited" } else { "" })) span.share { (share) } }
}

/// Each repeat as a dot, with point and interval of the estimate.
pub(crate) fn repeats(measurement: &Measurement, random: bool) -> Option<Markup> {
    const WIDTH: f64 = 400.0;
    const EDGE: f64 = 14.0;
    let (estimate, unit, name) = if random {
        (measurement.iops.as_ref()?, 1.0, "IOPS")
    } else {
        (measurement.bytes_per_second.as_ref()?, MB, "MB/s")
    };
    let values: Vec<f64> =
        measurement.repeats.iter().map(|r| if random { r.iops } else { r.bytes_per_second }).collect();
    let all = || {
        values
            .iter()
            .copied()
            .chain([estimate.point])
            .chain(estimate.low)
            .chain(estimate.high)
            .filter(|v| v.is_finite())
    };
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if !least.is_finite() || !most.is_finite() {
        return None;
    }
    let span = (most - least).max(most.abs() * 1e-3).max(f64::MIN_POSITIVE);
    let at = |value: f64| EDGE + (value - least) / span * (WIDTH - 2.0 * EDGE);
    let (least_words, most_words) = (figures(least / unit), format!("{} {name}", figures(most / unit)));
    Some(html! {
        svg.repeats viewBox="0 0 400 58" role="img"
            aria-label={ (values.len()) " repeats from " (least_words) " to " (most_words) }
        {
            path.axis d="M0 24H400" {}
            @if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
                rect.band x=(format!("{:.1}", at(low))) y="10"
                    width=(format!("{:.1}", (at(high) - at(low)).max(0.0))) height="28" {}
            }
            path.point d=(format!("M{:.1} 6V42", at(estimate.point))) {}
            @for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                // Spread a little in height, so that equal repeats are all visible.
                circle cx=(format!("{:.1}", at(*value))) cy=([24, 18, 30][i % 3]) r="4.5" {
                    title { "repeat " (i + 1) ": " (figures(value / unit)) " " (name) }
                }
            }
            text x="2" y="56" { (least_words) }
            text x="398" y="56" text-anchor="end" { (most_words) }
        }
    })
}
