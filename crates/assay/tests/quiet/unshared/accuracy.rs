//! Runs of the real binary beside fio, and beside what queueing theory says.

use std::path::Path;
use std::process::Command;

use assay_core::finding::Finding;
use assay_core::histogram::Histogram;
use assay_core::record::Measurement;
use assay_core::units::MIB;
use assay_lab::{Bus, Lab, LatencyCard, Missing, lab, skip};

use super::busy;
use crate::common::ASSAY;
use crate::common::known::{arguments, iops, measured, named, suite, workload};

#[test]
fn one_at_a_time_agrees_with_fio_on_a_card_with_latency() {
    const TEST: &str = "one_at_a_time_agrees_with_fio_on_a_card_with_latency";
    let _lab = lab!(TEST, Lab::enter());
    if Command::new("fio").arg("--version").output().is_err() {
        return skip(TEST, &Missing("needs fio".to_owned()));
    }
    let bus = Bus { read_ms: 1, write_ms: 3, bits_per_second: 184_000_000 };
    let card = lab!(TEST, LatencyCard::new(512 * MIB, bus));
    let directory = tempfile::tempdir().unwrap();
    let suite =
        suite(directory.path(), "12s", "64MiB", &workload("read", "read", "random", "4KiB", 1, "duration = \"1s\""))
            .clone();
    // In turn, so that the speed of the machine is the same for both. Where fio does not agree with
    // itself, the machine is too busy to say anything of the two. Both are tried again.
    let (mut spread, mut apart) = (0.0, None);
    for _ in 0..4 {
        let (mut ratios, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let fio = fio_random_read(card.path());
            let mut command = Command::new(ASSAY);
            command.args(arguments(&suite, card.path())).args(["--repeats", "1"]);
            ratios.push(iops(&measured(command).0, "read") / fio);
            theirs.push(fio);
        }
        let ratio = median(&mut ratios);
        theirs.sort_by(f64::total_cmp);
        spread = theirs[3] / theirs[1] - 1.0;
        println!("fio {theirs:?} ratios {ratios:?}");
        if (ratio - 1.0).abs() <= 0.03 {
            return;
        }
        // Where the processes that make the card run decides which of the two they wake sooner, for some runs on end, and
        // fio's own are alike meanwhile: a difference that stays is one.
        if spread <= 0.03 {
            apart = Some((ratio, spread));
        }
    }
    assert!(apart.is_none(), "never as fast as fio, while fio agrees with itself: ratio and spread {apart:?}");
    skip(TEST, &Missing(format!("needs a quieter machine: fio's own runs differ by {:.0} %", spread * 100.0)));
}

/// fio's own figure for random 4 KiB reads at QD1 through pread on a file of the same size.
fn fio_random_read(directory: &Path) -> f64 {
    let file = directory.join("fio.data");
    let output = Command::new("fio")
        .args(["--name=r", "--rw=randread", "--bs=4k", "--iodepth=1", "--ioengine=psync", "--direct=1"])
        .args(["--size=64m", "--time_based", "--ramp_time=500ms", "--runtime=1", "--output-format=json"])
        .arg(format!("--filename={}", file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("fio: {}", String::from_utf8_lossy(&output.stderr)));
    let report: serde_json::Value = serde_json::from_str(&text[start..]).unwrap();
    report["jobs"][0]["read"]["iops"].as_f64().unwrap()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The service time of a card is nearly constant: waiting for one operation at a time follows Pollaczek and Khinchine
/// from its mean and its second moment. Half and four fifths of what it does are offered; a few seconds hold so few
/// independent waits, and other programs make the service times depend on each other, that the mean is far from exact; a
/// loop that waited for each operation would find two thirds and one third of it. Exact agreement is tested with a model
/// of the medium in the engine.
#[test]
fn an_open_loop_waits_as_a_queue_does() {
    const TEST: &str = "an_open_loop_waits_as_a_queue_does";
    let _lab = lab!(TEST, Lab::enter());
    let bus = Bus { read_ms: 2, write_ms: 2, bits_per_second: 400_000_000 };
    let card = lab!(TEST, LatencyCard::new(96 * MIB, bus));
    let text = [
        workload("one", "read", "random", "4KiB", 1, "duration = \"2s\""),
        workload("half", "read", "random", "4KiB", 1, "rate = \"50 % of one\"\nduration = \"4s\""),
        workload("busy", "read", "random", "4KiB", 1, "rate = \"80 % of one\"\nduration = \"4s\""),
        workload("over", "read", "random", "4KiB", 1, "rate = \"200 % of one\"\nduration = \"2s\""),
    ]
    .concat();
    let directory = tempfile::tempdir().unwrap();
    let suite = suite(directory.path(), "50s", "32MiB", &text);
    // What others take from the processors, a loop takes for its own waiting.
    let (mut calm, mut others) = (None, String::new());
    for _ in 0..3 {
        let mut command = Command::new(ASSAY);
        command.args(arguments(&suite, card.path()));
        let (record, code) = measured(command);
        match busy(&record) {
            Some(program) => others = program,
            None => {
                calm = Some((record, code));
                break;
            }
        }
    }
    let Some((record, code)) = calm else {
        return skip(TEST, &Missing(format!("needs a quieter machine: {others} used the processors")));
    };
    assert_eq!(code, Some(0), "{:?}", record.validity);
    let (one, first) = (iops(&record, "one"), named(&record, "one").repeats[0].iops);
    for (name, share, tolerance) in [("half", 0.5, 0.3), ("busy", 0.8, 0.6)] {
        let m = named(&record, name);
        let arrivals = m.workload.arrivals.unwrap();
        assert!((arrivals.iops / first - share).abs() < 1e-6, "{arrivals:?} of {first}");
        let (expected, measured) = by_the_formula(m);
        assert!((measured / expected - 1.0).abs() < tolerance, "{name}: {measured} ns, {expected} by the formula");
        assert!(!m.warnings.iter().any(|w| matches!(w.finding, Finding::RateNotReached { .. })), "{name}");
    }
    let over = named(&record, "over");
    let warned = over.warnings.iter().any(|w| matches!(w.finding, Finding::RateNotReached { .. }));
    assert!(warned && (over.iops.as_ref().unwrap().point / one - 1.0).abs() < 0.3, "{:?}", over.iops);
    // Neither class nor headline takes such a load for what the card can do.
    assert!(
        over.latency_ns.p50.as_ref().unwrap().point
            > 20.0 * over.service_ns.as_ref().unwrap().p50.as_ref().unwrap().point
    );
}

/// Mean latency by the service times that were measured, and the one that was measured, in nanoseconds.
fn by_the_formula(m: &Measurement) -> (f64, f64) {
    let (mut count, mut sum, mut squares, mut waited, mut seconds) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for repeat in &m.repeats {
        let service = Histogram::from(repeat.service_histogram.as_deref().unwrap());
        for (low, high, times) in service.buckets() {
            let middle = (low + high) as f64 / 2.0;
            squares += middle * middle * times as f64;
        }
        sum += service.sum_ns() as f64;
        count += service.total() as f64;
        waited += Histogram::from(&*repeat.histogram).sum_ns() as f64;
        seconds += repeat.elapsed_ns as f64;
    }
    let rate = count / seconds;
    let busy = rate * sum / count;
    (sum / count + rate * (squares / count) / (2.0 * (1.0 - busy)), waited / count)
}
