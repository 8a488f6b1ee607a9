//! When which nodes begin: decided from what happened by now, without a socket or a clock of its own.

use std::time::Duration;

use assay_runner::RepeatStep;

/// How nodes measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All begin each repeat together.
    Simultaneous,
    /// At most this many nodes measure at a time; with 1, each measures alone.
    Staggered(u32),
}

impl Mode {
    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simultaneous => "simultaneous",
            Self::Staggered(1) => "alone",
            Self::Staggered(_) => "staggered",
        }
    }

    /// The largest number of `nodes` nodes that measure at a time.
    #[must_use]
    pub fn at_a_time(self, nodes: u32) -> u32 {
        match self {
            Self::Simultaneous => nodes,
            Self::Staggered(most) => most.clamp(1, nodes.max(1)),
        }
    }
}

/// By which rules nodes meet.
#[derive(Debug, Clone)]
pub struct MeetingRules {
    /// How they measure.
    pub mode: Mode,
    /// How many are expected.
    pub nodes: u32,
    /// How many are enough, where others are late.
    pub quorum: u32,
    /// How long all are waited for that were launched: until they joined and have their test area.
    pub ready_within: Duration,
    /// How long those that wait for a repeat wait for others, from the first on.
    pub step_within: Duration,
    /// How long before the first common start it is announced, so that clocks can be compared once more.
    pub first_lead: Duration,
    /// The same of further ones.
    pub lead: Duration,
    /// How long a repeat of all waits for a node that is far below the others, or was left behind before.
    pub laggard_within: Duration,
    /// How long the run does so in total; the coordinator lowers it to a tenth of the time of the suite.
    pub patience: Duration,
}

impl MeetingRules {
    /// The rules of a run on `nodes` nodes, with a quorum of more than half of them.
    #[must_use]
    pub fn new(mode: Mode, nodes: u32) -> Self {
        Self {
            mode,
            nodes,
            quorum: nodes / 2 + 1,
            ready_within: Duration::from_secs(300),
            step_within: Duration::from_secs(60),
            first_lead: Duration::from_millis(2000),
            lead: Duration::from_millis(1000),
            laggard_within: Duration::from_secs(5),
            patience: Duration::from_secs(60),
        }
    }
}

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeState {
    /// Not yet seen.
    Expected,
    /// Makes ready, or measures.
    Works,
    /// It offered its abilities.
    Offered,
    /// The same, but the others no longer wait for it.
    Behind,
    /// Ready for a repeat, since a moment.
    Waits(RepeatStep, i64),
    /// It takes no part any more.
    Over,
}

/// The word to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStart {
    /// To which nodes, by their number.
    pub nodes: Vec<usize>,
    /// Which repeat.
    pub step: RepeatStep,
    /// When, by the coordinator's clock, in nanoseconds.
    pub at_ns: i64,
}

/// What follows from what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The loads of these nodes are settled now.
    Settle(Vec<usize>),
    /// A node leaves this repeat out, as the others are past it.
    Skip(usize, RepeatStep),
    /// Nodes begin.
    Start(GroupStart),
    /// A node came too late to begin with the others, and takes no part.
    Late(usize),
    /// Too few nodes are ready: nothing is measured.
    TooFew {
        /// Nodes that are ready.
        ready: u32,
    },
}

/// Nodes that meet.
#[derive(Debug)]
pub struct Meeting {
    rules: MeetingRules,
    places: Vec<NodeState>,
    /// Those that have had their turn to begin.
    admitted: Vec<bool>,
    /// The last repeat that each was ready for.
    last: Vec<Option<RepeatStep>>,
    /// Those for which others do not wait as for all: far below the others, or left behind before.
    lags: Vec<bool>,
    /// How long others may yet wait for them, in nanoseconds.
    patience_ns: i64,
    opened_ns: i64,
    settled: bool,
    began: bool,
}

impl Meeting {
    /// A meeting that opened at `now_ns`.
    #[must_use]
    pub fn new(rules: MeetingRules, now_ns: i64) -> Self {
        let nodes = rules.nodes as usize;
        Self {
            places: vec![NodeState::Expected; nodes],
            admitted: vec![false; nodes],
            last: vec![None; nodes],
            lags: vec![false; nodes],
            patience_ns: nanoseconds(rules.patience),
            rules,
            opened_ns: now_ns,
            settled: false,
            began: false,
        }
    }

