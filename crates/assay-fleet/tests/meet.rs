//! Nodes and a coordinator over real sockets on the loopback interface. All clocks here are one, so that the error of each
//! start is known.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_core::medium::Mounted;
use assay_engine::{Control, monotonic, sleep_until};
use assay_fleet::{
    Build, Coordinator, CoordinatorEvent, CoordinatorEvents, Endpoint, Expected, JoinError, Joining, MeetingRules,
    Mode, Node, NodeClock, NotKept, RunKey,
};
use assay_runner::{Ability, AbleLoad, Rendezvous, RepeatStep, Start, Word};

const VERSION: &str = "1.2.3";

fn build(version: &str) -> Build {
    Build { version: version.to_owned(), commit: None }
}

fn expected(nodes: usize, mode: Mode) -> Expected {
    let names = (0..nodes).map(|n| (format!("n{n}"), 1)).collect();
    let rules = MeetingRules::new(mode, nodes as u32);
    Expected {
        run: "run1".into(),
        key: RunKey::new().unwrap(),
        build: build(VERSION),
        nodes: names,
        rules,
        settled: None,
    }
}

/// Records with the number of the node that each came from.
type Kept = Arc<Mutex<Vec<(usize, Vec<u8>)>>>;

fn listen(expected: &Expected) -> (Coordinator, CoordinatorEvents, Kept) {
    let kept = Kept::default();
    let keep = Arc::clone(&kept);
    let keep = Box::new(move |node: usize, bytes: &[u8]| {
        keep.lock().unwrap().push((node, bytes.to_vec()));
        match bytes {
            b"bad" => Err(NotKept::Other("no record".to_owned())),
            b"elsewhere" => Err(NotKept::Misplaced("another card".to_owned())),
            _ => Ok(format!("id{node}")),
        }
    });
    let (coordinator, coordinator_events) = Coordinator::listen("127.0.0.1:0", expected.clone(), keep).unwrap();
    (coordinator, coordinator_events, kept)
}

fn joining(coordinator: &Coordinator, expected: &Expected, node: &str) -> Joining {
    Joining {
        address: coordinator.endpoint().to_string(),
        run: expected.run.clone(),
        node: node.to_owned(),
        key: expected.key.of_node(node),
        build: build(VERSION),
        clock: NodeClock::default(),
    }
}

/// The offer of a node, for a number of workloads.
fn able(loads: usize) -> Ability {
    let load = AbleLoad { block_bytes: 1 << 20, queue_depth: 8, jobs: 1, look: None };
    Ability { loads: vec![load; loads], area_bytes: 64 << 20, budget: Duration::from_secs(30), mounted: Mounted::There }
}

/// The start of a repeat; none where there is no such word.
fn begins(node: &mut Node, step: RepeatStep, control: &Control) -> Option<Start> {
    if let Word::Begin(start) = node.ready(step, control) { Some(start) } else { None }
}

/// Joins, begins `steps` repeats, and hands a record over; each start with the moment at which it woke.
fn take_part(joining: &Joining, steps: u32) -> (Vec<(Start, u64)>, assay_core::cluster::ClusterPart) {
    let control = Control::default();
    let mut node = Node::join(joining, &control).unwrap();
    let mut starts = Vec::new();
    let settled = node.settle(&able(3), &control).unwrap();
    assert!(
        settled.loads.len() == 3
            && settled.loads.iter().all(|load| load.queue_depth == 8 && !load.standing.is_left_out())
    );
    for workload in 0..steps {
        let start = begins(&mut node, RepeatStep { stage: 0, round: 0, workload }, &control).unwrap();
        sleep_until(start.at_ns);
        starts.push((start, monotonic()));
    }
    let part = node.part(true).unwrap();
    assert_eq!(node.deliver(b"{}").unwrap()[..2], *"id");
    (starts, part)
}

