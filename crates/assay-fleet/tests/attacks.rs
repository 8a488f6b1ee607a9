//! A man in the middle between a node and its coordinator listens, changes, drops, repeats and reflects messages. None
//! of them is accepted, and nothing of a record can be read.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use assay_core::medium::Mounted;
use assay_engine::Control;
use assay_fleet::{
    Build, Coordinator, CoordinatorEvents, Expected, Joining, MeetingRules, Mode, Node, NodeClock, RunKey,
};
use assay_runner::{Ability, Rendezvous, RepeatStep, Word};

const DOCUMENT: &[u8] = br#"{"hostname":"secret-host","serial":"0xdeadbeef"}"#;

/// Changes one direction of a connection. It gets each piece as it arrived, and returns the pieces to forward instead.
type Change = Box<dyn FnMut(&[u8]) -> Vec<Vec<u8>> + Send>;

fn build(version: &str) -> Build {
    Build { version: version.to_owned(), commit: None }
}

fn unchanged() -> Change {
    Box::new(|bytes| vec![bytes.to_vec()])
}

struct Run {
    expected: Expected,
    coordinator: Coordinator,
    _events: CoordinatorEvents,
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
}

fn run() -> Run {
    let rules = MeetingRules::new(Mode::Simultaneous, 1);
    let nodes = vec![("n0".to_owned(), 1)];
    let key = RunKey::new().unwrap();
    let expected = Expected { run: "run1".into(), key, build: build("1.2.3"), nodes, rules, settled: None };
    let kept = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let keep = Arc::clone(&kept);
    let keep = Box::new(move |_: usize, bytes: &[u8]| {
        keep.lock().unwrap().push(bytes.to_vec());
        Ok("id0".to_owned())
    });
    let (coordinator, events) = Coordinator::listen("127.0.0.1:0", expected.clone(), keep).unwrap();
    Run { expected, coordinator, _events: events, kept }
}

/// Bytes as they were sent, each way.
#[derive(Clone, Default)]
struct Heard {
    to_coordinator: Arc<Mutex<Vec<u8>>>,
    to_node: Arc<Mutex<Vec<u8>>>,
}

/// Stands between the next node and the coordinator; each way has its own change. The address is for the node.
fn between(run: &Run, to_coordinator: Change, to_node: Change) -> (String, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (coordinator, heard) = (run.coordinator.endpoint().to_string(), Heard::default());
    let copies = heard.clone();
    std::thread::spawn(move || {
        let node = listener.accept().unwrap().0;
        let coordinator = TcpStream::connect(coordinator).unwrap();
        let there =
            pass(node.try_clone().unwrap(), coordinator.try_clone().unwrap(), to_coordinator, copies.to_coordinator);
        let back = pass(coordinator, node, to_node, copies.to_node);
        (there.join(), back.join())
    });
    (address, heard)
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut change: Change, copy: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            copy.lock().unwrap().extend_from_slice(&bytes[..count]);
            for piece in change(&bytes[..count]) {
                if to.write_all(&piece).is_err() {
                    break;
                }
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    })
}

