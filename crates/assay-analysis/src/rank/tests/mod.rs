//! Rankings of published figures and of records made up for the purpose.

mod campaign;

use assay_core::medium::MediumKind;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::workload::{Op, Pattern, Workload};
use assay_stats::decide::{Combination, Posterior, Weights, acceptability};

use crate::compare::{By, nameless, split};
use crate::rank::composite::{PiRun, WEIGHTS, pi_value};
use crate::rank::{Better, CeilingSource, CompositeKind, ModelRow, RankOptions, RankReport, RankStanding, rank};
use crate::{published, samples};

// Records for tests.

fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload { queue_depth, span_bytes: 1 << 30, ..Workload::new("any", op, pattern, block_bytes) }
}

/// Random reads of 4 KiB at depth 1: the load of most tests.
fn read_4k() -> Workload {
    workload(Op::Read, Pattern::Random, 4096, 1)
}

fn measured(workload: Workload, iops: &[f64]) -> ObservedMeasurement {
    let mut measurement = ObservedMeasurement::new(workload);
    for &iops in iops {
        let operations = if iops > 0.0 { 9 } else { 0 };
        measurement.repeats.push(ObservedRepeat {
            elapsed_ns: 1,
            operations: 9,
            iops,
            bytes_per_second: iops * measurement.workload.block_bytes as f64,
            histogram: samples::histogram((1e9 / iops) as u64, operations),
            last_done_ns: 1,
            ..ObservedRepeat::new(Outcome::Completed)
        });
    }
    measurement
}

/// A record of a unit. Its id is made from the model and the unit.
fn record(model: &str, unit: &str, measurements: Vec<ObservedMeasurement>) -> Observation {
    samples::record(&format!("{model}-{unit}"), model, unit, measurements)
}

/// The usual: random reads of 4 KiB.
fn read(model: &str, unit: &str, iops: &[f64]) -> Observation {
    record(model, unit, vec![measured(read_4k(), iops)])
}

/// Three models of three units, far apart.
fn nine() -> Vec<Observation> {
    let mut records = Vec::new();
    for (model, iops) in [("A", 1000.0), ("B", 2000.0), ("C", 4000.0)] {
        for (unit, factor) in [("1", 0.97), ("2", 1.0), ("3", 1.04)] {
            records.push(read(model, unit, &[iops * factor, iops * factor * 1.01]));
        }
    }
    records
}

fn failed(failure: RunFailure) -> Outcome {
    Outcome::Failed {
        failure,
        detail: String::new(),
        workload: None,
        elapsed_ns: 48 * 3600 * 1_000_000_000,
        written_bytes: 1,
    }
}

fn ranked(records: &[Observation], ask: &RankOptions) -> RankReport {
    rank(&records.iter().collect::<Vec<_>>(), ask).unwrap()
}

fn row<'a>(report: &'a RankReport, model: &str) -> &'a ModelRow {
    report.primary.models.iter().find(|m| m.model == model).unwrap()
}

// What the published articles' figures say.

const A1: &str = "SanDisk Ultra A1";
const EVO: &str = "Samsung EVO Plus 64GB";
const BLOCKS: [u32; 6] = [4, 16, 32, 64, 128, 256];

/// The six cards of the article with four jobs.
fn cards() -> Vec<Observation> {
    ["sandisk-ultra-a1", "samsung-evo-plus-64gb", "sandisk-extreme-a2"]
        .iter()
        .flat_map(|name| published(name).unwrap())
        .collect()
}

fn by(op: &str, kib: u32, more: RankOptions) -> RankReport {
    let primary = Some(format!("random {op} {kib} KiB, 4 jobs"));
    ranked(&cards(), &RankOptions { primary, ..more })
}

fn a1_is_better(report: &RankReport) -> bool {
    let found = report.primary.pairs.iter().find(|p| p.first == A1 && p.second == EVO);
    found.is_some_and(|p| matches!(p.verdict, Better::First | Better::FirstPerhapsSlightly))
}

#[test]
fn one_block_size_tells_two_models_apart() {
    // The third model has one unit; ranked with it, all six read sizes are one family of tests each.
    let separated: Vec<u32> = BLOCKS
        .into_iter()
        .filter(|kib| a1_is_better(&by("read", *kib, RankOptions { borrow: true, ..RankOptions::default() })))
        .collect();
    assert_eq!(separated, [16]);
    for kib in BLOCKS {
        let writes = by("write", kib, RankOptions::default());
        let any =
            writes.primary.pairs.iter().any(|p| matches!(p.verdict, Better::First | Better::FirstPerhapsSlightly));
        assert!(!any, "{kib}");
    }
    let weak = by("read", 16, RankOptions::default()).primary;
    assert!(weak.weak && weak.degrees == 3);
    assert_eq!(weak.models.last().unwrap().standing, RankStanding::Specimen);
}

