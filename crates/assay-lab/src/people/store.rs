//! A store: the files to import, their names, questions about them, and the truth.

use std::fmt::Write;

use jiff::Timestamp;

use super::world::{
    DURABLE, Host, LOADS, Model, RANDOM_READ, RANDOM_WRITE, READ, Unit, WRITE, World, WorldRun, spread,
};
use crate::Dice;

/// A file to import, with the options that users give.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name, without a directory.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Options of `assay import` besides the name.
    pub options: Vec<String>,
}

/// Two groups to compare, as queries, and the truth about them.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The reference.
    pub first: String,
    /// The group compared with the reference.
    pub second: String,
    /// Logarithm of the ratio of the second to the first group, for each figure: that of the media, without effects of
    /// days and computers.
    pub truth: [f64; LOADS],
    /// Whether single runs are compared as they were (`--runs`). The truth is then that of these runs.
    pub runs: bool,
    /// Whether they were measured on different computers, without a common unit.
    pub apart: bool,
}

/// The claims by which a store may judge the program. Claims that a document withdraws are stated at the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Figures come from one computer, on days and units as the documents assume: intervals of figures, classes and
    /// shares must hold.
    pub figures: bool,
    /// Units are drawn as the documents assume, so no unit may be named except those made odd.
    pub odd: bool,
    /// Intervals of ratios must hold.
    pub ratios: bool,
}

/// A store as users make it, with its truth.
#[derive(Debug)]
pub struct Store {
    /// Its kind, in words.
    pub kind: &'static str,
    /// The seed.
    pub seed: u64,
    /// The files to import, in this order.
    pub files: Vec<File>,
    /// Number of records in the store after the import, if the documents state it.
    pub records: Option<usize>,
    /// Comparisons other than those of the models.
    pub pairs: Vec<Pair>,
    /// The models.
    pub models: Vec<Model>,
    /// The units.
    pub units: Vec<Unit>,
    /// A further unit of each model, drawn and measured like the others.
    pub next: Vec<[f64; LOADS]>,
    /// The common effect of the measured days of each model on its units. An interval is right if it contains the
    /// figures of the model on these days.
    pub days: Vec<[f64; LOADS]>,
    /// Whether the models were measured on different computers, without a common unit.
    pub apart: bool,
    /// The claims that may be judged.
    pub judged: Drawn,
    /// Operations of a central volume for `advise nas`, by the number of its nodes.
    pub volume_iops: f64,
}

/// A store under construction.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) world: World,
    pub(super) pairs: Vec<Pair>,
    pub(super) judged: Drawn,
    pub(super) is_counted: bool,
    pub(super) apart: bool,
    /// A more exact name of the kind.
    pub(super) kind: Option<&'static str>,
    seed: u64,
    files: Vec<File>,
    number: usize,
    copies: usize,
    labelled: bool,
}

