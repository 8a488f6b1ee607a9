//! `assay fleet check`: which nodes can be measured, as a table or a document.

use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::medium::Medium;
use assay_core::text::harmless;
use assay_core::units::{Bytes, capacity, span};
use assay_engine::Control;
use assay_fleet::{
    CheckRequest, DayClock, Different, FleetCheck, Launcher, NodeCause, NodeCheck, Unfit, entries, program, variables,
};
use assay_report::{Style, left, table};

use super::measured::{ansible, check_words, via};
use super::view::{AnswerCount, cause_words, fate_words};
use crate::cli::{FleetCheckArgs, ViaArg, own_build};
use crate::documents::fleet::{CheckedNode, ClockDocument, FleetCheckDocument};
use crate::ending::Failure;
use crate::{output, signals};

pub(super) fn check(args: &FleetCheckArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    let via = via(args.reach.via, &args.reach.inventory)?;
    signals::stop_on_signals(&control)?;
    let check = match via {
        ViaArg::Ansible => by_ansible(args, &control)?,
        ViaArg::Ssh => by_ssh(args, Launcher::Ssh, &control)?,
        ViaArg::Local => by_ssh(args, Launcher::Local, &control)?,
        ViaArg::Slurm => {
            return Err(Failure::usage("check goes by ssh, local or ansible; nodes of Slurm are reached by ssh, too"));
        }
    };
    let fit = check.fit().count();
    if args.json {
        let reasons: Vec<Option<String>> =
            check.nodes.iter().map(|node| node.unfit.as_ref().map(unfit_words)).collect();
        let nodes = check.nodes.iter().zip(&reasons).map(|(node, reason)| document(&check, node, reason.as_deref()));
        let no_medium = check.without_medium().count();
        let groups = check.same_disk().into_iter();
        let same_disk = groups.map(|nodes| nodes.into_iter().map(|node| node.node.as_str()).collect()).collect();
        output::print_json(&FleetCheckDocument { nodes: nodes.collect(), fit, no_medium, same_disk })?;
    } else {
        output::print(&table_text(&check, &output::stdout_style()))?;
    }
    Ok(if fit == check.nodes.len() { Exit::Good } else { Exit::No })
}

fn by_ansible(args: &FleetCheckArgs, control: &Control) -> Result<FleetCheck, Failure> {
    let variables = variables(args.reach.binaries.as_ref(), &args.arguments)?;
    let ansible = ansible(&args.reach.inventory, control)?;
    let hosts = ansible.hosts()?;
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    Ok(FleetCheck::by_ansible(&ansible, &hosts, variables, &own_build(), &|node| count.done(node))?)
}

fn by_ssh(args: &FleetCheckArgs, launcher: Launcher, control: &Control) -> Result<FleetCheck, Failure> {
    check_words(&args.arguments)?;
    let nodes = entries(&args.reach.nodes, &args.reach.target, launcher)?;
    let program = program(args.reach.program.as_deref(), launcher)?;
    let count = AnswerCount::of(nodes.iter().map(|entry| entry.name.as_str()));
    let request = CheckRequest { program: &program, arguments: &args.arguments, tunnel: args.reach.listen.is_none() };
    Ok(FleetCheck::by_ssh(launcher, &nodes, &request, &own_build(), control, &|node| count.done(node))?)
}

/// Why a node cannot be measured, in a few words.
fn unfit_words(unfit: &Unfit) -> String {
    match unfit {
        Unfit::NoTarget => "the inventory has no assay_target for it".to_owned(),
        Unfit::Ended(fate) => fate_words(fate),
        Unfit::NoProgram => format!("{}, and {} here", cause_words(NodeCause::NoProgram), own_build()),
        Unfit::OtherBuild { there, here } => {
            format!("{}: {there} is there, and {here} here", cause_words(NodeCause::Version))
        }
        Unfit::Crowded { source, nodes, needed_bytes, free_bytes } => format!(
            "{}: {nodes} nodes need {} on {} together, and {} is free",
            cause_words(NodeCause::NoSpace),
            Bytes(*needed_bytes),
            harmless(source),
            Bytes(*free_bytes)
        ),
        Unfit::Unreadable => "its answer cannot be read".to_owned(),
    }
}

