//! Tests of the medium: caches keep the right lines, faults bite, seeds repeat, large devices take no memory.

use std::collections::HashSet;

use assay_lab::independent::caches::{Admits, CacheSpec, Policy};
use assay_lab::independent::campaign::{Other, Scenario, run_one};
use assay_lab::independent::faults::{Fault, When};
use assay_lab::independent::judge::{Claim, Severity, Violation};
use assay_lab::independent::maps::Map;
use assay_lab::independent::medium::{Error, Happening, Killed};
use assay_lab::independent::numbers::{Rng, SECTOR, TIB, Void, fill};
use assay_lab::independent::report::{attack, campaign};
use assay_lab::independent::spec::{FAULTS, Spec, cache, failing, failing_of, fake, fake_of, genuine};
use assay_lab::independent::truths::Reach;

use crate::reference::{Mistake, Reference};

const N: u64 = 1024;

/// Random operations on a genuine medium with a cache, compared with an array.
fn shadow(spec: CacheSpec, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut medium_spec = Spec::plain(N, Map::Genuine, seed);
    medium_spec.card.cache = Some(spec.clone());
    let mut medium = medium_spec.build();
    let mut truth = vec![0; (N * SECTOR) as usize];
    medium.read(0, &mut truth).unwrap();
    let mut buffer = vec![0; 64 * SECTOR as usize];
    for step in 0..600 {
        let count = rng.range(1, 64);
        let at = rng.below(N - count);
        let (from, to) = ((at * SECTOR) as usize, ((at + count) * SECTOR) as usize);
        if rng.one_in(2) {
            fill(seed ^ step, &mut truth[from..to]);
            medium.write(from as u64, &truth[from..to]).unwrap();
        } else {
            let data = &mut buffer[..to - from];
            medium.read(from as u64, data).unwrap();
            assert!(*data == truth[from..to], "{spec:?} {seed} {step}");
        }
    }
    medium.flush().unwrap();
    medium.power_cut();
    let mut all = vec![0; truth.len()];
    medium.read(0, &mut all).unwrap();
    if spec.lies() {
        assert!(all == truth || medium.card(0).lost_in_cache() > 0, "{spec:?}");
    } else {
        assert!(all == truth, "{spec:?} lost data after a FLUSH");
        assert_eq!(medium.card(0).lost_in_cache(), 0);
    }
}

#[test]
fn caches_are_coherent() {
    let mut policies = HashSet::new();
    for seed in 0..150 {
        let mut spec = cache(&mut Rng::new(seed));
        spec.bytes = Rng::new(seed).range(1, 400) * SECTOR;
        policies.insert(std::mem::discriminant(&spec.policy));
        shadow(spec, seed);
    }
    assert_eq!(policies.len(), 7);
}

#[test]
fn a_cache_hides_what_a_limbo_drops_until_it_is_driven_out() {
    for (policy, hidden) in
        [(Policy::Lru, false), (Policy::Fifo, false), (Policy::FirstCome, true), (Policy::Mru, true)]
    {
        let mut spec = Spec::plain(N, Map::Limbo { real: 512 }, 1);
        let admits = assay_lab::independent::caches::Admits::All;
        spec.card.cache =
            Some(CacheSpec { policy, bytes: 64 * SECTOR, back: false, deaf: false, admits, keeps_reads: false });
        let mut medium = spec.build();
        let mut out = [0; SECTOR as usize];
        medium.write(600 * SECTOR, &[7; SECTOR as usize]).unwrap();
        medium.read(600 * SECTOR, &mut out).unwrap();
        assert_eq!(out, [7; SECTOR as usize], "{policy:?}");
        medium.write(0, &[1; 64 * SECTOR as usize]).unwrap();
        medium.read(600 * SECTOR, &mut out).unwrap();
        assert_eq!(out == [7; SECTOR as usize], hidden, "{policy:?}");
    }
}

/// Writes, flushes and reads all of a small medium twice, waits, and restores the old content.
fn use_up(spec: &Spec) -> u64 {
    let mut medium = spec.build();
    let chunk = 8192;
    let chunks = medium.bytes() / chunk as u64;
    let mut data = vec![0; chunk];
    let mut before = vec![vec![0; chunk]; chunks as usize];
    for pass in 0..2 {
        for (i, old) in (0..).zip(&mut before) {
            if pass == 0 {
                _ = medium.read(i * chunk as u64, old);
            }
            fill(i ^ pass << 40, &mut data);
            _ = medium.write(i * chunk as u64, &data);
            _ = medium.read(i * chunk as u64, &mut data);
        }
        _ = medium.flush();
        medium.wait(std::time::Duration::from_secs(30));
        for _ in 0..4 {
            (0..chunks).for_each(|i| _ = medium.read(i * chunk as u64, &mut data));
        }
    }
    (0..).zip(&before).for_each(|(i, old)| _ = medium.write(i * chunk as u64, old));
    medium.card(0).bites().iter().map(|b| b.bites).sum()
}