/// A whole part in the run; whether the record was taken as the node sent it.
fn take_part(run: &Run, address: String) -> Result<(), String> {
    let (name, build, node) = (run.expected.run.clone(), run.expected.build.clone(), "n0".to_owned());
    let key = run.expected.key.of_node("n0");
    let joining = Joining { address, run: name, node, key, build, clock: NodeClock::default() };
    let control = Control::default();
    let mut node = Node::join(&joining, &control).map_err(|error| error.to_string())?;
    let budget = std::time::Duration::from_secs(30);
    let able = Ability { loads: Vec::new(), area_bytes: 1 << 20, budget, mounted: Mounted::There };
    node.settle(&able, &control).ok_or("it was lost before loads were settled")?;
    let Word::Begin(_) = node.ready(RepeatStep { stage: 0, round: 0, workload: 0 }, &control) else {
        return Err("it was lost before it began".to_owned());
    };
    node.deliver(DOCUMENT).map(drop).map_err(|why| why.to_string())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Threat 4.4. Identities are sent before there is a key; everything else is sealed.
#[test]
fn a_bystander_reads_who_takes_part_and_nothing_else() {
    let run = run();
    let (address, heard) = between(&run, unchanged(), unchanged());
    take_part(&run, address).unwrap();
    assert_eq!(*run.kept.lock().unwrap(), [DOCUMENT]);
    let (there, back) = (heard.to_coordinator.lock().unwrap(), heard.to_node.lock().unwrap());
    assert!(contains(&there, b"run1") && contains(&there, b"n0") && contains(&there, b"1.2.3"));
    for word in ["hostname", "secret", "deadbeef", "ping", "ready", "record", "sent", "go", "id0", "welcome", "kept"] {
        // Three letters may come about by chance, in some 5,000 bytes: once in a thousand runs.
        let quoted = format!("\"{word}\"");
        assert!(!contains(&there, quoted.as_bytes()) && !contains(&back, quoted.as_bytes()), "{word}");
    }
    assert!(!contains(&there, b"deadbeef") && !contains(&there, b"secret"));
}

/// A message of one connection is not valid in another, in either direction.
#[test]
fn what_was_recorded_cannot_be_said_again() {
    let first = run();
    let (address, heard) = between(&first, unchanged(), unchanged());
    take_part(&first, address).unwrap();
    let said = heard.to_coordinator.lock().unwrap().clone();
    // A coordinator with the same keys, as if it had begun anew.
    let again = Run { expected: first.expected.clone(), ..run_of(first.expected.clone()) };
    let mut stream = TcpStream::connect(again.coordinator.endpoint().to_string()).unwrap();
    let _ = stream.write_all(&said);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!contains(&answer, b"welcome") && again.kept.lock().unwrap().is_empty());
    take_part(&again, again.coordinator.endpoint().to_string()).unwrap();
    // And a false coordinator that says what the true one said.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, said) = (listener.local_addr().unwrap().to_string(), heard.to_node.lock().unwrap().clone());
    let liar = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.write_all(&said);
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        heard
    });
    assert!(take_part(&first, address).unwrap_err().contains("does not have the key"));
    assert!(!contains(&liar.join().unwrap(), b"proof"), "a node shows nothing to who has not shown the key");
}

fn run_of(expected: Expected) -> Run {
    let kept = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let keep = Arc::clone(&kept);
    let keep = Box::new(move |_: usize, bytes: &[u8]| {
        keep.lock().unwrap().push(bytes.to_vec());
        Ok("id0".to_owned())
    });
    let (coordinator, events) = Coordinator::listen("127.0.0.1:0", expected.clone(), keep).unwrap();
    Run { expected, coordinator, _events: events, kept }
}

/// Splits what goes by into the pieces of the protocol: lines until the last of the greeting, then frames.
struct Pieces {
    lines: usize,
    pending: Vec<u8>,
    seen: usize,
}

impl Pieces {
    /// `lines` of the greeting go this way.
    fn new(lines: usize) -> Self {
        Self { lines, pending: Vec::new(), seen: 0 }
    }

    /// Pieces that are whole by now, with their numbers.
    fn take(&mut self, bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
        self.pending.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        loop {
            let length = if self.seen < self.lines {
                self.pending.iter().position(|byte| *byte == b'\n').map(|at| at + 1)
            } else {
                self.pending.first_chunk::<3>().map(|head| 3 + usize::from(u16::from_be_bytes([head[1], head[2]])))
            };
            match length.filter(|length| *length <= self.pending.len()) {
                Some(length) => pieces.push((self.seen, self.pending.drain(..length).collect())),
                None => return pieces,
            }
            self.seen += 1;
        }
    }
}

/// Replaces one piece, counted from 0, by the result of `change`.
fn at(lines: usize, number: usize, change: fn(Vec<u8>) -> Vec<Vec<u8>>) -> Change {
    let mut pieces = Pieces::new(lines);
    Box::new(move |bytes| {
        let whole = pieces.take(bytes);
        whole.into_iter().flat_map(|(at, piece)| if at == number { change(piece) } else { vec![piece] }).collect()
    })
}

fn flip(mut piece: Vec<u8>, byte: usize) -> Vec<Vec<u8>> {
    piece[byte] ^= 0x20;
    vec![piece]
}

