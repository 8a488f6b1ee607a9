//! Composites of four media that were measured on one Raspberry Pi 4.

use assay_stats::decide::{Combination, Posterior, Weights, acceptability, index};

/// Rows of the published table: means over five runs.
const SD: [f64; 7] = [19.23, 2767.33, 974.33, 8846.33, 2230.33, 7368.67, 3442.33];
const FLASH: [f64; 7] = [21.3, 3168.4, 2700.2, 14842.2, 11561.8, 11429.6, 10780.6];
const SSD: [f64; 7] = [125.67, 22025.67, 18731.33, 31834.33, 26213.33, 17064.33, 29884.0];
const ISCSI: [f64; 7] = [54.07, 5104.0, 5349.67, 7954.33, 7421.33, 6177.0, 7788.33];
const NAMES: [usize; 4] = [0, 1, 2, 3];

#[test]
fn flash_and_iscsi_are_a_coin_flip_in_the_index() {
    let equal = [1.0; 7];
    assert!((index(&FLASH, &ISCSI, &equal).unwrap() - 0.988).abs() < 5e-4);
    // The order does not depend on the reference: ratios of indexes are the same.
    let against =
        |reference: &[f64]| index(&FLASH, reference, &equal).unwrap() / index(&ISCSI, reference, &equal).unwrap();
    assert!((against(&SD) / against(&SSD) - 1.0).abs() < 1e-12);
    assert!((index(&SD, &SD, &[3.0; 7]).unwrap() - 1.0).abs() < 1e-12);
    // One weight alone: the ratio of that workload.
    let dd = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert!((index(&SSD, &SD, &dd).unwrap() - 125.67 / 19.23).abs() < 1e-12);
}

#[test]
fn an_index_of_bad_input_is_refused() {
    assert!(index(&SD, &SSD[..6], &[1.0; 7]).is_err());
    assert!(index(&SD, &SSD, &[1.0; 6]).is_err());
    assert!(index(&SD, &SSD, &[0.0; 7]).is_err());
    assert!(index(&[], &[], &[]).is_err());
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(index(&[bad], &[1.0], &[1.0]).is_err() && index(&[1.0], &[bad], &[1.0]).is_err());
    }
    assert!(index(&[1.0], &[1.0], &[-1.0]).is_err() && index(&[1.0], &[1.0], &[f64::NAN]).is_err());
}

fn points(rows: [[f64; 7]; 4]) -> Vec<Vec<Posterior>> {
    rows.iter().map(|row| row.iter().map(|v| Posterior::point(*v).unwrap()).collect()).collect()
}

#[test]
fn ranks_under_any_weights() {
    let [sd, flash, ssd, iscsi] = NAMES;
    let found = acceptability(&points([SD, FLASH, SSD, ISCSI]), Combination::Geometric, Weights::Any, 1).unwrap();
    // The SD card beats the iSCSI volume in two workloads: all but never is it not last.
    assert!(found.shares[ssd][0] == 1.0 && found.shares[sd][3] >= 0.999, "{:?}", found.shares);
    assert_eq!(found.winner, Some(ssd));
    // Three standard errors of a share of 10 000 draws: 0.015.
    assert!((found.shares[flash][1] - 0.495).abs() < 0.015, "{:?}", found.shares);
    assert!((found.shares[iscsi][1] - 0.505).abs() < 0.015, "{:?}", found.shares);
    assert_eq!((found.ranks[ssd], found.ranks[flash], found.ranks[sd]), ((1, 1), (2, 3), (4, 4)));
    assert!(found.shares.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9));
}

#[test]
fn figures_with_an_interval_are_drawn_too() {
    // Fixed, the first is ahead by 2 %; known to 10 %, in 58 % or less of the draws.
    let fixed = [100.0, 98.0].map(|v| vec![Posterior::point(v).unwrap()]);
    let drawn = [100.0f64, 98.0].map(|v| vec![Posterior::moderated(v.ln(), 0.01, None, 1e6).unwrap()]);
    let first =
        |media: &[Vec<Posterior>]| acceptability(media, Combination::Geometric, Weights::Any, 2).unwrap().shares[0][0];
    assert_eq!(first(&fixed), 1.0);
    // P(N(0.0202, 0.1414) > 0) = 0.557; three standard errors 0.015.
    assert!((first(&drawn) - 0.557).abs() < 0.015, "{}", first(&drawn));
}

#[test]
fn tables_with_holes_are_refused() {
    let p = Posterior::point(1.0).unwrap();
    assert!(acceptability(&[], Combination::Geometric, Weights::Any, 1).is_err());
    assert!(acceptability(&[vec![]], Combination::Geometric, Weights::Any, 1).is_err());
    assert!(acceptability(&[vec![p, p], vec![p]], Combination::Geometric, Weights::Any, 1).is_err());
    assert!(acceptability(&[vec![p, p]], Combination::Sum, Weights::Around(&[1.0]), 1).is_err());
    assert!(acceptability(&[vec![p]], Combination::Sum, Weights::Around(&[0.0]), 1).is_err());
}