impl Plot {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x70e0_91e5);
        let labelled = dice.chance(0.5);
        Self {
            world: World::new(dice),
            pairs: Vec::new(),
            judged: Drawn { figures: true, odd: true, ratios: true },
            is_counted: true,
            apart: false,
            kind: None,
            seed,
            files: Vec::new(),
            number: 0,
            copies: 0,
            labelled,
        }
    }

    /// The names of a unit in this store: labels, or those that the medium reports.
    pub(super) fn naming(&self, unit: usize) -> Naming {
        let (unit, model) = (&self.world.units[unit], &self.world.models[self.world.units[unit].model].name);
        if self.labelled {
            let labels = vec![("model".to_owned(), model.clone()), ("unit".to_owned(), self.label(unit))];
            Naming { product: Some("SD32G".to_owned()), serial: Some(unit.serial.clone()), labels }
        } else {
            Naming { product: Some(model.clone()), serial: Some(unit.serial.clone()), labels: Vec::new() }
        }
    }

    /// The label of a unit: `card` with its number in the store.
    pub(super) fn label(&self, unit: &Unit) -> String {
        let number = self.world.units.iter().position(|other| other.serial == unit.serial).unwrap_or(0);
        format!("card{number}")
    }

    /// The query for a unit.
    pub(super) fn query(&self, unit: usize) -> String {
        let unit = &self.world.units[unit];
        format!("unit={}", if self.labelled { self.label(unit) } else { unit.serial.clone() })
    }

    /// Measures a unit and adds the record with the names of this store. Returns its id and the true figures of this
    /// run.
    pub(super) fn record(&mut self, unit: usize, host: usize, day: i64, hour: f64) -> (String, [f64; LOADS]) {
        let run = self.world.run(unit, host, day, hour);
        let naming = self.naming(unit);
        (self.keep(&run, &naming), run.truth)
    }

    /// Adds a run as a record with these names, and returns its id.
    pub(super) fn keep(&mut self, run: &WorldRun, naming: &Naming) -> String {
        let id = id(self.seed, self.number);
        let text = record(&id, run, &self.world.hosts[run.host], naming);
        self.file(format!("run{}.json", self.number), text, Vec::new());
        id
    }

    /// Adds a run as the text of CrystalDiskMark with these labels.
    pub(super) fn mark(&mut self, run: &WorldRun, mark: Mark, labels: &[(&str, &str)]) {
        let mut options = vec!["--kind".to_owned(), "sd".to_owned()];
        for (key, value) in labels {
            options.extend(["--label".to_owned(), format!("{key}={value}")]);
        }
        options.extend(["--host".to_owned(), self.world.hosts[run.host].name.clone()]);
        self.file(format!("cdm{}.txt", self.number), crystaldiskmark(run, mark), options);
    }

    fn file(&mut self, name: String, text: String, options: Vec<String>) {
        self.files.push(File { name, text, options });
        self.number += 1;
    }

    /// Adds the last file again under another name.
    pub(super) fn copy_last(&mut self) {
        if let Some(last) = self.files.last().cloned() {
            self.copies += 1;
            self.files.push(File { name: format!("copy{} of {}", self.copies, last.name), ..last });
        }
    }

    /// Compares two units.
    pub(super) fn compare_units(&mut self, first: usize, second: usize) {
        let truth = self.ratio(first, second);
        self.pairs.push(Pair {
            first: self.query(first),
            second: self.query(second),
            truth,
            runs: false,
            apart: false,
        });
    }

    /// Adds a comparison of two runs as they were. Each is given by its id and the true figures of the unit.
    pub(super) fn compare_runs(&mut self, first: &(String, [f64; LOADS]), second: &(String, [f64; LOADS])) {
        let truth = std::array::from_fn(|load| second.1[load] - first.1[load]);
        self.pairs.push(Pair { first: first.0.clone(), second: second.0.clone(), truth, runs: true, apart: false });
    }

    /// Marks the last pair: its groups were measured on different computers, with nothing between them.
    pub(super) fn pair_is_apart(&mut self) {
        if let Some(pair) = self.pairs.last_mut() {
            pair.apart = true;
        }
    }

    /// Logarithm of the ratio of the second unit to the first.
    pub(super) fn ratio(&self, first: usize, second: usize) -> [f64; LOADS] {
        let (first, second) = (&self.world.units[first], &self.world.units[second]);
        std::array::from_fn(|load| second.mean[load] - first.mean[load])
    }

    pub(super) fn close(mut self, kind: &'static str) -> Store {
        let of_days: Vec<([f64; LOADS], f64)> =
            (0..self.world.models.len()).map(|model| self.world.days_of(model)).collect();
        let next = (0..self.world.models.len())
            .map(|model| {
                let unit = self.world.unit(model);
                let mean = self.world.units[unit].mean;
                self.world.units.pop();
                let (shift, days) = of_days[model];
                let own = spread(&mut self.world.dice, self.world.noise.day / days.sqrt());
                std::array::from_fn(|load| mean[load] + shift[load] + own[load])
            })
            .collect();
        let days = of_days.into_iter().map(|(shift, _)| shift).collect();
        let speed = self.world.models.first().map_or(7.0, |model| model.mean[RANDOM_READ]);
        let volume_iops = (speed + self.world.dice.unit() - 0.5).exp();
        debug_assert!(self.world.units.iter().all(|unit| unit.mean[RANDOM_WRITE].is_finite()));
        debug_assert!(self.world.units.iter().all(|unit| unit.mean[DURABLE] < unit.mean[WRITE]));
        let records = self.is_counted.then_some(self.number);
        let World { models, units, .. } = self.world;
        Store {
            kind: self.kind.unwrap_or(kind),
            seed: self.seed,
            files: self.files,
            records,
            pairs: self.pairs,
            models,
            units,
            next,
            days,
            apart: self.apart,
            judged: self.judged,
            volume_iops,
        }
    }
}

