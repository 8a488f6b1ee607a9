//! Small static drawings that need no script.

use assay_core::estimate::Estimate;
use assay_core::record::Measurement;
use assay_core::text::markup;
use assay_core::units::figures;

use crate::figure::{MB, percent};

/// A horizontal bar from 0 to `scale` with the interval as a whisker; both in the same unit.
pub(crate) fn bar(estimate: &Estimate, scale: f64, label: &str, class: &str) -> String {
    const WIDTH: f64 = 200.0;
    let at = |value: f64| if scale > 0.0 { (value / scale).clamp(0.0, 1.0) * WIDTH } else { 0.0 };
    let mut out = format!(
        r#"<svg class="bar {class}" viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label="{}"><rect class="track" width="200" height="14"/><rect class="fill" width="{:.2}" height="14"/>"#,
        markup(label),
        at(estimate.point).max(0.8),
    );
    if let (Some(low), Some(high)) = (estimate.low, estimate.high)
        && low.is_finite()
        && high.is_finite()
    {
        out.push_str(&format!(r#"<path class="whisker" d="M{:.2} 7H{:.2}"/>"#, at(low), at(high)));
    }
    out.push_str("</svg>");
    out
}

/// Rate of a measurement against what the bus lets through.
pub(crate) fn share_bar(measurement: &Measurement, reachable: f64) -> String {
    let Some(rate) = &measurement.bytes_per_second else { return String::new() };
    let share = percent(rate.point / reachable);
    let class = if measurement.bus_limited { "limited" } else { "" };
    format!(
        "{}<span class=\"share\">{share}</span>",
        bar(rate, reachable, &format!("{share} of what the bus lets through"), class)
    )
}

/// Each repeat as a dot, with point and interval of the estimate.
pub(crate) fn repeats(measurement: &Measurement, random: bool) -> Option<String> {
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
    let mut out = format!(
        r#"<svg class="repeats" viewBox="0 0 400 58" role="img" aria-label="{} repeats from {} to {} {name}"><path class="axis" d="M0 24H400"/>"#,
        values.len(),
        figures(least / unit),
        figures(most / unit)
    );
    if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
        out.push_str(&format!(
            r#"<rect class="band" x="{:.1}" y="10" width="{:.1}" height="28"/>"#,
            at(low),
            (at(high) - at(low)).max(0.0)
        ));
    }
    out.push_str(&format!(r#"<path class="point" d="M{0:.1} 6V42"/>"#, at(estimate.point)));
    for (i, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
        // Spread a little in height, so that equal repeats can be told apart.
        let y = 24.0 + [0.0, -6.0, 6.0][i % 3];
        out.push_str(&format!(
            r#"<circle cx="{:.1}" cy="{y}" r="4.5"><title>repeat {}: {} {name}</title></circle>"#,
            at(*value),
            i + 1,
            figures(value / unit)
        ));
    }
    out.push_str(&format!(
        r#"<text x="2" y="56">{}</text><text x="398" y="56" text-anchor="end">{} {name}</text></svg>"#,
        figures(least / unit),
        figures(most / unit)
    ));
    Some(out)
}