#[test]
fn every_fault_bites() {
    let mut names = HashSet::new();
    for which in 0..FAULTS {
        let bites = (0..40).any(|seed| {
            let mut spec = failing_of(which, seed);
            spec.card.sectors = 4096;
            let fault = spec.card.faults[0].clone();
            names.insert(fault.name());
            matches!(fault, Fault::SlowFlush { .. }) || use_up(&spec) > 0
        });
        assert!(bites, "{which}");
    }
    assert!(names.len() >= 25, "{}", names.len());
}

#[test]
fn faults_that_do_not_bite_change_nothing() {
    let mut spec = Spec::plain(N, Map::Genuine, 1);
    spec.card.faults = vec![Fault::Drops { from: When::Op(1_000_000) }];
    assert_eq!(use_up(&spec), 0);
    assert!(spec.build().card(0).losses().is_none());
}

#[test]
fn seeds_repeat() {
    for seed in 0..300 {
        assert_eq!(genuine(seed), genuine(seed));
        assert_eq!(fake(seed), fake(seed));
        assert_eq!(failing(seed), failing(seed));
        for spec in [genuine(seed), fake(seed), failing(seed)] {
            assert!(spec.bytes() >= 64 << 10, "{spec}");
            assert_eq!(spec.bytes() % u64::from(spec.block), 0, "{spec}");
            let truth = spec.truth();
            assert!(!truth.right.is_empty(), "{spec}");
            let mut medium = spec.build();
            let mut data = vec![0; 4096];
            _ = medium.read(medium.bytes() - 4096, &mut data);
            _ = medium.write(medium.bytes() / 8192 * 4096, &data);
        }
    }
}

#[test]
fn large_devices_cost_what_is_touched() {
    let spec = Spec::plain(8 * TIB, Map::Wrap { period: TIB }, 1);
    let mut medium = spec.build();
    let mut rng = Rng::new(1);
    let data = [9; 4096];
    let mut out = [0; 4096];
    for _ in 0..2000 {
        let at = rng.below(8 * TIB / 8) * 4096;
        medium.write(at, &data).unwrap();
        medium.read(at ^ (1 << 41), &mut out).unwrap();
        assert_eq!(out, data);
    }
    assert_eq!(medium.card(0).written_cells(), medium.card(0).losses().changed);
}

#[test]
fn happenings() {
    let spec = Spec::plain(N, Map::Genuine, 1);
    let mut medium = spec.build();
    let mut data = [0; SECTOR as usize];
    medium.plan(When::Op(2), Happening::Interrupt);
    medium.plan(When::Op(3), Happening::PowerCut);
    medium.read(0, &mut data).unwrap();
    assert_eq!(medium.interrupts(), 0);
    medium.read(0, &mut data).unwrap();
    assert_eq!(medium.interrupts(), 1);
    assert_eq!(medium.read(0, &mut data), Err(Error::Gone));
    assert!(!medium.present());
    medium.replug(0);
    let mut other = spec.card.clone();
    (other.sectors, other.content) = (128, assay_lab::independent::numbers::Content::Ones);
    let other = medium.add_card(other);
    medium.plan(When::Op(5), Happening::Insert(other));
    medium.read(0, &mut data).unwrap();
    assert_ne!(data, [0xff; SECTOR as usize]);
    medium.read(0, &mut data).unwrap();
    assert_eq!(data, [0xff; SECTOR as usize]);
    assert_eq!(medium.read(500 * SECTOR, &mut data), Err(Error::Medium));
    assert_eq!(medium.bytes(), N * SECTOR, "the host is not informed that the card is smaller");
    medium.plan(When::Op(7), Happening::Kill);
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| medium.write(0, &[1; 4096])));
    assert!(killed.unwrap_err().is::<Killed>());
    assert_eq!(medium.read(100, &mut data), Err(Error::Bounds));
}

#[test]
fn campaigns_end_and_print() {
    let small = |population: fn(u64) -> Spec| {
        move |seed| (0..).map(|i| population(seed * 1000 + i)).find(|s| s.card.sectors <= 4096).expect("a small one")
    };
    let factory = || Reference::new(Mistake::None);
    for population in [genuine as fn(u64) -> Spec, fake, failing] {
        for report in [campaign(factory, small(population), 0..6), attack(factory, small(population), 0..14)] {
            let text = report.to_string();
            assert!(text.contains("truth") && report.runs > 0, "{text}");
            assert!(!text.contains("panicked"), "{text}");
        }
    }
}

#[test]
fn runs_repeat() {
    let spec = (0..).map(fake).find(|s| s.card.sectors < 4096).expect("a small one");
    let run = || run_one(&mut || Reference::new(Mistake::None), &spec, Scenario::Kill(800), 3);
    let (a, b) = (run(), run());
    assert_eq!(a.violations, b.violations);
    assert_eq!(a.counters, b.counters);
    assert!(a.violations.iter().all(|v| v.severity <= Severity::Wrong));
}

// Tests of the judge with a program that writes everything, and with its mistakes.

const CELLS: u64 = 4096;

