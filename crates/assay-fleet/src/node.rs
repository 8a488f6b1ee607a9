//! The side of a node: it joins, compares clocks, waits for the word to begin, and hands its record over.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_core::cluster::ClusterPart;
use assay_engine::{Control, monotonic};
use assay_runner::{Ability, AbleLoad, CommonLoad, CommonLoads, Rendezvous, RepeatStep, SET_UP, Start, Word};

use super::clock::NodeClock;
use crate::clock::{Clocks, Exchange};
use crate::coordinator::NotKept;
use crate::join::{JOINING, JoinError, JoinedConnection, Joining, meet};
use crate::message::{FromCoordinator, FromNode, Live};
use crate::settle::{MAX_LOADS, is_sound_area, is_sound_load};
use crate::wire::{Receiver, Sender, WireError};

/// How often it is looked for the end of the run while waiting.
const TICK: Duration = Duration::from_millis(50);
/// Exchanges of the first series, and of those before a common start and at the end.
const FIRST_EXCHANGES: u32 = 32;
const EXCHANGES: u32 = 8;
/// An exchange of a series that takes longer says nothing.
const LONGEST_EXCHANGE: Duration = Duration::from_millis(500);
/// After the start of a repeat, nothing is sent for this long.
const SILENT: Duration = Duration::from_millis(250);
/// While it waits, a node asks at this interval whether the coordinator is there. After [`SILENCE`] without an answer,
/// it takes the coordinator as gone.
const ASK: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);
/// A start further away than this is an error.
const FURTHEST: Duration = Duration::from_secs(60);
/// How long the coordinator may take to keep a record.
const KEEPING: Duration = Duration::from_secs(60);

/// The status that a node sends once a second. The observer of the run fills it in.
#[derive(Debug, Clone, Default)]
pub struct LiveLine(Arc<Mutex<Live>>);

impl LiveLine {
    /// Changes the status.
    pub fn set(&self, change: impl FnOnce(&mut Live)) {
        change(&mut lock(&self.0));
    }
}

/// A node that takes part in a run.
pub struct Node {
    sender: Arc<Mutex<Sender>>,
    receiver: Arc<Mutex<Receiver>>,
    clock: NodeClock,
    clocks: Clocks,
    part: ClusterPart,
    /// Why there is no coordinator any more.
    lost: Option<String>,
    live: LiveLine,
    heart: Arc<Heart>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("part", &self.part).finish_non_exhaustive()
    }
}

impl Node {
    /// Joins a run and compares clocks for the first time. If the coordinator is lost or ends the run, `control` ends
    /// it here.
    ///
    /// # Errors
    /// [`JoinError`] names the problem and its remedy.
    pub fn join(joining: &Joining, control: &Control) -> Result<Self, JoinError> {
        let JoinedConnection { sender, receiver, part } = meet(joining, control)?;
        let unreachable = |reason: &dyn fmt::Display| JoinError::Unreachable {
            address: joining.address.clone(),
            reason: reason.to_string(),
        };
        let mut node = Self {
            sender: Arc::new(Mutex::new(sender)),
            receiver: Arc::new(Mutex::new(receiver)),
            clock: joining.clock,
            clocks: Clocks::default(),
            part,
            lost: None,
            live: LiveLine::default(),
            heart: Arc::default(),
        };
        let (mut made, begun) = (0, Instant::now());
        while made < FIRST_EXCHANGES {
            match node.exchange() {
                Ok(exchange) => {
                    node.clocks.add_first(exchange);
                    made += 1;
                }
                // A coordinator of a thousand nodes that all join at once.
                Err(WireError::Timeout) if begun.elapsed() < JOINING => {}
                Err(error) => return Err(unreachable(&error)),
            }
        }
        node.heart.beat((&node.sender, &node.receiver), &node.live, control).map_err(|error| unreachable(&error))?;
        Ok(node)
    }

    /// The run, and the name of the node in it.
    #[must_use]
    pub fn takes_part_in(&self) -> (&str, &str) {
        (&self.part.run, &self.part.node)
    }

    /// The status that is sent once a second.
    #[must_use]
    pub fn live(&self) -> LiveLine {
        self.live.clone()
    }

