//! What happens in a run on a cluster, and what it has come to, in words.

use std::collections::BTreeMap;

use assay_analysis::fleet::Starts;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::{counted, multiple};
use assay_fleet::{Fate, Ledger, NodeCause, NodeEntry};

/// How an attempt of a node ended, in a few words.
pub(super) fn fate_words(fate: &Fate) -> String {
    match fate {
        Fate::Recorded { .. } => "recorded".to_owned(),
        Fate::MediumFailed { id, reason } => format!("the medium failed: {reason} ({id})"),
        Fate::Invalid { id, reason } => format!("invalid: {reason} ({id})"),
        Fate::Incomplete { id, reason } => format!("not complete: {reason} ({id})"),
        Fate::NotBegun { cause, reason } => format!("{}: {reason}{}", cause_words(*cause), remedy(*cause)),
        Fate::Unreachable { reason } => format!("unreachable: {reason}"),
        Fate::Late => "not ready in time".to_owned(),
        Fate::TooFew => "ready, but too few others were; --quorum N begins with N".to_owned(),
        Fate::Lost { reason } => format!("lost: {reason}"),
        Fate::NotTaken { reason } => format!("record not taken: {reason}"),
        Fate::Interrupted => "interrupted".to_owned(),
    }
}

/// Why a node did not begin, in a few words.
pub(super) fn cause_words(cause: NodeCause) -> &'static str {
    match cause {
        NodeCause::Denied => "not let in",
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
    let line = |entry: &NodeEntry| {
        let words = match &entry.fate {
            Some(Fate::Recorded { id }) => format!("recorded  {id}"),
            // Of many lines these are the ones that are to be read before anything is moved.
            Some(fate) if told && !fate.is_invalid() => short_fate_words(fate).to_owned(),
            Some(fate) => fate_words(fate),
            None => "not begun".to_owned(),
        };
        let again = if entry.attempts > 1 { format!(" (attempt {})", entry.attempts) } else { String::new() };
        harmless(&format!("{:width$}  {words}{again}", entry.name)) + "\n"
    };
    let recorded = |entry: &&NodeEntry| entry.fate.as_ref().is_some_and(Fate::is_result);
    let (here, missing): (Vec<&NodeEntry>, Vec<&NodeEntry>) = ledger.nodes.iter().partition(|entry| recorded(entry));
    let mut text: String = missing.iter().chain(&here).map(|entry| line(entry)).collect();
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
    text + &next + "\n"
}

/// How many records do not count.
fn invalid_words(ledger: &Ledger) -> String {
    match ledger.invalid() {
        0 => String::new(),
        n => format!(", {n} invalid"),
    }
}

/// The line about a node of another pace than the others: its workloads, each with its operations over theirs.
pub(super) fn far_below(loads: &[(usize, Option<f64>)]) -> String {
    let ratio = |ratio: &Option<f64>| ratio.map_or_else(String::new, |ratio| format!(" ({} times)", multiple(ratio)));
    let each: Vec<String> = loads.iter().map(|(at, of)| format!("{}{}", at + 1, ratio(of))).collect();
    format!(
        "by a first look far below the others under workload {}; it runs what they run, and the repeats decide",
        each.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use assay_fleet::{Mode, Rotation};

    use super::*;

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
