//! A store: files as they are imported, what they are called, what may be asked of them, and what is true.

use super::paper::{Mark, Naming, crystaldiskmark, id, record};
use super::world::{DURABLE, LOADS, Model, RANDOM_READ, RANDOM_WRITE, Run, Unit, WRITE, World, spread};
use crate::Dice;

/// A file to import, with the options that people give.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name, without a directory.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// Options of `assay import` beside its name.
    pub options: Vec<String>,
}

/// Two groups that somebody compares, as queries, and what is true of them.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The reference.
    pub first: String,
    /// What is compared with it.
    pub second: String,
    /// Logarithm of the second by the first, of each figure: of the media, whatever day and computer it was.
    pub truth: [f64; LOADS],
    /// Single runs are compared as they were (`--runs`), and the truth is that of these runs.
    pub runs: bool,
    /// They were measured on different computers, and no unit on both.
    pub apart: bool,
}

/// How the program may be judged by a store. Which claims a document takes back stands beside the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Figures are those of one computer, on days and units as the documents assume: intervals of figures, classes and
    /// shares have to hold.
    pub figures: bool,
    /// Units are drawn as the documents assume, so that no unit may be named but those that were made odd.
    pub odd: bool,
    /// Intervals of ratios have to hold.
    pub ratios: bool,
}

/// A store that people made, with its truth.
#[derive(Debug)]
pub struct Store {
    /// Its kind, in words.
    pub kind: &'static str,
    /// What it was drawn from.
    pub seed: u64,
    /// The files to import, in this order.
    pub files: Vec<File>,
    /// How many records the store has to hold afterwards, where the documents say it.
    pub records: Option<usize>,
    /// What is compared beside the models.
    pub pairs: Vec<Pair>,
    /// The models.
    pub models: Vec<Model>,
    /// The units.
    pub units: Vec<Unit>,
    /// A further unit of each model, drawn and measured as the others were.
    pub next: Vec<[f64; LOADS]>,
    /// What the days of each model took from all of its units: an interval is right that holds what the model did on these
    /// days.
    pub days: Vec<[f64; LOADS]>,
    /// The models were measured on different computers, and no unit on two of them.
    pub apart: bool,
    /// What may be judged.
    pub judged: Drawn,
    /// Operations of a central volume for `advise nas`, by the number of its nodes.
    pub volume_iops: f64,
}

/// A store that is being made.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) world: World,
    pub(super) pairs: Vec<Pair>,
    pub(super) judged: Drawn,
    pub(super) is_counted: bool,
    pub(super) apart: bool,
    /// A closer name of the kind.
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

    /// How this store names a unit: by labels, or by what the medium says.
    pub(super) fn naming(&self, unit: usize) -> Naming {
        let (unit, model) = (&self.world.units[unit], &self.world.models[self.world.units[unit].model].name);
        if self.labelled {
            let labels = vec![("model".to_owned(), model.clone()), ("unit".to_owned(), self.label(unit))];
            Naming { product: Some("SD32G".to_owned()), serial: Some(unit.serial.clone()), labels }
        } else {
            Naming { product: Some(model.clone()), serial: Some(unit.serial.clone()), labels: Vec::new() }
        }
    }

    /// The label of a unit: its model's first letters with its number in the store.
    pub(super) fn label(&self, unit: &Unit) -> String {
        let number = self.world.units.iter().position(|other| other.serial == unit.serial).unwrap_or(0);
        format!("card{number}")
    }

    /// The query that names a unit.
    pub(super) fn query(&self, unit: usize) -> String {
        let unit = &self.world.units[unit];
        format!("unit={}", if self.labelled { self.label(unit) } else { unit.serial.clone() })
    }

    /// Measures a unit and keeps the record, named as the store does. Gives its id, and what the unit did in this run.
    pub(super) fn record(&mut self, unit: usize, host: usize, day: i64, hour: f64) -> (String, [f64; LOADS]) {
        let run = self.world.run(unit, host, day, hour);
        let naming = self.naming(unit);
        (self.keep(&run, &naming), run.truth)
    }

    /// Keeps a run as a record with these names, and gives its id.
    pub(super) fn keep(&mut self, run: &Run, naming: &Naming) -> String {
        let id = id(self.seed, self.number);
        let text = record(&id, run, &self.world.hosts[run.host], naming);
        self.file(format!("run{}.json", self.number), text, Vec::new());
        id
    }

    /// Keeps a run as the text of CrystalDiskMark with these labels.
    pub(super) fn mark(&mut self, run: &Run, mark: Mark, labels: &[(&str, &str)]) {
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

    /// The last file once more, under another name.
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

    /// Compares two runs, given by id and what the unit did in each, as they were.
    pub(super) fn compare_runs(&mut self, first: &(String, [f64; LOADS]), second: &(String, [f64; LOADS])) {
        let truth = std::array::from_fn(|load| second.1[load] - first.1[load]);
        self.pairs.push(Pair { first: first.0.clone(), second: second.0.clone(), truth, runs: true, apart: false });
    }

    /// Says of the last pair that its groups were measured on different computers, with nothing between them.
    pub(super) fn pair_is_apart(&mut self) {
        if let Some(pair) = self.pairs.last_mut() {
            pair.apart = true;
        }
    }

    /// Logarithm of the second unit by the first.
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