// A run in a file: a record of assay as docs/record.md describes it, or the text of CrystalDiskMark 8.

/// The names of the measured medium in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Naming {
    /// The product name that the medium reports.
    pub(super) product: Option<String>,
    /// The serial number that the medium reports.
    pub(super) serial: Option<String>,
    /// Labels, in order.
    pub(super) labels: Vec<(String, String)>,
}

/// Letters of ids (docs/store.md: without i, l and o, which look like digits).
const LETTERS: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// An id of ten characters for the number of a record in a store.
pub(super) fn id(seed: u64, number: usize) -> String {
    let mut left = (seed << 12 | number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 14;
    (0..10)
        .map(|_| {
            let letter = LETTERS[(left % 32) as usize];
            left /= 32;
            char::from(letter)
        })
        .collect()
}

fn quoted(text: Option<&str>) -> String {
    text.map_or("null".to_owned(), |text| format!("\"{text}\""))
}

/// Formats seconds since 1970 by RFC 3339.
fn time(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

/// Student's interval of the mean as in docs/record.md, from a table of quantiles at 95 %.
fn estimate(values: &[f64]) -> String {
    const T: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    if count < 2 {
        return format!(
            "{{\"point\":{mean},\"low\":null,\"high\":null,\"level\":null,\"n\":1,\"method\":\"single repeat\"}}"
        );
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let half = T[(count - 2).min(3)] * (variance / count as f64).sqrt();
    let (low, high) = (mean - half, mean + half);
    format!("{{\"point\":{mean},\"low\":{low},\"high\":{high},\"level\":0.95,\"n\":{count},\"method\":\"t interval\"}}")
}

struct Load {
    name: &'static str,
    op: &'static str,
    pattern: &'static str,
    block: u64,
    depth: u64,
    figure: usize,
}

const WRITTEN: [Load; 4] = [
    Load { name: "seq-read-1m-q8", op: "read", pattern: "sequential", block: 1 << 20, depth: 8, figure: READ },
    Load { name: "rand-read-4k-q1", op: "read", pattern: "random", block: 4096, depth: 1, figure: RANDOM_READ },
    Load { name: "seq-write-1m-q8", op: "write", pattern: "sequential", block: 1 << 20, depth: 8, figure: WRITE },
    Load { name: "rand-write-4k-q1", op: "write", pattern: "random", block: 4096, depth: 1, figure: RANDOM_WRITE },
];

/// Operations per second and bytes per second of a figure of a load.
fn rates(load: &Load, figure: f64) -> (f64, f64) {
    let block = load.block as f64;
    if load.figure == RANDOM_READ || load.figure == RANDOM_WRITE {
        (figure, figure * block)
    } else {
        (figure / block, figure)
    }
}

/// A histogram where all operations of a repeat have one latency in nanoseconds, at least 256. Buckets are as in
/// docs/record.md: 128 equal steps per power of two.
fn histogram(latency: f64, operations: f64) -> String {
    let latency = latency.round().max(256.0) as u64;
    let step = 1u64 << (latency.ilog2() - 7);
    let lowest = latency / step * step;
    format!(
        "{{\"scheme\":\"log2/128\",\"sum_ns\":{},\"min_ns\":{latency},\"max_ns\":{latency},\"counts\":[[{lowest},{operations}]]}}",
        latency * operations as u64
    )
}

fn measurement(load: &Load, run: &WorldRun) -> String {
    let durable = load.figure == WRITE;
    let mut repeats = String::new();
    for (index, figures) in run.repeats.iter().enumerate() {
        let (iops, bytes) = rates(load, figures[load.figure]);
        let seconds = 2.0;
        let operations = (iops * seconds).round();
        let durable = if durable { figures[DURABLE].to_string() } else { "null".to_owned() };
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(
            repeats,
            "{comma}{{\"started\":\"{}\",\"elapsed_ns\":2000000000,\"operations\":{operations},\"bytes\":{},\"iops\":{iops},\
             \"bytes_per_second\":{bytes},\"issued_bytes\":{},\"durable_bytes_per_second\":{durable},\"in_flight\":{}.0,\
             \"proof_ratio\":1.0,\"samples\":[],\"histogram\":{},\"first_done_ns\":1000000,\"last_done_ns\":2000000000,\
             \"steady\":null,\"outcome\":{{\"state\":\"completed\"}}}}",
            time(run.began + 3 * index as i64),
            operations * load.block as f64,
            operations * load.block as f64,
            load.depth,
            histogram(load.depth as f64 * 1e9 / iops, operations),
        );
    }
    let of = |pick: &dyn Fn(&[f64; LOADS]) -> f64| estimate(&run.repeats.iter().map(pick).collect::<Vec<f64>>());
    let Load { name, op, pattern, block, depth, figure } = load;
    let durable = if durable { of(&|figures| figures[DURABLE]) } else { "null".to_owned() };
    format!(
        "{{\"workload\":{{\"name\":\"{name}\",\"op\":\"{op}\",\"read_percent\":null,\"pattern\":\"{pattern}\",\
         \"block_bytes\":{block},\"queue_depth\":{depth},\"jobs\":1,\"span_bytes\":1073741824,\"direct\":true,\
         \"sync\":\"end\",\"stop\":{{\"ramp_ns\":100000000,\"duration_ns\":2000000000,\"max_bytes\":null}}}},\
         \"requested\":null,\"engine\":\"uring\",\"repeats\":[{repeats}],\"iops\":{},\"bytes_per_second\":{},\
         \"durable_bytes_per_second\":{durable},\"latency_ns\":{{}},\"proof_ratio\":1.0,\"in_flight\":{depth}.0,\
         \"bus_limited\":false,\"instrument_limited\":false,\"soak\":null,\"warnings\":[]}}",
        of(&|figures| rates(load, figures[*figure]).0),
        of(&|figures| rates(load, figures[*figure]).1),
    )
}

/// The run as a record.
pub(super) fn record(id: &str, run: &WorldRun, host: &Host, naming: &Naming) -> String {
    let labels: Vec<String> = naming.labels.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
    let measurements: Vec<String> = WRITTEN.iter().map(|load| measurement(load, run)).collect();
    format!(
        "{{\"schema\":\"1.0\",\"id\":\"{id}\",\"created\":\"{}\",\"tool\":{{\"name\":\"assay\",\"version\":\"0.1.0\",\
         \"engine\":\"uring\",\"engine_reason\":\"io_uring\"}},\"host\":{{\"hostname\":\"{}\",\"board\":\"{}\",\
         \"cpu\":\"{} CPU\",\"cores\":4,\"memory_bytes\":4294967296,\"kernel\":\"6.1.0\",\"os\":\"Debian GNU/Linux 12\",\
         \"governor\":null,\"arch\":\"x86_64\",\"slot\":null}},\"medium\":{{\"kind\":\"sd\",\"vendor\":null,\"model\":{},\
         \"unit\":{},\"attached\":null,\"capacity_bytes\":null,\"filesystem\":\"ext4\",\"mount_options\":[\"rw\"],\
         \"mount_point\":\"/mnt/card\",\"path\":\"/mnt/card\",\"device\":\"/dev/mmcblk0\",\"stack\":[],\"bus\":null,\
         \"claimed_classes\":[],\"health\":{{}},\"queue\":{{}}}},\"labels\":{{{}}},\"suite\":{{\"name\":\"smoke\",\
         \"version\":1}},\"settings\":{{\"budget_ns\":5000000000,\"max_write_bytes\":67108864,\
         \"planned_write_bytes\":67108864,\"written_bytes\":67108864,\"read_bytes\":67108864,\"elapsed_ns\":30000000000,\
         \"span_bytes\":1073741824,\"seed\":1,\"repeats\":{},\"confidence\":null,\"hang_after_ns\":30000000000,\"suite_text\":\"\",\
         \"raw_device\":false,\"direct_alignment_bytes\":512,\"direct_source\":\"statx\"}},\"measurements\":[{}],\
         \"sensors\":[],\"crosscheck\":[],\"verification\":null,\"source\":null,\"outcome\":{{\"state\":\"completed\"}},\
         \"validity\":{{\"verdict\":\"valid\",\"reasons\":[]}},\"warnings\":[]}}\n",
        time(run.began),
        host.name,
        host.board,
        host.board,
        quoted(naming.product.as_deref()),
        quoted(naming.serial.as_deref()),
        labels.join(","),
        run.repeats.len(),
        measurements.join(","),
    )
}

/// The settings of CrystalDiskMark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Number of runs; it prints the best.
    pub(super) best_of: usize,
    /// Whether the user rounded all figures to whole MB/s before posting them.
    pub(super) whole: bool,
}

/// The run as the text of CrystalDiskMark 8.0.4. Each repeat is one of its runs, and the best is printed
/// (docs/import.md: "Each figure is the best of its runs").
pub(super) fn crystaldiskmark(run: &WorldRun, mark: Mark) -> String {
    let best = |figure: usize| run.repeats.iter().map(|figures| figures[figure]).fold(0.0, f64::max);
    let row = |words: &str, rate: f64, block: f64, depth: f64| {
        let mega = if mark.whole { (rate / 1e6).round() } else { rate / 1e6 };
        let iops = mega * 1e6 / block;
        format!("  {words}:{mega:10.3} MB/s [{iops:9.1} IOPS] <{:9.2} us>\n", depth * 1e6 / iops.max(0.1))
    };
    let (mega, small) = (1_048_576.0, 4096.0);
    format!(
        "------------------------------------------------------------------------------\n\
         CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n                                  \
         Crystal Dew World: https://crystalmark.info/\n\
         ------------------------------------------------------------------------------\n\
         * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n* KB = 1000 bytes, KiB = 1024 bytes\n\n[Read]\n{}{}\n\
         [Write]\n{}{}\nProfile: Default\n   Test: 1 GiB (x{}) [F: 0% (0/119GiB)]\n   Mode: [Admin]\n   \
         Time: Measure 5 sec / Interval 5 sec \n   Date: {}\n     OS: Windows 10 Professional [10.0 Build 19044] (x64)\n",
        row("SEQ    1MiB (Q=  8, T= 1)", best(READ), mega, 8.0),
        row("RND    4KiB (Q=  1, T= 1)", best(RANDOM_READ) * small, small, 1.0),
        row("SEQ    1MiB (Q=  8, T= 1)", best(WRITE), mega, 8.0),
        row("RND    4KiB (Q=  1, T= 1)", best(RANDOM_WRITE) * small, small, 1.0),
        mark.best_of,
        time(run.began).replace('-', "/").replace('T', " ").replace('Z', ""),
    )
}