/// 28 nodes, clocks up to 10 s off and up to 100 ppm apart, three repeats.
#[test]
fn nodes_begin_together_and_the_error_is_within_its_bound() {
    let expected = expected(28, Mode::Simultaneous);
    let (coordinator, coordinator_events, kept) = listen(&expected);
    let threads: Vec<_> = (0..28i32)
        .map(|n| {
            let clock =
                NodeClock::off(i64::from(n * 2 - 27) * 10_000_000_000 / 28, f64::from(n * 2 - 27) * 100.0 / 28.0);
            let joining = Joining { clock, ..joining(&coordinator, &expected, &format!("n{n}")) };
            std::thread::spawn(move || take_part(&joining, 3))
        })
        .collect();
    let epoch = coordinator.epoch();
    let mut late = Vec::new();
    for (n, thread) in threads.into_iter().enumerate() {
        let (starts, part) = thread.join().unwrap();
        for (start, woke) in starts {
            let truth = epoch.saturating_add_signed(start.planned_ns);
            let error = start.at_ns.abs_diff(truth);
            assert!(error <= start.bound_ns.unwrap(), "node {n}: {error} ns off, {:?} told", start.bound_ns);
            assert_eq!(start.nodes, 28);
            late.push(woke.abs_diff(truth));
        }
        let clock = part.clock.unwrap();
        let drift = -f64::from(n as i32 * 2 - 27) * 100.0 / 28.0;
        let (seen, bound) = (clock.drift_ppm.unwrap(), clock.drift_bound_ppm.unwrap());
        assert!((seen - drift).abs() <= bound + 0.1, "node {n}: {seen} ± {bound}, {drift}");
        assert!(clock.exchanges >= 32, "{clock:?}");
        assert_eq!((part.attempt, part.nodes, part.mode.as_str()), (1, 28, "simultaneous"));
    }
    late.sort_unstable();
    eprintln!("late by {:.3} ms at the median, {:.3} ms at most", late[42] as f64 / 1e6, late[83] as f64 / 1e6);
    assert_eq!(kept.lock().unwrap().len(), 28);
    let recorded = coordinator_events.try_iter().filter(|h| matches!(h, CoordinatorEvent::Recorded(..))).count();
    assert_eq!(recorded, 28);
}

#[test]
fn with_one_at_a_time_no_two_measure_at_once() {
    let expected = expected(3, Mode::Staggered(1));
    let (coordinator, _happenings, _) = listen(&expected);
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let joining = joining(&coordinator, &expected, &format!("n{n}"));
            std::thread::spawn(move || (take_part(&joining, 2), monotonic()))
        })
        .collect();
    let mut turns: Vec<(u64, u64)> =
        threads.into_iter().map(|thread| thread.join().unwrap()).map(|((starts, _), end)| (starts[0].1, end)).collect();
    turns.sort_unstable();
    assert!(turns.windows(2).all(|pair| pair[0].1 < pair[1].0 + 200_000_000), "{turns:?}");
    assert!(turns.windows(2).all(|pair| pair[0].0 + 400_000_000 < pair[1].0), "{turns:?}");
}

/// A record of an earlier attempt does not end the part of its node, where the medium was another one.
#[test]
fn who_measured_another_medium_before_measures_anew() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, coordinator_events, kept) = listen(&expected);
    let control = Control::default();
    let mut node = Node::join(&joining(&coordinator, &expected, "n0"), &control).unwrap();
    let misplaced = Err(NotKept::Misplaced("another card".to_owned()));
    assert_eq!(node.deliver_earlier(b"elsewhere"), misplaced);
    node.settle(&able(1), &control).unwrap();
    assert!(begins(&mut node, RepeatStep { stage: 0, round: 0, workload: 0 }, &control).is_some());
    assert!(node.part(true).unwrap().lost.is_none());
    assert_eq!(node.deliver(b"{}").unwrap(), "id0");
    assert_eq!(kept.lock().unwrap().len(), 2);
    let refused = |h: &CoordinatorEvent| matches!(h, CoordinatorEvent::NotTaken(..) | CoordinatorEvent::Left(..));
    assert!(!coordinator_events.try_iter().any(|h| refused(&h)));
}

/// What it measured itself is its last word.
#[test]
fn a_record_of_another_medium_is_refused_in_a_word_of_its_own() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, coordinator_events, _) = listen(&expected);
    let control = Control::default();
    let mut node = Node::join(&joining(&coordinator, &expected, "n0"), &control).unwrap();
    node.settle(&able(1), &control).unwrap();
    begins(&mut node, RepeatStep { stage: 0, round: 0, workload: 0 }, &control).unwrap();
    assert_eq!(node.deliver(b"elsewhere"), Err(NotKept::Misplaced("another card".to_owned())));
    assert!(coordinator_events.try_iter().any(|h| h == CoordinatorEvent::NotTaken(0, "another card".to_owned())));
}

