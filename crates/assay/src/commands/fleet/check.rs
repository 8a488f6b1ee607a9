//! `assay fleet check`: what each node says of itself, by Ansible or ssh, and which of them can be measured.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::medium::{Medium, Mounted};
use assay_core::text::harmless;
use assay_core::units::{Bytes, capacity, span};
use assay_engine::Control;
use assay_fleet::{
    DayClock, Entry, Host, Launcher, NodeEvent, RemoteError, RemoteNode, Status, bounded_reason, each_at_once, entries,
    program, variables,
};
use assay_report::{Style, left, table};
use serde_json::Value;

use super::ansible::{ansible, via};
use super::nodes::check_words;
use super::view::AnswerCount;
use crate::cli::{FleetCheckArgs, ViaArg};
use crate::documents::fleet::{CheckedNode, ClockDocument, FleetCheckDocument};
use crate::failure::Failure;
use crate::{output, signals};

pub(super) fn check(args: &FleetCheckArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    let via = via(args.via, &args.inventory)?;
    signals::stop_on_signals(&control)?;
    let mut rows = match via {
        ViaArg::Ansible => rows_by_ansible(args, &control)?,
        ViaArg::Ssh | ViaArg::Local => rows_by_ssh(args, via, &control)?,
        ViaArg::Slurm => {
            return Err(Failure::usage("check goes by ssh, local or ansible; nodes of Slurm are reached by ssh, too"));
        }
    };
    for row in rows.iter_mut().filter(|row| row.reason.is_none()) {
        row.reason = refusal(row);
    }
    if args.json {
        let (fit, no_medium) = (rows.iter().filter(|row| fits(row, &rows)).count(), astray(&rows).count());
        let nodes = rows.iter().map(|row| document(row, &rows)).collect();
        output::print_json(&FleetCheckDocument { nodes, fit, no_medium })?;
    } else {
        output::print(&table_text(&rows, &output::stdout_style()))?;
    }
    Ok(if rows.iter().all(|row| fits(row, &rows)) { Exit::Good } else { Exit::No })
}

/// Whether a target is the root disk or memory, where a card was most likely meant.
fn is_no_medium(row: &CheckedRow) -> bool {
    row.reason.is_none() && row.medium.as_ref().is_some_and(|medium| medium.mounted().is_no_medium())
}

/// Nodes that could be measured but whose target is no medium.
fn astray(rows: &[CheckedRow]) -> impl Iterator<Item = &CheckedRow> {
    rows.iter().filter(|row| is_no_medium(row))
}

/// Whether a node can be measured with the others: the report leaves one out whose target is no medium, where more than half of the
/// nodes have one that is mounted there. Where all are like that, it is what was meant.
fn fits(row: &CheckedRow, rows: &[CheckedRow]) -> bool {
    let there = |row: &&CheckedRow| row.medium.as_ref().is_some_and(|medium| medium.mounted() == Mounted::There);
    let able: Vec<&CheckedRow> = rows.iter().filter(|row| row.reason.is_none()).collect();
    let most_are_mounted = 2 * able.iter().filter(|row| there(row)).count() > able.len();
    row.reason.is_none() && !(most_are_mounted && is_no_medium(row))
}

/// What the node itself does not see.
fn refusal(row: &CheckedRow) -> Option<String> {
    let own = concat!("assay ", env!("CARGO_PKG_VERSION"));
    if row.version != own {
        return Some(format!(
            "{} is there, and {own} here",
            if row.version.is_empty() { "no assay" } else { &row.version }
        ));
    }
    (row.planned_write_bytes.is_none() || row.budget_ns.is_none()).then(|| "its answer cannot be read".to_owned())
}

fn document<'a>(row: &'a CheckedRow, rows: &[CheckedRow]) -> CheckedNode<'a> {
    CheckedNode {
        node: &row.node,
        target: &row.target,
        unit: &row.unit,
        slot: &row.slot,
        reached: row.reached,
        machine: &row.machine,
        bits: row.bits,
        version: &row.version,
        medium: row.medium.as_ref(),
        mounted: row.medium.as_ref().map(Medium::mounted),
        free_bytes: row.free_bytes,
        clock: row.clock.map(|clock| ClockDocument { offset_ns: clock.offset_ns, bound_ns: clock.bound_ns }),
        planned_write_bytes: row.planned_write_bytes,
        budget_ns: row.budget_ns,
        fits: fits(row, rows),
        no_medium: is_no_medium(row),
        reason: row.reason.as_deref(),
    }
}

// What is known of a node.

