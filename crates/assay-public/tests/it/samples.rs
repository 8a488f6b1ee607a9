//! Records as runs make them, drawn by seed: every figure follows from latencies that were drawn.

use assay_core::draft::Draft;
use assay_core::estimate::Estimate;
use assay_core::finding::Validity;
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat, Sample, SuiteRef, Tool};
use assay_core::workload::{Op, Pattern, Workload};
use assay_report::Redactor;
use assay_runner::recomputed;
use assay_stats::random::Generator;
use jiff::{SignedDuration, Timestamp};

const SECOND: u64 = 1_000_000_000;
/// Wires of an SD card in SDR104.
const CEILING: f64 = 104e6;

/// What is drawn for a record.
#[derive(Debug, Clone, Copy)]
pub struct Of<'a> {
    pub seed: u64,
    pub model: &'a str,
    pub unit: &'a str,
    /// By what all rates are multiplied.
    pub speed: f64,
    /// Deviation of logarithms between repeats.
    pub spread: f64,
    /// Share of the bytes that crossed the device.
    pub proof: f64,
    /// Loads, of [`LOADS`].
    pub loads: usize,
    /// Repeats of each.
    pub repeats: usize,
}

/// Loads in the order in which records have them: name, operation, pattern, size, queue depth, nanoseconds of an operation.
const LOADS: [(&str, Op, Pattern, u64, u32, f64); 8] = [
    ("rand-read-4k-q1", Op::Read, Pattern::Random, 4096, 1, 400_000.0),
    ("seq-read-1m-q8", Op::Read, Pattern::Sequential, 1 << 20, 8, 110e6),
    ("rand-write-4k-q1", Op::Write, Pattern::Random, 4096, 1, 1_200_000.0),
    ("seq-write-1m-q8", Op::Write, Pattern::Sequential, 1 << 20, 8, 190e6),
    ("rand-read-4k-q8", Op::Read, Pattern::Random, 4096, 8, 1_900_000.0),
    ("rand-read-16k-q1", Op::Read, Pattern::Random, 16 << 10, 1, 560_000.0),
    ("rand-write-16k-q1", Op::Write, Pattern::Random, 16 << 10, 1, 1_900_000.0),
    ("rand-read-64k-q1", Op::Read, Pattern::Random, 64 << 10, 1, 1_100_000.0),
];

impl Default for Of<'_> {
    fn default() -> Self {
        Self {
            seed: 1,
            model: "Card A",
            unit: "035344534e36344780a1b2c3d4016a00",
            speed: 1.0,
            spread: 0.02,
            proof: 1.0,
            loads: 3,
            repeats: 4,
        }
    }
}

/// Identity of the record of a seed.
pub fn id_of(seed: u64) -> String {
    format!("{seed:010}")
}

/// A record with all that identifies, as a store has it.
pub fn whole(of: Of<'_>) -> Record {
    let mut draw = Generator::new(of.seed);
    let bus = Bus {
        kind: "sd".into(),
        mode: "SDR104".into(),
        ceiling_bytes_per_second: Some(CEILING),
        reachable_bytes_per_second: Some(0.93 * CEILING),
        driver: None,
        source: "/sys/kernel/debug/mmc0/ios".into(),
    };
    let medium = Medium {
        kind: MediumKind::Sd,
        vendor: Some("SanDisk".to_owned()),
        model: Some(of.model.to_owned()),
        unit: Some(of.unit.to_owned()),
        capacity_bytes: Some(64_000_000_000),
        filesystem: Some("ext4".to_owned()),
        mount_options: vec!["rw".to_owned(), "relatime".to_owned()],
        mount_point: Some("/media/zacharias/Holiday Pictures".to_owned()),
        device: Some("/dev/mmcblk0p1".to_owned()),
        bus: Some(bus),
        ..Medium::unknown("/media/zacharias/Holiday Pictures/bench")
    };
    let began = Timestamp::from_second(1_780_000_000 + (of.seed % 1_000_000) as i64).unwrap();
    let (tool, suite) = (Tool::assay("0.1.0", "uring", "asked for on quokka17.example.org"), SuiteRef::new("quick", 7));
    let draft = Draft::begin(&id_of(of.seed), &began.to_string(), tool, suite, medium);
    let mut record = draft.close(Outcome::Completed);
    record.host.hostname = Some("quokka17.example.org".to_owned());
    record.host.cpu = Some("Cortex-A76".to_owned());
    record.host.board = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
    record.labels.insert("price".to_owned(), "10USD".to_owned());
    record.labels.insert("serial".to_owned(), "SN-77120934".to_owned());
    let mut at = SignedDuration::from_secs(1);
    for (name, op, pattern, block, depth, ns) in LOADS.into_iter().take(of.loads) {
        let workload = Workload {
            queue_depth: depth,
            direct: true,
            span_bytes: 1 << 30,
            ..Workload::new(name, op, pattern, block)
        };
        let mut measurement = Measurement::empty(workload, "uring");
        for _ in 0..of.repeats {
            // No card is faster than its bus.
            let least_ns = (block * u64::from(depth)) as f64 / (0.95 * CEILING) * SECOND as f64;
            let ns = (ns / of.speed * (of.spread * draw.normal()).exp()).max(least_ns);
            let repeat = repeat(&mut draw, &measurement.workload, ns, of.proof, began + at);
            at += SignedDuration::from_nanos(repeat.elapsed_ns as i64) + SignedDuration::from_millis(400);
            measurement.repeats.push(repeat);
        }
        record.measurements.push(measurement);
    }
    record.change_settings(|settings| {
        settings.elapsed_ns = u64::try_from(at.as_nanos()).unwrap() + SECOND;
        settings.span_bytes = 1 << 30;
        settings.null_ns_per_operation = Some(900.0);
    });
    close(&mut record);
    record
}

