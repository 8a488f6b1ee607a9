//! The side that nodes connect to: admits them, answers their clock requests, starts repeats, and takes the records.

use std::fmt;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_core::cluster::SettledBy;
use assay_engine::monotonic;
use assay_runner::{Ability, AbleLoad, CommonLoads, RepeatStep};

use super::key::Seal;
use super::settle::{Offers, offered};
use super::transport::Unauthenticated;
use crate::accept::RecordRefusal;
use crate::ansible::PrivateDirectory;
use crate::event_queue::{CoordinatorEvent, CoordinatorEvents, EventSender, event_queue};
use crate::join::connect;
use crate::key::{Greeting, Purpose, RunKey, nonce};
use crate::meeting::{Decision, Meeting, MeetingRules};
use crate::message::{Build, FromCoordinator, FromNode, PROTOCOL, known_commit};
use crate::settle::{NotCounted, Settled};
use crate::system;
use crate::transport::{Connection, Endpoint, Listener};
use crate::wire::{Receiver, Sender, WireError};

/// Time for a connection to identify itself as a node.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A node that sends nothing for this long is lost. It sends a line a second, except around the beginning of a repeat.
const SILENCE: Duration = Duration::from_secs(30);
/// Time for the system to accept a line.
const SEND: Duration = Duration::from_secs(5);
/// Time for a node to leave after its answer.
const LEAVING: Duration = Duration::from_secs(2);
/// Interval at which timeouts are checked.
const TICK: Duration = Duration::from_millis(50);
/// The coordinator waits for nodes that are far below the others for at most a tenth of the time of the suite.
const PATIENCE: u32 = 10;
/// The shortest such wait, for short suites: a wrong first look must not cost a node its only repeat.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);
/// Stack size of the thread of a connection.
const STACK: usize = 256 * 1024;

/// The nodes expected in a run, and its rules.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Identity of the run.
    pub run: String,
    /// The secret of the coordinator; the keys of nodes are derived from it.
    pub key: RunKey,
    /// The program that nodes must have.
    pub build: Build,
    /// Names of the nodes with the number of the attempt of each, from 1.
    pub nodes: Vec<(String, u32)>,
    /// How they meet.
    pub rules: MeetingRules,
    /// The loads, where an earlier attempt of the run settled them.
    pub settled: Option<Settled>,
}

/// Why a record is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotKept {
    /// The record is of another medium than expected.
    Misplaced(String),
    /// Something else.
    Other(String),
}

impl From<String> for NotKept {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

impl From<RecordRefusal> for NotKept {
    fn from(refusal: RecordRefusal) -> Self {
        match refusal {
            RecordRefusal::Misplaced(reason) => Self::Misplaced(reason),
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Misplaced(reason) | Self::Other(reason)) = self;
        f.write_str(reason)
    }
}

/// Keeps the record of a node (its number and the document), and returns its identity, or why it was not kept. In a run it
/// leads to [`crate::Home::accept`].
pub type Keep = Box<dyn Fn(usize, &[u8]) -> Result<String, NotKept> + Send + Sync>;

struct Shared {
    expected: Expected,
    keep: Keep,
    /// When the clock of the run read zero.
    epoch: u64,
    meeting: Mutex<Meeting>,
    /// What each node said that it can do.
    abilities: Vec<Mutex<Option<Ability>>>,
    senders: Vec<Mutex<Option<Arc<Mutex<Sender>>>>>,
    coordinator_events: EventSender,
    /// Connections that have not shown the key.
    unauthenticated: Unauthenticated,
    ends: AtomicBool,
}

/// A run under way, as its nodes see it.
pub struct Coordinator {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    /// Accepts connections, and has the socket with its directory.
    accepting: Option<JoinHandle<()>>,
}

impl Coordinator {
    /// Listens at `address`; from now on the run's clock counts. What happens comes out of the queue.
    ///
    /// # Errors
    /// Where the system does not give the address, or no thread.
    pub fn listen(
        address: impl std::net::ToSocketAddrs,
        expected: Expected,
        keep: Keep,
    ) -> std::io::Result<(Self, CoordinatorEvents)> {
        Self::begin(Box::new(TcpListener::bind(address)?), expected, keep)
    }