/// Every piece of the greeting, the first frames and later ones, each way: a bit is changed in the header, the content or the
/// tag, a piece is left out, comes twice, or is cut short. No record is taken, or the one that the node sent.
#[test]
fn what_is_changed_on_the_way_is_not_taken() {
    type Named = (&'static str, fn(Vec<u8>) -> Vec<Vec<u8>>);
    let changes: [Named; 7] = [
        ("kind", |piece| flip(piece, 0)),
        ("length", |piece| flip(piece, 2)),
        ("content", |piece| flip(piece, 4)),
        ("tag", |piece| {
            let last = piece.len() - 2;
            flip(piece, last)
        }),
        ("left out", |_| Vec::new()),
        ("twice", |piece| vec![piece.clone(), piece]),
        ("cut short", |piece| vec![piece[..piece.len() / 2].to_vec()]),
    ];
    // Left out or cut short, a piece is waited for: that ends when the connection does, and is a test of its own.
    let waited_for = |name: &str| matches!(name, "left out" | "cut short" | "length" | "kind");
    let mut threads = Vec::new();
    for (name, change) in changes {
        for (there, number) in [(true, 0), (true, 1), (true, 2), (true, 9), (false, 0), (false, 1), (false, 9)] {
            if waited_for(name) && (number < 2 || name == "length") {
                continue;
            }
            threads.push((
                name,
                there,
                number,
                std::thread::spawn(move || {
                    let run = run();
                    let (to_coordinator, to_node) =
                        if there { (at(2, number, change), unchanged()) } else { (unchanged(), at(1, number, change)) };
                    let (address, _) = between(&run, to_coordinator, to_node);
                    let result = take_part(&run, address);
                    let kept = run.kept.lock().unwrap().clone();
                    (result, kept)
                }),
            ));
        }
    }
    let run = run();
    let (address, _) = between(&run, at(2, 9, |piece| vec![piece]), at(1, 9, |piece| vec![piece]));
    take_part(&run, address).expect("unchanged it is taken");
    for (name, there, number, thread) in threads {
        let (result, kept) = thread.join().unwrap();
        assert!(
            result.is_err(),
            "{name} of piece {number}, {}: taken",
            if there { "to the coordinator" } else { "back" }
        );
        assert!(kept.is_empty(), "{name} of piece {number}");
    }
}

/// Two frames change places, and a frame goes back to who sent it.
#[test]
fn frames_in_another_order_or_sent_back_are_not_taken() {
    let swapped = || -> Change {
        let (mut pieces, mut held) = (Pieces::new(2), None);
        Box::new(move |bytes| {
            let mut passed = Vec::new();
            for (at, piece) in pieces.take(bytes) {
                match at {
                    5 => held = Some(piece),
                    6 => passed.extend([Some(piece), held.take()].into_iter().flatten()),
                    _ => passed.push(piece),
                }
            }
            passed
        })
    };
    let swapping = run();
    let (address, _) = between(&swapping, swapped(), unchanged());
    // The node asks its clock questions one by one. If one is held back, it continues after a while.
    assert!(take_part(&swapping, address).is_err() && swapping.kept.lock().unwrap().is_empty());

    // The last message of the node is sent back to it instead of the next answer.
    let last = Arc::<Mutex<Vec<u8>>>::default();
    let noted = Arc::clone(&last);
    let mut pieces = Pieces::new(2);
    let noting: Change = Box::new(move |bytes| {
        let whole: Vec<_> = pieces.take(bytes).into_iter().map(|(_, piece)| piece).collect();
        if let Some(piece) = whole.last() {
            noted.lock().unwrap().clone_from(piece);
        }
        whole
    });
    let mut answers = Pieces::new(1);
    let reflecting: Change = Box::new(move |bytes| {
        let whole = answers.take(bytes).into_iter();
        whole.map(|(at, piece)| if at == 7 { last.lock().unwrap().clone() } else { piece }).collect()
    });
    let reflected = run();
    let (address, _) = between(&reflected, noting, reflecting);
    assert!(take_part(&reflected, address).is_err() && reflected.kept.lock().unwrap().is_empty());
}

/// The proof of the coordinator is not a proof of a node: sent back, it admits no connection.
#[test]
fn the_proof_of_the_coordinator_is_no_proof_of_a_node() {
    let run = run();
    let mut stream = TcpStream::connect(run.coordinator.endpoint().to_string()).unwrap();
    let hello = r#"{"says":"hello","protocol":4,"version":"1.2.3","commit":"","run":"run1","node":"n0","nonce":"00"}"#;
    writeln!(stream, "{hello}").unwrap();
    let mut challenge = Vec::new();
    while !challenge.ends_with(b"\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        challenge.push(byte[0]);
    }
    let challenge: serde_json::Value = serde_json::from_slice(&challenge).unwrap();
    writeln!(stream, r#"{{"says":"proof","proof":{}}}"#, challenge["proof"]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("does not have the key"), "{answer}");
}