/// What is known of a node.
#[derive(Debug, Default)]
struct CheckedRow {
    node: String,
    target: String,
    unit: String,
    slot: String,
    reached: bool,
    machine: String,
    bits: u32,
    version: String,
    medium: Option<Medium>,
    free_bytes: Option<u64>,
    clock: Option<DayClock>,
    planned_write_bytes: Option<u64>,
    budget_ns: Option<u64>,
    /// Why it cannot be measured.
    reason: Option<String>,
}

// Nodes of an inventory.

fn rows_by_ansible(args: &FleetCheckArgs, control: &Control) -> Result<Vec<CheckedRow>, Failure> {
    let variables = variables(args.binaries.as_ref(), &args.arguments)?;
    let ansible = ansible(&args.inventory, control)?;
    let hosts = ansible.hosts()?;
    let mut rows: Vec<CheckedRow> = hosts.iter().map(inventory_row).collect();
    let numbers: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (host.name.as_str(), at)).collect();
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    ansible.play("check", &hosts, variables, &mut |event| {
        // Events of other nodes are ignored.
        if let Some(at) = numbers.get(event.node.as_str()) {
            take(&mut rows[*at], &event);
            if event.facts.contains_key("node_report") || event.end().is_some() {
                count.done(&event.node);
            }
        }
    })?;
    Ok(rows)
}

fn inventory_row(host: &Host) -> CheckedRow {
    let Host { name, target, unit, slot, .. } = host.clone();
    let reason = target.is_empty().then(|| "the inventory has no assay_target for it".to_owned());
    CheckedRow { node: name, target, unit, slot, reason, ..CheckedRow::default() }
}

fn take(row: &mut CheckedRow, event: &NodeEvent) {
    row.reached = event.status != Status::Unreachable;
    if let Some(report) = event.facts.get("node_report") {
        read_report(row, report);
    }
    if let Some(end) = event.end() {
        row.reason.get_or_insert_with(|| bounded_reason(end));
    }
}

/// What a node says of itself.
fn read_report(row: &mut CheckedRow, report: &Value) {
    let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
    row.reached = true;
    row.machine = text("machine");
    row.bits = report["bits"].as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
    row.version = text("version");
    row.medium = serde_json::from_value(report["medium"].clone()).ok();
    row.free_bytes = report["target_free_bytes"].as_u64();
    row.clock = clock(&report["clock"]);
    if text("refused").is_empty() {
        row.planned_write_bytes = report["planned_write_bytes"].as_u64();
        row.budget_ns = report["budget_ns"].as_u64();
    } else {
        row.reason.get_or_insert_with(|| bounded_reason(&text("refused")));
    }
}

fn clock(read_report: &Value) -> Option<DayClock> {
    let nanoseconds = |name: &str| read_report[name].as_f64().map(|seconds| seconds * 1e9).filter(|ns| ns.abs() < 1e18);
    let (offset, bound) = (nanoseconds("offset_s")?, nanoseconds("bound_s").filter(|bound| *bound >= 0.0)?);
    Some(DayClock { offset_ns: offset as i64, bound_ns: bound as u64 })
}

// Nodes that are named on the command line: by ssh, or here. A node needs a shell and assay.

/// Longest answer, in bytes.
const ANSWER: u64 = 1 << 20;
/// How long an answer may take.
const WITHIN: Duration = Duration::from_secs(60);

fn rows_by_ssh(args: &FleetCheckArgs, via: ViaArg, control: &Control) -> Result<Vec<CheckedRow>, Failure> {
    check_words(&args.arguments)?;
    let launcher = if via == ViaArg::Local { Launcher::Local } else { Launcher::Ssh };
    let nodes = entries(&args.nodes, &args.target, launcher)?;
    let program = program(args.program.as_deref(), launcher)?;
    let count = AnswerCount::of(nodes.iter().map(|entry| entry.name.as_str()));
    let rows = each_at_once(&nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let mut row = CheckedRow { node: entry.name.clone(), target: entry.target.clone(), ..CheckedRow::default() };
        match ask_by_ssh(&remote, &program, entry, &args.arguments, &mut row) {
            Ok(()) => {}
            Err(RemoteError::NotReached(why)) => (row.reached, row.reason) = (false, Some(bounded_reason(&why))),
            Err(error) => row.reason = Some(bounded_reason(&error.to_string())),
        }
        count.done(&entry.name);
        row
    })?;
    Ok(rows)
}