    /// The same for processes of this user on this machine, and for tunnels: at a socket in a directory of this user alone, so
    /// that no other user of this machine can connect. Where the system has no such sockets, or no directory for one, it is an
    /// address of the loopback interface: [`Self::endpoint`] tells.
    ///
    /// # Errors
    /// Where there is no such address either, or no thread.
    pub fn listen_here(expected: Expected, keep: Keep) -> std::io::Result<(Self, CoordinatorEvents)> {
        match system::listen_privately(PrivateDirectory::bare) {
            Ok(listener) => Self::begin(listener, expected, keep),
            Err(_) => Self::listen((std::net::Ipv4Addr::LOCALHOST, 0), expected, keep),
        }
    }

    fn begin(
        listener: Box<dyn Listener>,
        expected: Expected,
        keep: Keep,
    ) -> std::io::Result<(Self, CoordinatorEvents)> {
        let endpoint = listener.endpoint()?;
        let (sender, coordinator_events) = event_queue();
        let shared = Arc::new(Shared {
            meeting: Mutex::new(Meeting::new(expected.rules.clone(), 0)),
            abilities: expected.nodes.iter().map(|_| Mutex::default()).collect(),
            senders: expected.nodes.iter().map(|_| Mutex::default()).collect(),
            expected,
            keep,
            epoch: monotonic(),
            coordinator_events: sender,
            unauthenticated: Unauthenticated::default(),
            ends: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let accepting = std::thread::Builder::new().spawn(move || accept(&accepting, listener.as_ref()))?;
        let ticking = Arc::clone(&shared);
        std::thread::Builder::new().spawn(move || {
            while !ticking.ends.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                ticking.unauthenticated.tidy(monotonic());
                ticking.decide();
            }
        })?;
        Ok((Self { shared, endpoint, accepting: Some(accepting) }, coordinator_events))
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// When the run's clock read zero, by [`monotonic`].
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.shared.epoch
    }

    /// A node takes no part any more: its launcher says that it ended, or could not be reached.
    pub fn give_up(&self, node: usize) {
        lock(&self.shared.meeting).over(node);
        self.shared.drop_sender(node);
        self.shared.decide();
    }

    /// Ends the run: nodes that wait or measure end as soon as they hear of it.
    pub fn end(&self, reason: &str) {
        for node in 0..self.shared.senders.len() {
            let _ = self.shared.send(node, &FromCoordinator::Refused { reason: reason.to_owned() });
            lock(&self.shared.meeting).over(node);
        }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        (0..self.shared.senders.len()).for_each(|node| self.shared.drop_sender(node));
        // The accepting thread waits for a connection.
        let woken = connect(&self.endpoint.to_string(), Duration::from_secs(1)).is_ok();
        // The process may end after this. The files that it made in the temporary directory are gone by then.
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn now_ns(&self) -> i64 {
        i64::try_from(monotonic().saturating_sub(self.epoch)).unwrap_or(i64::MAX)
    }

    fn tell(&self, happening: CoordinatorEvent) {
        self.coordinator_events.tell(happening);
    }

    fn drop_sender(&self, node: usize) {
        if let Some(sender) = lock(&self.senders[node]).take() {
            lock(&sender).close();
        }
    }

    /// Whether the message was sent. A node that cannot be reached is noticed by the thread of its connection.
    fn send(&self, node: usize, message: &FromCoordinator) -> bool {
        let sender = lock(&self.senders[node]).clone();
        sender.is_some_and(|sender| lock(&sender).send(message).is_ok())
    }

    /// The same unless another thread sends something to it; whether it was done.
    fn send_at_once(&self, node: usize, message: &FromCoordinator) -> bool {
        let sender = lock(&self.senders[node]).clone();
        let Some(sender) = sender else { return true };
        let Ok(mut sender) = sender.try_lock() else { return false };
        let _ = sender.send(message);
        true
    }

    /// Carries out what follows from what happened by now.
    fn decide(&self) {
        // The lock is not held while lines are sent.
        let decisions = lock(&self.meeting).decide(self.now_ns());
        for decision in decisions {
            match decision {
                Decision::Settle(nodes) => self.settle(&nodes),
                Decision::Skip(node, RepeatStep { stage, round, workload }) => {
                    let _ = self.send(node, &FromCoordinator::Skip { stage, round, workload });
                }
                Decision::Start(start) => {
                    let RepeatStep { stage, round, workload } = start.step;
                    let nodes = u32::try_from(start.nodes.len()).unwrap_or(u32::MAX);
                    let word = FromCoordinator::Go { stage, round, workload, at: start.at_ns, nodes };
                    // Those to whom something is just being sent come last, so that none keeps the others waiting.
                    let later: Vec<usize> =
                        start.nodes.iter().copied().filter(|node| !self.send_at_once(*node, &word)).collect();
                    later.into_iter().for_each(|node| _ = self.send(node, &word));
                    self.tell(CoordinatorEvent::Goes(start.nodes, start.step, start.at_ns));
                }
                // Events come before the word to the nodes, so that none is later than what a node does then.
                Decision::Late(node) => {
                    self.tell(CoordinatorEvent::Late(node));
                    let _ =
                        self.send(node, &FromCoordinator::Refused { reason: "it was not ready in time".to_owned() });
                    self.drop_sender(node);
                }
                Decision::TooFew { ready } => {
                    self.tell(CoordinatorEvent::TooFew(ready));
                    let reason = format!("too few nodes were ready: {ready} of {}", self.expected.nodes.len());
                    (0..self.senders.len())
                        .for_each(|node| _ = self.send(node, &FromCoordinator::Refused { reason: reason.clone() }));
                    (0..self.senders.len()).for_each(|node| self.drop_sender(node));
                }
            }
        }
    }
}

impl Shared {
    /// Settles the loads of these nodes, and tells each.
    fn settle(&self, nodes: &[usize]) {
        let abilities: Vec<(usize, Ability)> =
            nodes.iter().filter_map(|node| Some((*node, lock(&self.abilities[*node]).clone()?))).collect();
        let own: Vec<&Ability> = abilities.iter().map(|(_, able)| able).collect();
        let Some(now) = Settled::from_abilities(&own) else { return };
        let earlier = self.expected.settled.clone().filter(|known| known.loads.len() == now.loads.len());
        let (settled, by) = earlier.map_or((now, SettledBy::Nodes), |known| (known, SettledBy::Earlier));
        let mut budgets: Vec<Duration> = own.iter().map(|able| able.budget).collect();
        budgets.sort_unstable();
        let patience =
            budgets.get(budgets.len() / 2).map_or(Duration::ZERO, |budget| *budget / PATIENCE).max(LEAST_PATIENCE);
        let common: Vec<(usize, CommonLoads)> =
            abilities.iter().map(|(node, able)| (*node, settled.for_node(able, by))).collect();
        let both = abilities.iter().zip(&common);
        let left_out: Vec<NotCounted> =
            both.filter_map(|((node, able), (_, common))| NotCounted::among(*node, able, common)).collect();
        {
            let mut meeting = lock(&self.meeting);
            meeting.be_patient(patience.min(self.expected.rules.patience));
            left_out.iter().for_each(|one| meeting.lags(one.node));
        }
        self.tell(CoordinatorEvent::Settled(settled, left_out));
        for (node, common) in common {
            // Who takes nothing any more keeps the others waiting once.
            let _ = offered(by, &common).iter().all(|word| self.send(node, word));
        }
    }

    /// Takes what a node says that it can do.
    fn offered(&self, node: usize, able: Ability) -> Result<(), WireError> {
        let mounted = able.mounted;
        *lock(&self.abilities[node]) = Some(able);
        if !lock(&self.meeting).offers(node) {
            return Err(WireError::Malformed("a second offer, or one too late".to_owned()));
        }
        self.tell(CoordinatorEvent::Offered(node, mounted));
        self.decide();
        Ok(())
    }
}

fn accept(shared: &Arc<Shared>, listener: &dyn Listener) {
    loop {
        let accepted = listener.accept();
        if shared.ends.load(Ordering::Relaxed) {
            return;
        }
        let accepted = accepted.and_then(|(connection, from)| Ok((connection.again()?, connection, from)));
        let Ok((again, connection, from)) = accepted else {
            // Out of descriptors for the moment, or a connection that was gone again.
            std::thread::sleep(TICK);
            continue;
        };
        let place = shared.unauthenticated.enter(from, again, monotonic());
        let serving = Arc::clone(shared);
        let begun = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            if let Err(reason) = serve(&serving, connection, place) {
                serving.tell(CoordinatorEvent::Refused(from.to_string(), reason));
            }
        });
        if begun.is_err() {
            shared.unauthenticated.leave(place);
        }
    }
}

/// One connection, from its first line to its end. The error is why it was refused.
fn serve(shared: &Shared, connection: Box<dyn Connection>, place: u64) -> Result<(), String> {
    let known = meet(shared, connection, place);
    let stays = shared.unauthenticated.leave(place);
    let made_way = |reason| if stays { reason } else { "it had to make way for others".to_owned() };
    let (node, sender, mut receiver) = known.map_err(made_way)?;
    let sender = Arc::new(Mutex::new(sender));
    *lock(&shared.senders[node]) = Some(Arc::clone(&sender));
    shared.tell(CoordinatorEvent::Joined(node));
    let end = converse(shared, node, &sender, &mut receiver);
    if let Err(error) = &end {
        shared.tell(CoordinatorEvent::Left(node, error.to_string()));
    }
    lock(&shared.meeting).over(node);
    match end {
        Ok(()) => drop(lock(&shared.senders[node]).take()),
        Err(_) => shared.drop_sender(node),
    }
    shared.decide();
    // Closed with lines of it unread, the connection would be reset, and the answer lost on its way.
    lock(&sender).ends();
    receiver.drain(LEAVING);
    lock(&sender).close();
    Ok(())
}

/// Sets a connection up, and lets a node in.
fn meet(shared: &Shared, connection: Box<dyn Connection>, place: u64) -> Result<(usize, Sender, Receiver), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    connection.write_within(SEND).map_err(|e| words(&e))?;
    let mut sender = Sender::new(connection.again().map_err(|e| words(&e))?);
    let mut receiver = Receiver::new(connection);
    let node = let_in(shared, &mut sender, &mut receiver, place)?;
    Ok((node, sender, receiver))
}

