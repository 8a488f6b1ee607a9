//! What a report says of nodes whose records do not count, or are in doubt.

use assay_core::cluster::{ClusterPart, SettledBy, SettledLoad, Settlement, Standing};
use assay_core::finding::{Finding, Validity, Warning};
use assay_core::observation::{Observation, ObservedRepeat};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::shared::Shared;

use super::{BelowNode, FleetReport, FleetRun, report};
use crate::exclusion::Reason;

fn repeat() -> ObservedRepeat {
    ObservedRepeat {
        elapsed_ns: 1_000_000_000,
        last_done_ns: 1_000_000_000,
        operations: 1000,
        iops: 1000.0,
        bytes_per_second: 4_096_000.0,
        durable_bytes_per_second: None,
        histogram: Shared::default(),
        common_start: None,
        outcome: Outcome::Completed,
    }
}

/// `nodes` nodes of equal figures.
fn records(nodes: u32) -> Vec<Observation> {
    let published = crate::published_records("sandisk-ultra-a1/1").unwrap();
    let node = |number: u32| {
        let mut record = Observation::from(&published[0]);
        record.id = format!("record{number}");
        record.origin = Default::default();
        record.labels.insert("node".to_owned(), format!("node{number}"));
        record.labels.insert("unit".to_owned(), format!("unit{number}"));
        record.validity = Validity::judge(std::iter::empty());
        record.warnings.clear();
        for (number, measurement) in record.measurements.iter_mut().enumerate() {
            // A suite names each load otherwise.
            measurement.workload.name += &format!("-{number}");
            measurement.warnings.clear();
            measurement.repeats = vec![repeat(), repeat()];
        }
        record.cluster = Some(Box::new(ClusterPart {
            run: "aaaa".to_owned(),
            node: format!("node{number}"),
            attempt: 1,
            nodes,
            mode: "simultaneous".to_owned(),
            at_a_time: nodes,
            clock: None,
            lost: None,
            settled: None,
        }));
        record
    };
    (1..=nodes).map(node).collect()
}

fn said(records: Vec<Observation>) -> FleetReport {
    report(&FleetRun::of_records("aaaa", records), &[], None, true)
}

fn hung() -> Outcome {
    let (failure, detail) = (RunFailure::Hung, "nothing completed for 30.0 s".to_owned());
    Outcome::Failed { failure, detail, workload: None, elapsed_ns: 1, written_bytes: 1 }
}

fn disturbed(share: f64) -> Warning {
    Finding::LoadOfOthers { share, most: String::new() }.into()
}

/// A node whose record is gone is no smaller run.
#[test]
fn nodes_that_took_part_and_whose_records_are_not_here_are_counted() {
    let mut all = records(6);
    let complete = said(all.clone());
    assert_eq!((complete.absent, complete.nodes.len()), (0, 6));
    all.drain(2..4);
    let found = said(all);
    assert_eq!((found.absent, found.nodes.len(), found.complete()), (2, 4, 4));
}

/// A failure is a result, and one to be told before all others.
#[test]
fn a_medium_that_failed_is_a_result() {
    let mut all = records(5);
    all[1].outcome = hung();
    all[2].outcome = Outcome::Running;
    let found = said(all);
    let failed: Vec<(bool, bool)> = found.nodes.iter().map(|row| (row.medium_failed, row.complete)).collect();
    let [good, failed_medium, running] = [(false, true), (true, true), (false, false)];
    assert_eq!(failed, [good, failed_medium, running, good, good]);
    assert!(found.nodes[1].outcome.starts_with("the medium failed: did not finish: hung"), "{:?}", found.nodes[1]);
    assert!(found.loads.iter().all(|load| load.figures[1].is_none()));
}

/// A suspect figure is used, and noted: numbers of the same finding are one range, and what does not count is in no doubt.
#[test]
fn what_makes_figures_suspect_is_gathered_over_nodes() {
    let mut all = records(6);
    all[0].measurements[0].warnings.push(disturbed(0.5));
    all[1].measurements[0].warnings.push(disturbed(0.7));
    all[1].measurements[1].warnings.push(disturbed(0.6));
    all[2].warnings.push(Finding::CachedByRequest.into());
    all[3].measurements[0].warnings.push(disturbed(0.9));
    all[3].measurements[0].warnings.push(Finding::ServedFromCache { proof_ratio: 0.1 }.into());
    all[4].outcome = hung();
    all[4].measurements[0].warnings.push(disturbed(0.95));
    let found = said(all.clone());
    let [others, cached] = found.suspect.as_slice() else { panic!("{:?}", found.suspect) };
    assert_eq!((others.nodes.as_slice(), others.loads.len()), (&[0, 1][..], 2), "{others:?}");
    assert!(others.cause.contains("50") && others.cause.contains("70") && !others.cause.contains('9'), "{others:?}");
    assert_eq!((cached.nodes.as_slice(), cached.loads.len()), (&[2][..], 0), "{cached:?}");
    assert!(said(records(3)).suspect.is_empty());
}