/// The sentence on the node that differs most from the others.
fn different_words(found: &Different<'_>) -> String {
    let words = |filesystem: Option<&str>, bytes: Option<u64>| {
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {}", capacity(bytes)));
        format!("{}{bytes}", harmless(filesystem.unwrap_or("no file system")))
    };
    format!(
        "{} differs most from the others: {}; most have {}.",
        harmless(found.node),
        words(found.filesystem, found.capacity_bytes),
        words(found.usual_filesystem, found.usual_bytes)
    )
}

/// Nodes of a sentence that are named; more are counted.
const NAMED: usize = 6;

/// The first of these names, and how many more there are.
fn some_of(names: &[String]) -> String {
    let mut some: Vec<String> = names.iter().take(NAMED).cloned().collect();
    match names.len() - some.len() {
        0 => {}
        more => some.push(format!("{more} more")),
    }
    let last = some.pop().unwrap_or_default();
    if some.is_empty() { last } else { format!("{} and {last}", some.join(", ")) }
}

/// The sentence on nodes that measure the same disk.
fn same_disk_words(nodes: &[&NodeCheck]) -> String {
    let names: Vec<String> = nodes.iter().map(|node| harmless(&node.node)).collect();
    let device = nodes.iter().find_map(|node| node.medium.as_ref()?.device.as_deref());
    let device = device.map_or_else(String::new, |device| format!(" ({})", harmless(device)));
    format!(
        "note: {} measure the same disk{device}: they disturb each other; run them with --alone, or name directories on \
         different disks",
        some_of(&names)
    )
}

fn document<'a>(check: &FleetCheck, node: &'a NodeCheck, reason: Option<&'a str>) -> CheckedNode<'a> {
    CheckedNode {
        node: &node.node,
        target: &node.target,
        unit: &node.unit,
        slot: &node.slot,
        reached: node.reached,
        machine: &node.machine,
        bits: node.bits,
        version: node.build.as_ref().map_or("", |build| &build.version),
        commit: node.build.as_ref().and_then(|build| build.commit.as_deref()).unwrap_or_default(),
        medium: node.medium.as_ref(),
        mounted: node.medium.as_ref().map(Medium::mounted),
        free_bytes: node.free_bytes,
        clock: node.clock.map(|clock| ClockDocument { offset_ns: clock.offset_ns, bound_ns: clock.bound_ns }),
        planned_write_bytes: node.planned_write_bytes,
        budget_ns: node.budget_ns,
        run_ns: node.run_ns(),
        fits: check.fits(node),
        no_medium: node.is_no_medium(),
        reason,
    }
}

// What a check found: a line for each node, and one for each that cannot be measured.

/// Longest name of a medium in characters, so that a row fits into one line of most terminals.
const MEDIUM: usize = 22;
const UNKNOWN: &str = "-";

fn table_text(check: &FleetCheck, style: &Style) -> String {
    let columns = ["node", "machine", "medium", "free", "writes", "time", "clock"].map(left).to_vec();
    let rows = &check.nodes;
    let mut text = table(columns, rows.iter().map(|row| cells(row).to_vec()), style);
    text.push('\n');
    text += &unfit_lines(rows);
    let where_it_is = |row: &NodeCheck| {
        let words = assay_report::fleet::not_mounted(row.medium.as_ref()?.mounted(), &row.target)?;
        Some(format!("{}: {words}\n", harmless(&row.node)))
    };
    text.extend(check.without_medium().filter_map(where_it_is));
    text.extend(check.same_disk().iter().map(|nodes| same_disk_words(nodes) + "\n"));
    text.extend(check.most_different().map(|found| different_words(&found) + "\n"));
    let fit: Vec<&NodeCheck> = check.fit().collect();
    let bytes: u64 = fit.iter().filter_map(|row| row.planned_write_bytes).fold(0, u64::saturating_add);
    let longest = fit.iter().filter_map(|row| row.run_ns()).max().unwrap_or(0);
    let starts = fit.iter().map(|row| row.starts_ns()).max().unwrap_or(0);
    let said = if fit.is_empty() {
        "None of these nodes can be measured.".to_owned()
    } else {
        let who = match (fit.len(), rows.len()) {
            (1, 1) => "The node".to_owned(),
            (n, of) if n == of => format!("All {n} nodes"),
            (n, of) => format!("{n} of {of} nodes"),
        };
        format!(
            "{who} can be measured: at most {} written in total. Each takes at most {}{}.",
            Bytes(bytes),
            span(Duration::from_nanos(longest)),
            common_starts(starts, fit.len())
        )
    };
    text + &output::wrapped(&(said + &no_medium(check)), style.width)
}