/// Both show that they hold the key of the node, the coordinator first: a node tells nothing to strangers.
fn let_in(shared: &Shared, sender: &mut Sender, receiver: &mut Receiver, place: u64) -> Result<usize, String> {
    let words = |error: WireError| error.to_string();
    let FromNode::Hello { protocol, version, commit, run, node, nonce: theirs } =
        receiver.receive(HANDSHAKE).map_err(words)?
    else {
        return Err("it did not say who it is".to_owned());
    };
    shared.unauthenticated.heard(place, monotonic());
    let expected = &shared.expected;
    let mut refuse = |reason: String| {
        let _ = sender.send(&FromCoordinator::Refused { reason: reason.clone() });
        Err(reason)
    };
    if run != expected.run {
        return refuse("this is another run".to_owned());
    }
    let (there_is, here_is) = (Build { version, commit: known_commit(&commit) }, &expected.build);
    if protocol != PROTOCOL && there_is.version == here_is.version {
        let version = &there_is.version;
        return refuse(format!(
            "the node has assay {version} with protocol {protocol}, the coordinator with {PROTOCOL}"
        ));
    }
    if protocol != PROTOCOL || !there_is.is_same(here_is) {
        let (there, here) = (there_is.told_from(here_is), here_is.told_from(&there_is));
        return refuse(format!("the node has assay {there}, the coordinator {here}"));
    }
    let version = &there_is.version;
    let Some(number) = expected.nodes.iter().position(|(name, _)| *name == node) else {
        return refuse("no node of this name is expected".to_owned());
    };
    let key = expected.key.of_node(&node);
    let ours = nonce().map_err(|error| error.to_string())?;
    let greeting = Greeting { protocol, version, commit: &commit, run: &run, node: &node, nonces: [&theirs, &ours] };
    let proof = key.says(Purpose::CoordinatorProof, &greeting).to_hex().to_string();
    sender.send(&FromCoordinator::Challenge { nonce: ours.clone(), proof }).map_err(words)?;
    let proven = match receiver.receive(HANDSHAKE).map_err(words)? {
        // Hashes compare in constant time.
        FromNode::Proof { proof } => {
            blake3::Hash::from_hex(proof).is_ok_and(|proof| proof == key.says(Purpose::NodeProof, &greeting))
        }
        _ => false,
    };
    if !proven {
        let _ = sender.send(&FromCoordinator::Refused { reason: "it does not have the key of this node".to_owned() });
        return Err(format!("it says that it is {node}, and does not have the key of this node"));
    }
    sender.seal_by(Seal::new(&key, Purpose::ToNode, &greeting));
    receiver.seal_by(Seal::new(&key, Purpose::ToCoordinator, &greeting));
    // It may have made way at this very moment: then it comes again.
    if !shared.unauthenticated.leave(place) {
        return Err(String::new());
    }
    if !lock(&shared.meeting).joins(number) {
        let reason = "it takes part already, is done, or came too late".to_owned();
        let _ = sender.send(&FromCoordinator::Refused { reason: reason.clone() });
        return Err(format!("{node}: {reason}"));
    }
    let nodes = expected.rules.nodes;
    let welcome = FromCoordinator::Welcome {
        attempt: expected.nodes[number].1,
        nodes,
        mode: expected.rules.mode.name().to_owned(),
        at_a_time: expected.rules.mode.at_a_time(nodes),
    };
    if let Err(error) = sender.send(&welcome) {
        shared.tell(CoordinatorEvent::Left(number, error.to_string()));
        lock(&shared.meeting).over(number);
    }
    Ok(number)
}

