//! Tests of the judge with a program that writes everything, and with its mistakes.

use crate::reference::{Mistake, Reference};
use assay_lab::independent::caches::{Admits, CacheSpec, Policy};
use assay_lab::independent::campaign::{Other, Scenario, run_one};
use assay_lab::independent::content::Void;
use assay_lab::independent::judge::{Claim, Severity, Violation};
use assay_lab::independent::maps::Map;
use assay_lab::independent::spec::{Spec, fake_of, genuine};
use assay_lab::independent::truths::Reach;

const N: u64 = 4096;

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
        let spec = Spec::plain(N, map, 3);
        for scenario in scenarios() {
            let violations = run(Mistake::None, &spec, scenario);
            let wrong: Vec<_> = violations.iter().filter(|v| v.severity == Severity::Wrong).collect();
            assert!(wrong.is_empty(), "{scenario:?} {spec} {wrong:#?}");
        }
    }
}

#[test]
fn mistakes_are_noticed() {
    let genuine = Spec::plain(N, Map::Genuine, 3);
    let fake = Spec::plain(N, Map::Limbo { real: 1000 }, 3);
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
    let spec = Spec::plain(N, Map::Genuine, 3);
    let violations = run(Mistake::None, &spec, Scenario::Exchange(300, None, Other::Stranger));
    assert!(violations.iter().any(|v| v.claim == Claim::Foreign), "{violations:#?}");
}

#[test]
fn a_program_that_never_flushes_loses_what_an_honest_cache_holds() {
    let mut spec = Spec::plain(N, Map::Genuine, 3);
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
