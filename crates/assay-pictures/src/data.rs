//! What pictures are drawn from, and how it is taken from records.

use std::fmt;
use std::fmt::Display;

use assay_analysis::{
    Load, LoadError, Mark, Quantity, by_model, deciding_load, estimate, held_by_bus, identity, loads, loads_named,
    reading, unit_of, unit_words,
};
use assay_core::observation::Observation;
use assay_core::text::clean;
use assay_core::units::{figures, fixed};

use crate::font;

/// A figure and its uncertainty, in the unit of its picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The figure: finite, more than 0.
    pub point: f64,
    /// Interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Level of the interval, 0 to 1.
    pub level: Option<f64>,
    /// Number of values that it rests on.
    pub n: u32,
    /// Caveats.
    pub marks: Vec<Mark>,
}

/// The reachable rate of a bus.
#[derive(Debug, Clone, PartialEq)]
pub struct BusCeiling {
    /// Mode of the bus.
    pub name: String,
    /// Rate in MB/s.
    pub value: f64,
}

impl Value {
    /// Whether it is a lower bound: the bus or the instrument was reached.
    #[must_use]
    pub fn bounded(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::BusLimited | Mark::InstrumentLimited))
    }

    /// Whether it may be compared.
    pub(crate) fn counts(&self) -> bool {
        !self.marks.iter().any(|mark| mark.excludes())
    }

    /// All that an axis has to hold.
    pub(crate) fn extent(&self) -> impl Iterator<Item = f64> + Clone {
        let (low, high) = self.interval.unwrap_or((self.point, self.point));
        [self.point, low, high].into_iter()
    }
}

/// One record in a picture.
pub(crate) struct Subject<'a> {
    pub(crate) record: &'a Observation,
    pub(crate) model: String,
    /// Place of the model among those of all records.
    pub(crate) hue: usize,
    pub(crate) label: Label,
    /// Its unit; empty where it is not known.
    pub(crate) unit: String,
}

/// Records with names that distinguish them.
pub(crate) fn subjects(records: &[Observation]) -> Vec<Subject<'_>> {
    // That all are published stands in the subtitle.
    let all_published = records.iter().all(Observation::is_published);
    let unit = |record: &Observation| clean(&if all_published { unit_of(record) } else { identity(record).unit });
    let units: Vec<String> = records.iter().map(unit).collect();
    let one_unit = |model: &str| {
        let mut of = records.iter().zip(&units).filter(|(r, _)| r.title() == model).map(|(_, unit)| unit);
        let first = of.next();
        of.all(|unit| Some(unit) == first)
    };
    // A serial number tells nothing where there is one unit of the model.
    let base = |(r, unit): (&Observation, &String)| Label {
        model: r.title(),
        unit: if one_unit(&r.title()) { String::new() } else { unit.clone() },
    };
    let bases: Vec<Label> = records.iter().zip(&units).map(base).collect();
    let label = |(record, base): (&Observation, &Label)| {
        let shared = bases.iter().filter(|other| *other == base).count() > 1;
        let parts = [base.unit.clone(), if shared { clean(&record.id) } else { String::new() }];
        let unit = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        Label { unit, ..base.clone() }
    };
    let labels = records.iter().zip(&bases).map(label);
    let mut models: Vec<String> = Vec::new();
    let mut hue = |model: &String| {
        models.iter().position(|known| known == model).unwrap_or_else(|| {
            models.push(model.clone());
            models.len() - 1
        })
    };
    records
        .iter()
        .zip(labels)
        .map(|(record, label)| Subject {
            record,
            model: record.title(),
            hue: hue(&record.title()),
            label,
            unit: identity(record).unit,
        })
        .collect()
}

/// Name of the unit that a quantity is drawn in.
pub(crate) fn unit(quantity: Quantity) -> &'static str {
    quantity.unit().map_or("ms", |(name, _)| name)
}

/// What a figure is multiplied by for [`unit`].
pub(crate) fn factor(quantity: Quantity) -> f64 {
    quantity.unit().map_or(1e-6, |(_, divisor)| 1.0 / divisor)
}

