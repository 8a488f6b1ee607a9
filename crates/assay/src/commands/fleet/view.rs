//! What is seen of a run on many nodes: on a terminal a line for each node, elsewhere plain lines, for programs events; the
//! words of all these; and the file of the run, which is written anew after each change.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_analysis::fleet::Starts;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::{counted, latency, multiple, rate};
use assay_fleet::{Audience, CoordinatorEvent, Fate, Ledger, Live, NodeCause, NodeEntry, NotCountedLoad, RunEvent};

use super::ledgers;
use crate::cli::FleetRunArgs;
use crate::documents::fleet::FleetEvent;
use crate::ending::Failure;
use crate::output::{self, operand, stderr_style};
use crate::progress::Painter;

/// How often the lines are painted anew.
const PAINT: Duration = Duration::from_millis(250);
/// Longest name in characters.
const NAME: usize = 20;
/// So is what a node does.
const DOING: usize = 22;

/// A node as it is seen.
#[derive(Debug, Clone)]
struct NodeRow {
    name: String,
    joined: bool,
    live: Live,
    over: Option<Fate>,
}

/// Who watches.
pub(super) struct View {
    rows: Vec<NodeRow>,
    painter: Option<Painter>,
    quiet: bool,
    painted: Instant,
}

impl View {
    pub(super) fn new(names: impl Iterator<Item = String>, quiet: bool) -> Self {
        let row = |name| NodeRow { name, joined: false, live: Live::default(), over: None };
        let terminal = !quiet && std::io::stderr().is_terminal() && output::can_repaint();
        let painter = terminal.then(Painter::default);
        Self { rows: names.map(row).collect(), painter, quiet, painted: Instant::now() }
    }

    /// A line to stay.
    pub(super) fn say(&mut self, line: &str) {
        match &mut self.painter {
            Some(painter) => painter.say(line),
            None if self.quiet => {}
            None => output::tell_wrapped(&assay_core::text::harmless(line)),
        }
    }

    /// A line for those who have no terminal, where the same is seen in the rows.
    pub(super) fn say_plainly(&mut self, line: &str) {
        if self.painter.is_none() {
            self.say(line);
        }
    }

    pub(super) fn joined(&mut self, number: usize) {
        self.rows[number].joined = true;
        let joined = self.rows.iter().filter(|row| row.joined).count();
        let line = format!("{} is here, {joined} of {}", self.rows[number].name, self.rows.len());
        self.say_plainly(&line);
    }

    pub(super) fn live(&mut self, number: usize, live: Live) {
        self.rows[number].live = live;
    }

    pub(super) fn over(&mut self, number: usize, fate: &Fate) {
        let line = format!("{}: {}", self.rows[number].name, fate_words(fate));
        // What went well is in the table at the end.
        if matches!(fate, Fate::Recorded { .. }) {
            self.say_plainly(&line)
        } else {
            self.say(&line)
        }
        self.rows[number].over = Some(fate.clone());
    }

    /// Paints the lines anew, if it is time.
    pub(super) fn paint(&mut self) {
        let Some(painter) = &mut self.painter else { return };
        if self.painted.elapsed() >= PAINT {
            self.painted = Instant::now();
            painter.paint(&lines(&self.rows, output::stderr_rows(), stderr_style().unicode));
        }
    }
}