#[test]
fn all_six_cards_tie_at_the_ceiling() {
    let ceiling = Some(23_000.0 * 1024.0);
    let report = by("read", 256, RankOptions { ceiling, borrow: true, ..RankOptions::default() });
    let primary = &report.primary;
    assert!(primary.pairs.len() == 3 && primary.pairs.iter().all(|p| p.verdict == Better::Ceiling));
    assert_eq!(primary.models.iter().flat_map(|m| &m.units).filter(|u| u.at_ceiling).count(), 6);
    assert!(primary.models.iter().all(|m| m.layer == Some(1) && m.estimate.as_ref().unwrap().high.is_none()));
    assert!(primary.smallest_ratio.is_none() && primary.critical.is_none());
    // At 128 KiB both SanDisk models are at the ceiling and the EVO is not; at 64 KiB no model is.
    let held = |kib| -> Vec<String> {
        let report = by("read", kib, RankOptions { ceiling, ..RankOptions::default() });
        report.primary.models.into_iter().filter(|m| m.at_ceiling).map(|m| m.model).collect()
    };
    assert_eq!(held(128).len(), 2);
    assert!(!held(128).contains(&EVO.to_owned()) && held(64).is_empty());
    // The ceiling need not be given: the article states the bus, and the best rates of the three models agree.
    let stated = by("read", 256, RankOptions::default()).primary;
    assert_eq!(stated.ceiling.unwrap().source, CeilingSource::Records);
    let mut unstated = cards();
    unstated.iter_mut().for_each(|record| record.medium.bus = None);
    let primary = Some("random read 256 KiB, 4 jobs".to_owned());
    let measured = ranked(&unstated, &RankOptions { primary, ..RankOptions::default() }).primary;
    assert_eq!(measured.ceiling.unwrap().source, CeilingSource::Measured);
    assert!([stated, measured].iter().flat_map(|p| &p.models).all(|m| m.at_ceiling));
}

#[test]
fn one_unit_is_odd_in_writes_and_not_in_reads() {
    let report = by("read", 4, RankOptions::default());
    let [deviation] = report.deviations.as_slice() else { panic!("{:?}", report.deviations) };
    assert_eq!((deviation.model.as_str(), deviation.unit.as_str(), deviation.of), (A1, "3 (published)", 3));
    assert_eq!((deviation.direction, deviation.loads, deviation.of_loads), ("writes", 6, 6));
    assert_eq!(deviation.not_in, ["reads"]);
    // Its rates over the geometric mean of the other two, by hand: .354 .247 .288 .273 .253 .227.
    assert!((deviation.least - 0.227).abs() < 1e-3 && (deviation.most - 0.354).abs() < 1e-3, "{deviation:?}");
    let write = by("write", 32, RankOptions::default()).primary;
    let odd = write.odd.iter().find(|o| o.model == A1).unwrap();
    assert_eq!(odd.unit.as_deref(), Some("3 (published)"));
    assert!((odd.ratio - 0.288).abs() < 1e-3 && odd.tested && !odd.slot_known);
}

#[test]
fn stick_and_iscsi_are_a_tie_in_the_score() {
    let all = published("").unwrap();
    let ask = RankOptions { composite: Some(CompositeKind::Pibenchmarks), ..RankOptions::default() };
    let score = ranked(&all, &ask).composite.unwrap();
    let of = |name: &str| score.models.iter().find(|m| m.model.contains(name)).unwrap();
    // Three standard errors of a share of 10 000 draws: 0.015.
    assert!((of("Fit Plus").acceptability[1] - 0.495).abs() < 0.015);
    assert!((of("iSCSI").acceptability[1] - 0.505).abs() < 0.015);
    let places: Vec<(&str, bool)> = score.models.iter().map(|m| (m.model.as_str(), m.tied_with_next)).collect();
    assert!(places[1].0.contains("iSCSI") && places[1].1 && places[2].0.contains("Fit Plus"), "{places:?}");
    assert!(score.winner.as_ref().unwrap().contains("SSD Kingston"));
    assert!(score.incomplete.iter().any(|m| m == A1));
    // A second run that gave the same changes no score.
    let again = all.iter().map(|r| Observation { id: format!("{}-again", r.id), ..r.clone() });
    let twice: Vec<Observation> = all.iter().cloned().chain(again).collect();
    for (one, two) in score.models.iter().zip(ranked(&twice, &ask).composite.unwrap().models) {
        assert!(one.model == two.model && (two.value / one.value - 1.0).abs() < 1e-9, "{one:?} {two:?}");
    }
    // Without the SSD, the first place depends on the weights.
    let rest: Vec<Observation> = all.into_iter().filter(|r| !r.model().contains("Kingston")).collect();
    let score = ranked(&rest, &ask).composite.unwrap();
    assert_eq!((score.models.len(), score.winner), (3, None));
}