/// The figure of a record under a load, if it can be drawn.
pub(crate) fn value(record: &Observation, load: &Load, quantity: Quantity) -> Option<Value> {
    let mut found = reading(record, load, quantity)?;
    if held_by_bus(record, found.measurement) && !found.marks.contains(&Mark::BusLimited) {
        found.marks.insert(0, Mark::BusLimited);
    }
    let scale = factor(quantity);
    let estimate = estimate(found.measurement, quantity);
    let mean = found.values.iter().sum::<f64>() / found.values.len().max(1) as f64;
    let point = estimate.map_or(mean, |e| e.point) * scale;
    let ends = estimate.and_then(|e| Some((e.low? * scale, e.high? * scale)));
    let n = u32::try_from(found.values.len()).unwrap_or(u32::MAX);
    (point.is_finite() && point > 0.0).then(|| Value {
        point,
        interval: ends.filter(|(low, high)| low.is_finite() && high.is_finite() && low <= high),
        level: estimate.and_then(|e| e.level),
        n: estimate.map_or(n, |e| e.n),
        marks: found.marks,
    })
}

/// Values of the repeats behind a figure.
pub(crate) fn repeats(record: &Observation, load: &Load, quantity: Quantity) -> Vec<f64> {
    let found = reading(record, load, quantity).map(|r| r.values).unwrap_or_default();
    found.into_iter().map(|v| v * factor(quantity)).filter(|v| v.is_finite() && *v > 0.0).collect()
}

/// The ceilings of buses, each once.
pub(crate) fn ceilings<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<BusCeiling> {
    let mut all: Vec<BusCeiling> = Vec::new();
    for record in records {
        let (Some(rate), Some(bus)) = (record.medium.reachable(), &record.medium.bus) else { continue };
        let name = if bus.mode.trim().is_empty() { "bus".to_owned() } else { clean(&bus.mode) };
        let ceiling = BusCeiling { name, value: rate / 1e6 };
        if !all.iter().any(|known| known.name == ceiling.name && (known.value / ceiling.value - 1.0).abs() < 0.01) {
            all.push(ceiling);
        }
    }
    all
}

/// How many values figures rest on: `n = 3 each`.
pub(crate) fn counted<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> String {
    let (least, most) = values.clone().fold((u32::MAX, 0), |(a, b), v| (a.min(v.n), b.max(v.n)));
    if least >= most { format!("n = {most} each") } else { format!("n = {least} to {most}") }
}

/// What figures rest on: `n = 3 each, bars are 95 % intervals`.
pub(crate) fn rests_on<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> String {
    if values.clone().next().is_some() && values.clone().all(|v| v.marks.contains(&Mark::Published)) {
        return "one published value each, no interval".to_owned();
    }
    let n = counted(values.clone());
    let with = values.clone().filter(|v| v.interval.is_some()).count();
    // An imported record may have an invalid level.
    let real = |level: &f64| *level > 0.0 && *level < 1.0;
    let mut levels: Vec<f64> = values.clone().filter_map(|v| v.interval.and(v.level).filter(real)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let percent = |level: &f64| format!("{} %", (level * 1000.0).round() / 10.0);
    let bars = match levels.iter().map(percent).collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => "bars are intervals without a level".to_owned(),
        level => format!("bars are {level} intervals"),
    };
    match with {
        0 => format!("{n}, no interval"),
        all if all == values.count() => format!("{n}, {bars}"),
        _ => format!("{n}, {bars} where there are any"),
    }
}

/// Keeps the first of equal names, wherever the others are: a medium has a figure in several columns.
fn unique(names: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
}