/// The sums, and a line for each node that is under way, those that are furthest behind first.
fn lines(rows: &[NodeRow], height: usize, unicode: bool) -> Vec<String> {
    let mut under_way: Vec<&NodeRow> = rows.iter().filter(|row| row.over.is_none()).collect();
    under_way.sort_by(|a, b| {
        (a.joined, a.live.done).partial_cmp(&(b.joined, b.live.done)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let recorded = rows.iter().filter(|row| matches!(row.over, Some(Fate::Recorded { .. }))).count();
    let waiting = under_way.iter().filter(|row| row.joined && row.live.doing == "wait").count();
    let rates: Vec<f64> = under_way.iter().filter_map(|row| row.live.bytes_per_second).collect();
    let sum = if rates.is_empty() { String::new() } else { format!(", {} in sum", rate(rates.iter().sum())) };
    let invalid = rows.iter().filter(|row| row.over.as_ref().is_some_and(Fate::is_invalid)).count();
    let missing = rows.len() - under_way.len() - recorded - invalid;
    let missing = if missing > 0 { format!(", {missing} missing") } else { String::new() };
    let invalid = if invalid > 0 { format!(", {invalid} invalid") } else { String::new() };
    let head = format!("  {}: {recorded} recorded{invalid}{missing}, {waiting} wait{sum}", counted(rows.len(), "node"));
    // One row for the sums, one for what is not shown, and the last of the terminal stays free.
    let room = height.saturating_sub(3).max(1);
    let beyond = under_way.len().saturating_sub(room);
    let shown = under_way.iter().take(room).map(|row| line(row));
    let rest = (beyond > 0).then(|| format!("  … and {beyond} that are further"));
    let all = std::iter::once(head).chain(shown).chain(rest);
    all.map(|line| if unicode { line } else { line.replace('…', "...").replace('°', "") }).collect()
}

fn line(row: &NodeRow) -> String {
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let name = cut(&row.name, NAME);
    if !row.joined {
        return format!("  {name:NAME$} not here yet");
    }
    let Live { doing, done, bytes_per_second, p99_ns, celsius } = &row.live;
    let share = (done.clamp(0.0, 1.0) * 100.0).round();
    let mut text = format!("  {name:NAME$} {share:>3.0} % {:DOING$}", cut(doing, DOING));
    let speed = bytes_per_second.map_or_else(String::new, rate);
    text.push_str(&format!(" {speed:>9}"));
    if let Some(p99) = p99_ns {
        text.push_str(&format!(" p99 {:>7}", latency(*p99)));
    }
    if let Some(celsius) = celsius {
        text.push_str(&format!(" {celsius:.0} °C"));
    }
    text.trim_end().to_owned()
}

// Which nodes have answered, while others are waited for: a line on a terminal, and nothing elsewhere.

/// Nodes that are named; more are counted.
const NAMED: usize = 5;

/// Who is waited for.
pub(super) struct AnswerCount {
    all: usize,
    inner: Option<Mutex<Counted>>,
}

struct Counted {
    painter: Painter,
    left: Vec<String>,
}

impl AnswerCount {
    pub(super) fn of<'a>(nodes: impl Iterator<Item = &'a str>) -> Self {
        let left: Vec<String> = nodes.map(str::to_owned).collect();
        let count = Self {
            all: left.len(),
            inner: (std::io::stderr().is_terminal() && output::can_repaint())
                .then(|| Mutex::new(Counted { painter: Painter::default(), left })),
        };
        count.paint(|_| {});
        count
    }

    /// A node has answered, or failed.
    pub(super) fn done(&self, node: &str) {
        self.paint(|left| left.retain(|name| name != node));
    }

    fn paint(&self, change: impl FnOnce(&mut Vec<String>)) {
        if let Some(inner) = &self.inner {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Counted { painter, left } = &mut *inner;
            change(left);
            painter.paint(&[count_line(self.all, left)]);
        }
    }
}

fn count_line(all: usize, left: &[String]) -> String {
    let named: Vec<&str> = left.iter().take(NAMED).map(String::as_str).collect();
    let more = left.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let waits = if left.is_empty() { String::new() } else { format!("; left: {}{more}", named.join(", ")) };
    format!("  {} of {all} nodes{waits}", all - left.len())
}

/// Most refused connections that are reported one by one.
const MOST_REFUSED: usize = 5;

/// Who watches.
pub(super) struct Watcher {
    run: String,
    /// Names and targets of the nodes under way.
    nodes: Vec<(String, String)>,
    /// Names of the workloads; empty if this machine does not have the suite.
    workloads: Vec<String>,
    view: View,
    /// Each thing that happens is a line on standard output.
    events: bool,
    /// Prints nothing for people.
    quiet: bool,
    /// Strangers that were turned away.
    refused: usize,
    /// The file of the run could not be written.
    unkept: bool,
}

impl Watcher {
    /// For these nodes of a run.
    pub(super) fn new(args: &FleetRunArgs, ledger: &Ledger, numbers: &[usize], workloads: Vec<String>) -> Self {
        let node = |number: &usize| {
            let entry = &ledger.nodes[*number];
            (entry.name.clone(), entry.target.clone())
        };
        let nodes: Vec<(String, String)> = numbers.iter().map(node).collect();
        Self {
            run: ledger.run.clone(),
            view: View::new(nodes.iter().map(|(name, _)| name.clone()), args.quiet || args.events),
            nodes,
            workloads,
            events: args.events,
            quiet: args.quiet,
            refused: 0,
            unkept: false,
        }
    }

    /// The run went on where its file could not be written; at the end that is an error.
    pub(super) fn end(self, ledger: &Ledger) -> Result<(), Failure> {
        if self.unkept { ledgers::keep(ledger) } else { Ok(()) }
    }

    /// A line on a node.
    fn say_of(&mut self, number: usize, words: &str) {
        let line = format!("{}: {words}", self.nodes[number].0);
        self.view.say(&line);
    }

    /// A reader that went away ends nothing.
    fn tell(&self, event: &FleetEvent<'_>) {
        if self.events {
            let _ = output::print_event(event);
        }
    }

    fn started(&mut self) {
        let nodes = self.nodes.len();
        self.view.say(&format!("run {} on {}", self.run, counted(nodes, "node")));
        self.tell(&FleetEvent::Started { run: &self.run, nodes });
    }

    fn told(&mut self, happening: &CoordinatorEvent) {
        if let Some(event) = FleetEvent::told(happening, |number| self.nodes[number].0.clone()) {
            self.tell(&event);
        }
        match happening {
            CoordinatorEvent::Joined(number) => self.view.joined(*number),
            CoordinatorEvent::Offered(number, mounted) => {
                if let Some(words) = assay_report::fleet::not_mounted(*mounted, &self.nodes[*number].1) {
                    self.say_of(*number, &words);
                }
            }
            CoordinatorEvent::Settled(_, left_out) => {
                for one in left_out {
                    self.say_of(one.node, &not_counted(&one.loads, &self.workloads));
                }
            }
            CoordinatorEvent::Goes(nodes, step, _) => {
                let who = match nodes.as_slice() {
                    [one] => self.nodes[*one].0.clone(),
                    many => format!("{} nodes", many.len()),
                };
                let workload = workload_name(&self.workloads, step.workload as usize);
                self.view.say_plainly(&format!("{who}: repeat {} of {workload}", u64::from(step.round) + 1));
            }
            CoordinatorEvent::Refused(from, reason) => {
                self.refused += 1;
                if self.refused <= MOST_REFUSED {
                    self.view.say(&format!("{from} was turned away: {reason}"));
                }
            }
            CoordinatorEvent::Live(number, live) => self.view.live(*number, live.clone()),
            // The end of a node is reported once it is decided.
            CoordinatorEvent::Recorded(..)
            | CoordinatorEvent::NotTaken(..)
            | CoordinatorEvent::Late(_)
            | CoordinatorEvent::TooFew(_)
            | CoordinatorEvent::Left(..)
            | CoordinatorEvent::Ready(..)
            | CoordinatorEvent::Skipped(_) => {}
        }
    }

    fn over(&mut self, number: usize, fate: &Fate) {
        self.view.over(number, fate);
        self.tell(&FleetEvent::Over { node: &self.nodes[number].0, fate });
    }
}

impl Audience for Watcher {
    fn happened(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::OpenAddress(address) if !self.quiet => output::tell_wrapped(&format!(
                "no Unix socket could be made in the temporary directory; nodes meet at {address}, which other users of this \
                 machine can connect to"
            )),
            RunEvent::OpenAddress(_) => {}
            RunEvent::Started => self.started(),
            RunEvent::Coordinator(happening) => self.told(happening),
            RunEvent::ByPort(number) => self.say_of(
                *number,
                "its ssh server makes no Unix socket (AllowStreamLocalForwarding); the tunnel ends in a port of its \
                 loopback interface, which other users there can connect to",
            ),
            RunEvent::Over(number, fate) => self.over(*number, fate),
        }
    }

    fn changed(&mut self, ledger: &Ledger) {
        if let Err(failure) = ledgers::keep(ledger)
            && !std::mem::replace(&mut self.unkept, true)
        {
            self.view.say(&format!("warning: {}; the run goes on", failure.message()));
        }
    }

    fn tick(&mut self) {
        self.view.paint();
    }
}

/// How an attempt of a node ended, in a few words.
pub(super) fn fate_words(fate: &Fate) -> String {
    match fate {
        Fate::Recorded { .. } => "recorded".to_owned(),
        Fate::MediumFailed { id, reason } => format!("the medium failed: {reason} ({id})"),
        Fate::Invalid { id, reason } => format!("invalid: {reason} ({id})"),
        Fate::Incomplete { id, reason } => format!("not complete: {reason} ({id})"),
        Fate::NotBegun { cause, reason } => not_begun_words(*cause, reason),
        Fate::Unreachable { reason } => format!("unreachable: {reason}"),
        Fate::Late => "not ready in time".to_owned(),
        Fate::TooFew => "ready, but too few others were: --quorum N starts with N nodes".to_owned(),
        Fate::Lost { reason } => format!("lost: {reason}"),
        Fate::NotTaken { reason } => format!("record not taken: {reason}"),
        Fate::Interrupted => "interrupted".to_owned(),
    }
}

/// Why a node did not begin, with what mends it.
pub(super) fn not_begun_words(cause: NodeCause, reason: &str) -> String {
    format!("{}: {reason}{}", cause_words(cause), remedy(cause))
}

/// Why a node did not begin, in a few words.
pub(super) fn cause_words(cause: NodeCause) -> &'static str {
    match cause {
        NodeCause::Denied => "not let in",
        NodeCause::HostKey => "host key not trusted",
        NodeCause::NoTunnel => "no tunnel",
        NodeCause::NoProgram => "no assay there",
        NodeCause::Architecture => "a program for another architecture",
        NodeCause::Version => "another version of assay",
        NodeCause::NoTarget => "target missing",
        NodeCause::NoSpace => "no space",
        NodeCause::InUse => "in use",
        NodeCause::Other => "did not begin",
    }
}

