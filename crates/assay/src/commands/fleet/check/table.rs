//! What a check found: a line for each node, and one for each that cannot be measured.

use std::time::Duration;

use assay_core::text::harmless;
use assay_core::units::{Bytes, capacity, span};
use assay_fleet::DayClock;
use assay_report::{Style, left, table};

use super::differs::most_different;
use super::row::Row;
use super::{astray, fits};

/// Longest name of a medium in characters, so that a row fits into one line of most terminals.
const MEDIUM: usize = 22;
const UNKNOWN: &str = "-";

pub(super) fn text(rows: &[Row], style: &Style) -> String {
    let columns = ["node", "machine", "medium", "free", "writes", "time", "clock"].map(left).to_vec();
    let mut text = table(columns, rows.iter().map(|row| cells(row).to_vec()), style);
    let bad: Vec<&Row> = rows.iter().filter(|row| row.reason.is_some()).collect();
    text.push('\n');
    for row in &bad {
        text += &format!("{}: {}\n", harmless(&row.node), row.reason.as_deref().unwrap_or_default());
    }
    let where_it_is = |row: &Row| {
        let words = assay_report::fleet::not_mounted(row.medium.as_ref()?.mounted(), &row.target)?;
        Some(format!("{}: {words}\n", harmless(&row.node)))
    };
    text.extend(astray(rows).filter_map(where_it_is));
    text.extend(most_different(rows).map(|words| words + "\n"));
    let fit: Vec<&Row> = rows.iter().filter(|row| fits(row, rows)).collect();
    let bytes: u64 = fit.iter().filter_map(|row| row.planned_write_bytes).fold(0, u64::saturating_add);
    let longest = fit.iter().filter_map(|row| row.budget_ns).max().unwrap_or(0);
    text += &if fit.is_empty() {
        "None of these nodes can be measured.".to_owned()
    } else {
        let who = match (fit.len(), rows.len()) {
            (1, 1) => "The node".to_owned(),
            (n, of) if n == of => format!("All {n} nodes"),
            (n, of) => format!("Of these {of} nodes {n}"),
        };
        format!(
            "{who} can be measured: at most {} written in total, {} each.",
            Bytes(bytes),
            span(Duration::from_nanos(longest))
        )
    };
    text + &no_medium(rows)
}

/// What is said of nodes whose target is the root disk or memory, beside the sentence on those that can be measured.
fn no_medium(rows: &[Row]) -> String {
    let all: Vec<&Row> = astray(rows).collect();
    let (who, is) = match all.len() {
        0 => return String::new(),
        1 if rows.len() == 1 => ("It".to_owned(), "measures"),
        1 => (format!("Node {}", harmless(&all[0].node)), "measures"),
        n => (format!("{n} nodes"), "measure"),
    };
    let then = if all.iter().all(|row| fits(row, rows)) {
        "is that what you mean?"
    } else {
        "the report leaves that out, as the others have a medium that is mounted"
    };
    format!(" {who} {is} the root disk or memory: {then}")
}

fn cells(row: &Row) -> [String; 7] {
    let known = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned());
    let cut = |text: String| {
        if text.chars().count() > MEDIUM { text.chars().take(MEDIUM - 1).collect::<String>() + "…" } else { text }
    };
    [
        harmless(&row.node),
        known(Some(harmless(&row.machine))),
        known(row.medium.as_ref().map(|medium| cut(harmless(&medium.title())))),
        known(row.free_bytes.map(capacity)),
        known(row.planned_write_bytes.map(|bytes| Bytes(bytes).to_string())),
        known(row.budget_ns.map(|time| span(Duration::from_nanos(time)))),
        known(row.clock.map(clock)),
    ]
}

/// How far the time of day is ahead, in one unit with its bound.
fn clock(clock: DayClock) -> String {
    let (unit, name) =
        if clock.offset_ns.unsigned_abs().max(clock.bound_ns) < 1_000_000_000 { (1e6, "ms") } else { (1e9, "s") };
    format!("{:+.1} ±{:.1} {name}", clock.offset_ns as f64 / unit, clock.bound_ns as f64 / unit)
}

#[cfg(test)]
mod tests {
    use assay_core::medium::Medium;

    use super::*;

    #[test]
    fn each_node_has_a_line_and_what_does_not_fit_another() {
        let good = Row {
            node: "n1".to_owned(),
            machine: "aarch64".to_owned(),
            free_bytes: Some(21_300_000_000),
            clock: Some(DayClock { offset_ns: -12_340_000, bound_ns: 15_000_000 }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            reached: true,
            ..Row::default()
        };
        let lost = Row { node: "n2".to_owned(), reason: Some("no route to host".to_owned()), ..Row::default() };
        let shown_table = text(&[good, lost], &Style::default());
        let lines: Vec<&str> = shown_table.lines().collect();
        let cells: Vec<&str> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["n1", "aarch64", "-", "21.3 GB", "1 GiB", "1 min 30 s", "-12.3 ±15.0 ms"], "{shown_table}");
        assert!(lines[0].starts_with("node  machine  medium") && lines[2].starts_with("n2  "), "{shown_table}");
        let said = "Of these 2 nodes 1 can be measured: at most 1 GiB written in total, 1 min 30 s each.";
        assert_eq!(lines[3..], ["", "n2: no route to host", said]);
        let evil = Row { node: "n3".to_owned(), machine: "x\u{1b}[2J\nx".to_owned(), ..Row::default() };
        let text = text(&[evil], &Style::default());
        assert!(!text.contains('\u{1b}') && text.lines().count() == 4, "{text}");
    }

    /// As in the report: what is no medium is left out where more than half of the nodes have one.
    #[test]
    fn a_root_disk_beside_mounted_media_does_not_count() {
        let row = |node: &str, point: &str| Row {
            node: node.to_owned(),
            target: "/mnt/card".to_owned(),
            medium: Some(Medium { mount_point: Some(point.to_owned()), ..Medium::unknown("/mnt/card") }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            reached: true,
            ..Row::default()
        };
        let last = |rows: &[Row]| text(rows, &Style::default()).lines().last().unwrap_or_default().to_owned();
        let two = [row("n1", "/mnt/card"), row("n2", "/mnt/card"), row("n3", "/")];
        assert_eq!(two.iter().map(|row| fits(row, &two)).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(
            last(&two),
            "Of these 3 nodes 2 can be measured: at most 2 GiB written in total, 1 min 30 s each. Node n3 measures the root disk \
             or memory: the report leaves that out, as the others have a medium that is mounted"
        );
        let half = [row("n1", "/mnt/card"), row("n2", "/")];
        assert!(half.iter().all(|row| fits(row, &half)), "no more than half are mounted");
        assert!(
            last(&half).ends_with("Node n2 measures the root disk or memory: is that what you mean?"),
            "{}",
            last(&half)
        );
    }

    #[test]
    fn a_clock_is_told_in_one_unit_with_its_bound() {
        let of = |offset_ns, bound_ns| clock(DayClock { offset_ns, bound_ns });
        assert_eq!(of(1_200_000, 840_000), "+1.2 ±0.8 ms");
        assert_eq!(of(-9_999_600_000, 20_000_000), "-10.0 ±0.0 s");
    }
}