    /// A node came. `false` where it may not: it is here already, or it is over with it.
    pub fn joins(&mut self, node: usize) -> bool {
        let expected = self.places.get(node) == Some(&NodeState::Expected);
        if expected {
            self.places[node] = NodeState::Works;
        }
        expected
    }

    /// A node offered its abilities. `false` where it already did.
    #[must_use]
    pub fn offers(&mut self, node: usize) -> bool {
        let first = !self.settled && self.places[node] == NodeState::Works;
        if first {
            self.places[node] = NodeState::Offered;
        }
        first
    }

    /// How long others wait for nodes that are far below them, in the whole run.
    pub fn be_patient(&mut self, patience: Duration) {
        self.patience_ns = nanoseconds(patience);
    }

    /// A node is far below the others: they do not wait for it as for all.
    pub fn lags(&mut self, node: usize) {
        self.lags[node] = true;
    }

    /// A node is ready for a repeat. `false` where it had a later one already: others would wait for it for ever; and where
    /// the loads are not settled. The same once more is what a node has that was stopped meanwhile.
    #[must_use]
    pub fn ready(&mut self, node: usize, step: RepeatStep, now_ns: i64) -> bool {
        if !self.settled || self.last[node].is_some_and(|last| step < last) {
            return false;
        }
        self.last[node] = Some(step);
        if matches!(self.places[node], NodeState::Works | NodeState::Behind) {
            self.places[node] = NodeState::Waits(step, now_ns);
        }
        true
    }

    /// A node takes no part any more: it is done, lost or was never reached.
    pub fn over(&mut self, node: usize) {
        self.places[node] = NodeState::Over;
    }

    /// What follows at `now_ns`. To be asked after each event, and now and then, as time alone decides too.
    pub fn decide(&mut self, now_ns: i64) -> Vec<Decision> {
        if !self.settled {
            return self.settle(now_ns);
        }
        let decisions = match self.rules.mode {
            Mode::Simultaneous => self.all_together(now_ns),
            Mode::Staggered(most) => self.by_turns(now_ns, most.max(1)).into_iter().map(Decision::Start).collect(),
        };
        self.began |= decisions.iter().any(|decision| matches!(decision, Decision::Start(_)));
        decisions
    }

    /// Once all have said what they can do, or the time for it is over and enough have.
    fn settle(&mut self, now_ns: i64) -> Vec<Decision> {
        let mut decisions = Vec::new();
        let all_ready = self.places.iter().all(|place| matches!(place, NodeState::Offered | NodeState::Over));
        if !all_ready && now_ns - self.opened_ns < nanoseconds(self.rules.ready_within) {
            return decisions;
        }
        for (node, place) in self.places.iter_mut().enumerate() {
            if matches!(place, NodeState::Expected | NodeState::Works) {
                *place = NodeState::Over;
                decisions.push(Decision::Late(node));
            }
        }
        let ready: Vec<usize> =
            (0..self.places.len()).filter(|node| self.places[*node] == NodeState::Offered).collect();
        let count = ready.len() as u32;
        if count == 0 || count < self.rules.quorum {
            self.places.fill(NodeState::Over);
            if count > 0 {
                decisions.push(Decision::TooFew { ready: count });
            }
            return decisions;
        }
        self.settled = true;
        ready.iter().for_each(|node| self.places[*node] = NodeState::Works);
        decisions.push(Decision::Settle(ready));
        decisions
    }