/// What mends a cause that its own words do not say how to mend.
fn remedy(cause: NodeCause) -> &'static str {
    match cause {
        NodeCause::NoTunnel => "; its sshd needs AllowTcpForwarding, or --listen ADDRESS:PORT does without a tunnel",
        NodeCause::HostKey => "; ssh to it by hand says whether the key is unknown here or has changed",
        NodeCause::NoProgram => "; --program PATH says where it is, and with an inventory Ansible brings it",
        _ => "",
    }
}

/// How far starts were from what was planned, over all repeats of all records.
pub(super) fn starts(records: &BTreeMap<usize, Record>) -> Option<Starts> {
    let observations: Vec<Observation> = records.values().map(Observation::from).collect();
    assay_analysis::fleet::starts(&observations)
}

/// The state in one or two words, for tables that follow the reason.
fn short_fate_words(fate: &Fate) -> &'static str {
    match fate {
        Fate::Recorded { .. } => "recorded",
        Fate::MediumFailed { .. } => "the medium failed",
        Fate::Invalid { .. } => "invalid",
        Fate::Incomplete { .. } => "not complete",
        Fate::NotBegun { cause, .. } => cause_words(*cause),
        Fate::Unreachable { .. } => "unreachable",
        Fate::Late => "not ready in time",
        Fate::TooFew => "too few others were ready",
        Fate::Lost { .. } => "lost",
        Fate::NotTaken { .. } => "record not taken",
        Fate::Interrupted => "interrupted",
    }
}