fn ask_by_ssh(
    remote: &RemoteNode<'_>,
    program: &str,
    entry: &Entry,
    arguments: &[String],
    row: &mut CheckedRow,
) -> Result<(), RemoteError> {
    let look = remote.look(&entry.target)?;
    row.reached = true;
    (row.machine, row.bits, row.free_bytes, row.clock) = (look.machine, look.bits, look.free_bytes, look.clock);
    let version = remote.call(&[program, "-V"], ANSWER, WITHIN)?;
    if version.code != Some(0) {
        return Err(RemoteError::NoAnswer(version.last_words()));
    }
    row.version = String::from_utf8_lossy(&version.out).trim().to_owned();
    let medium = remote.call(&[program, "info", "--json", "--", &entry.target], ANSWER, WITHIN)?;
    let medium: Option<Value> = serde_json::from_slice(&medium.out).ok();
    row.medium = medium.and_then(|mut said| serde_json::from_value(said["medium"].take()).ok());
    let words = [program, "run", "--quiet"].into_iter().chain(arguments.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(["--dry-run", "--json", "--", &entry.target]).collect();
    let plan = remote.call(&words, ANSWER, WITHIN)?;
    if plan.code != Some(0) {
        return Err(RemoteError::NoAnswer(plan.last_words()));
    }
    if let Ok(plan) = serde_json::from_slice::<Value>(&plan.out) {
        (row.planned_write_bytes, row.budget_ns) = (plan["planned_write_bytes"].as_u64(), plan["budget_ns"].as_u64());
    }
    Ok(())
}

// Which node's target is unlike those of the others.

/// Cards of one size on their package differ by a few per cent in bytes.
const ALIKE: f64 = 1.25;

/// The node that differs most from the others in file system and size, in words; `None` where they are alike, or where fewer
/// than three say what they are.
fn most_different(rows: &[CheckedRow]) -> Option<String> {
    let known: Vec<(&CheckedRow, &Medium)> = rows.iter().filter_map(|row| Some((row, row.medium.as_ref()?))).collect();
    if known.len() < 3 {
        return None;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    known.iter().for_each(|(_, medium)| *counts.entry(file_system(medium)).or_default() += 1);
    let (usual, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let mut sizes: Vec<u64> = known.iter().filter_map(|(_, medium)| medium.capacity_bytes).collect();
    sizes.sort_unstable();
    let size = sizes.get(sizes.len() / 2).copied();
    let distance = |medium: &Medium| {
        let sizes = medium.capacity_bytes.zip(size).filter(|(own, usual)| *own > 0 && *usual > 0);
        let ratio = sizes.map_or(0.0, |(own, usual)| (own as f64 / usual as f64).ln().abs());
        (file_system(medium) != usual, ratio)
    };
    let (row, medium) = known
        .into_iter()
        .max_by(|(_, a), (_, b)| distance(a).0.cmp(&distance(b).0).then(distance(a).1.total_cmp(&distance(b).1)))?;
    let (other, ratio) = distance(medium);
    let words = |name: &str, bytes: Option<u64>| {
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {}", capacity(bytes)));
        format!("{}{bytes}", harmless(name))
    };
    (other || ratio > ALIKE.ln()).then(|| {
        format!(
            "{} differs most from the others: {}; most have {}.",
            harmless(&row.node),
            words(file_system(medium), medium.capacity_bytes),
            words(usual, size)
        )
    })
}

fn file_system(medium: &Medium) -> &str {
    medium.filesystem.as_deref().unwrap_or("no file system")
}

// What a check found: a line for each node, and one for each that cannot be measured.

/// Longest name of a medium in characters, so that a row fits into one line of most terminals.
const MEDIUM: usize = 22;
const UNKNOWN: &str = "-";

fn table_text(rows: &[CheckedRow], style: &Style) -> String {
    let columns = ["node", "machine", "medium", "free", "writes", "time", "clock"].map(left).to_vec();
    let mut text = table(columns, rows.iter().map(|row| cells(row).to_vec()), style);
    let bad: Vec<&CheckedRow> = rows.iter().filter(|row| row.reason.is_some()).collect();
    text.push('\n');
    for row in &bad {
        text += &format!("{}: {}\n", harmless(&row.node), row.reason.as_deref().unwrap_or_default());
    }
    let where_it_is = |row: &CheckedRow| {
        let words = assay_report::fleet::not_mounted(row.medium.as_ref()?.mounted(), &row.target)?;
        Some(format!("{}: {words}\n", harmless(&row.node)))
    };
    text.extend(astray(rows).filter_map(where_it_is));
    text.extend(most_different(rows).map(|words| words + "\n"));
    let fit: Vec<&CheckedRow> = rows.iter().filter(|row| fits(row, rows)).collect();
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
fn no_medium(rows: &[CheckedRow]) -> String {
    let all: Vec<&CheckedRow> = astray(rows).collect();
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

fn cells(row: &CheckedRow) -> [String; 7] {
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
        known(row.clock.map(clock_cell)),
    ]
}

/// How far the time of day is ahead, in one unit with its bound.
fn clock_cell(clock: DayClock) -> String {
    let (unit, name) =
        if clock.offset_ns.unsigned_abs().max(clock.bound_ns) < 1_000_000_000 { (1e6, "ms") } else { (1e9, "s") };
    format!("{:+.1} ±{:.1} {name}", clock.offset_ns as f64 / unit, clock.bound_ns as f64 / unit)
}

#[cfg(test)]
mod tests {
    use assay_core::medium::Medium;

    use super::*;

    fn row(node: &str, filesystem: &str, bytes: u64) -> CheckedRow {
        let medium = Medium {
            filesystem: Some(filesystem.to_owned()),
            capacity_bytes: (bytes > 0).then_some(bytes),
            ..Medium::default()
        };
        CheckedRow { node: node.to_owned(), medium: Some(medium), ..CheckedRow::default() }
    }

    #[test]
    fn the_one_that_differs_most_is_named_with_what_most_have() {
        let mut rows: Vec<CheckedRow> =
            (0..6).map(|n| row(&format!("n{n}"), "ext4", 101_000_000 + n * 100_000)).collect();
        assert_eq!(most_different(&rows), None, "they are alike");
        rows.push(row("big", "ext4", 275_000_000_000));
        let words = most_different(&rows).unwrap();
        assert_eq!(words, "big differs most from the others: ext4, 275 GB; most have ext4, 101 MB.");
        rows.push(row("memory", "tmpfs", 0));
        let words = most_different(&rows).unwrap();
        assert_eq!(words, "memory differs most from the others: tmpfs; most have ext4, 101 MB.");
        assert_eq!(most_different(&rows[5..7]), None, "either of two may be the exception");
    }

    #[test]
    fn each_node_has_a_line_and_what_does_not_fit_another() {
        let good = CheckedRow {
            node: "n1".to_owned(),
            machine: "aarch64".to_owned(),
            free_bytes: Some(21_300_000_000),
            clock: Some(DayClock { offset_ns: -12_340_000, bound_ns: 15_000_000 }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            reached: true,
            ..CheckedRow::default()
        };
        let lost =
            CheckedRow { node: "n2".to_owned(), reason: Some("no route to host".to_owned()), ..CheckedRow::default() };
        let shown_table = table_text(&[good, lost], &Style::default());
        let lines: Vec<&str> = shown_table.lines().collect();
        let cells: Vec<&str> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["n1", "aarch64", "-", "21.3 GB", "1 GiB", "1 min 30 s", "-12.3 ±15.0 ms"], "{shown_table}");
        assert!(lines[0].starts_with("node  machine  medium") && lines[2].starts_with("n2  "), "{shown_table}");
        let said = "Of these 2 nodes 1 can be measured: at most 1 GiB written in total, 1 min 30 s each.";
        assert_eq!(lines[3..], ["", "n2: no route to host", said]);
        let evil = CheckedRow { node: "n3".to_owned(), machine: "x\u{1b}[2J\nx".to_owned(), ..CheckedRow::default() };
        let text = table_text(&[evil], &Style::default());
        assert!(!text.contains('\u{1b}') && text.lines().count() == 4, "{text}");
    }

    /// As in the report: what is no medium is left out where more than half of the nodes have one.
    #[test]
    fn a_root_disk_beside_mounted_media_does_not_count() {
        let row = |node: &str, point: &str| CheckedRow {
            node: node.to_owned(),
            target: "/mnt/card".to_owned(),
            medium: Some(Medium { mount_point: Some(point.to_owned()), ..Medium::unknown("/mnt/card") }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            reached: true,
            ..CheckedRow::default()
        };
        let last =
            |rows: &[CheckedRow]| table_text(rows, &Style::default()).lines().last().unwrap_or_default().to_owned();
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
        let of = |offset_ns, bound_ns| clock_cell(DayClock { offset_ns, bound_ns });
        assert_eq!(of(1_200_000, 840_000), "+1.2 ±0.8 ms");
        assert_eq!(of(-9_999_600_000, 20_000_000), "-10.0 ±0.0 s");
    }
}
