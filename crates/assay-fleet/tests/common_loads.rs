//! The loads that all nodes of a run have, over real sockets on the loopback interface.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use assay_core::cluster::{Look, SettledBy, Standing};
use assay_core::medium::Mounted;
use assay_engine::Control;
use assay_fleet::{
    Build, Coordinator, CoordinatorEvent, CoordinatorEvents, Expected, Joining, MeetingRules, Mode, Node, NodeClock,
    RunKey, Settled,
};
use assay_runner::{Ability, AbleLoad, CommonLoads, Rendezvous, RepeatStep, Word};

const MIB: u64 = 1 << 20;

fn build(version: &str) -> Build {
    Build { version: version.to_owned(), commit: None }
}

fn able(megabytes_per_second: f64, queue_depth: u32) -> Ability {
    let seconds = MIB as f64 / (megabytes_per_second * 1e6);
    let look = Some(Look { seconds, operations: 50 });
    let write = AbleLoad { block_bytes: MIB, queue_depth, jobs: 1, look };
    let read = AbleLoad { block_bytes: 4096, queue_depth: 32, jobs: 2, look: None };
    let budget = Duration::from_secs(20);
    Ability { loads: vec![write, read], area_bytes: 64 * MIB, budget, mounted: Mounted::There }
}

fn listen(nodes: u32, settled: Option<Settled>, ready_within: Duration) -> (Coordinator, CoordinatorEvents, Expected) {
    let names = (0..nodes).map(|n| (format!("n{n}"), 1)).collect();
    let rules = MeetingRules { ready_within, ..MeetingRules::new(Mode::Simultaneous, nodes) };
    let key = RunKey::new().unwrap();
    let expected = Expected { run: "run1".into(), key, build: build("1"), nodes: names, rules, settled };
    let keep = Box::new(|node: usize, _: &[u8]| Ok(format!("id{node}")));
    let (coordinator, events) = Coordinator::listen("127.0.0.1:0", expected.clone(), keep).unwrap();
    (coordinator, events, expected)
}

fn join(coordinator: &Coordinator, expected: &Expected, number: usize) -> Node {
    let (address, node) = (coordinator.endpoint().to_string(), format!("n{number}"));
    let key = expected.key.of_node(&node);
    let (run, build) = (expected.run.clone(), expected.build.clone());
    Node::join(&Joining { address, run, node, key, build, clock: NodeClock::default() }, &Control::default()).unwrap()
}