/// A line for each node, the missing ones first, and one that says it all. Where reasons were `told` on the same screen, they are
/// not told again.
pub(super) fn outcome_text(ledger: &Ledger, starts: Option<&Starts>, told: bool) -> String {
    let width = ledger.nodes.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let words = |entry: &NodeEntry| {
        let words = match &entry.fate {
            Some(Fate::Recorded { id }) => format!("recorded  {id}"),
            // Of many lines these are the ones that are to be read before anything is moved.
            Some(fate) if told && !fate.is_invalid() => short_fate_words(fate).to_owned(),
            Some(fate) => fate_words(fate),
            None => "not begun".to_owned(),
        };
        let again = if entry.attempts > 1 { format!(" (attempt {})", entry.attempts) } else { String::new() };
        words + &again
    };
    let recorded = |entry: &&NodeEntry| entry.fate.as_ref().is_some_and(Fate::is_result);
    let (here, missing): (Vec<&NodeEntry>, Vec<&NodeEntry>) = ledger.nodes.iter().partition(|entry| recorded(entry));
    let mut text = joined(missing.iter().map(|entry| (entry.name.as_str(), words(entry))).collect(), width);
    text.extend(here.iter().map(|entry| node_line(&entry.name, &words(entry), width)));
    text += &format!(
        "\nrun {}: {} of {} recorded{}.",
        ledger.run,
        here.len(),
        counted(ledger.nodes.len(), "node"),
        invalid_words(ledger)
    );
    if let Some(starts) = starts {
        text += &format!(
            " {} began within {:.2} ms of the planned time (p95), with a clock error of at most {:.2} ms.",
            counted(starts.n, "repeat"),
            starts.p95_late_ns as f64 / 1e6,
            starts.bound_ns as f64 / 1e6
        );
    }
    let next = if missing.is_empty() {
        format!("\nassay fleet report {0}  or  assay rank fleet={0}", ledger.run)
    } else {
        let stay = if ledger.rotation.is_some() { "; leave the units where they are" } else { "" };
        let what = if ledger.invalid() == missing.len() { "what is invalid" } else { "what is missing or invalid" };
        let what = if ledger.invalid() == 0 { "the missing" } else { what };
        format!("\nassay fleet run --resume {} repeats {what}{stay}", ledger.run)
    };
    text + &next + "\n" + &left_there(ledger)
}

