//! Records as assay makes them: a microSD card in an SDR25 slot and its misfortunes.

use std::collections::BTreeMap;

use assay_core::draft::Draft;
use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, Shortfall, Size, Validity};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::{BlockNode, Bus, Medium, MediumKind};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{
    Host, Latency, Layout, Measurement, Record, Repeat, Sample, Sensor, Settings, SuiteRef, Tool,
};
use assay_core::workload::{Op, Pattern, Stop, Sync, Unknown, Workload};

const SECOND: u64 = 1_000_000_000;

/// A small generator with a fixed start, so that samples look like measurements and never change.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 0 to 1 (xorshift64*).
    pub fn throw(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal around 0 with deviation 1 (sum of twelve uniforms).
    pub fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.throw()).sum::<f64>() - 6.0
    }
}

pub fn workload(name: &str, op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32, sync: Sync) -> Workload {
    Workload {
        queue_depth,
        span_bytes: 256 << 20,
        sync,
        stop: Stop { ramp_ns: SECOND / 2, duration_ns: 3 * SECOND, max_bytes: None },
        ..Workload::new(name, op, pattern, block_bytes)
    }
}

/// Half-width of the interval as a share of the point.
pub fn around(point: f64, share: f64) -> Option<Estimate> {
    Some(Estimate {
        point,
        low: Some(point * (1.0 - share)),
        high: Some(point * (1.0 + share)),
        level: Some(0.95),
        n: 3,
        method: "mean over repeats, Student's t".into(),
    })
}

/// What a workload is like: operations a second, spread of the samples, share of slow operations
/// and how many times slower those are.
pub struct Nature {
    pub iops: f64,
    pub spread: f64,
    pub slow_share: f64,
    pub slow_factor: f64,
    pub durable: Option<f64>,
}

fn repeat(w: &Workload, nature: &Nature, start_ns: u64, seconds: u64, dice: &mut Dice) -> Repeat {
    let depth = w.depth() as f64;
    let mut samples = Vec::new();
    let mut histogram = Histogram::default();
    let mut operations = 0;
    for second in 1..=seconds {
        let iops = nature.iops * (1.0 + nature.spread * dice.bell());
        let ops = iops.round().max(1.0) as u64;
        operations += ops;
        let mean = depth / iops * 1e9;
        let usual = mean / (1.0 + nature.slow_share * (nature.slow_factor - 1.0));
        let mut here = Histogram::default();
        for _ in 0..ops.min(400) {
            let slow = dice.throw() < nature.slow_share;
            let value = usual
                * (1.0 + 0.06 * dice.bell()).max(0.5)
                * if slow { nature.slow_factor * (0.6 + 0.8 * dice.throw()) } else { 1.0 };
            here.add(value as u64);
        }
        histogram.merge(&here);
        samples.push(Sample {
            t_ns: start_ns + second * SECOND,
            interval_ns: SECOND,
            operations: ops,
            bytes: ops * w.block_bytes,
            p50_ns: here.quantile(0.5),
            p99_ns: here.quantile(0.99),
        });
    }
    let iops = operations as f64 / seconds.max(1) as f64;
    let bytes = operations * w.block_bytes;
    Repeat {
        elapsed_ns: seconds * SECOND,
        operations,
        bytes,
        iops,
        bytes_per_second: iops * w.block_bytes as f64,
        issued_bytes: bytes + w.depth() * w.block_bytes,
        durable_bytes_per_second: nature.durable.map(|share| iops * w.block_bytes as f64 * share),
        in_flight: depth * 0.998,
        proof_ratio: Some(1.0),
        samples,
        histogram: StoredHistogram::from(&histogram).into(),
        first_done_ns: seconds * SECOND,
        last_done_ns: seconds * SECOND,
        ..Repeat::empty("2026-11-21T06:31:07Z", Outcome::Completed)
    }
}

/// A measurement with three repeats; `start` is moved on.
pub fn measured(w: Workload, nature: &Nature, start: &mut u64, dice: &mut Dice) -> Measurement {
    let mut m = Measurement::empty(w, "uring");
    let mut all = Histogram::default();
    for _ in 0..3 {
        *start += SECOND / 2;
        let r = repeat(&m.workload, nature, *start, 3, dice);
        *start += r.elapsed_ns;
        all.merge(&Histogram::from(&*r.histogram));
        m.repeats.push(r);
    }
    let mean = m.repeats.iter().map(|r| r.iops).sum::<f64>() / 3.0;
    let spread = m.repeats.iter().map(|r| (r.iops - mean).abs()).fold(0.0, f64::max) / mean * 1.4 + 0.003;
    let rate = mean * m.workload.block_bytes as f64;
    m.iops = around(mean, spread);
    m.bytes_per_second = around(rate, spread);
    m.durable_bytes_per_second = nature.durable.and_then(|share| around(rate * share, spread * 1.6));
    let q = |q: f64, share: f64| all.quantile(q).and_then(|v| around(v, share)).map(Box::new);
    m.latency_ns = Latency {
        mean: all.mean().and_then(|v| around(v, spread)).map(Box::new),
        p50: q(0.5, spread),
        p90: q(0.9, spread * 1.3),
        p99: q(0.99, spread * 2.0),
        p99_9: q(0.999, spread * 4.0),
        max: all.max().map(|v| Estimate::bare(v as f64, 3, "largest of all repeats").into()),
    };
    m.proof_ratio = Some(1.0);
    m.in_flight = Some(m.workload.depth() as f64 * 0.998);
    m
}