/// The common loads that each node receives, and the lost nodes.
fn settled(coordinator: &Coordinator, expected: &Expected, all: Vec<Ability>) -> Vec<Option<CommonLoads>> {
    let nodes: Vec<_> = (0..).zip(all).map(|(n, able)| (join(coordinator, expected, n), able)).collect();
    let tell = |(mut node, able): (Node, Ability)| {
        std::thread::spawn(move || {
            let settled = node.settle(&able, &Control::default());
            // A connection that ends takes the node out of the run.
            std::thread::sleep(Duration::from_millis(200));
            settled
        })
    };
    let threads: Vec<_> = nodes.into_iter().map(tell).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

const LONG: Duration = Duration::from_secs(60);

/// The events until all that is wanted came. The coordinator tells of some after the nodes heard of them.
fn events_until(events: &CoordinatorEvents, complete: impl Fn(&[CoordinatorEvent]) -> bool) -> Vec<CoordinatorEvent> {
    let mut seen = Vec::new();
    while !complete(&seen) {
        match events.recv_timeout(LONG) {
            Ok(event) => seen.push(event),
            Err(error) => panic!("{error}: {seen:?}"),
        }
    }
    seen
}

/// Seven cards write 10 MB/s and one 4 MB/s, for which a depth of 8 is too much.
#[test]
fn a_slow_node_runs_what_the_others_run_and_is_told() {
    let (coordinator, events, expected) = listen(8, None, LONG);
    let mut all = vec![able(10.0, 8); 8];
    all[5] = Ability { mounted: Mounted::Root, ..able(4.0, 2) };
    let told = settled(&coordinator, &expected, all);
    for (node, told) in told.into_iter().enumerate() {
        let told = told.unwrap();
        let shape: Vec<_> = told.loads.iter().map(|l| (l.block_bytes, l.queue_depth, l.jobs, l.standing)).collect();
        let standing = if node == 5 { Standing::LeftOut } else { Standing::Counted };
        assert_eq!(shape, [(MIB, 8, 1, standing), (4096, 32, 2, Standing::Counted)], "node {node}");
        let ratio = told.loads[0].to_typical.unwrap();
        assert!((ratio - if node == 5 { 0.4 } else { 1.0 }).abs() < 1e-9, "{ratio}");
        assert_eq!((told.by, told.nodes, told.area_bytes), (SettledBy::Nodes, 8, 64 * MIB));
    }
    let settled =
        |e: &CoordinatorEvent| if let CoordinatorEvent::Settled(_, below) = e { Some(below.clone()) } else { None };
    let offered = CoordinatorEvent::Offered(5, Mounted::Root);
    let events = events_until(&events, |seen| seen.contains(&offered) && seen.iter().any(|e| settled(e).is_some()));
    let below = events.iter().find_map(settled).unwrap();
    assert!(below.len() == 1 && below[0].node == 5, "{below:?}");
    let [load] = below[0].loads.as_slice() else { panic!("{below:?}") };
    assert_eq!(load.workload, 0);
}

/// A node that is measured later, alone, runs what the others ran.
#[test]
fn a_later_attempt_has_the_loads_of_the_first() {
    let first = Settled::from_abilities(&[&able(10.0, 8), &able(10.0, 8), &able(10.0, 8)]).unwrap();
    let (coordinator, _events, expected) = listen(1, Some(first), LONG);
    let told = settled(&coordinator, &expected, vec![able(2.0, 1)]).remove(0).unwrap();
    assert_eq!(
        (told.by, told.loads[0].queue_depth, told.loads[0].standing),
        (SettledBy::Earlier, 8, Standing::LeftOut)
    );
    // Nothing is known of another suite.
    let other = Settled { loads: Vec::new(), ..Settled::from_abilities(&[&able(10.0, 8)]).unwrap() };
    let (coordinator, _events, expected) = listen(1, Some(other), LONG);
    let told = settled(&coordinator, &expected, vec![able(2.0, 1)]).remove(0).unwrap();
    assert_eq!((told.by, told.loads[0].queue_depth, told.loads[0].standing), (SettledBy::Nodes, 1, Standing::Counted));
}

/// A node that sends an impossible offer, sends one twice or has another suite is excluded; the others continue.
#[test]
fn nodes_that_say_nonsense_are_out_and_the_others_go_on() {
    let (coordinator, events, expected) = listen(8, None, LONG);
    let mut all = vec![able(10.0, 8); 8];
    all[1].loads[0].queue_depth = 0;
    all[2].area_bytes = u64::MAX;
    all[3].loads.pop();
    let mut told = settled(&coordinator, &expected, all);
    let out: Vec<usize> = (0..8).filter(|node| told[*node].is_none()).collect();
    assert_eq!(out, [1, 2, 3]);
    let good = told.remove(0).unwrap();
    // The offer of the node with the other suite was valid, and it noticed the difference itself.
    assert_eq!((good.loads.len(), good.loads[0].queue_depth, good.nodes), (2, 8, 5));
    let left =
        |seen: &[CoordinatorEvent], node| seen.iter().any(|e| matches!(e, CoordinatorEvent::Left(n, _) if *n == node));
    events_until(&events, |seen| left(seen, 1) && left(seen, 2));
}

/// A repeat before anything is settled is none.
#[test]
fn no_node_begins_before_loads_are_settled() {
    let (coordinator, events, expected) = listen(1, None, LONG);
    let control = Control::default();
    let mut node = join(&coordinator, &expected, 0);
    assert_eq!(node.ready(RepeatStep { stage: 0, round: 0, workload: 0 }, &control), Word::Alone);
    assert!(control.stopped(), "the node ends");
    let early = "before the loads were settled";
    events_until(&events, |seen| {
        seen.iter().any(|e| matches!(e, CoordinatorEvent::Left(0, reason) if reason.contains(early)))
    });
}

/// Who joins and says nothing is late, and the others go on without it.
#[test]
fn who_says_nothing_is_not_waited_for_beyond_the_time_for_it() {
    let (coordinator, events, expected) = listen(3, None, Duration::from_secs(2));
    let silent = join(&coordinator, &expected, 2);
    let told = settled(&coordinator, &expected, vec![able(10.0, 8), able(10.0, 4)]);
    assert!(told.iter().all(|told| told.as_ref().is_some_and(|told| told.loads[0].queue_depth == 4)), "{told:?}");
    events_until(&events, |seen| seen.contains(&CoordinatorEvent::Late(2)));
    drop(silent);
}
