//! Meetings of few nodes, second by second.

use super::*;

const SECOND: i64 = 1_000_000_000;

fn step(round: u32, workload: u32) -> Step {
    Step { stage: 0, round, workload }
}

fn go(nodes: &[usize], step: Step, at_ns: i64) -> Decision {
    Decision::Start(GroupStart { nodes: nodes.to_vec(), step, at_ns })
}

fn meeting(mode: Mode, nodes: u32) -> Meeting {
    let mut meeting = Meeting::new(Rules::new(mode, nodes), 0);
    (0..nodes as usize).for_each(|node| assert!(meeting.joins(node) && meeting.offers(node)));
    assert_eq!(meeting.decide(0), [Decision::Settle((0..nodes as usize).collect())]);
    meeting
}

/// No node takes part any more.
fn is_over(meeting: &Meeting) -> bool {
    meeting.places.iter().all(|place| *place == Place::Over)
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
    let mut m = Meeting::new(Rules::new(Mode::Simultaneous, 4), 0);
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
    let mut m = Meeting::new(Rules::new(Mode::Simultaneous, 4), 0);
    (0..2).for_each(|node| assert!(m.joins(node) && m.offers(node)));
    let all = m.decide(300 * SECOND);
    assert_eq!(all, [Decision::Late(2), Decision::Late(3), Decision::TooFew { ready: 2 }]);
    assert!(is_over(&m));
    let mut nobody = Meeting::new(Rules::new(Mode::Simultaneous, 1), 0);
    nobody.over(0);
    assert_eq!((nobody.decide(0), is_over(&nobody)), (vec![], true));
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
    let mut m = Meeting::new(Rules::new(Mode::Simultaneous, 2), 0);
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