#[test]
fn strangers_are_turned_away_and_disturb_nobody() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, coordinator_events, _) = listen(&expected);
    let good = joining(&coordinator, &expected, "n0");
    let refused = |joining: &Joining| match Node::join(joining, &Control::default()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{joining:?} was let in"),
    };
    let other = Joining { key: RunKey::new().unwrap().of_node("n0"), ..good.clone() };
    assert!(refused(&other).contains("does not have the key"), "{}", refused(&other));
    assert_eq!(refused(&Joining { node: "n7".into(), ..good.clone() }), "no node of this name is expected");
    assert_eq!(refused(&Joining { run: "run2".into(), ..good.clone() }), "this is another run");
    let newer = Joining { build: build("2.0.0"), ..good.clone() };
    assert_eq!(refused(&newer), "the node has assay 2.0.0, the coordinator 1.2.3");
    let of_commit = |commit: &str| Build { commit: Some(commit.to_owned()), ..build(VERSION) };
    let same = refused(&Joining { build: of_commit("abc"), node: "n7".into(), ..good.clone() });
    assert_eq!(same, "no node of this name is expected", "the commit of the coordinator is not known");
    let mut browser = TcpStream::connect(coordinator.endpoint().to_string()).unwrap();
    browser.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(browser.read(&mut [0; 10]).unwrap_or(0), 0, "it is told nothing");
    // Silent connections delay no node.
    let _silent: Vec<_> = (0..20).map(|_| TcpStream::connect(coordinator.endpoint().to_string()).unwrap()).collect();
    let (starts, _) = take_part(&good, 1);
    assert_eq!(starts.len(), 1);
    assert!(refused(&good).contains("is done"), "a record is taken once");
    // The last of them may be reported after its node knows.
    let coordinator_events = std::iter::from_fn(|| coordinator_events.recv_timeout(Duration::from_secs(5)).ok());
    assert_eq!(coordinator_events.filter(|h| matches!(h, CoordinatorEvent::Refused(..))).take(6).count(), 6);
}

/// Someone at the coordinator's address without the key learns nothing, and is not accepted as the coordinator.
#[test]
fn a_node_does_not_follow_a_stranger() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.write_all(b"{\"says\":\"challenge\",\"nonce\":\"ab\",\"proof\":\"cd\"}\n").unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        heard
    });
    let key = RunKey::new().unwrap().of_node("n");
    let (run, node, build) = ("r".to_owned(), "n".to_owned(), build(VERSION));
    let joining = Joining { address: address.clone(), run, node, key, build, clock: NodeClock::default() };
    assert!(matches!(Node::join(&joining, &Control::default()), Err(JoinError::Stranger(at)) if at == address));
    let heard = thread.join().unwrap();
    assert!(heard.contains("hello") && !heard.contains("proof"), "{heard}");
    let gone = Node::join(&joining, &Control::default()).err();
    assert!(matches!(gone, Some(JoinError::Unreachable { .. })), "the listener is gone");
    let said = gone.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains(&address) && said.contains("--listen ADDRESS:PORT"), "{said}");
}

#[test]
fn a_node_that_dies_is_told_of_and_the_others_go_on() {
    let mut expected = expected(3, Mode::Simultaneous);
    expected.rules.ready_within = Duration::from_secs(3);
    let (coordinator, coordinator_events, kept) = listen(&expected);
    // One never comes, one dies before it is ready.
    drop(Node::join(&joining(&coordinator, &expected, "n1"), &Control::default()).unwrap());
    let mut alone = expected.clone();
    alone.rules.quorum = 1;
    drop(coordinator);
    drop(coordinator_events);
    let (coordinator, coordinator_events, kept_alone) = listen(&alone);
    drop(Node::join(&joining(&coordinator, &alone, "n1"), &Control::default()).unwrap());
    let (starts, _) = take_part(&joining(&coordinator, &alone, "n0"), 2);
    assert_eq!(starts[1].0.nodes, 1);
    // Nothing says that the end of a connection is noticed before a record comes.
    let mut wanted = [
        |h: &CoordinatorEvent| matches!(h, CoordinatorEvent::Left(1, _)),
        |h: &CoordinatorEvent| matches!(h, CoordinatorEvent::Late(2)),
        |h: &CoordinatorEvent| matches!(h, CoordinatorEvent::Recorded(0, id) if id == "id0"),
    ]
    .to_vec();
    while !wanted.is_empty() {
        let event = coordinator_events.recv_timeout(Duration::from_secs(60)).unwrap();
        wanted.retain(|wanted| !wanted(&event));
    }
    assert_eq!((kept.lock().unwrap().len(), kept_alone.lock().unwrap().len()), (0, 1));
}

/// The word of the end arrives while a node measures.
#[test]
fn a_node_that_measures_hears_of_the_end() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, _happenings, _) = listen(&expected);
    let control = Control::default();
    let mut node = Node::join(&joining(&coordinator, &expected, "n0"), &control).unwrap();
    node.settle(&able(1), &control).unwrap();
    assert!(begins(&mut node, RepeatStep { stage: 0, round: 0, workload: 0 }, &control).is_some());
    coordinator.end("it was interrupted");
    let begun = monotonic();
    while !control.stopped() && monotonic() < begun + 20_000_000_000 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(control.stopped() && node.part(false).unwrap().lost.is_some());
}