/// Five of fourteen nodes at three quarters of the speed are no odd nodes, and "none is odd" hid them.
#[test]
fn nodes_that_form_two_groups_are_told_with_their_figures() {
    let slow: Vec<usize> = (0..14).filter(|at| at % 3 == 1).collect();
    let scaled = |ratio: f64| {
        let mut all = records(14);
        for (at, record) in all.iter_mut().enumerate() {
            let own = if slow.contains(&at) { ratio } else { 1.0 };
            let factor = own * (1.0 + 0.01 * ((at * 7 % 5) as f64 - 2.0));
            for measurement in &mut record.measurements {
                (measurement.iops, measurement.bytes_per_second) = (None, None);
                measurement.repeats.iter_mut().for_each(|repeat| {
                    repeat.iops *= factor;
                    repeat.bytes_per_second *= factor;
                });
            }
        }
        said(all).odd
    };
    let found = scaled(0.75);
    assert!(found.odd.is_empty() && found.disagree.is_empty(), "{found:?}");
    assert!(!found.groups.is_empty() && found.groups_alpha <= 0.025, "{found:?}");
    for two in &found.groups {
        let mut low = two.low.clone();
        low.sort_unstable();
        assert_eq!((&low, two.high.len(), two.again), (&slow, 9, false), "{two:?}");
        assert!((0.72..0.78).contains(&two.ratio), "{two:?}");
        let seen = two.low_figure.point / two.high_figure.point;
        assert!((seen / two.ratio - 1.0).abs() < 1e-9 && two.low_figure.n == 5, "{two:?}");
    }
    let equal = scaled(0.99);
    assert!(equal.groups.is_empty() && equal.odd.is_empty(), "{equal:?}");
}

/// A first look at all loads, by which the node seems slow.
fn settle(record: &mut Observation, standing: Standing) {
    let load = |workload: String| SettledLoad {
        workload,
        block_bytes: 4096,
        queue_depth: 1,
        jobs: 1,
        to_typical: Some(0.1),
        operations: Some(8),
        standing,
    };
    let loads = record.measurements.iter().map(|m| load(m.workload.name.clone())).collect();
    let (by, area_bytes) = (SettledBy::Nodes, 64 << 20);
    let settled = Settlement { by, nodes: 6, area_bytes, own_area_bytes: area_bytes, loads };
    record.cluster.as_mut().unwrap().settled = Some(settled);
}

/// A first look decides nothing of a node whose figure has a reason of its own not to count.
#[test]
fn a_failed_or_invalid_node_is_not_called_far_below() {
    let mut all = records(6);
    all[..3].iter_mut().for_each(|record| settle(record, Standing::LeftOut));
    assert!(said(all.clone()).far_below.is_empty(), "they are as fast as the others");
    all[0].outcome = hung();
    all[1].measurements.iter_mut().for_each(|m| m.warnings.push(Finding::ServedFromCache { proof_ratio: 0.1 }.into()));
    all[2].measurements[0].iops = None;
    all[2].measurements[0].bytes_per_second = None;
    all[2].measurements[0].durable_bytes_per_second = None;
    all[2].measurements[0].repeats.clear();
    let nodes = |of: &[BelowNode]| of.iter().map(|below| below.node).collect::<Vec<usize>>();
    let found = said(all);
    assert_eq!((nodes(&found.far_below), nodes(&found.unclear)), (vec![], vec![2]), "the one that left out a load");
    assert_eq!(found.unclear[0].at[0].operations, Some(8));
}

/// A node that is not compared for where its target lies has repeats all the same: it was measured.
#[test]
fn a_node_that_is_left_out_of_the_comparison_was_measured() {
    let mut all = records(6);
    for record in &mut all {
        (record.medium.path, record.medium.mount_point) = ("/mnt/card".to_owned(), Some("/mnt/card".to_owned()));
    }
    all[3].medium.mount_point = Some("/".to_owned());
    settle(&mut all[3], Standing::LeftOut);
    let found = said(all.clone());
    assert!(found.excluded.iter().any(|one| matches!(one.reason, Reason::NotMounted { .. })), "{:?}", found.excluded);
    assert!(found.unclear.is_empty() && found.far_below.is_empty(), "{:?}", found.unclear);
    all[3].measurements[0].repeats.clear();
    let found = said(all);
    let [below] = found.unclear.as_slice() else { panic!("{:?}", found.unclear) };
    assert_eq!((below.node, below.at.len()), (3, 1), "the load without a repeat");
}
