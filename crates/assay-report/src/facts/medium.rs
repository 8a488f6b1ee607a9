//! The facts about a medium, and the redaction rule of each of its fields in a shared report.

use std::collections::BTreeMap;

use assay_core::medium::{Medium, MediumKind};
use assay_core::text::{clean, label};
use assay_core::units::{capacity, grouped, rate};

use super::fact::Fact;
use super::fact::Rank::{Card, Detail, Page};
use crate::bus;
use crate::redact::Kind;
use crate::redact::Rule::{self, Each, Fields, Keep, Known, MountOption, Name, Path, Text};

/// Longest list of mount options, in characters.
const LONGEST: usize = 300;

/// The known facts about a medium.
pub(crate) fn of_medium(medium: &Medium) -> Vec<Fact> {
    let known = |text: &Option<String>| text.as_deref().map(clean);
    let bus = medium.bus.as_ref().map_or_else(|| "unknown".to_owned(), |bus| clean(&bus::sentence(bus)));
    let facts = [
        Fact::new(Page, "kind", kind(medium)),
        Fact::new(Detail, "vendor", known(&medium.vendor)),
        Fact::new(Detail, "model", known(&medium.model)),
        Fact::new(Page, "unit", known(&medium.unit)),
        Fact::new(Detail, "capacity", medium.capacity_bytes.map(size)),
        Fact::new(Detail, "claims", clean(&medium.claimed_classes.join(" "))),
        Fact::new(Card, "path", place(medium)),
        Fact::new(Detail, "mount", mount(medium)),
        Fact::new(Detail, "stack", stack(medium)),
        Fact::new(Card, "bus", bus),
        Fact::new(Detail, "bus limit", medium.reachable().map(limit)),
        Fact::new(Detail, "queue", pairs(&medium.queue)),
        Fact::new(Detail, "health", pairs(&medium.health)),
    ];
    facts.into_iter().flatten().collect()
}

/// The redaction rules of its fields in a shared report.
pub(crate) const RULE: Rule = Fields(&[
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
    (
        "health",
        Fields(&[
            ("firmware", Text),
            ("life_time", Text),
            ("manfid", Text),
            ("manufactured", Text),
            ("oemid", Text),
            ("pre_eol_info", Text),
        ]),
    ),
    (
        "queue",
        Fields(&[
            ("cmdq_en", Text),
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

fn kind(medium: &Medium) -> String {
    if medium.kind == MediumKind::Unknown { "not recognised" } else { medium.kind.title() }.to_owned()
}

fn size(bytes: u64) -> String {
    format!("{} ({} bytes)", capacity(bytes), grouped(i64::try_from(bytes).unwrap_or(i64::MAX)))
}

/// `/mnt/card, ext4 on /dev/mmcblk0p2`.
fn place(medium: &Medium) -> String {
    let mut text = clean(&medium.path);
    match (&medium.filesystem, &medium.device) {
        (Some(fs), Some(device)) => text.push_str(&format!(", {} on {}", clean(fs), clean(device))),
        (Some(fs), None) => text.push_str(&format!(", {}", clean(fs))),
        (None, Some(device)) if *device != medium.path => text.push_str(&format!(", raw device {}", clean(device))),
        (None, _) => {}
    }
    text
}

fn mount(medium: &Medium) -> Option<String> {
    let point = medium.mount_point.as_deref().map(clean);
    let options = label(&medium.mount_options.join(", "), LONGEST);
    match (point, options) {
        (Some(point), Some(options)) => Some(format!("{point}: {options}")),
        (point, options) => point.or(options),
    }
}

/// `mmcblk0p2 (partition) → mmcblk0 (disk)`.
fn stack(medium: &Medium) -> String {
    let node = |name: &str, role: &str| {
        if role.is_empty() { clean(name) } else { format!("{} ({})", clean(name), clean(role)) }
    };
    medium.stack.iter().map(|n| node(&n.name, &n.role)).collect::<Vec<_>>().join(" → ")
}

fn limit(reachable: f64) -> String {
    format!("a result within 5 % of {}, or above it, is bus-limited", rate(reachable))
}

fn pairs(map: &BTreeMap<String, String>) -> String {
    map.iter().map(|(k, v)| format!("{} {}", clean(k).replace('_', " "), clean(v))).collect::<Vec<_>>().join(" · ")
}