/// Notes for pictures with marked figures, and the names of figures that were left out, with the reason.
pub(crate) fn notes<'a>(values: impl Iterator<Item = (impl Display, &'a Value)>) -> Vec<String> {
    let (mut left_out, mut suspect, mut bounded): (Vec<String>, Vec<String>, bool) = (Vec::new(), Vec::new(), false);
    for (name, value) in values {
        if !value.counts() {
            let reason = if value.marks.contains(&Mark::Fake) { "fake or damaged" } else { "invalid" };
            left_out.push(format!("{name} ({reason})"));
        } else {
            bounded |= value.bounded();
            if value.marks.contains(&Mark::Suspect) {
                suspect.push(name.to_string());
            }
        }
    }
    let mut notes = Vec::new();
    if bounded {
        notes.push("Hollow: the bus or the instrument was reached, the medium is at least this fast.".to_owned());
    }
    unique(&mut suspect);
    if !suspect.is_empty() {
        notes.push(format!("Suspect, see its warnings: {}.", listed(suspect.iter().map(String::as_str))));
    }
    unique(&mut left_out);
    if !left_out.is_empty() {
        notes.push(format!("Not drawn: {}.", listed(left_out.iter().map(String::as_str))));
    }
    notes
}

/// Names in a row, at most a dozen of them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let shown = all.iter().take(12).copied().collect::<Vec<_>>().join(", ");
    if all.len() > 12 { format!("{shown} and {} more", all.len() - 12) } else { shown }
}

/// `6.26 MB/s`.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", figures(value))
}

/// How far apart two figures are: `12 %`, or `a factor of 2.3`.
pub(crate) fn by_how_much(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("a factor of {}", if ratio < 9.95 { fixed(ratio, 1) } else { figures(ratio) });
    }
    let percent = (ratio - 1.0) * 100.0;
    if percent < 0.05 {
        "less than 0.1 %".to_owned()
    } else if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

// What a medium is called in a picture.

/// A model and, where a picture has several units of it, which one. Where room is short the model is shortened and the unit
/// stays, since it tells the rows of a model apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// The model.
    pub model: String,
    /// The unit, or the record where units are not known; empty where the model says enough.
    pub unit: String,
}

/// Longest name in a title, in letters.
const LONGEST_LABEL: usize = 48;
/// Letters of a model that still tell something.
const LEAST_LABEL: usize = 6;

impl Label {
    /// A name without a unit.
    #[must_use]
    pub fn without_unit(model: String) -> Self {
        Self { model, unit: String::new() }
    }

    /// What stands behind the model: ` · EU`, ` · unit 2`.
    fn suffix(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" · {}", unit_words(&self.unit)) }
    }

    /// The name, with as much of the model as leaves it `most` pixels wide. Of a unit that alone is too wide, beginning and end
    /// are left.
    pub(crate) fn fitted(&self, size: f64, most: f64) -> String {
        let suffix = self.suffix();
        let room = most - font::width(&suffix, size, false);
        let least: String = self.model.chars().take(LEAST_LABEL).chain(['…']).collect();
        if self.model.chars().count() > LEAST_LABEL && room < font::width(&least, size, false) {
            return font::fitted(&format!("{}{suffix}", self.model), size, most);
        }
        font::fitted(&self.model, size, room) + &suffix
    }
}

impl fmt::Display for Label {
    /// With beginning and end of a model too long for a title.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letters, suffix) = (self.model.chars().collect::<Vec<char>>(), self.suffix());
        let room = LONGEST_LABEL.saturating_sub(suffix.chars().count()).max(LEAST_LABEL);
        if letters.len() <= room {
            return write!(f, "{}{suffix}", self.model);
        }
        let half = room / 2;
        let model: String = letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half + 1..]).collect();
        write!(f, "{model}{suffix}")
    }
}

// The loads that a picture may show, and the load of a picture of a single one.

/// The loads that pictures may show, and the finding under the deciding one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `None` for all.
    loads: Option<Vec<Load>>,
    decided: Option<Decided>,
}

/// The load that something was found under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The load.
    pub load: Load,
    /// The finding, which is the title of pictures of this load; `None` where it stands beside them.
    pub title: Option<String>,
}