    /// Delivers the record, and returns its identity at the coordinator.
    ///
    /// # Errors
    /// Where the coordinator is gone or does not take the record: it stays here, to be fetched.
    pub fn deliver(&mut self, document: &[u8]) -> Result<String, NotKept> {
        if let Some(lost) = &self.lost {
            return Err(NotKept::Other(lost.clone()));
        }
        self.heart.stop();
        self.listening(|node| node.hand_over(document))
    }

    /// Delivers the record of an earlier attempt, before anything is measured. If the record is of another medium, the
    /// node still takes part.
    ///
    /// # Errors
    /// As [`Self::deliver`].
    pub fn deliver_earlier(&mut self, document: &[u8]) -> Result<String, NotKept> {
        let handed = self.listening(|node| node.hand_over(document));
        if !matches!(handed, Err(NotKept::Misplaced(_))) {
            self.heart.stop();
        }
        handed
    }

    fn hand_over(&self, document: &[u8]) -> Result<String, NotKept> {
        let words = |error: WireError| NotKept::Other(error.to_string());
        let hash = blake3::hash(document).to_hex().to_string();
        {
            let mut sender = lock(&self.sender);
            sender.send(&FromNode::Record { bytes: document.len() as u64, hash }).map_err(words)?;
            sender.send_bytes(document).map_err(words)?;
        }
        loop {
            match lock(&self.receiver).receive(KEEPING).map_err(words)? {
                FromCoordinator::Kept { id } => return Ok(id),
                FromCoordinator::Refused { reason } => return Err(NotKept::Other(reason)),
                FromCoordinator::Misplaced { reason } => return Err(NotKept::Misplaced(reason)),
                // An earlier message.
                _ => {}
            }
        }
    }

    fn exchange(&mut self) -> Result<Exchange, WireError> {
        let asked = self.clock.now();
        lock(&self.sender).send(&FromNode::Ping { sent: asked })?;
        loop {
            match lock(&self.receiver).receive(LONGEST_EXCHANGE)? {
                FromCoordinator::Pong { sent, received, answered } if sent == asked => {
                    return Ok(Exchange { sent, received, answered, back: self.clock.now() });
                }
                FromCoordinator::Refused { reason } => return Err(WireError::Refused(reason)),
                // The answer to an exchange that took too long.
                _ => {}
            }
        }
    }