pub fn card_medium() -> Medium {
    Medium {
        kind: MediumKind::Sd,
        vendor: Some("SanDisk".into()),
        model: Some("SC32G".into()),
        unit: Some("035344534333324780a1b2c3d4016a00".into()),
        attached: None,
        capacity_bytes: Some(31_914_983_424),
        filesystem: Some("ext4".into()),
        mount_options: vec!["rw".into(), "noatime".into()],
        mount_point: Some("/".into()),
        path: "/var/tmp".into(),
        device: Some("/dev/mmcblk0p2".into()),
        stack: vec![
            BlockNode { name: "mmcblk0p2".into(), role: "partition".into() },
            BlockNode { name: "mmcblk0".into(), role: "disk".into() },
        ],
        bus: Some(Bus {
            kind: "sd".into(),
            mode: "SDR25".into(),
            ceiling_bytes_per_second: Some(25e6),
            reachable_bytes_per_second: Some(23.3e6),
            driver: None,
            source: "/sys/kernel/debug/mmc0/ios".into(),
        }),
        claimed_classes: vec!["C10".into(), "U1".into(), "A1".into()],
        health: BTreeMap::from([("manufactured".into(), "06/2018".into())]),
        queue: BTreeMap::from([("scheduler".into(), "mq-deadline".into()), ("read_ahead_kb".into(), "128".into())]),
        ..Medium::default()
    }
}

pub fn sopine() -> Host {
    Host {
        hostname: Some("sopine7.lan".into()),
        board: Some("Pine64 SOPINE".into()),
        cpu: Some("Cortex-A53".into()),
        cores: Some(4),
        memory_bytes: Some(2 << 30),
        kernel: Some("6.6.31".into()),
        os: Some("Debian GNU/Linux 12".into()),
        governor: Some("performance".into()),
        arch: Some("aarch64".into()),
        slot: Some("7".into()),
    }
}

/// A complete record without measurements.
pub fn bare_record() -> Record {
    let reason = "io_uring is available with fixed buffers and registered files";
    let (tool, suite) = (Tool::assay("0.1.0", "uring", reason), SuiteRef::new("quick", 1));
    Draft::begin("k7f3m9q2xa", "2026-11-21T06:31:04Z", tool, suite, card_medium())
        .on_host(sopine())
        .with_settings(Settings {
            budget_ns: 90 * SECOND,
            max_write_bytes: 1 << 30,
            planned_write_bytes: 760 << 20,
            written_bytes: 702 << 20,
            read_bytes: 811 << 20,
            elapsed_ns: 84_200_000_000,
            span_bytes: 256 << 20,
            seed: 0x00a5_5a7e,
            repeats: 3,
            direct_alignment_bytes: Some(512),
            direct_source: "statx".into(),
            layout: Some(Layout { bytes: 256 << 20, elapsed_ns: 22_400_000_000 }),
            null_ns_per_operation: Some(41.0),
            ..Settings::default()
        })
        .close(Outcome::Completed)
}