#[test]
fn a_node_that_loses_its_coordinator_ends() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, _happenings, _) = listen(&expected);
    let control = Control::default();
    let mut node = Node::join(&joining(&coordinator, &expected, "n0"), &control).unwrap();
    node.settle(&able(1), &control).unwrap();
    assert!(begins(&mut node, RepeatStep { stage: 0, round: 0, workload: 0 }, &control).is_some());
    drop(coordinator);
    assert!(begins(&mut node, RepeatStep { stage: 0, round: 0, workload: 1 }, &control).is_none());
    let part = node.part(false).unwrap();
    assert!(part.lost.is_some() && part.clock.is_some(), "{part:?}");
    assert!(control.stopped(), "it would be out of step, and might disturb others");
    assert!(node.deliver(b"{}").is_err());
    assert!(node.part(true).unwrap().lost.is_none(), "all was measured, and the next attempt takes the record");
}

/// How many of these are still open: those that were closed give an end or an error at once.
fn open(connections: &[TcpStream]) -> usize {
    let is_open = |mut stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        matches!(stream.read(&mut [0; 1]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    connections.iter().filter(|stream| is_open(stream)).count()
}

/// Threat 4.2: who holds all places without a word keeps no node out, whatever address it comes from. A node that found no
/// place would come in after the others were ended for their silence, all of them.
#[test]
fn silent_connections_make_way_for_nodes() {
    let expected = expected(2, Mode::Simultaneous);
    let (coordinator, events, _) = listen(&expected);
    let silent: Vec<TcpStream> =
        (0..500).map(|_| TcpStream::connect(coordinator.endpoint().to_string()).unwrap()).collect();
    let nodes = ["n0", "n1"].map(|name| joining(&coordinator, &expected, name));
    let nodes = nodes.map(|joining| std::thread::spawn(move || Node::join(&joining, &Control::default()).unwrap()));
    let nodes = nodes.map(|thread| thread.join().unwrap());
    let made_way = |event: &CoordinatorEvent| matches!(event, CoordinatorEvent::Refused(_, reason) if reason.contains("make way for others"));
    assert!(events.try_iter().any(|event| made_way(&event)));
    assert!(open(&silent) <= 192);
    drop(nodes);
}

/// The same where they come all the time.
#[test]
fn a_flood_of_connections_keeps_no_node_out() {
    let expected = expected(1, Mode::Simultaneous);
    let (coordinator, _events, _) = listen(&expected);
    let (address, stop) = (coordinator.endpoint().to_string(), Arc::new(Mutex::new(false)));
    let stopped = Arc::clone(&stop);
    let flood = std::thread::spawn(move || {
        let mut held = std::collections::VecDeque::new();
        while !*stopped.lock().unwrap() {
            held.extend(TcpStream::connect(&address));
            if held.len() > 400 {
                held.pop_front();
            }
        }
    });
    take_part(&joining(&coordinator, &expected, "n0"), 1);
    *stop.lock().unwrap() = true;
    flood.join().unwrap();
}

/// Threat 4.1: the key of one node does not admit another node.
#[test]
fn a_node_is_no_other_node_and_no_coordinator() {
    let expected = expected(2, Mode::Simultaneous);
    let (coordinator, _events, kept) = listen(&expected);
    let own = joining(&coordinator, &expected, "n0");
    let as_another = Joining { node: "n1".to_owned(), ..own.clone() };
    let refused = Node::join(&as_another, &Control::default()).unwrap_err();
    assert!(matches!(refused, JoinError::Stranger(_)), "{refused}");
    // It leads a run of its own, with the key that it has.
    let mut led = expected.clone();
    led.nodes = vec![("n1".to_owned(), 1)];
    led.key = RunKey::new().unwrap();
    let (false_coordinator, _false_events, _) = listen(&led);
    let follower =
        Joining { address: false_coordinator.endpoint().to_string(), ..joining(&coordinator, &expected, "n1") };
    assert!(matches!(Node::join(&follower, &Control::default()), Err(JoinError::Stranger(_))));
    // The place of the other is free still.
    let others = [joining(&coordinator, &expected, "n1"), own];
    let threads = others.map(|joining| std::thread::spawn(move || take_part(&joining, 1)));
    threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
    assert_eq!(kept.lock().unwrap().len(), 2);
}

/// A socket of this user alone, gone with its coordinator.
#[cfg(not(windows))]
#[test]
fn no_other_user_reaches_a_coordinator_that_listens_privately() {
    use std::os::unix::fs::PermissionsExt;

    let expected = expected(1, Mode::Simultaneous);
    let keep = Box::new(|node: usize, _: &[u8]| Ok(format!("id{node}")));
    let (coordinator, _events) = Coordinator::listen_here(expected.clone(), keep).unwrap();
    let Endpoint::Socket(path) = coordinator.endpoint().clone() else { panic!("{:?}", coordinator.endpoint()) };
    let directory = path.parent().unwrap().to_owned();
    assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    take_part(&joining(&coordinator, &expected, "n0"), 1);
    drop(coordinator);
    assert!(!directory.exists(), "{} is left", directory.display());
}