fn run(mistake: Mistake, spec: &Spec, scenario: Scenario) -> Vec<Violation> {
    run_one(&mut || Reference::new(mistake), spec, scenario, 5).violations
}

fn has(violations: &[Violation], claim: Claim) -> bool {
    violations.iter().any(|v| v.claim == claim && v.severity == Severity::Wrong)
}

fn maps() -> Vec<Map> {
    vec![
        Map::Genuine,
        Map::Limbo { real: 1000 },
        Map::Wrap { period: 1000 },
        Map::Chain { period: 1024, real: 700 },
        Map::Reversed { period: 1200, unit: 8 },
        Map::Neighbours { k: 3, unit: 8 },
        Map::WrapEnds { head: 32, tail: 64, window: 100 },
    ]
}

fn scenarios() -> Vec<Scenario> {
    use Scenario::*;
    vec![
        Plain,
        Kill(300),
        Kill(700),
        Kill(995),
        KillTwice(600, 300),
        Interrupt(400),
        Unplug(600),
        KillExchange(600, Other::Stranger),
        KillExchange(600, Other::SameTable),
        KillExchange(600, Other::Clone),
        KillExchange(600, Other::Grown),
        KillNewer(600),
        Twice,
        KillProbe(600),
    ]
}

#[test]
fn a_careful_program_is_not_blamed() {
    for map in maps() {
        let spec = Spec::plain(CELLS, map, 3);
        for scenario in scenarios() {
            let violations = run(Mistake::None, &spec, scenario);
            let wrong: Vec<_> = violations.iter().filter(|v| v.severity == Severity::Wrong).collect();
            assert!(wrong.is_empty(), "{scenario:?} {spec} {wrong:#?}");
        }
    }
}

#[test]
fn mistakes_are_noticed() {
    let genuine = Spec::plain(CELLS, Map::Genuine, 3);
    let fake = Spec::plain(CELLS, Map::Limbo { real: 1000 }, 3);
    let kill = Scenario::Kill(500);
    assert!(has(&run(Mistake::Trusts, &fake, Scenario::Plain), Claim::Missed));
    assert!(has(&run(Mistake::Accuses, &genuine, Scenario::Plain), Claim::Accused));
    assert!(has(&run(Mistake::SizeOff, &fake, Scenario::Plain), Claim::ExactSize));
    assert!(has(&run(Mistake::ForgetsLast, &genuine, Scenario::Plain), Claim::OwnersData));
    assert!(has(&run(Mistake::DropsJournal, &genuine, kill), Claim::Restore));
    assert!(has(&run(Mistake::ProbesAgain, &genuine, Scenario::KillProbe(500)), Claim::Journal));
    for other in [Other::Stranger, Other::SameTable, Other::Clone, Other::Larger, Other::Smaller] {
        assert!(has(&run(Mistake::RestoresBlindly, &genuine, Scenario::KillExchange(500, other)), Claim::Foreign));
    }
    assert!(has(&run(Mistake::RestoresBlindly, &genuine, Scenario::KillNewer(500)), Claim::Restore));
}

#[test]
fn an_exchange_in_the_middle_is_noticed() {
    let spec = Spec::plain(CELLS, Map::Genuine, 3);
    let violations = run(Mistake::None, &spec, Scenario::Exchange(300, None, Other::Stranger));
    assert!(violations.iter().any(|v| v.claim == Claim::Foreign), "{violations:#?}");
}

#[test]
fn a_program_that_never_flushes_loses_what_an_honest_cache_holds() {
    let mut spec = Spec::plain(CELLS, Map::Genuine, 3);
    spec.card.cache = Some(CacheSpec {
        policy: Policy::Lru,
        bytes: 256 << 10,
        back: true,
        deaf: false,
        admits: Admits::All,
        keeps_reads: false,
    });
    assert!(has(&run(Mistake::NeverFlushes, &spec, Scenario::Plain), Claim::OwnersData));
    assert!(!has(&run(Mistake::None, &spec, Scenario::Plain), Claim::OwnersData));
    // A deaf cache loses it although the program flushes.
    spec.card.cache.as_mut().unwrap().deaf = true;
    assert!(has(&run(Mistake::None, &spec, Scenario::Plain), Claim::OwnersData));
}

#[test]
fn drawn_media_can_be_probed() {
    let mut count = 0;
    for seed in 0..250 {
        for spec in [genuine(seed), fake_of(seed, seed)] {
            // The reference program takes data that read differently each time for newer data.
            let is_steady =
                !spec.card.map.is_fickle() && matches!(spec.card.void, Void::Zeros | Void::Ones | Void::Foreign(_));
            let is_small = spec.card.sectors <= 8192 && spec.card.cache.is_none();
            if !is_small || !is_steady || spec.truth().reach != Reach::Stated {
                continue;
            }
            count += 1;
            let plain = run(Mistake::None, &spec, Scenario::Plain);
            let wrong: Vec<_> = plain.iter().filter(|v| v.severity == Severity::Wrong).collect();
            assert!(wrong.is_empty(), "{spec} {wrong:#?}");
        }
    }
    assert!(count > 30, "{count} media");
}