/// The suite `quick` on a good card whose sequential rate the SDR25 bus limits.
pub fn good_card() -> Record {
    let mut record = bare_record();
    let mut dice = Dice::new(7);
    let mut start = 22 * SECOND;
    let kinds = [
        ("seq-read-1m-q8", Op::Read, Pattern::Sequential, 1 << 20, 8, Sync::End, 21.74, 0.004, 0.002, 2.0, None),
        ("seq-write-1m-q8", Op::Write, Pattern::Sequential, 1 << 20, 8, Sync::End, 15.2, 0.05, 0.03, 3.0, Some(0.91)),
        ("rand-read-4k-q1", Op::Read, Pattern::Random, 4096, 1, Sync::End, 1190.0, 0.01, 0.006, 3.0, None),
        ("rand-read-4k-q32", Op::Read, Pattern::Random, 4096, 32, Sync::End, 1702.0, 0.008, 0.01, 2.5, None),
        ("rand-write-4k-q1", Op::Write, Pattern::Random, 4096, 1, Sync::End, 512.0, 0.06, 0.02, 12.0, Some(0.97)),
        ("rand-write-4k-q32", Op::Write, Pattern::Random, 4096, 32, Sync::End, 631.0, 0.05, 0.02, 9.0, Some(0.96)),
        ("rand-write-4k-fsync", Op::Write, Pattern::Random, 4096, 1, Sync::Fsync, 96.0, 0.09, 0.03, 8.0, None),
    ];
    for (name, op, pattern, block, depth, sync, iops, spread, slow_share, slow_factor, durable) in kinds {
        let nature = Nature { iops, spread, slow_share, slow_factor, durable };
        let m = measured(workload(name, op, pattern, block, depth, sync), &nature, &mut start, &mut dice);
        record.measurements.push(m);
    }
    record.measurements[0].bus_limited = true;
    record.measurements[0].warn(Finding::BusLimited { share: 0.978 });
    let mut celsius = 41.0;
    record.sensors.push(Sensor {
        name: "cpu-thermal".into(),
        kind: "temperature".into(),
        unit: "°C".into(),
        source: "thermal zone".into(),
        samples: (0..start / SECOND + 1)
            .map(|s| {
                celsius += (52.0 - celsius) * 0.04 + 0.15 * dice.bell();
                (s * SECOND, (celsius * 10.0f64).round() / 10.0)
            })
            .collect(),
    });
    record
}

/// The card turned read-only while random writes ran.
pub fn read_only_card() -> Record {
    let mut record = good_card();
    record.id = "d2x8p0w4rt".into();
    record.measurements.truncate(5);
    let last = record.measurements.last_mut().expect("five measurements");
    last.repeats.truncate(1);
    last.repeats[0].outcome = failed(RunFailure::ReadOnly);
    for e in [&mut last.iops, &mut last.bytes_per_second] {
        *e = e.as_ref().map(|e| Estimate::bare(e.point, 1, "one repeat"));
    }
    last.durable_bytes_per_second = None;
    for (name, depth) in [("rand-write-4k-q32", 32), ("rand-write-4k-fsync", 1)] {
        let sync = if depth == 1 { Sync::Fsync } else { Sync::End };
        let w = workload(name, Op::Write, Pattern::Random, 4096, depth, sync);
        record.measurements.push(Measurement::empty(w, "uring"));
    }
    record.outcome = failed(RunFailure::ReadOnly);
    record
}

pub fn failed(failure: RunFailure) -> Outcome {
    Outcome::Failed {
        failure,
        detail: "write: Read-only file system (os error 30)".into(),
        workload: Some("rand-write-4k-q1".into()),
        elapsed_ns: 61_300_000_000,
        written_bytes: 433 << 20,
    }
}

/// Stopped by the user before anything was measured.
pub fn interrupted() -> Record {
    let mut record = bare_record();
    record.id = "p5c1z7u3yb".into();
    record.change_settings(|settings| settings.elapsed_ns = 3_200_000_000);
    record.change_settings(|settings| settings.written_bytes = 40 << 20);
    record.change_settings(|settings| settings.read_bytes = 0);
    record.outcome = Outcome::Failed {
        failure: RunFailure::Interrupted,
        detail: String::new(),
        workload: None,
        elapsed_ns: 3_200_000_000,
        written_bytes: 40 << 20,
    };
    record
}

/// Reads that never reached the medium.
pub fn cached() -> Record {
    let mut record = good_card();
    record.id = "h4n6v8e0js".into();
    for m in record.measurements.iter_mut().filter(|m| m.workload.op == Op::Read) {
        m.bus_limited = false;
        m.proof_ratio = Some(0.021);
        m.warnings.clear();
        m.warn(Finding::ServedFromCache { proof_ratio: 0.021 });
        for e in [&mut m.iops, &mut m.bytes_per_second] {
            *e = e.as_ref().and_then(|e| around(e.point * 83.0, 0.05));
        }
    }
    record.warnings.push(Finding::CachedIo { reason: "O_DIRECT gave EINVAL".into() }.into());
    judge(&mut record);
    record
}