/// Answers a node until its record is there.
fn converse(shared: &Shared, node: usize, sender: &Mutex<Sender>, receiver: &mut Receiver) -> Result<(), WireError> {
    let mut measures = false;
    let mut offers = Offers::default();
    loop {
        let message = receiver.receive(SILENCE);
        let received = shared.now_ns();
        match message? {
            FromNode::Ping { sent } => {
                let mut sender = lock(sender);
                sender.send(&FromCoordinator::Pong { sent, received, answered: shared.now_ns() })?;
            }
            FromNode::Able { workload, block_bytes, queue_depth, jobs, look } => {
                offers.add(workload, AbleLoad { block_bytes, queue_depth, jobs, look })?;
            }
            FromNode::Offer { loads, area_bytes, budget_ms, mounted } => {
                shared.offered(node, offers.complete(loads, area_bytes, budget_ms, mounted)?)?;
            }
            FromNode::Ready { stage, round, workload } => {
                let step = RepeatStep { stage, round, workload };
                if !lock(&shared.meeting).ready(node, step, shared.now_ns()) {
                    return Err(WireError::Malformed(
                        "a repeat before the last one, or before the loads were settled".to_owned(),
                    ));
                }
                measures = true;
                shared.tell(CoordinatorEvent::Ready(node, step));
                shared.decide();
            }
            FromNode::Live(live) => shared.tell(CoordinatorEvent::Live(node, live)),
            FromNode::Record { bytes, hash } => {
                let document = received_record(receiver, bytes, &hash)?;
                match (shared.keep)(node, &document) {
                    // One of an earlier attempt: the node measures anew.
                    Err(NotKept::Misplaced(reason)) if !measures => {
                        lock(sender).send(&FromCoordinator::Misplaced { reason })?;
                    }
                    kept => {
                        answer(shared, node, sender, kept);
                        return Ok(());
                    }
                }
            }
            FromNode::Hello { .. } | FromNode::Proof { .. } => {
                return Err(WireError::Malformed("a second beginning".to_owned()));
            }
        }
    }
}