    /// The earliest repeat that a node waits for, once all expected nodes wait. A node that lags behind begins with the
    /// others if it is there in time; otherwise it skips the repeats that the others have passed.
    fn all_together(&mut self, now_ns: i64) -> Vec<Decision> {
        let waits = |place: &NodeState| match place {
            NodeState::Waits(step, since) => Some((*step, *since)),
            _ => None,
        };
        let Some(first_since) = self.places.iter().filter_map(waits).map(|(_, since)| since).min() else {
            return Vec::new();
        };
        if now_ns - first_since >= nanoseconds(self.rules.step_within) {
            for (place, lags) in
                self.places.iter_mut().zip(&mut self.lags).filter(|(place, _)| **place == NodeState::Works)
            {
                (*place, *lags) = (NodeState::Behind, true);
            }
        }
        let all = 0..self.places.len();
        let here: Vec<usize> =
            all.filter(|node| !matches!(self.places[*node], NodeState::Over | NodeState::Behind)).collect();
        let (slow, others): (Vec<usize>, Vec<usize>) = here.iter().partition(|node| self.lags[**node]);
        // Where there are no others, they wait for each other.
        let (slow, others) = if others.is_empty() { (others, slow) } else { (slow, others) };
        let known: Vec<(RepeatStep, i64)> = others.iter().filter_map(|node| waits(&self.places[*node])).collect();
        let Some(step) = known.iter().map(|(step, _)| *step).min().filter(|_| known.len() == others.len()) else {
            return Vec::new();
        };
        let past: Vec<(usize, RepeatStep)> = slow
            .iter()
            .filter_map(|node| Some((*node, waits(&self.places[*node])?.0)))
            .filter(|(_, at)| *at < step)
            .collect();
        if !past.is_empty() {
            past.iter().for_each(|(node, _)| self.places[*node] = NodeState::Works);
            return past.into_iter().map(|(node, at)| Decision::Skip(node, at)).collect();
        }
        let waited = now_ns - known.iter().map(|(_, since)| *since).max().unwrap_or(now_ns);
        let absent: Vec<usize> = slow.iter().copied().filter(|node| self.places[*node] == NodeState::Works).collect();
        if !absent.is_empty() && waited < nanoseconds(self.rules.laggard_within).min(self.patience_ns) {
            return Vec::new();
        }
        absent.iter().for_each(|node| self.places[*node] = NodeState::Behind);
        if !slow.is_empty() {
            self.patience_ns = self.patience_ns.saturating_sub(waited).max(0);
        }
        vec![Decision::Start(self.start(step, now_ns))]
    }

    /// All that wait for this repeat begin it.
    fn start(&mut self, step: RepeatStep, now_ns: i64) -> GroupStart {
        let is_here = |place: &NodeState| matches!(place, NodeState::Waits(at, _) if *at == step);
        let nodes: Vec<usize> = (0..self.places.len()).filter(|node| is_here(&self.places[*node])).collect();
        nodes.iter().for_each(|node| self.places[*node] = NodeState::Works);
        let lead = if self.began { self.rules.lead } else { self.rules.first_lead };
        GroupStart { nodes, step, at_ns: now_ns + nanoseconds(lead) }
    }

