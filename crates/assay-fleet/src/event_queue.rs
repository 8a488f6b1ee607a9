//! What happens in a run, from the threads of its nodes to the one that tells of it. A reader that stands still stops no
//! node, and nothing that a node sends makes the queue grow without an end.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_core::medium::Mounted;
use assay_runner::RepeatStep;

use crate::message::Live;
use crate::settle::{NotCounted, Settled};

/// The largest number of waiting steps and refused connections; further ones are only counted.
const PASSING: usize = 1024;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorEvent {
    /// A node takes part.
    Joined(usize),
    /// A node offered its abilities, and where its target is mounted.
    Offered(usize, Mounted),
    /// The loads of all nodes are settled, and these were not counted.
    Settled(Settled, Vec<NotCounted>),
    /// A node is ready for its first or its next repeat.
    Ready(usize, RepeatStep),
    /// Nodes begin a repeat at a time of the coordinator's clock, in nanoseconds.
    Goes(Vec<usize>, RepeatStep, i64),
    /// A node came too late, or was not ready in time.
    Late(usize),
    /// Too few nodes were ready (this many), and nothing was measured.
    TooFew(u32),
    /// The current activity of a node.
    Live(usize, Live),
    /// The record of a node was kept, with its identity.
    Recorded(usize, String),
    /// The record of a node was not taken, and why.
    NotTaken(usize, String),
    /// The connection to a node ended without its record.
    Left(usize, String),
    /// A connection was refused: its origin, and the reason.
    Refused(String, String),
    /// This many steps and refused connections were not reported, because too many were waiting.
    Skipped(u64),
}

/// An entry of the queue.
#[derive(Debug)]
enum QueueEntry {
    Event(CoordinatorEvent),
    /// The newest activity of this node.
    Live(usize),
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<QueueEntry>,
    /// The newest activity of each node that has an entry for it.
    live: BTreeMap<usize, Live>,
    /// Entries that are [passing](CoordinatorEvent::is_passing).
    passing: usize,
    /// Number of events that were skipped since the last one that was kept.
    skipped: u64,
    /// No more events will come.
    over: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    came: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end, which never blocks.
#[derive(Debug)]
pub(crate) struct EventSender(Arc<Shared>);

/// The receiving end. Outcomes of nodes and of their records are kept, however late they are taken. For the activity of
/// a node only the newest is kept. Of steps and refused connections the first thousand are kept, and the rest are
/// counted.
#[derive(Debug)]
pub struct CoordinatorEvents(Arc<Shared>);

/// Both ends of a new queue.
pub(crate) fn event_queue() -> (EventSender, CoordinatorEvents) {
    let shared = Arc::<Shared>::default();
    (EventSender(Arc::clone(&shared)), CoordinatorEvents(shared))
}

impl CoordinatorEvent {
    /// Whether nodes or strangers can cause any number of events of this kind.
    fn is_passing(&self) -> bool {
        matches!(self, Self::Ready(..) | Self::Goes(..) | Self::Refused(..) | Self::Skipped(_))
    }
}

impl EventSender {
    pub(crate) fn tell(&self, event: CoordinatorEvent) {
        let mut queue = self.0.lock();
        match event {
            CoordinatorEvent::Live(node, live) => {
                if queue.live.insert(node, live).is_none() {
                    queue.entries.push_back(QueueEntry::Live(node));
                }
            }
            event if event.is_passing() => {
                if queue.passing >= PASSING {
                    queue.skipped += 1;
                } else {
                    queue.tell_skipped();
                    queue.passing += 1;
                    queue.entries.push_back(QueueEntry::Event(event));
                }
            }
            event => queue.entries.push_back(QueueEntry::Event(event)),
        }
        drop(queue);
        self.0.came.notify_one();
    }
}

impl Drop for EventSender {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.came.notify_all();
    }
}

impl Queue {
    /// Queues the number of skipped events, ahead of the next event.
    fn tell_skipped(&mut self) {
        if self.skipped > 0 {
            let skipped = std::mem::take(&mut self.skipped);
            self.passing += 1;
            self.entries.push_back(QueueEntry::Event(CoordinatorEvent::Skipped(skipped)));
        }
    }

    fn take(&mut self) -> Option<CoordinatorEvent> {
        if self.entries.is_empty() {
            self.tell_skipped();
        }
        match self.entries.pop_front()? {
            QueueEntry::Live(node) => Some(CoordinatorEvent::Live(node, self.live.remove(&node).unwrap_or_default())),
            QueueEntry::Event(event) => {
                self.passing -= usize::from(event.is_passing());
                Some(event)
            }
        }
    }
}

