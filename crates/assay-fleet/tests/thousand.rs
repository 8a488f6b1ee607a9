//! As many nodes as a large cluster has, over real sockets of one machine: how well they begin together.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_core::medium::Mounted;
use assay_core::units::latency;
use assay_engine::{Control, monotonic, sleep_until};
use assay_fleet::{
    Build, Coordinator, CoordinatorEvent, Expected, Joining, MeetingRules, Mode, Node, NodeClock, RunKey,
};
use assay_runner::{Ability, AbleLoad, Rendezvous, RepeatStep, Word};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a node hands over: as long as a short record.
const RECORD: usize = 20_000;
const STEPS: u32 = 3;
/// How long a node measures: it sends nothing while others may still be beginning.
const REPEAT: Duration = Duration::from_millis(300);
/// What a thread of a node needs.
const STACK: usize = 256 * 1024;

/// 1,000 nodes join, begin three repeats together and hand over their records. `ASSAY_NODES` says how many, and `ASSAY_LATE` by
/// how many milliseconds they may be late at the 95th percentile: on a machine with nothing else to do that is 20.
#[test]
fn a_thousand_nodes_begin_together_and_hand_over_their_records() {
    let set = |name, else_| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(else_);
    let count: usize = set("ASSAY_NODES", 1000);
    // Each connection has two descriptors at either end.
    let limits = getrlimit(Resource::Nofile);
    let wanted = 4 * count as u64 + 100;
    if limits.maximum.is_some_and(|most| most < wanted) {
        eprintln!("SKIP: a_thousand_nodes_begin_together_and_hand_over_their_records: needs {wanted} open files");
        return;
    }
    if limits.current.is_some_and(|most| most < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limits }).unwrap();
    }
    let names = (0..count).map(|n| (format!("n{n}"), 1)).collect();
    let rules =
        MeetingRules { ready_within: Duration::from_secs(120), ..MeetingRules::new(Mode::Simultaneous, count as u32) };
    let (run, build) = ("run1".to_owned(), Build { version: "1".to_owned(), commit: None });
    let expected = Expected { run, key: RunKey::new().unwrap(), build, nodes: names, rules, settled: None };
    let kept = Arc::new(Mutex::new(vec![0u32; count]));
    let keep = Arc::clone(&kept);
    let keep = Box::new(move |node: usize, bytes: &[u8]| {
        assert_eq!(bytes.len(), RECORD);
        keep.lock().unwrap()[node] += 1;
        Ok(format!("id{node}"))
    });
    let begun = Instant::now();
    let (coordinator, coordinator_events) = Coordinator::listen("127.0.0.1:0", expected.clone(), keep).unwrap();
    let epoch = coordinator.epoch();
    let threads: Vec<_> = (0..count)
        .map(|n| {
            let joining = Joining {
                address: coordinator.endpoint().to_string(),
                run: expected.run.clone(),
                node: format!("n{n}"),
                key: expected.key.of_node(&format!("n{n}")),
                build: expected.build.clone(),
                clock: NodeClock::default(),
            };
            let node = move || {
                let control = Control::default();
                let mut node = Node::join(&joining, &control).unwrap();
                let load = AbleLoad { block_bytes: 1 << 20, queue_depth: 8, jobs: 1, look: None };
                let budget = Duration::from_secs(30);
                let able = Ability { loads: vec![load; 3], area_bytes: 1 << 20, budget, mounted: Mounted::There };
                node.settle(&able, &control).unwrap_or_else(|| panic!("{:?}", node.part(false)));
                let late: Vec<u64> = (0..STEPS)
                    .map(|workload| {
                        let step = RepeatStep { stage: 0, round: 0, workload };
                        let Word::Begin(start) = node.ready(step, &control) else { panic!("{:?}", node.part(false)) };
                        sleep_until(start.at_ns);
                        let woke = monotonic();
                        std::thread::sleep(REPEAT);
                        assert_eq!(start.nodes as usize, count);
                        woke.saturating_sub(epoch.saturating_add_signed(start.planned_ns))
                    })
                    .collect();
                (late, node.deliver(&[b' '; RECORD]).err())
            };
            std::thread::Builder::new().stack_size(STACK).spawn(node).unwrap()
        })
        .collect();
    let (late, lost): (Vec<Vec<u64>>, Vec<_>) = threads.into_iter().map(|thread| thread.join().unwrap()).unzip();
    let mut late: Vec<u64> = late.into_iter().flatten().collect();
    late.sort_unstable();
    let coordinator_events: Vec<CoordinatorEvent> = coordinator_events.try_iter().collect();
    let lost: Vec<_> = lost.into_iter().flatten().collect();
    let unusual = coordinator_events.iter().filter(|h| {
        !matches!(h, CoordinatorEvent::Recorded(..) | CoordinatorEvent::Joined(_) | CoordinatorEvent::Offered(..))
    });
    assert!(lost.is_empty(), "{} were not taken: {lost:?}; {:?}", lost.len(), unusual.collect::<Vec<_>>());
    let p95 = late[late.len() * 95 / 100];
    let whole = begun.elapsed().as_secs_f64();
    eprintln!("{count} nodes, {} starts: {} late (p95), {whole:.1} s in all", late.len(), latency(p95 as f64));
    assert!(kept.lock().unwrap().iter().all(|times| *times == 1));
    let recorded =
        coordinator_events.iter().filter(|happening| matches!(happening, CoordinatorEvent::Recorded(..))).count();
    assert_eq!(recorded, count);
    let bound: u64 = set("ASSAY_LATE", 2000) as u64;
    assert!(p95 <= bound * 1_000_000, "{p95} ns, {bound} ms asked");
}
