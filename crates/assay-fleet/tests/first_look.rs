//! How often a first look calls an equal node slow, and how often one at half of the pace, on simulated fleets.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use assay_core::cluster::{SettledBy, Standing};
use assay_core::medium::Mounted;
use assay_engine::mix;
use assay_fleet::Settled;
use assay_runner::{Ability, AbleLoad, look_of};

/// Loads of a suite that are looked at by themselves.
const LOADS: usize = 4;

/// Uniform numbers from a seed.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((mix(self.0) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// By the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }
}

/// How long an operation takes, with 1 for the usual one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Times {
    /// Nearly all alike, and one in ten waits twenty times as long.
    Stalls,
    /// Log-normal with this deviation of the logarithm.
    LogNormal(f64),
    /// Two of five take ten times as long, as where a card erases.
    TwoKinds,
    /// A Pareto tail without a variance.
    Pareto,
    /// A neighbour in one of five looks: up to six of ten operations in a row wait twenty times as long.
    Neighbour,
}

impl Times {
    const ALL: [Self; 6] =
        [Self::Stalls, Self::LogNormal(0.5), Self::LogNormal(1.0), Self::TwoKinds, Self::Pareto, Self::Neighbour];

    fn one(self, dice: &mut Uniform) -> f64 {
        match self {
            Self::Stalls => (0.1 * dice.normal()).exp() * if dice.next() < 0.1 { 20.0 } else { 1.0 },
            Self::LogNormal(deviation) => (deviation * dice.normal()).exp(),
            Self::TwoKinds => (0.1 * dice.normal()).exp() * if dice.next() < 0.4 { 10.0 } else { 1.0 },
            Self::Neighbour => (0.1 * dice.normal()).exp(),
            Self::Pareto => dice.next().powf(-1.0 / 1.2),
        }
    }
}

/// What the nodes of a fleet say that they can do. The first is slower by `slower` under each load.
fn fleet(
    dice: &mut Uniform,
    nodes: usize,
    times: Times,
    operations: std::ops::RangeInclusive<u64>,
    slower: f64,
) -> Vec<Ability> {
    let node = |number: usize| {
        let load = |_| {
            let span = operations.end() - operations.start() + 1;
            let count = operations.start() + (dice.next() * span as f64) as u64;
            let factor = if number == 0 { slower } else { 1.0 };
            let mut seconds: Vec<f64> = (0..count).map(|_| 0.001 * factor * times.one(dice)).collect();
            if times == Times::Neighbour && dice.next() < 0.2 {
                let (from, length) = (dice.next() * 0.4 * count as f64, dice.next() * 0.6 * count as f64);
                seconds.iter_mut().skip(from as usize).take(length as usize).for_each(|seconds| *seconds *= 20.0);
            }
            AbleLoad { block_bytes: 4096, queue_depth: 8, jobs: 1, look: look_of(&seconds) }
        };
        let loads = (0..LOADS).map(load).collect();
        Ability { loads, area_bytes: 1 << 26, budget: Duration::from_secs(90), mounted: Mounted::There }
    };
    (0..nodes).map(node).collect()
}

/// Where each node stands at worst.
fn standings(all: &[Ability]) -> Vec<Standing> {
    let settled = Settled::from_abilities(&all.iter().collect::<Vec<_>>()).unwrap();
    let worst = |able: &Ability| {
        let loads = settled.for_node(able, SettledBy::Nodes).loads;
        let is = |standing| loads.iter().any(|load| load.standing == standing);
        [Standing::FarBelow, Standing::Unclear].into_iter().find(|one| is(*one)).unwrap_or(Standing::Counted)
    };
    all.iter().map(worst).collect()
}

/// Of 28, 6 and 3 equal nodes with 8 to 50 heavy-tailed operations a load, one is called slow in at most one of 100 fleets. What a
/// node seems alone would accuse one in a fifth of them, which shows that the simulation is hard enough.
#[test]
fn equal_nodes_are_not_called_slow() {
    const FLEETS: usize = 400;
    let (mut accused, mut seemed, mut fleets, mut worst) = (0, 0, 0, 0);
    for nodes in [3, 6, 28] {
        for times in Times::ALL {
            let (mut named, mut dice) = (0, Uniform(nodes as u64));
            for _ in 0..FLEETS {
                let standings = standings(&fleet(&mut dice, nodes, times, 8..=50, 1.0));
                named += usize::from(standings.contains(&Standing::FarBelow));
                seemed += usize::from(standings.iter().any(|standing| standing.is_left_out()));
            }
            eprintln!("{nodes} equal nodes, {times:?}: one called slow in {named} of {FLEETS} fleets");
            worst = worst.max(named);
            (accused, fleets) = (accused + named, fleets + FLEETS);
        }
    }
    eprintln!("called slow: {accused} of {fleets} fleets; seemed slow: {seemed}");
    assert!(100 * worst <= FLEETS, "{worst} of {FLEETS}");
    assert!(1000 * accused <= fleets, "{accused} of {fleets}");
    assert!(10 * seemed > fleets, "{seemed} of {fleets}");
}

/// A node at half of the pace is named once there are enough operations, and no other; with eight the program cannot tell.
#[test]
fn a_node_at_half_of_the_pace_is_named_by_enough_operations() {
    const FLEETS: usize = 200;
    for (times, operations, least) in
        [(Times::Stalls, 30..=50, 0.95), (Times::LogNormal(0.5), 48..=64, 0.9), (Times::Stalls, 8..=16, 0.0)]
    {
        let (mut named, mut others, mut dice) = (0, 0, Uniform(7));
        for _ in 0..FLEETS {
            let standings = standings(&fleet(&mut dice, 28, times, operations.clone(), 2.0));
            named += usize::from(standings[0] == Standing::FarBelow);
            others += usize::from(standings[1..].contains(&Standing::FarBelow));
        }
        eprintln!(
            "one of 28 at half, {times:?}, {operations:?} operations: named in {named} of {FLEETS}, another in {others}"
        );
        assert!(named as f64 >= least * FLEETS as f64 && others <= FLEETS / 100, "{times:?}: {named}, {others}");
        assert!(least > 0.0 || named == 0, "{named} named by a few operations");
    }
}