/// A medium so slow that workloads were scaled down, with few operations and skipped ones.
pub fn scaled_down() -> Record {
    let mut record = good_card();
    record.id = "t9b3g5l7mo".into();
    record.medium.vendor = None;
    record.medium.model = None;
    record.medium.kind = MediumKind::UsbStick;
    record.medium.unit = None;
    record.medium.bus = None;
    record.medium.claimed_classes.clear();
    for m in &mut record.measurements {
        m.bus_limited = false;
        m.warnings.clear();
    }
    let m = &mut record.measurements[5];
    m.requested = Some(Box::new((*m.workload).clone()));
    m.workload.queue_depth = 4;
    m.warn(Finding::ScaledDown {
        program: None,
        asked_size: Size::Load { block_bytes: 4096, queue_depth: 32, jobs: 1 },
        used_size: Size::Load { block_bytes: 4096, queue_depth: 4, jobs: 1 },
        by_all: false,
    });
    m.warn(Finding::FewOperations { operations: 61 });
    m.warn(Finding::FewerRepeats { planned: 3, ran: 1, shortfall: Shortfall::Budget });
    m.repeats.truncate(1);
    // Shorter than a sample.
    m.repeats[0].samples.clear();
    for e in [&mut m.iops, &mut m.bytes_per_second, &mut m.durable_bytes_per_second] {
        *e = e.as_ref().map(|e| Estimate::bare(e.point / 90.0, 1, "one repeat"));
    }
    let w = record.measurements[6].workload.clone();
    let mut skipped = Measurement::empty(w, "uring");
    skipped.warn(Finding::FewerRepeats { planned: 3, ran: 0, shortfall: Shortfall::Budget });
    record.measurements[6] = skipped;
    judge(&mut record);
    record
}

/// Everything that a device, a file or another host could put into a name.
pub fn hostile() -> Record {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'`|\u{202e}gnp.exe ] مرحبا שלום 漢字 =1+1";
    let mut record = good_card();
    record.id = "<b>\u{1b}[31m\"id\"".into();
    record.medium.vendor = None;
    record.medium.model = Some(evil.into());
    record.medium.unit = Some("</script><script>throw new Error('owned')</script>".into());
    record.medium.path = "/mnt/a\nb\t\"c\"".into();
    record.medium.filesystem = Some("ext4\r".into());
    record.medium.claimed_classes = vec!["A1<i>".into(), "\u{1b}[0mC10".into()];
    record.host.hostname = Some("=cmd|' /C calc'!A0".into());
    record.host.board = Some(evil.into());
    record.tool.engine_reason = evil.into();
    record.labels.insert("note\u{1b}<u>".into(), "</script><script>document.title='owned'</script>".into());
    record.sensors[0].name = evil.into();
    record.measurements[0].workload.name = evil.into();
    let text = format!("{evil}</textarea>\u{9b}2J");
    record.warnings.push(Finding::CachedIo { reason: text }.into());
    judge(&mut record);
    record
}

/// Names longer than any line, without a space to break at, and wide characters.
pub fn endless() -> Record {
    let mut record = good_card();
    record.id = "0".repeat(300);
    record.medium.model = Some("Model-".repeat(60));
    record.medium.path = format!("/{}", "漢字".repeat(90));
    record.medium.unit = Some("9".repeat(400));
    record.host.hostname = Some("h".repeat(253));
    record.medium.claimed_classes = (0..40).map(|n| format!("V{n}")).collect();
    let w = &mut record.measurements[3].workload;
    (w.op, w.read_percent, w.jobs, w.queue_depth, w.sync) = (Op::Mixed, Some(70), 256, 1024, Sync::Fdatasync);
    record.measurements[3].iops = around(123_456_789.0, 0.2);
    record.warnings.push(Finding::NotSaved { reason: "x".repeat(500) }.into());
    judge(&mut record);
    record
}

pub fn judge(record: &mut Record) {
    record.validity = Validity::judge(record.all_warnings());
}

/// A record of a source with few facts: unknown properties of the load, and two loads of one title.
pub fn bare_source() -> Record {
    let mut record = bare_record();
    let mut dice = Dice::new(9);
    let mut start = SECOND;
    let nature = Nature { iops: 20.0, spread: 0.01, slow_share: 0.0, slow_factor: 1.0, durable: None };
    for (name, unknown) in [
        ("write", vec![Unknown::Pattern]),
        ("rewrite", vec![Unknown::Pattern]),
        ("read", vec![Unknown::BlockBytes, Unknown::QueueDepth]),
    ] {
        let op = if name == "read" { Op::Read } else { Op::Write };
        let known = workload(name, op, Pattern::Sequential, 1 << 20, 1, Sync::End);
        let mut m = measured(known, &nature, &mut start, &mut dice);
        m.workload.unknown = unknown;
        record.measurements.push(m);
    }
    record
}

/// All of them with a name.
pub fn all() -> Vec<(&'static str, Record)> {
    vec![
        ("good", good_card()),
        ("read_only", read_only_card()),
        ("interrupted", interrupted()),
        ("cached", cached()),
        ("scaled_down", scaled_down()),
        ("hostile", hostile()),
        ("endless", endless()),
        ("bare_source", bare_source()),
    ]
}