    /// While `work` runs, the heartbeat thread does not receive messages.
    fn listening<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        lock(&self.heart.state).heard = true;
        // The heartbeat thread may be receiving at this moment.
        drop(lock(&self.receiver));
        let done = work(self);
        lock(&self.heart.state).heard = false;
        done
    }

    /// A series of exchanges, for as long as there is time.
    fn compare_clocks(&mut self, goes_on: impl Fn(&Self, u32) -> bool) -> Result<(), WireError> {
        self.clocks.begin_series();
        for made in 0..EXCHANGES {
            if !goes_on(self, made) {
                break;
            }
            match self.exchange() {
                Ok(exchange) => self.clocks.add(exchange),
                Err(WireError::Timeout) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for what `takes` of the coordinator's messages; `None` where the run ends meanwhile.
    fn waits_for<T>(
        &self,
        control: &Control,
        mut takes: impl FnMut(FromCoordinator) -> Result<Option<T>, WireError>,
    ) -> Result<Option<T>, WireError> {
        let (mut heard, mut asked) = (Instant::now(), Instant::now());
        loop {
            if control.stopped() {
                return Ok(None);
            }
            if heard.elapsed() > SILENCE {
                return Err(WireError::Timeout);
            }
            if asked.elapsed() > ASK {
                asked = Instant::now();
                lock(&self.sender).send(&FromNode::Ping { sent: self.clock.now() })?;
            }
            let message = lock(&self.receiver).receive(TICK);
            if message.is_ok() {
                heard = Instant::now();
            }
            match message {
                Ok(FromCoordinator::Refused { reason }) => return Err(WireError::Refused(reason)),
                Ok(message) => {
                    if let Some(taken) = takes(message)? {
                        return Ok(Some(taken));
                    }
                }
                Err(WireError::Timeout) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Says what this node can do, and waits for what all are to run.
    fn offer(&mut self, able: &Ability, control: &Control) -> Result<Option<CommonLoads>, WireError> {
        self.live.set(|live| "wait".clone_into(&mut live.doing));
        let count = able.loads.len().min(MAX_LOADS);
        for (workload, load) in (0..).zip(&able.loads[..count]) {
            let AbleLoad { block_bytes, queue_depth, jobs, look } = *load;
            lock(&self.sender).send(&FromNode::Able { workload, block_bytes, queue_depth, jobs, look })?;
        }
        lock(&self.sender).send(&FromNode::Offer {
            loads: u32::try_from(count).unwrap_or(u32::MAX),
            area_bytes: able.area_bytes,
            budget_ms: u64::try_from(able.budget.as_millis()).unwrap_or(u64::MAX),
            mounted: able.mounted,
        })?;
        let mut said: Vec<CommonLoad> = Vec::new();
        let wrong = |what: &str| WireError::Malformed(what.to_owned());
        self.waits_for(control, |message| match message {
            FromCoordinator::Load { workload, block_bytes, queue_depth, jobs, to_typical, standing } => {
                let sound = is_sound_load(&AbleLoad { block_bytes, queue_depth, jobs, look: None });
                if !sound || said.len() >= count || usize::try_from(workload).ok() != Some(said.len()) {
                    return Err(wrong("a load that no node can run"));
                }
                let to_typical = to_typical.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
                said.push(CommonLoad { block_bytes, queue_depth, jobs, to_typical, standing });
                Ok(None)
            }
            FromCoordinator::Settled { by, nodes, area_bytes, loads } => {
                let all = usize::try_from(loads).ok() == Some(said.len()) && said.len() == count;
                if !all || !is_sound_area(area_bytes) {
                    return Err(wrong("the nodes of this run have different suites"));
                }
                Ok(Some(CommonLoads { by, nodes, area_bytes, loads: std::mem::take(&mut said) }))
            }
            _ => Ok(None),
        })
    }

    /// What to do with a repeat; `None` where the run ends meanwhile.
    fn agree(&mut self, step: RepeatStep, control: &Control) -> Result<Option<Word>, WireError> {
        self.live.set(|live| "wait".clone_into(&mut live.doing));
        let RepeatStep { stage, round, workload } = step;
        lock(&self.sender).send(&FromNode::Ready { stage, round, workload })?;
        let word = self.waits_for(control, |message| match message {
            FromCoordinator::Go { stage, round, workload, at, nodes }
                if step == (RepeatStep { stage, round, workload }) =>
            {
                Ok(Some(Some((at, nodes))))
            }
            FromCoordinator::Skip { stage, round, workload } if step == (RepeatStep { stage, round, workload }) => {
                Ok(Some(None))
            }
            _ => Ok(None),
        })?;
        match word {
            None => Ok(None),
            Some(None) => Ok(Some(Word::Skip)),
            Some(Some((at, nodes))) => self.begins(at, nodes).map(|start| start.map(Word::Begin)),
        }
    }

    /// The start at the coordinator's time `at`, by this node's clock.
    fn begins(&mut self, at: i64, nodes: u32) -> Result<Option<Start>, WireError> {
        let margin = (SET_UP + TICK).as_nanos() as i64;
        self.compare_clocks(|node, made| {
            made == 0 || node.here(at).is_none_or(|(here, _)| here.saturating_sub(node.clock.now()) > margin)
        })?;
        let Some((here, bound_ns)) = self.here(at) else { return Ok(None) };
        if here.saturating_sub(self.clock.now()) > FURTHEST.as_nanos() as i64 {
            return Err(WireError::Malformed("a start that is too far away".to_owned()));
        }
        self.clocks.starts(here);
        let at_ns = self.clock.monotonic_at(here);
        self.heart.silent(at_ns.saturating_sub(SET_UP.as_nanos() as u64), at_ns + SILENT.as_nanos() as u64);
        Ok(Some(Start { at_ns, planned_ns: at, bound_ns: Some(bound_ns), nodes }))
    }

    /// Ends the run here: it would disturb those that measure, and its figures would be out of step.
    fn is_lost<T>(&mut self, error: &WireError, control: &Control) -> Option<T> {
        control.stop();
        self.lost = Some(error.to_string());
        None
    }

    /// The coordinator's time `at` by this node's clock, with its bound.
    fn here(&self, at: i64) -> Option<(i64, u64)> {
        let rough = self.clocks.at(self.clock.now())?;
        let offset = self.clocks.at(at.saturating_sub(rough.ns))?;
        Some((at.saturating_sub(offset.ns), offset.bound_ns))
    }
}

impl Rendezvous for Node {
    fn settle(&mut self, able: &Ability, control: &Control) -> Option<CommonLoads> {
        let settled = self.listening(|node| node.offer(able, control));
        settled.unwrap_or_else(|error| self.is_lost(&error, control))
    }

    fn ready(&mut self, step: RepeatStep, control: &Control) -> Word {
        if self.lost.is_some() {
            return Word::Alone;
        }
        let agreed = self.listening(|node| node.agree(step, control));
        agreed.unwrap_or_else(|error| self.is_lost(&error, control)).unwrap_or(Word::Alone)
    }

    fn part(&mut self, whole: bool) -> Option<ClusterPart> {
        if lock(&self.heart.state).lost {
            self.lost.get_or_insert_with(|| "the coordinator ended the run, or was lost".to_owned());
        }
        if self.lost.is_none()
            && let Err(error) = self.listening(|node| node.compare_clocks(|_, _| true))
        {
            self.lost = Some(error.to_string());
        }
        let lost = self.lost.clone().filter(|_| !whole);
        Some(ClusterPart { clock: self.clocks.fit(), lost, ..self.part.clone() })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.heart.stop();
        lock(&self.sender).close();
    }
}

/// Sends what the node does, once a second, and nothing around the beginning of a repeat.
#[derive(Default)]
struct Heart {
    state: Mutex<Beats>,
    ends: Condvar,
}

#[derive(Default)]
struct Beats {
    stopped: bool,
    /// The thread that measures listens itself.
    heard: bool,
    /// The coordinator ended the run, or is gone.
    lost: bool,
    /// Nothing is sent between these times of the monotonic clock.
    silent: (u64, u64),
}

impl Heart {
    fn beat(
        self: &Arc<Self>,
        (sender, receiver): (&Arc<Mutex<Sender>>, &Arc<Mutex<Receiver>>),
        live: &LiveLine,
        control: &Control,
    ) -> std::io::Result<()> {
        let (heart, live, control) = (Arc::clone(self), live.clone(), control.clone());
        let (sender, receiver) = (Arc::clone(sender), Arc::clone(receiver));
        std::thread::Builder::new().spawn(move || {
            while heart.waits() {
                let line = FromNode::Live(lock(&live.0).clone());
                let mut lost = {
                    let mut sender = lock(&sender);
                    // The record may have been sent meanwhile, and it is the last message. The coordinator would not
                    // read a line after it, so the connection would be reset and the answer lost.
                    if lock(&heart.state).stopped {
                        return;
                    }
                    sender.send(&line).is_err()
                };
                // While the measuring thread waits for the start of a repeat, it receives messages itself.
                if let Ok(mut receiver) = receiver.try_lock()
                    && !lock(&heart.state).heard
                {
                    let heard = receiver.receive(Duration::from_millis(1));
                    lost |= !matches!(heard, Ok(FromCoordinator::Pong { .. }) | Err(WireError::Timeout));
                }
                if lost && heart.gives_up() {
                    control.stop();
                    return;
                }
            }
        })?;
        Ok(())
    }

    /// The coordinator ended the run, or is gone; `false` where the run is over anyway.
    fn gives_up(&self) -> bool {
        let mut state = lock(&self.state);
        state.lost = !state.stopped;
        state.lost
    }

    /// Waits for the next moment to send at; `false` at the end.
    fn waits(&self) -> bool {
        let mut state = lock(&self.state);
        let mut left = Duration::from_secs(1);
        loop {
            if state.stopped {
                return false;
            }
            let until = monotonic() + left.as_nanos() as u64;
            state = self.ends.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            let now = monotonic();
            if now < until {
                left = Duration::from_nanos(until - now);
            } else if (state.silent.0..state.silent.1).contains(&now) {
                left = Duration::from_nanos(state.silent.1 - now);
            } else {
                return !state.stopped;
            }
        }
    }

    fn silent(&self, from: u64, to: u64) {
        lock(&self.state).silent = (from, to);
    }

    fn stop(&self) {
        lock(&self.state).stopped = true;
        self.ends.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