#[test]
fn two_speeds_of_an_ssd_are_flagged() {
    let raw = [16_489.0, 24_764.0, 24_824.0, 24_854.0, 16_436.0];
    let report = ranked(&[read("SSD", "1", &raw)], &RankOptions::default());
    let two = report.primary.models[0].units[0].two_speeds.as_ref().unwrap();
    assert_eq!(two.values, raw);
    assert!((two.ratio - 16_436.0 / 24_854.0).abs() < 1e-9);
    assert!((report.primary.models[0].units[0].value - 21_057.9).abs() < 0.1, "the geometric mean");
    let even = ranked(&[read("SSD", "1", &[100.0, 101.0, 99.0, 100.5, 100.2])], &RankOptions::default());
    assert!(even.primary.models[0].units[0].two_speeds.is_none());
}

#[test]
fn an_index_over_shared_loads_says_whether_the_weights_decide() {
    let unit = |model: &str, read: f64, write: f64| {
        let measurements = vec![
            measured(workload(Op::Read, Pattern::Random, 4096, 1), &[read]),
            measured(workload(Op::Write, Pattern::Random, 4096, 1), &[write]),
        ];
        record(model, "1", measurements)
    };
    let ask = RankOptions { composite: Some(CompositeKind::Index), ..RankOptions::default() };
    let split = ranked(&[unit("reader", 300.0, 100.0), unit("writer", 100.0, 300.0)], &ask).composite.unwrap();
    assert_eq!(split.winner, None);
    // As strong in one as weak in the other: each is first under half of the weights.
    assert!((split.models[0].acceptability[0] - 0.5).abs() < 0.015 && split.models[0].tied_with_next);
    let clear = ranked(&[unit("both", 300.0, 300.0), unit("writer", 100.0, 290.0)], &ask).composite.unwrap();
    assert_eq!(clear.winner.as_deref(), Some("both"));
    // Values that are not rates are left out of a mean.
    let mut odd = unit("both", 300.0, 300.0);
    odd.measurements[0] = measured(workload(Op::Read, Pattern::Random, 4096, 1), &[300.0, 0.0, f64::INFINITY]);
    let found = ranked(&[odd, unit("writer", 100.0, 290.0)], &ask).composite.unwrap();
    assert_eq!(found.models, clear.models);
}

/// Media of unknown kind are no model by their size: rank leaves them out by name, as `compare --by model` does.
#[test]
fn runs_on_media_of_unknown_kind_are_no_model() {
    let unknown = |id: &str, unit: &str| {
        let mut record = read("", unit, &[3000.0, 3010.0]);
        record.id = id.to_owned();
        record.labels.remove("model");
        record.medium.kind = MediumKind::Unknown;
        record
    };
    let mut records = nine();
    records.extend([unknown("x", "1"), unknown("y", "2")]);
    let report = ranked(&records, &RankOptions::default());
    let models: Vec<&str> = report.primary.models.iter().map(|model| model.model.as_str()).collect();
    assert_eq!(models, ["C", "B", "A"]);
    let left_out: Vec<String> =
        report.primary.excluded.iter().map(|out| format!("{} {}", out.record, out.reason)).collect();
    let hint = "names no model; name it: assay label ID model=…";
    assert_eq!(left_out, [format!("x {hint}"), format!("y {hint}")]);
    assert_eq!(split(&[records.clone()], By::Model).len(), 3);
    let note = nameless(&[records.clone()], By::Model).unwrap().to_string();
    assert_eq!(note, "x, y name no model and are left out: assay label ID model=…");
    // A kind that the system knows is one, such as the equal disks of virtual machines.
    records[9..].iter_mut().for_each(|record| record.medium.kind = MediumKind::Virtio);
    assert_eq!(ranked(&records, &RankOptions::default()).primary.models.len(), 4);
}

// The score of four media that were measured on one Raspberry Pi 4.

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