    /// Each node that has its turn continues by itself; the next one starts when a turn ends.
    fn by_turns(&mut self, now_ns: i64, most: u32) -> Vec<GroupStart> {
        let mut gone = Vec::new();
        let places = self.places.iter().zip(&self.admitted);
        let mut measuring = places.filter(|(place, admitted)| **admitted && **place != NodeState::Over).count();
        for node in 0..self.places.len() {
            let NodeState::Waits(step, _) = self.places[node] else { continue };
            if !self.admitted[node] {
                if measuring >= most as usize {
                    continue;
                }
                measuring += 1;
            }
            let lead = if self.admitted[node] { self.rules.lead } else { self.rules.first_lead };
            self.admitted[node] = true;
            self.places[node] = NodeState::Works;
            gone.push(GroupStart { nodes: vec![node], step, at_ns: now_ns + nanoseconds(lead) });
        }
        gone
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn step(round: u32, workload: u32) -> RepeatStep {
        RepeatStep { stage: 0, round, workload }
    }

    fn go(nodes: &[usize], step: RepeatStep, at_ns: i64) -> Decision {
        Decision::Start(GroupStart { nodes: nodes.to_vec(), step, at_ns })
    }

    fn meeting(mode: Mode, nodes: u32) -> Meeting {
        let mut meeting = Meeting::new(MeetingRules::new(mode, nodes), 0);
        (0..nodes as usize).for_each(|node| assert!(meeting.joins(node) && meeting.offers(node)));
        assert_eq!(meeting.decide(0), [Decision::Settle((0..nodes as usize).collect())]);
        meeting
    }

    /// No node takes part any more.
    fn is_over(meeting: &Meeting) -> bool {
        meeting.places.iter().all(|place| *place == NodeState::Over)
    }

    #[test]
    fn all_begin_each_repeat_together_when_the_last_is_ready() {
        let mut m = meeting(Mode::Simultaneous, 3);
        assert!(m.ready(0, step(0, 0), SECOND));
        assert!(m.ready(2, step(0, 0), 2 * SECOND));
        assert_eq!(m.decide(3 * SECOND), []);
        assert!(m.ready(1, step(0, 0), 4 * SECOND));
        assert_eq!(m.decide(4 * SECOND), [go(&[0, 1, 2], step(0, 0), 6 * SECOND)]);
        assert_eq!(m.decide(9 * SECOND), [], "they measure");
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 1), 10 * SECOND)));
        assert_eq!(m.decide(10 * SECOND), [go(&[0, 1, 2], step(0, 1), 11 * SECOND)]);
    }

    /// A node that leaves a workload out, or is done, is no reason to wait.
    #[test]
    fn the_earliest_repeat_goes_first_and_those_of_later_ones_wait() {
        let mut m = meeting(Mode::Simultaneous, 3);
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 0), 0)));
        m.decide(0);
        assert!(m.ready(0, step(0, 2), 1));
        assert!(m.ready(1, step(0, 1), 1));
        m.over(2);
        assert_eq!(m.decide(1), [go(&[1], step(0, 1), 1 + SECOND)]);
        assert!(m.ready(1, step(0, 2), 2));
        assert_eq!(m.decide(2), [go(&[0, 1], step(0, 2), 2 + SECOND)]);
        (0..2).for_each(|node| m.over(node));
        assert_eq!((is_over(&m), m.decide(3)), (true, vec![]));
    }

    #[test]
    fn who_is_not_ready_in_time_is_late_and_a_quorum_goes_on() {
        let mut m = Meeting::new(MeetingRules::new(Mode::Simultaneous, 4), 0);
        (0..3).for_each(|node| assert!(m.joins(node) && m.offers(node)));
        assert!(!m.ready(0, step(0, 0), SECOND), "nothing is settled");
        assert_eq!(m.decide(299 * SECOND), []);
        assert_eq!(m.decide(300 * SECOND), [Decision::Late(3), Decision::Settle(vec![0, 1, 2])]);
        assert!(!m.offers(0), "it did");
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 0), 300 * SECOND)));
        assert_eq!(m.decide(300 * SECOND), [go(&[0, 1, 2], step(0, 0), 302 * SECOND)]);
        assert!(!m.joins(3), "it would disturb those that measure");
    }

    #[test]
    fn too_few_are_told_so_and_nothing_is_measured() {
        let mut m = Meeting::new(MeetingRules::new(Mode::Simultaneous, 4), 0);
        (0..2).for_each(|node| assert!(m.joins(node) && m.offers(node)));
        let all = m.decide(300 * SECOND);
        assert_eq!(all, [Decision::Late(2), Decision::Late(3), Decision::TooFew { ready: 2 }]);
        assert!(is_over(&m));
        let mut empty = Meeting::new(MeetingRules::new(Mode::Simultaneous, 1), 0);
        empty.over(0);
        assert_eq!((empty.decide(0), is_over(&empty)), (vec![], true));
    }

    /// Who hangs costs the others the time of a step once.
    #[test]
    fn who_falls_behind_is_not_waited_for_again_until_it_is_back() {
        let mut m = meeting(Mode::Simultaneous, 3);
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 0), 0)));
        m.decide(0);
        (0..2).for_each(|node| assert!(m.ready(node, step(0, 1), 5 * SECOND)));
        assert_eq!(m.decide(64 * SECOND), []);
        assert_eq!(m.decide(65 * SECOND), [go(&[0, 1], step(0, 1), 66 * SECOND)]);
        (0..2).for_each(|node| assert!(m.ready(node, step(0, 2), 70 * SECOND)));
        assert_eq!(m.decide(70 * SECOND), [go(&[0, 1], step(0, 2), 71 * SECOND)]);
        assert!(m.ready(2, step(0, 3), 71 * SECOND));
        assert_eq!(m.decide(71 * SECOND), []);
        (0..2).for_each(|node| assert!(m.ready(node, step(0, 3), 75 * SECOND)));
        assert_eq!(m.decide(75 * SECOND), [go(&[0, 1, 2], step(0, 3), 76 * SECOND)]);
    }

    /// Who was left behind and comes back leaves out what the others are past: they do not wait for it to catch up.
    #[test]
    fn who_comes_back_late_leaves_out_what_the_others_are_past() {
        let mut m = meeting(Mode::Simultaneous, 3);
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 0), 0)));
        m.decide(0);
        (0..2).for_each(|node| assert!(m.ready(node, step(0, 1), 5 * SECOND)));
        assert_eq!(m.decide(65 * SECOND), [go(&[0, 1], step(0, 1), 66 * SECOND)]);
        assert!(m.ready(2, step(0, 1), 67 * SECOND));
        assert_eq!(m.decide(67 * SECOND), [], "the others measure");
        (0..2).for_each(|node| assert!(m.ready(node, step(0, 2), 70 * SECOND)));
        assert_eq!(m.decide(70 * SECOND), [Decision::Skip(2, step(0, 1))]);
        assert!(m.ready(2, step(0, 2), 70 * SECOND + 1));
        assert_eq!(m.decide(70 * SECOND + 1), [go(&[0, 1, 2], step(0, 2), 71 * SECOND + 1)]);
    }

    /// A node far below the others is waited for a little, and in the whole run no longer than was allowed.
    #[test]
    fn who_is_far_below_does_not_slow_down_the_rest() {
        let mut m = meeting(Mode::Simultaneous, 4);
        m.lags(3);
        m.be_patient(Duration::from_secs(6));
        (0..4).for_each(|node| assert!(m.ready(node, step(0, 0), 0)));
        assert_eq!(m.decide(0), [go(&[0, 1, 2, 3], step(0, 0), 2 * SECOND)], "it begins with them");
        // It comes 2 s after the others: that is waited for.
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 1), 5 * SECOND)));
        assert_eq!(m.decide(6 * SECOND), []);
        assert!(m.ready(3, step(0, 1), 7 * SECOND));
        assert_eq!(m.decide(7 * SECOND), [go(&[0, 1, 2, 3], step(0, 1), 8 * SECOND)]);
        // Then 4 s are left.
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 2), 10 * SECOND)));
        assert_eq!(m.decide(14 * SECOND - 1), []);
        assert_eq!(m.decide(14 * SECOND), [go(&[0, 1, 2], step(0, 2), 15 * SECOND)]);
        // And then nothing: it begins with them where it is there, and leaves out what they are past.
        assert!(m.ready(3, step(0, 2), 16 * SECOND));
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 3), 17 * SECOND)));
        assert_eq!(m.decide(17 * SECOND), [Decision::Skip(3, step(0, 2))]);
        assert_eq!(m.decide(17 * SECOND + 1), [go(&[0, 1, 2], step(0, 3), 18 * SECOND + 1)]);
        // The other nodes are done, so it continues by itself.
        (0..3).for_each(|node| m.over(node));
        assert!(m.ready(3, step(0, 3), 20 * SECOND));
        assert_eq!(m.decide(20 * SECOND), [go(&[3], step(0, 3), 21 * SECOND)]);
    }

    /// While one node hangs, no other node has passed a step.
    #[test]
    fn the_others_wait_for_each_other_as_ever() {
        let mut m = meeting(Mode::Simultaneous, 3);
        m.lags(2);
        (0..3).for_each(|node| assert!(m.ready(node, step(0, 0), 0)));
        m.decide(0);
        assert!(m.ready(0, step(0, 1), 5 * SECOND) && m.ready(2, step(0, 1), 5 * SECOND));
        assert_eq!(m.decide(64 * SECOND), []);
        assert_eq!(m.decide(65 * SECOND), [go(&[0, 2], step(0, 1), 66 * SECOND)]);
    }

    #[test]
    fn turns_are_given_to_so_many_at_a_time() {
        let mut m = meeting(Mode::Staggered(2), 4);
        (0..4).for_each(|node| assert!(m.ready(node, step(0, 0), SECOND)));
        let first = 3 * SECOND;
        assert_eq!(m.decide(SECOND), [go(&[0], step(0, 0), first), go(&[1], step(0, 0), first)]);
        assert!(m.ready(1, step(0, 1), 5 * SECOND));
        assert_eq!(m.decide(5 * SECOND), [go(&[1], step(0, 1), 6 * SECOND)]);
        m.over(0);
        assert_eq!(m.decide(6 * SECOND), [go(&[2], step(0, 0), 8 * SECOND)]);
        m.over(1);
        m.over(2);
        assert_eq!(m.decide(7 * SECOND).len(), 1);
    }

    #[test]
    fn a_node_is_here_once() {
        let mut m = Meeting::new(MeetingRules::new(Mode::Simultaneous, 2), 0);
        assert!(m.joins(0) && !m.joins(0) && !m.joins(7));
        m.over(0);
        assert!(!m.joins(0));
    }

    #[test]
    fn a_node_does_not_go_back() {
        let mut m = meeting(Mode::Simultaneous, 2);
        assert!(m.ready(0, step(0, 1), 0) && m.ready(1, step(0, 1), 0));
        m.decide(0);
        assert!(m.ready(0, step(0, 1), 1), "the same once more, after a stop of the process");
        assert!(!m.ready(1, step(0, 0), 1));
    }
}
