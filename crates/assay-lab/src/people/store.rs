//! A store: the files to import, their names, questions about them, and the truth.

use super::paper::{Mark, Naming, crystaldiskmark, id, record};
use super::world::{DURABLE, LOADS, Model, RANDOM_READ, RANDOM_WRITE, Unit, WRITE, World, WorldRun, spread};
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