impl CoordinatorEvents {
    /// The next event, waited for up to `limit`.
    ///
    /// # Errors
    /// Where none came in time, or the coordinator is gone.
    pub fn recv_timeout(&self, limit: Duration) -> Result<CoordinatorEvent, RecvTimeoutError> {
        let end = Instant::now() + limit;
        let mut queue = self.0.lock();
        loop {
            if let Some(event) = queue.take() {
                return Ok(event);
            }
            if queue.over {
                return Err(RecvTimeoutError::Disconnected);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(RecvTimeoutError::Timeout);
            }
            queue = self.0.came.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The events that are waiting now.
    pub fn try_iter(&self) -> impl Iterator<Item = CoordinatorEvent> + '_ {
        std::iter::from_fn(|| self.0.lock().take())
    }

    /// Number of waiting events.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(done: f32) -> Live {
        Live { done, ..Live::default() }
    }

    /// Threat 4.5: nodes send what they like, and their events are not taken.
    #[test]
    fn a_reader_that_stands_still_costs_no_more_than_one_value_of_each_node() {
        let (sender, events) = event_queue();
        for at in 0..100_000u32 {
            sender.tell(CoordinatorEvent::Live(at as usize % 3, live(at as f32)));
            sender.tell(CoordinatorEvent::Refused("x".to_owned(), at.to_string()));
            if at % 50_000 == 0 {
                sender.tell(CoordinatorEvent::Recorded(at as usize, "id".to_owned()));
            }
        }
        sender.tell(CoordinatorEvent::Left(1, "gone".to_owned()));
        assert!(events.waiting() <= 3 + PASSING + 3, "{}", events.waiting());
        let all: Vec<_> = events.try_iter().collect();
        let newest: Vec<_> = all.iter().filter(|event| matches!(event, CoordinatorEvent::Live(..))).collect();
        let expected: Vec<_> = [(0, 99_999.0), (1, 99_997.0), (2, 99_998.0)]
            .map(|(node, at)| CoordinatorEvent::Live(node, live(at)))
            .into();
        assert_eq!(newest, expected.iter().collect::<Vec<_>>());
        let kept = |node| all.contains(&CoordinatorEvent::Recorded(node, "id".to_owned()));
        assert!(kept(0) && kept(50_000) && all.contains(&CoordinatorEvent::Left(1, "gone".to_owned())));
        assert_eq!(all.last(), Some(&CoordinatorEvent::Skipped(100_000 - PASSING as u64)));
        assert_eq!(events.waiting(), 0);
    }

    #[test]
    fn events_come_in_their_order_and_the_end_after_them() {
        let (sender, events) = event_queue();
        sender.tell(CoordinatorEvent::Joined(0));
        sender.tell(CoordinatorEvent::Live(0, live(0.5)));
        sender.tell(CoordinatorEvent::Late(1));
        drop(sender);
        let soon = Duration::from_millis(10);
        assert_eq!(events.recv_timeout(soon), Ok(CoordinatorEvent::Joined(0)));
        assert_eq!(events.recv_timeout(soon), Ok(CoordinatorEvent::Live(0, live(0.5))));
        assert_eq!(events.recv_timeout(soon), Ok(CoordinatorEvent::Late(1)));
        assert_eq!(events.recv_timeout(soon), Err(RecvTimeoutError::Disconnected));
        let (_sender, events) = event_queue();
        assert_eq!(events.recv_timeout(soon), Err(RecvTimeoutError::Timeout));
    }

    /// Skipped events are counted in their place in the sequence.
    #[test]
    fn what_was_left_out_is_counted_before_what_follows() {
        let (sender, events) = event_queue();
        (0..PASSING + 5).for_each(|_| sender.tell(CoordinatorEvent::Refused(String::new(), String::new())));
        events.recv_timeout(Duration::ZERO).unwrap();
        sender.tell(CoordinatorEvent::Goes(vec![1], RepeatStep { stage: 0, round: 0, workload: 0 }, 7));
        let last: Vec<_> = events.try_iter().skip(PASSING - 1).collect();
        assert!(matches!(last[..], [CoordinatorEvent::Skipped(5), CoordinatorEvent::Goes(..)]), "{last:?}");
    }
}
