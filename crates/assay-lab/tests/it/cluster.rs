//! A cluster has the parts of its plan, and leaves nothing behind, however it ends.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_lab::{Cluster, ClusterPlan, Lab, LimitedCard, Limits, Missing, NodePlan, Space, lab};

/// Set if this program should hold a cluster until it is killed.
const HOLD: &str = "ASSAY_LAB_HOLDS_A_CLUSTER";
/// Processes and names of an ended cluster are gone within this time, also on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Namespaces of a process, as named in `/proc`.
fn name_spaces(process: &str) -> BTreeSet<PathBuf> {
    let kinds = ["net", "pid_for_children", "mnt", "uts"];
    kinds.iter().filter_map(|kind| std::fs::read_link(format!("/proc/{process}/ns/{kind}")).ok()).collect()
}

/// Namespaces that only this cluster has.
fn name_spaces_of(cluster: &Cluster) -> BTreeSet<PathBuf> {
    let spaces = cluster.nodes().iter().map(|node| node.space()).chain(cluster.server()).chain([cluster.control()]);
    let theirs: BTreeSet<_> = spaces.flat_map(|space| name_spaces(&space.process().to_string())).collect();
    theirs.difference(&name_spaces("self")).cloned().collect()
}

/// The namespaces that still have a process.
fn present(of: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let all = processes.flat_map(|process| name_spaces(&process.file_name().to_string_lossy()));
    all.filter(|space| of.contains(space)).collect()
}

fn assert_gone(spaces: &BTreeSet<PathBuf>, directory: &Path) {
    let begun = Instant::now();
    while !present(spaces).is_empty() || directory.exists() {
        assert!(begun.elapsed() < SOON, "{:?} {:?}", present(spaces), directory);
        std::thread::sleep(Duration::from_millis(10));
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&*directory.to_string_lossy()), "{mounts}");
}

fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Bytes per second of a stream from the server to `reader`.
fn bytes_per_second(server: &Space, reader: &Space, address: &str, bytes: usize) -> f64 {
    let listener = server.enter(|| TcpListener::bind((address, 4711))).unwrap().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&vec![7; bytes]).unwrap();
        });
        let mut stream = reader.enter(|| TcpStream::connect((address, 4711))).unwrap().unwrap();
        let begun = Instant::now();
        let mut read = 0;
        let mut buffer = vec![0; 1 << 16];
        while read < bytes {
            let more = stream.read(&mut buffer).unwrap();
            assert!(more > 0, "the stream ended after {read} bytes");
            read += more;
        }
        bytes as f64 / begun.elapsed().as_secs_f64()
    })
}

#[test]
fn nodes_are_told_apart_and_the_uplink_is_as_wide_as_asked_for() {
    const TEST: &str = "nodes_are_told_apart_and_the_uplink_is_as_wide_as_asked_for";
    const BITS: u64 = 100_000_000;
    let _lab = lab!(TEST, Lab::share());
    let card = lab!(TEST, LimitedCard::new(16 << 20, Limits { read_iops: Some(1000), ..Limits::default() }));
    let mut plan = ClusterPlan { uplink: Some(BITS), ..ClusterPlan::with_nodes(2) };
    plan.nodes.push(NodePlan::on("n3", &card));
    let cluster = lab!(TEST, Cluster::new(&plan));

    for node in cluster.nodes() {
        let script =
            "echo $(hostname) $ASSAY_LAB_NODE $HOME $ASSAY_DATA $TMPDIR; ls -d $HOME $ASSAY_DATA $TMPDIR | wc -l";
        let seen = said(cluster.ssh(node, script));
        let [home, data, temporary] =
            [node.home(), node.data(), node.temporary()].map(|path| path.display().to_string());
        assert_eq!(seen, format!("{0} {0} {home} {data} {temporary}\n3", node.name()));
        let inside = said({
            let mut command = node.command("sh");
            command.args(["-c", "hostname; echo $ASSAY_DATA"]);
            command
        });
        assert_eq!(inside, format!("{}\n{data}", node.name()));
    }
    // A process that ssh started is in the group of its card, and only that node has the card's mount.
    let group = said(cluster.ssh(&cluster.nodes()[2], "cat /proc/self/cgroup"));
    assert!(group.contains("assay-lab-"), "{group}");
    let mounted = format!("grep -c ' {} ' /proc/self/mountinfo || true", card.path().display());
    let seen: Vec<_> = cluster.nodes().iter().map(|node| said(cluster.ssh(node, &mounted))).collect();
    assert_eq!(seen, ["0", "0", "1"]);

    let inventory = std::fs::read_to_string(cluster.inventory()).unwrap();
    assert!(
        inventory.contains("n3 ansible_host=10.77.0.13 ") && inventory.contains("assay_slot=slot-3"),
        "{inventory}"
    );

    // 957 of 1,000 bits of a full segment are data; the bucket lets 256 KiB through at once.
    let server = cluster.server().unwrap();
    let reached = 8.0 * bytes_per_second(server, cluster.nodes()[0].space(), cluster.server_address(), 16 << 20);
    assert!((reached / BITS as f64 - 1.0).abs() < 0.1, "{reached} of {BITS} bit/s");
    // The link is the limit, not the server.
    let inside = 8.0 * bytes_per_second(server, server, cluster.server_address(), 16 << 20);
    assert!(inside > 3.0 * BITS as f64, "{inside}");

    // The end of the cluster also covers processes that were started on a node and left there.
    said(cluster.ssh(&cluster.nodes()[1], "nohup sleep 3600 > /dev/null 2>&1 < /dev/null & true"));
    let (spaces, directory) = (name_spaces_of(&cluster), cluster.directory().to_owned());
    assert_eq!((spaces.len(), present(&spaces).len()), (5 * 4, 5 * 4));
    drop(cluster);
    assert_gone(&spaces, &directory);
}

/// Not a test by itself: the program that the next test kills.
#[test]
fn held_until_killed() {
    if std::env::var_os(HOLD).is_none() {
        return;
    }
    match Cluster::new(&ClusterPlan::with_nodes(3)) {
        Ok(cluster) => {
            let spaces: Vec<_> = name_spaces_of(&cluster).iter().map(|space| space.display().to_string()).collect();
            eprintln!("holds {} {}", cluster.directory().display(), spaces.join(" "));
            std::thread::sleep(Duration::from_secs(600));
        }
        Err(missing) => eprintln!("missing {missing}"),
    }
}

#[test]
fn a_cluster_whose_program_is_killed_leaves_nothing() {
    const TEST: &str = "a_cluster_whose_program_is_killed_leaves_nothing";
    let _lab = lab!(TEST, Lab::share());
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "cluster::held_until_killed"])
        .env(HOLD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stderr.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| Some(line.split_once("holds ").or(line.split_once("missing "))?.1.to_owned()));
    let said = { said }.next().unwrap_or_default();
    let words: Vec<PathBuf> = said.split(' ').map(PathBuf::from).collect();
    let is_there = words[0].is_absolute();
    if is_there {
        let spaces: BTreeSet<PathBuf> = words[1..].iter().cloned().collect();
        assert_eq!(present(&spaces).len(), 4 * 4);
        program.kill().unwrap();
        program.wait().unwrap();
        assert_gone(&spaces, &words[0]);
    } else {
        program.wait().unwrap();
        lab!(TEST, Err::<(), _>(Missing(said)));
    }
}
