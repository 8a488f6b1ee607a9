//! Small static drawings that need no script.

use assay_core::estimate::Estimate;
use assay_core::record::Measurement;
use assay_core::text::harmless;
use assay_core::units::figures;
use maud::{Markup, html};

use crate::figure::{MB, percent};

/// A horizontal bar from 0 to `scale` with the interval as a whisker; both in the same unit.
pub(crate) fn bar(estimate: &Estimate, scale: f64, label: &str, class: &str) -> Markup {
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
    html! { (bar(rate, reachable, &label, if limited { "limited" } else { "" })) span.share { (share) } }
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
