//! What to buy for a cluster.

use assay_stats::decide::{About, Posterior};

use crate::advise::Standing;
use crate::advise::purchase::{Candidate, Fleet, purchase};

const CLUSTER: Fleet = Fleet { nodes: 28, hours: 0.0, kilowatt_hour: 0.0 };

fn card(megabytes: f64, deviation: f64, price: f64) -> Candidate {
    let variance = deviation * deviation;
    let performance = Posterior::moderated(megabytes.ln(), variance / 3.0, Some(variance), 8.0).unwrap();
    Candidate { performance, price, watts: None, spare_share: 0.0 }
}

#[test]
fn the_cost_of_a_cluster() {
    // 28 cards of $25.
    assert_eq!(card(5.0, 0.1, 25.0).cost(&CLUSTER).unwrap(), (28, 700.0));
    // A spare for every tenth, rounded up, and 0.5 W for a year at 0.30 a kilowatt-hour.
    let year = Fleet { hours: 8760.0, kilowatt_hour: 0.30, ..CLUSTER };
    let (pieces, cost) = Candidate { spare_share: 0.1, watts: Some(0.5), ..card(5.0, 0.1, 25.0) }.cost(&year).unwrap();
    assert_eq!(pieces, 31);
    assert!((cost - (31.0 * 25.0 + 28.0 * 0.5 * 8.76 * 0.30)).abs() < 1e-9, "{cost}");
}

#[test]
fn a_dear_and_slow_card_is_off_the_front() {
    let cards = [card(5.0, 0.02, 25.0), card(4.0, 0.02, 30.0), card(9.0, 0.02, 60.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 1).unwrap();
    let standings: Vec<_> = found.offers.iter().map(|o| o.standing).collect();
    assert_eq!(standings, [Standing::Certain, Standing::Off, Standing::Certain]);
    assert_eq!(found.fastest, Some(2));
    assert!(found.tested_enough);
    // ln(9/5) and ln(9/4), with certainty about the order.
    assert!((found.offers[0].regret.unwrap() - 1.8f64.ln()).abs() < 2e-3);
    assert!((found.offers[1].regret.unwrap() - 2.25f64.ln()).abs() < 2e-3);
}

#[test]
fn within_three_percent_the_cheaper_one_wins() {
    let cards = [card(5.00, 0.001, 20.0), card(5.10, 0.001, 25.0), card(5.20, 0.001, 25.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 1).unwrap();
    let standings: Vec<_> = found.offers.iter().map(|o| o.standing).collect();
    // 5.10 is 2 % faster than the cheaper one, 5.20 is 4 % faster.
    assert_eq!(standings, [Standing::Certain, Standing::Off, Standing::Certain]);
    // The same price: 5.10 and 5.20 differ by 2 %, neither pushes the other off.
    let pair = purchase(&cards[1..], &CLUSTER, About::Mean, None, 1).unwrap();
    assert!(pair.offers.iter().all(|o| o.standing == Standing::Certain));
}

#[test]
fn doubt_makes_members_and_more_testing_pays() {
    // The dearer one is on the front where it is drawn more than 3 % faster; its mean is 6 % so.
    let cards = [card(5.0, 0.1, 20.0), card(5.3, 0.1, 25.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 3).unwrap();
    assert_eq!(found.offers[1].standing, Standing::Member);
    assert!(found.offers[1].on_front.unwrap() < 0.8, "{:?}", found.offers[1]);
    assert_eq!(found.offers[0].on_front, Some(1.0), "nothing is cheaper");
    assert!(!found.tested_enough);
    let next = purchase(&cards, &CLUSTER, About::NextUnit, None, 3).unwrap();
    assert!(next.offers[1].regret.unwrap() > found.offers[1].regret.unwrap(), "a single card varies more");
}

#[test]
fn regret_of_two_equal_cards_is_that_of_the_normal_distribution() {
    // E max(a, b) - E a for two normal values of deviation s: s / sqrt(pi). 10 000 draws: the
    // standard error is below 0.6 s / 100.
    let normal =
        |price| Candidate { performance: Posterior::moderated(0.0, 0.01, None, 1e6).unwrap(), ..card(1.0, 0.1, price) };
    let found = purchase(&[normal(20.0), normal(20.0)], &CLUSTER, About::Mean, Some(1000.0), 5).unwrap();
    for offer in found.offers {
        assert!((offer.regret.unwrap() - 0.1 / std::f64::consts::PI.sqrt()).abs() < 0.0018, "{offer:?}");
        assert!((offer.regret_money.unwrap() - 1000.0 * offer.regret.unwrap()).abs() < 1e-6);
    }
}

#[test]
fn the_value_of_speed_decides_in_money() {
    let cards = [card(5.0, 0.001, 20.0), card(10.0, 0.001, 30.0)];
    let loss = |worth: f64, k: usize| {
        purchase(&cards, &CLUSTER, About::Mean, Some(worth), 1).unwrap().offers[k].regret_money.unwrap()
    };
    // Twice the speed costs 280 more for the cluster: worth it above 280 / ln 2 = 404.
    assert!(loss(300.0, 0) < 1.0 && loss(300.0, 1) > 50.0);
    assert!(loss(500.0, 1) < 1.0 && loss(500.0, 0) > 50.0);
}

#[test]
fn one_unit_takes_no_part_and_bad_input_is_refused() {
    let single = Candidate { performance: Posterior::point(50.0).unwrap(), ..card(1.0, 0.1, 5.0) };
    let found = purchase(&[card(5.0, 0.02, 25.0), single], &CLUSTER, About::Mean, None, 1).unwrap();
    assert_eq!((found.offers[1].standing, found.offers[1].on_front), (Standing::CannotTell, None));
    assert_eq!(found.offers[0].standing, Standing::Certain);
    assert!(!found.tested_enough, "an untested card may be better");
    assert!(purchase(&[], &CLUSTER, About::Mean, None, 1).is_err());
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(purchase(&[card(5.0, 0.1, bad)], &CLUSTER, About::Mean, None, 1).is_err());
    }
    assert!(purchase(&[card(5.0, 0.1, 5.0)], &Fleet { nodes: 0, ..CLUSTER }, About::Mean, None, 1).is_err());
    assert!(purchase(&[card(5.0, 0.1, 5.0)], &CLUSTER, About::Mean, Some(-1.0), 1).is_err());
}
