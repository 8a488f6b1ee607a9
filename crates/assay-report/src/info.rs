//! Terminal text of a medium, for `assay info`.

use assay_core::medium::{Medium, MediumKind};
use assay_core::record::Host;
use assay_core::text::{clean, label};
use assay_core::units::{capacity, grouped, rate};

use crate::facts;
use crate::line::{Page, Paint};
use crate::style::Style;

/// What is known of a medium and of the host it is attached to.
#[must_use]
pub fn info(medium: &Medium, host: &Host, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    let title = label(&medium.title(), 160).unwrap_or_else(|| medium.kind.title().to_owned());
    page.text(Paint::Bold, 0, &title);
    page.rule();
    let mut fact = |label: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            page.labelled(label, Paint::Dim, &value, Paint::Plain);
        }
    };
    fact(
        "kind",
        Some(if medium.kind == MediumKind::Unknown { "not recognised" } else { medium.kind.title() }.to_owned()),
    );
    fact("vendor", medium.vendor.as_deref().map(clean));
    fact("model", medium.model.as_deref().map(clean));
    fact("unit", medium.unit.as_deref().map(clean));
    fact(
        "capacity",
        medium
            .capacity_bytes
            .map(|b| format!("{} ({} bytes)", capacity(b), grouped(i64::try_from(b).unwrap_or(i64::MAX)))),
    );
    fact(
        "classes",
        Some(medium.claimed_classes.join(" "))
            .map(|c| clean(&c))
            .filter(|c| !c.is_empty())
            .map(|c| format!("{c} claimed")),
    );
    fact("path", Some(facts::place(medium)));
    fact("mount", mount(medium));
    fact("stack", stack(medium));
    match &medium.bus {
        None => fact("bus", Some("unknown".to_owned())),
        Some(bus) => {
            let mut mode = clean(&[bus.kind.as_str(), bus.mode.as_str()].join(" "));
            if let Some(driver) = &bus.driver {
                mode.push_str(&format!(", driver {}", clean(driver)));
            }
            fact("bus", Some(mode));
            fact(
                "ceiling",
                Some(
                    bus.ceiling_bytes_per_second
                        .map_or_else(|| "unknown".to_owned(), |b| format!("{} on the wires", rate(b))),
                ),
            );
            fact(
                "reachable",
                bus.reachable_bytes_per_second
                    .map(|b| format!("{} of payload; within 5 % of it a result is bus-limited", rate(b))),
            );
            fact("source", Some(clean(&bus.source)));
        }
    }
    fact("queue", pairs(medium.queue.iter()));
    fact("health", pairs(medium.health.iter()));
    fact("host", Some(facts::host(host)).filter(|h| h != "unknown"));
    fact("machine", Some(facts::machine(host)));
    page.finish()
}

fn mount(medium: &Medium) -> Option<String> {
    let point = medium.mount_point.as_deref().map(clean);
    let options = label(&medium.mount_options.join(", "), 300);
    match (point, options) {
        (Some(p), Some(o)) => Some(format!("{p}: {o}")),
        (p, o) => p.or(o),
    }
}

/// `mmcblk0p2 (partition) → mmcblk0 (disk)`.
fn stack(medium: &Medium) -> Option<String> {
    let nodes: Vec<String> = medium
        .stack
        .iter()
        .map(|n| if n.role.is_empty() { clean(&n.name) } else { format!("{} ({})", clean(&n.name), clean(&n.role)) })
        .collect();
    (!nodes.is_empty()).then(|| nodes.join(" → "))
}

fn pairs<'a>(map: impl Iterator<Item = (&'a String, &'a String)>) -> Option<String> {
    let parts: Vec<String> = map.map(|(k, v)| format!("{} {}", clean(k).replace('_', " "), clean(v))).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