/// The command that removes what lost nodes left, if any were lost; empty otherwise.
fn left_there(ledger: &Ledger) -> String {
    let lost = ledger.nodes.iter().filter(|entry| matches!(entry.fate, Some(Fate::Lost { .. })));
    let lost: Vec<String> = lost.map(|entry| operand(Path::new(&format!("{}={}", entry.name, entry.target)))).collect();
    let nodes = match &ledger.inventory {
        _ if lost.is_empty() => return String::new(),
        Some(_) => "-i INVENTORY".to_owned(),
        None if lost.len() > FEW => "NODE=TARGET …".to_owned(),
        None => lost.join(" "),
    };
    let via = if ledger.via == "local" { "--via local " } else { "" };
    format!("assay fleet clean {via}{nodes} removes what a lost node left there; so does its next run\n")
}

/// Lost nodes that a command names.
const FEW: usize = 4;

fn node_line(name: &str, words: &str, width: usize) -> String {
    harmless(&format!("{name:width$}  {words}")) + "\n"
}

/// Nodes with the same words; that many have one line.
const SAME: usize = 4;

/// A line for each node, and one for nodes with the same words: a mistake of the administrator is one of all nodes.
fn joined(rows: Vec<(&str, String)>, width: usize) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, words) in rows {
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(name),
            None => groups.push((words, vec![name])),
        }
    }
    let lines = |(words, names): (String, Vec<&str>)| {
        if names.len() < SAME {
            return names.iter().map(|name| node_line(name, &words, width)).collect::<String>();
        }
        let all = format!("{} nodes", names.len());
        node_line(&all, &format!("{words}: {}", names.join(", ")), width)
    };
    groups.into_iter().map(lines).collect()
}