/// Computes what a run computes at its end.
pub fn close(record: &mut Record) {
    let null_ns = record.settings().and_then(|settings| settings.null_ns_per_operation);
    for measurement in &mut record.measurements {
        *measurement = recomputed(measurement, &record.medium, null_ns);
    }
    record.validity = Validity::judge(record.all_warnings());
}

fn repeat(draw: &mut Generator, workload: &Workload, mean_ns: f64, proof: f64, started: Timestamp) -> Repeat {
    let depth = workload.queue_depth as f64;
    let operations = ((0.7 * SECOND as f64 * depth / mean_ns) as u64).max(150);
    let mut histogram = Histogram::default();
    for _ in 0..operations {
        histogram.add((mean_ns * (0.2 * draw.normal() - 0.02).exp()) as u64);
    }
    // In a full queue the latencies add up to the window times the depth.
    let elapsed_ns = (histogram.sum_ns() as f64 / depth) as u64;
    let seconds = elapsed_ns as f64 / SECOND as f64;
    let bytes = operations * workload.block_bytes;
    let half = |of: u64| [of / 2, of - of / 2];
    let samples = half(operations).into_iter().zip(half(elapsed_ns)).scan(0, |t_ns, (operations, interval_ns)| {
        *t_ns += interval_ns;
        let bytes = operations * workload.block_bytes;
        Some(Sample { t_ns: *t_ns, interval_ns, operations, bytes, p50_ns: None, p99_ns: None })
    });
    Repeat {
        elapsed_ns,
        operations,
        bytes,
        iops: operations as f64 / seconds,
        bytes_per_second: bytes as f64 / seconds,
        issued_bytes: bytes,
        in_flight: depth,
        proof_ratio: Some(proof * (1.0 + 0.001 * draw.uniform())),
        samples: samples.collect(),
        first_done_ns: elapsed_ns,
        last_done_ns: elapsed_ns,
        histogram: StoredHistogram::from(&histogram).into(),
        ..Repeat::empty(&started.to_string(), Outcome::Completed)
    }
}

/// One load alone, for many documents in little time.
pub fn small(of: Of<'_>, account: &str) -> String {
    let mut record = whole(of);
    record.measurements.truncate(1);
    record.measurements[0].repeats.truncate(1);
    close(&mut record);
    redacted(&record, account)
}

/// The same as an account sends it.
pub fn redacted(record: &Record, account: &str) -> String {
    let key = *blake3::hash(account.as_bytes()).as_bytes();
    let mut value = record.to_value().unwrap();
    Redactor::with_key(key).value(&mut value);
    value.to_string()
}

/// A document as an account sends it.
pub fn document(of: Of<'_>, account: &str) -> String {
    redacted(&whole(of), account)
}

/// Multiplies an estimate.
pub fn times(estimate: &mut Option<Estimate>, factor: f64) {
    if let Some(estimate) = estimate {
        estimate.point *= factor;
        estimate.low = estimate.low.map(|low| low * factor);
        estimate.high = estimate.high.map(|high| high * factor);
    }
}
