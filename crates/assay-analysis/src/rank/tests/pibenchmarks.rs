//! The score of four media that were measured on one Raspberry Pi 4.

use assay_stats::decide::{Combination, Posterior, Weights, acceptability};

use crate::rank::pibenchmarks::{PiRun, WEIGHTS, pi_value};

fn run([dd, fio_read, fio_write, read, write, random_read, random_write]: [f64; 7]) -> PiRun {
    PiRun {
        dd_write_megabytes: dd,
        fio_read_iops: fio_read,
        fio_write_iops: fio_write,
        iozone_read: read,
        iozone_write: write,
        iozone_random_read: random_read,
        iozone_random_write: random_write,
    }
}

/// Rows of the published table: means over five runs.
const SD: [f64; 7] = [19.23, 2767.33, 974.33, 8846.33, 2230.33, 7368.67, 3442.33];
const FLASH: [f64; 7] = [21.3, 3168.4, 2700.2, 14842.2, 11561.8, 11429.6, 10780.6];
const SSD: [f64; 7] = [125.67, 22025.67, 18731.33, 31834.33, 26213.33, 17064.33, 29884.0];
const ISCSI: [f64; 7] = [54.07, 5104.0, 5349.67, 7954.33, 7421.33, 6177.0, 7788.33];

/// The five runs behind the row of the SD card, and the score that the script printed for each.
const SD_RUNS: [([f64; 7], u64); 5] = [
    ([19.3, 2742.0, 964.0, 8810.0, 2251.0, 7353.0, 3432.0], 1151),
    ([19.7, 2750.0, 1123.0, 8857.0, 2073.0, 7173.0, 3880.0], 1208),
    ([19.2, 2773.0, 970.0, 8863.0, 2200.0, 7389.0, 3501.0], 1160),
    ([19.0, 2793.0, 965.0, 8890.0, 2258.0, 7412.0, 3881.0], 1198),
    ([19.2, 2779.0, 988.0, 8819.0, 2240.0, 7364.0, 3394.0], 1151),
];

#[test]
fn scores_of_runs_are_those_that_were_printed() {
    for (figures, printed) in SD_RUNS {
        // The script cuts the fraction off.
        assert_eq!(pi_value(&run(figures)).unwrap() as u64, printed);
    }
    // The published 1169.67 is the mean of the runs without the best and the worst.
    let mut scores = SD_RUNS.map(|(_, s)| s);
    scores.sort_unstable();
    let trimmed = scores[1..4].iter().sum::<u64>() as f64 / 3.0;
    assert!((trimmed - 1169.67).abs() < 5e-3);
}

#[test]
fn the_formula_on_rows_is_not_the_published_score() {
    for (row, value) in [(SD, 1154.79), (FLASH, 2414.15), (SSD, 8292.47), (ISCSI, 2472.47)] {
        let found = pi_value(&run(row)).unwrap();
        assert!((found - value).abs() < 6e-3, "{found} for {value}");
    }
    // With the cell that was typed wrongly put right.
    let corrected = PiRun { iozone_random_write: 3604.33, ..run(SD) };
    assert!((pi_value(&corrected).unwrap() - 1170.99).abs() < 6e-3);
}

#[test]
fn the_score_is_a_weighted_sum_and_bad_figures_are_refused() {
    // 1024 + 400 + 1000 + 76 + 100 + 400 + 3000 is 6000.
    let whole = run([1.0, 100.0, 100.0, 76.0, 100.0, 100.0, 300.0]);
    assert!((pi_value(&whole).unwrap() - 60.0).abs() < 1e-9);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(pi_value(&PiRun { fio_read_iops: bad, ..whole }).is_err());
    }
}

#[test]
fn the_score_near_its_published_weights() {
    let points = |row: [f64; 7]| run(row).kibibytes().map(|v| Posterior::point(v).unwrap()).to_vec();
    let media = [SD, FLASH, SSD, ISCSI].map(points);
    let found = acceptability(&media, Combination::Sum, Weights::Around(&WEIGHTS), 1).unwrap();
    assert!((found.before[1][3] - 0.406).abs() < 0.015, "{}", found.before[1][3]);
    assert_eq!(found.winner, Some(2));
    // Without the SSD no medium wins under all weights.
    let rest = [media[0].clone(), media[1].clone(), media[3].clone()];
    let found = acceptability(&rest, Combination::Sum, Weights::Around(&WEIGHTS), 1).unwrap();
    assert_eq!(found.winner, None);
}