impl Wanted {
    /// The loads of these records that words name, as every command reads them; `None` for all loads.
    ///
    /// # Errors
    /// The records have no such load.
    pub fn named(records: &[Observation], words: Option<&str>) -> Result<Self, LoadError> {
        Ok(Self { loads: words.map(|words| loads_named(records, words)).transpose()?, decided: None })
    }

    /// The same with a finding: pictures of one load show that one.
    #[must_use]
    pub fn decided(self, decided: Option<Decided>) -> Self {
        Self { decided, ..self }
    }

    /// Whether a load may be shown.
    pub(crate) fn holds(&self, load: &Load) -> bool {
        self.loads.as_ref().is_none_or(|wanted| wanted.contains(load))
    }

    /// Loads of these records that may be shown, in the order people read them.
    pub(crate) fn loads_of(&self, records: &[Observation]) -> Vec<Load> {
        loads(records).into_iter().filter(|load| self.holds(load)).collect()
    }

    /// The load of a picture of a single load, with its title if there is a finding; without a finding, the deciding
    /// load of these records.
    pub(crate) fn one(&self, records: &[Observation]) -> Option<Decided> {
        let decides = || deciding_load(&by_model(records), None, self.loads.as_deref()).ok();
        self.decided.clone().or_else(|| Some(Decided { load: decides()?, title: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_medium_with_several_marked_figures_is_named_once() {
        let value = |mark| Value { point: 1.0, interval: None, level: None, n: 1, marks: vec![mark] };
        let (suspect, fake) = (value(Mark::Suspect), value(Mark::Fake));
        let values = [("a", &suspect), ("b", &suspect), ("a", &suspect), ("c", &fake), ("d", &fake), ("c", &fake)];
        let want = ["Suspect, see its warnings: a, b.", "Not drawn: c (fake or damaged), d (fake or damaged)."];
        assert_eq!(notes(values.into_iter()), want);
    }

    #[test]
    fn a_level_that_is_none_is_not_written() {
        let value = |level| Value { point: 1.0, interval: Some((0.9, 1.1)), level, n: 3, marks: Vec::new() };
        let bars_note = |levels: &[f64]| {
            let values: Vec<Value> = levels.iter().map(|level| value(Some(*level))).collect();
            rests_on(values.iter())
        };
        assert_eq!(bars_note(&[0.95, 0.95]), "n = 3 each, bars are 95 % intervals");
        assert_eq!(bars_note(&[0.95, f64::MAX, f64::NAN, 7.0, 0.0]), "n = 3 each, bars are 95 % intervals");
        assert_eq!(bars_note(&[f64::INFINITY]), "n = 3 each, bars are intervals without a level");
    }

    fn label(model: &str, unit: &str) -> Label {
        Label { model: model.to_owned(), unit: unit.to_owned() }
    }

    #[test]
    fn the_model_is_shortened_and_the_unit_never() {
        let names = ["CA", "EU", "2"].map(|unit| label("Samsung EVO Plus 64GB", unit).fitted(12.0, 120.0));
        let ends = [" · CA", " · EU", " · unit 2"];
        for (name, end) in names.iter().zip(ends) {
            assert!(name.ends_with(end) && name.starts_with("Sam") && name.contains('…'), "{name}");
            assert!(font::width(name, 12.0, false) <= 120.0, "{name}");
        }
        assert_eq!(label("EVO", "2").fitted(12.0, 120.0), "EVO · unit 2");
        assert_eq!(label("SanDisk Ultra A1", "").to_string(), "SanDisk Ultra A1");
        let long = label(&"very long ".repeat(20), "0x1234abcd").to_string();
        assert!(long.chars().count() <= LONGEST_LABEL + 1 && long.ends_with(" · 0x1234abcd"), "{long}");
    }

    #[test]
    fn a_unit_that_alone_is_too_wide_keeps_its_ends() {
        let name = label("Samsung EVO Plus 64GB", &"0123456789".repeat(9)).fitted(12.0, 120.0);
        assert!(font::width(&name, 12.0, false) <= 120.0 && name.ends_with('9'), "{name}");
    }
}