/// How many records do not count.
fn invalid_words(ledger: &Ledger) -> String {
    match ledger.invalid() {
        0 => String::new(),
        n => format!(", {n} invalid"),
    }
}

/// A workload by its name, or by its number where the suite is not known here.
pub(super) fn workload_name(workloads: &[String], at: usize) -> String {
    workloads.get(at).map_or_else(|| format!("workload {}", at + 1), |name| harmless(name))
}

/// The line about a node without which the loads were settled: its workloads, each with its operations over those of the others.
pub(super) fn not_counted(loads: &[NotCountedLoad], workloads: &[String]) -> String {
    let words = |load: &NotCountedLoad| {
        let ratio = load.to_typical.map(|ratio| format!(" ({} times)", multiple(ratio))).unwrap_or_default();
        format!("{}{ratio}", workload_name(workloads, load.workload))
    };
    let all: Vec<String> = loads.iter().map(words).collect();
    format!("seems slow at a first look under {}; the repeats tell", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_fleet::{Mode, Rotation};

    fn row(name: &str, done: f32, speed: Option<f64>) -> NodeRow {
        let doing = if speed.is_some() { "rand-read-4k-q1" } else { "wait" }.to_owned();
        let live =
            Live { doing, done, bytes_per_second: speed, p99_ns: speed.map(|_| 1.25e6), celsius: speed.map(|_| 41.0) };
        NodeRow { name: name.to_owned(), joined: true, live, over: None }
    }

    #[test]
    fn twenty_eight_nodes_fit_into_80_by_40_and_those_behind_come_first() {
        let mut rows: Vec<NodeRow> = (0..28).map(|n| row(&format!("node{n}"), n as f32 / 28.0, Some(23e6))).collect();
        rows[3].joined = false;
        rows[5].over = Some(Fate::Recorded { id: "x".to_owned() });
        rows[6].over = Some(Fate::Late);
        rows[7].live.bytes_per_second = None;
        rows[7].live.doing = "wait".to_owned();
        let lines = lines(&rows, 40, true);
        assert_eq!(lines.len(), 27);
        assert_eq!(lines[0], "  28 nodes: 1 recorded, 1 missing, 1 wait, 575 MB/s in sum");
        assert_eq!(lines[1], "  node3                not here yet");
        assert_eq!(lines[2], "  node0                  0 % rand-read-4k-q1        23.0 MB/s p99 1.25 ms 41 °C");
        assert!(lines.iter().all(|line| line.chars().count() < 80), "{lines:#?}");
    }

    #[test]
    fn more_than_fit_are_counted() {
        let rows: Vec<NodeRow> = (0..100).map(|n| row(&format!("n{n}"), n as f32 / 100.0, None)).collect();
        let lines = lines(&rows, 24, false);
        assert_eq!(lines.len(), 23);
        assert_eq!(lines[22], "  ... and 79 that are further");
        let tiny = super::lines(&rows, 0, true);
        assert_eq!(tiny.len(), 3);
    }

    #[test]
    fn who_is_left_is_named_and_many_are_counted() {
        let left: Vec<String> = (1..=28).map(|n| format!("n{n}")).collect();
        assert_eq!(count_line(28, &left), "  0 of 28 nodes; left: n1, n2, n3, n4, n5 and 23 more");
        assert_eq!(count_line(28, &left[..2]), "  26 of 28 nodes; left: n1, n2");
        assert_eq!(count_line(28, &[]), "  28 of 28 nodes");
    }

    #[test]
    fn a_first_look_tells_how_a_node_seems() {
        let load = |workload, to_typical| NotCountedLoad { workload, to_typical };
        let told = not_counted(&[load(1, Some(0.4)), load(3, None)], &["a".to_owned(), "seq-write".to_owned()]);
        assert_eq!(told, "seems slow at a first look under seq-write (0.40 times), workload 4; the repeats tell");
    }

    /// Many nodes with the same fate share one line with all their names.
    #[test]
    fn nodes_with_the_same_fate_share_a_line() {
        let node = |n: usize| NodeEntry {
            fate: Some(if n == 2 { Fate::Late } else { Fate::TooFew }),
            attempts: 1,
            ..NodeEntry::new(&format!("n{n}"), "/m")
        };
        let nodes = |count: usize| (0..count).map(node).collect::<Vec<_>>();
        let text = |count| {
            let ledger = Ledger::begun("ssh", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes(count));
            outcome_text(&ledger, None, true)
        };
        let few = "n0  too few others were ready\nn1  too few others were ready\nn3  too few others were ready\nn2  not ready in time\n";
        assert!(text(4).starts_with(few), "{}", text(4));
        let many = "4 nodes  too few others were ready: n0, n1, n3, n4\nn2  not ready in time\n";
        assert!(text(5).starts_with(many), "{}", text(5));
    }

    /// A node that was killed left its store, and nothing said how to remove it.
    #[test]
    fn what_removes_the_rest_of_a_lost_node_is_told() {
        let node = |name: &str, fate| NodeEntry { fate: Some(fate), attempts: 1, ..NodeEntry::new(name, "/mnt/card") };
        let lost = Fate::Lost { reason: "no answer".to_owned() };
        let mut ledger = Ledger::begun("ssh", Mode::Simultaneous, "assay".to_owned(), Vec::new(), Vec::new());
        ledger.nodes = vec![node("n1", Fate::Recorded { id: "y".to_owned() }), node("n2", lost.clone())];
        assert!(outcome_text(&ledger, None, true).contains("\nassay fleet clean n2=/mnt/card removes what"));
        ledger.nodes.extend((3..9).map(|n| node(&format!("n{n}"), lost.clone())));
        assert!(outcome_text(&ledger, None, true).contains("\nassay fleet clean NODE=TARGET … removes what"));
        ledger.nodes.truncate(1);
        assert!(!outcome_text(&ledger, None, true).contains("clean"));
    }

    /// Before anything is moved: which records do not count, why, and what repeats them.
    #[test]
    fn an_invalid_record_is_told_with_its_reason_and_counted() {
        let node = |name: &str, fate| NodeEntry { fate: Some(fate), attempts: 1, ..NodeEntry::new(name, "/m") };
        let invalid = Fate::Invalid { id: "x".to_owned(), reason: "served from a cache".to_owned() };
        let nodes = vec![node("n1", Fate::Recorded { id: "y".to_owned() }), node("n2", invalid)];
        let mut ledger = Ledger::begun("local", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes);
        ledger.run = "r".to_owned();
        let text = |ledger: &Ledger| outcome_text(ledger, None, true);
        let said = "n2  invalid: served from a cache (x)\nn1  recorded  y\n\nrun r: 1 of 2 nodes recorded, 1 invalid.\n\
                    assay fleet run --resume r repeats what is invalid\n";
        assert_eq!(text(&ledger), said);
        ledger.rotation = Some(Rotation { plan: "p".to_owned(), round: 1, wave: 1, places: Vec::new() });
        assert!(text(&ledger).ends_with("repeats what is invalid; leave the units where they are\n"));
        ledger.nodes[0].fate = Some(Fate::Late);
        assert!(
            text(&ledger)
                .contains("0 of 2 nodes recorded, 1 invalid.\nassay fleet run --resume r repeats what is missing")
        );
    }
}