/// The reasons why nodes cannot be measured, each once with all nodes that it holds for.
fn unfit_lines(rows: &[NodeCheck]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (node, unfit) in rows.iter().filter_map(|row| Some((harmless(&row.node), row.unfit.as_ref()?))) {
        // A message of ssh may name the node.
        let words = unfit_words(unfit).replace(&format!("host {node} "), "host ");
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, nodes)) => nodes.push(node),
            None => reasons.push((words, vec![node])),
        }
    }
    let line = |(words, nodes): (String, Vec<String>)| format!("{}: {words}\n", some_of(&nodes));
    reasons.into_iter().map(line).collect()
}

/// What of the time passes before common starts, and what comes on top.
fn common_starts(starts_ns: u64, nodes: usize) -> String {
    if starts_ns == 0 {
        return String::new();
    }
    let longer = if nodes > 1 { "; up to a tenth more if one node is far slower than the others" } else { "" };
    format!(", {} of it waiting for common starts{longer}", span(Duration::from_nanos(starts_ns)))
}

/// What is said of nodes whose target is the root disk or memory, beside the sentence on those that can be measured.
fn no_medium(check: &FleetCheck) -> String {
    let all: Vec<&NodeCheck> = check.without_medium().collect();
    let (who, is) = match all.len() {
        0 => return String::new(),
        1 if check.nodes.len() == 1 => ("It".to_owned(), "measures"),
        1 => (format!("Node {}", harmless(&all[0].node)), "measures"),
        n => (format!("{n} nodes"), "measure"),
    };
    let then = if all.iter().all(|row| check.fits(row)) {
        "is that what you mean?"
    } else {
        "the report leaves that out, as the others have a medium that is mounted"
    };
    format!(" {who} {is} the root disk or memory: {then}")
}

fn cells(row: &NodeCheck) -> [String; 7] {
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
        known(row.run_ns().map(|time| span(Duration::from_nanos(time)))),
        known(row.clock.map(clock_cell)),
    ]
}

/// How far the time of day is ahead, with its bound.
fn clock_cell(clock: DayClock) -> String {
    let (unit, name) =
        if clock.offset_ns.unsigned_abs().max(clock.bound_ns) < 1_000_000_000 { (1e6, "ms") } else { (1e9, "s") };
    let offset = clock.offset_ns as f64 / unit;
    if name == "s" && clock.bound_ns < 50_000_000 {
        // In tenths of a second it would be none.
        return format!("{offset:+.1} s ±{:.1} ms", clock.bound_ns as f64 / 1e6);
    }
    format!("{offset:+.1} ±{:.1} {name}", clock.bound_ns as f64 / unit)
}

#[cfg(test)]
mod tests {
    use assay_core::medium::Medium;
    use assay_fleet::Fate;

    use super::*;

    fn row(node: &str, filesystem: &str, bytes: u64) -> NodeCheck {
        let medium = Medium {
            filesystem: Some(filesystem.to_owned()),
            capacity_bytes: (bytes > 0).then_some(bytes),
            ..Medium::default()
        };
        NodeCheck { node: node.to_owned(), medium: Some(medium), ..NodeCheck::default() }
    }

    #[test]
    fn the_one_that_differs_most_is_named_with_what_most_have() {
        let most_different = |rows: &[NodeCheck]| {
            FleetCheck { nodes: rows.to_vec() }.most_different().map(|found| different_words(&found))
        };
        let mut rows: Vec<NodeCheck> =
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
        let good = NodeCheck {
            node: "n1".to_owned(),
            machine: "aarch64".to_owned(),
            free_bytes: Some(21_300_000_000),
            clock: Some(DayClock { offset_ns: -12_340_000, bound_ns: 15_000_000 }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            starts: 21,
            reached: true,
            ..NodeCheck::default()
        };
        let lost = NodeCheck {
            node: "n2".to_owned(),
            unfit: Some(Unfit::Ended(Fate::Unreachable { reason: "no route to host".to_owned() })),
            ..NodeCheck::default()
        };
        let table_text = |nodes: Vec<NodeCheck>| table_text(&FleetCheck { nodes }, &Style::default());
        let shown_table = table_text(vec![good, lost]);
        let shown_table = shown_table.replace("\n  ", " ");
        let lines: Vec<&str> = shown_table.lines().collect();
        let cells: Vec<&str> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["n1", "aarch64", "-", "21.3 GB", "1 GiB", "1 min 52 s", "-12.3 ±15.0 ms"], "{shown_table}");
        assert!(lines[0].starts_with("node  machine  medium") && lines[2].starts_with("n2  "), "{shown_table}");
        let said = "1 of 2 nodes can be measured: at most 1 GiB written in total. Each takes at most 1 min 52 s, 22 s of it \
                    waiting for common starts.";
        assert_eq!(lines[3..], ["", "n2: unreachable: no route to host", said]);
        let evil = NodeCheck { node: "n3".to_owned(), machine: "x\u{1b}[2J\nx".to_owned(), ..NodeCheck::default() };
        let text = table_text(vec![evil]);
        assert!(!text.contains('\u{1b}') && text.lines().count() == 4, "{text}");
    }