fn received_record(receiver: &mut Receiver, bytes: u64, hash: &str) -> Result<Vec<u8>, WireError> {
    if bytes > crate::wire::MAX_RECORD {
        return Err(WireError::Malformed(format!("a record of {bytes} bytes")));
    }
    let document = receiver.receive_bytes(bytes, SILENCE)?;
    if blake3::hash(&document).to_hex().as_str() == hash { Ok(document) } else { Err(WireError::Seal) }
}

/// Says what became of a record. A node that does not hear of it keeps its own.
fn answer(shared: &Shared, node: usize, sender: &Mutex<Sender>, kept: Result<String, NotKept>) {
    let word = match kept {
        Ok(id) => {
            shared.tell(CoordinatorEvent::Recorded(node, id.clone()));
            FromCoordinator::Kept { id }
        }
        Err(why) => {
            shared.tell(CoordinatorEvent::NotTaken(node, why.to_string()));
            match why {
                NotKept::Misplaced(reason) => FromCoordinator::Misplaced { reason },
                NotKept::Other(reason) => FromCoordinator::Refused { reason },
            }
        }
    };
    let _ = lock(sender).send(&word);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use assay_core::medium::Mounted;

    use super::*;
    use crate::join::JoinedConnection;
    use crate::meeting::Mode;
    use crate::message::Live;
    use crate::{Joining, NodeClock};

    /// A run with one node, which has joined.
    fn joined(keep: Keep) -> (Coordinator, CoordinatorEvents, JoinedConnection) {
        let key = RunKey::new().unwrap();
        let (run, build) = ("r".to_owned(), Build { version: "1.0".to_owned(), commit: None });
        let rules = MeetingRules::new(Mode::Simultaneous, 1);
        let nodes = vec![("n0".to_owned(), 1)];
        let (key_of_run, of_run) = (key.clone(), run.clone());
        let expected = Expected { run: of_run, key: key_of_run, build: build.clone(), nodes, rules, settled: None };
        let (coordinator, events) = Coordinator::listen("127.0.0.1:0", expected, keep).unwrap();
        let (address, node) = (coordinator.endpoint().to_string(), "n0".to_owned());
        let joining = Joining { address, run, node, key: key.of_node("n0"), build, clock: NodeClock::default() };
        let joined = crate::join::meet(&joining, &assay_engine::Control::default()).unwrap();
        (coordinator, events, joined)
    }

    /// Bytes are sealed on their way, but a node may read other bytes than it hashed.
    #[test]
    fn a_record_with_another_hash_is_not_kept() {
        let (_coordinator, events, mut joined) = joined(Box::new(|_, _| Ok("id0".to_owned())));
        let hash = blake3::hash(b"{}").to_hex().to_string();
        joined.sender.send(&FromNode::Record { bytes: 2, hash }).unwrap();
        joined.sender.send_bytes(b"[]").unwrap();
        let is_end = |event: &CoordinatorEvent| {
            matches!(
                event,
                CoordinatorEvent::Left(..) | CoordinatorEvent::Recorded(..) | CoordinatorEvent::NotTaken(..)
            )
        };
        let end = std::iter::from_fn(|| events.recv_timeout(HANDSHAKE).ok()).find(is_end);
        assert_eq!(end, Some(CoordinatorEvent::Left(0, WireError::Seal.to_string())));
    }

    /// Threat 4.5: a node sends as fast as it can, and its events are not taken.
    #[test]
    fn a_reader_that_stands_still_is_told_the_newest_and_the_end() {
        let (_coordinator, events, mut joined) = joined(Box::new(|_, _| Ok("id0".to_owned())));
        let offer = FromNode::Offer { loads: 0, area_bytes: 4096, budget_ms: 1, mounted: Mounted::There };
        joined.sender.send(&offer).unwrap();
        while !matches!(joined.receiver.receive(HANDSHAKE).unwrap(), FromCoordinator::Settled { .. }) {}
        for at in 0..5000u16 {
            let live = Live { done: f32::from(at), ..Live::default() };
            joined.sender.send(&FromNode::Live(live)).unwrap();
            joined.sender.send(&FromNode::Ready { stage: 0, round: u32::from(at), workload: 0 }).unwrap();
        }
        let hash = blake3::hash(b"{}").to_hex().to_string();
        joined.sender.send(&FromNode::Record { bytes: 2, hash }).unwrap();
        joined.sender.send_bytes(b"{}").unwrap();
        // When the record has been taken, so have all messages before it, and the replies to them were sent.
        while !matches!(joined.receiver.receive(HANDSHAKE).unwrap(), FromCoordinator::Kept { .. }) {}
        assert!(events.waiting() < 1100, "{}", events.waiting());
        let all: Vec<_> = events.try_iter().collect();
        let newest: Vec<f32> = all
            .iter()
            .filter_map(|e| if let CoordinatorEvent::Live(0, live) = e { Some(live.done) } else { None })
            .collect();
        assert_eq!(newest, [4999.0]);
        assert!(all.contains(&CoordinatorEvent::Recorded(0, "id0".to_owned())));
        assert!(all.iter().any(|event| matches!(event, CoordinatorEvent::Skipped(many) if *many > 5000)), "{all:?}");
    }
}