    /// A mistake of the administrator concerns all nodes: one line reports it.
    #[test]
    fn a_reason_of_many_nodes_is_told_once() {
        let row = |number: usize| NodeCheck {
            node: format!("n{number}"),
            unfit: Some(Unfit::Ended(Fate::Unreachable {
                reason: format!("ssh: connect to host n{number} port 22: No route to host"),
            })),
            ..NodeCheck::default()
        };
        let rows: Vec<NodeCheck> = (1..=8).map(row).collect();
        let said = "n1, n2, n3, n4, n5, n6 and 2 more: unreachable: ssh: connect to host port 22: No route to host\n";
        assert_eq!(unfit_lines(&rows), said);
        assert_eq!(unfit_lines(&rows[..1]), said.replace(", n2, n3, n4, n5, n6 and 2 more", ""));
    }

    /// As in the report: what is no medium is left out where more than half of the nodes have one.
    #[test]
    fn it_is_said_whether_a_root_disk_beside_mounted_media_counts() {
        let row = |node: &str, point: &str| NodeCheck {
            node: node.to_owned(),
            target: "/mnt/card".to_owned(),
            medium: Some(Medium { mount_point: Some(point.to_owned()), ..Medium::unknown("/mnt/card") }),
            planned_write_bytes: Some(1 << 30),
            budget_ns: Some(90_000_000_000),
            reached: true,
            ..NodeCheck::default()
        };
        let last = |rows: &[NodeCheck]| {
            let text = table_text(&FleetCheck { nodes: rows.to_vec() }, &Style::default()).replace("\n  ", " ");
            text.lines().last().unwrap_or_default().to_owned()
        };
        let two = [row("n1", "/mnt/card"), row("n2", "/mnt/card"), row("n3", "/")];
        assert_eq!(
            last(&two),
            "2 of 3 nodes can be measured: at most 2 GiB written in total. Each takes at most 1 min 30 s. Node n3 measures the root disk \
             or memory: the report leaves that out, as the others have a medium that is mounted"
        );
        let half = [row("n1", "/mnt/card"), row("n2", "/")];
        assert!(
            last(&half).ends_with("Node n2 measures the root disk or memory: is that what you mean?"),
            "{}",
            last(&half)
        );
    }

    /// Such nodes can be measured, and each would find the traffic of the others.
    #[test]
    fn nodes_on_one_disk_are_told_what_to_do() {
        let row = |at: usize| NodeCheck {
            node: format!("n{at}"),
            medium: Some(Medium {
                attached: Some("boot:9".to_owned()),
                device: Some("/dev/vda".to_owned()),
                ..Medium::default()
            }),
            ..NodeCheck::default()
        };
        let words = |n: usize| same_disk_words(&(1..=n).map(row).collect::<Vec<_>>().iter().collect::<Vec<_>>());
        assert_eq!(
            words(3),
            "note: n1, n2 and n3 measure the same disk (/dev/vda): they disturb each other; run them with --alone, or name \
             directories on different disks"
        );
        assert!(words(8).starts_with("note: n1, n2, n3, n4, n5, n6 and 2 more measure"), "{}", words(8));
        let check = FleetCheck { nodes: (1..=2).map(row).collect() };
        assert!(table_text(&check, &Style::default()).contains("n1 and n2 measure the same disk"));
    }

    #[test]
    fn a_clock_is_told_with_its_bound() {
        let of = |offset_ns, bound_ns| clock_cell(DayClock { offset_ns, bound_ns });
        assert_eq!(of(1_200_000, 840_000), "+1.2 ±0.8 ms");
        assert_eq!(of(-9_999_600_000, 900_000_000), "-10.0 ±0.9 s");
        assert_eq!(of(-9_999_600_000, 20_000_000), "-10.0 s ±20.0 ms", "no bound is zero");
    }
}
