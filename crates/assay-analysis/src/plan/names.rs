//! Models with their units, and slots, as people write them; the errors of plans.

use assay_core::text::{harmless, quoted};
use serde::Serialize;

/// More units take no plan that a person could carry out.
const MOST_UNITS: usize = 2000;
/// More slots, likewise.
const MOST_SLOTS: usize = 500;
/// Names become labels of records, whose values have at most this many bytes.
const LONGEST_NAME: usize = 256;

/// A model and the names of its units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelUnits {
    /// The model, as in the label `model`.
    pub name: String,
    /// Its units, as in the label `unit`; at least one, none twice.
    pub units: Vec<String>,
}

/// Everything that is to be measured: at least one model, none twice, each with units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Roster(Vec<ModelUnits>);

impl Roster {
    /// Reads `model=unit,unit;model=unit`, as it stands on the command line after `place`.
    ///
    /// # Errors
    /// [`PlanError`] where there is no unit, a name is missing, twice there or not fit for a label.
    pub fn inline(text: &str, place: &str) -> Result<Self, PlanError> {
        let entries = text.split(';').map(str::trim).filter(|entry| !entry.is_empty());
        Self::gather(entries.map(|entry| (place.to_owned(), entry)), place)
    }

    /// Reads a file with a line `model = unit, unit` for each model; `#` starts a comment.
    ///
    /// # Errors
    /// As [`Roster::inline`], with file and line.
    pub fn file(text: &str, file: &str) -> Result<Self, PlanError> {
        let lines = text.lines().enumerate().map(|(number, line)| (format!("{file}:{}", number + 1), line.trim()));
        Self::gather(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')), file)
    }

    /// From models that are already told apart, as in a plan file.
    pub(super) fn from_models(models: Vec<ModelUnits>, place: &str) -> Result<Self, PlanError> {
        let mut all: Vec<ModelUnits> = Vec::with_capacity(models.len());
        for model in models {
            add(&mut all, model, place)?;
        }
        Self(all).checked(place)
    }

    fn gather<'a>(entries: impl Iterator<Item = (String, &'a str)>, whole: &str) -> Result<Self, PlanError> {
        let mut all = Vec::new();
        for (place, entry) in entries {
            let Some((model, units)) = entry.split_once('=') else {
                return Err(PlanError::new(
                    place,
                    format!("{} is not a model with units; write model=unit,unit", quoted(entry)),
                ));
            };
            let units: Vec<String> =
                units.split(',').map(|unit| unit.trim().to_owned()).filter(|unit| !unit.is_empty()).collect();
            if let Some(meant) = units.iter().find_map(|unit| range_of(unit)) {
                let message = format!("a range of units is not read; write {}={meant}", model.trim());
                return Err(PlanError::new(place, harmless(&message)));
            }
            add(&mut all, ModelUnits { name: model.trim().to_owned(), units }, &place)?;
        }
        Self(all).checked(whole)
    }

    fn checked(self, place: &str) -> Result<Self, PlanError> {
        match self.0.iter().map(|model| model.units.len()).sum() {
            0 => Err(PlanError::new(place, "there are no units; write model=unit,unit;model=unit,unit")),
            units if units > MOST_UNITS => {
                Err(PlanError::new(place, format!("{units} units are too many; plan at most {MOST_UNITS} at once")))
            }
            _ => Ok(self),
        }
    }

    /// The models in the order they were given.
    #[must_use]
    pub fn models(&self) -> &[ModelUnits] {
        &self.0
    }

    /// All units with the index of their model.
    pub fn units(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().enumerate().flat_map(|(index, model)| model.units.iter().map(move |unit| (index, unit.as_str())))
    }
}

/// Largest range that is written out.
const MOST_MEANT: u32 = 12;

/// What `1-5` or `[1-5]` means as names of units: `1,2,3,4,5`.
fn range_of(unit: &str) -> Option<String> {
    let inner = unit.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(unit);
    let (first, last) = inner.split_once('-')?;
    let number =
        |text: &str| text.trim().parse::<u32>().ok().filter(|_| text.trim().bytes().all(|b| b.is_ascii_digit()));
    let (first, last) = (number(first)?, number(last)?);
    let most = first.saturating_add(MOST_MEANT - 1);
    (first < last).then(|| {
        let names: Vec<String> = (first..=last.min(most)).map(|unit| unit.to_string()).collect();
        names.join(",") + if last > most { ",…" } else { "" }
    })
}

fn add(all: &mut Vec<ModelUnits>, model: ModelUnits, place: &str) -> Result<(), PlanError> {
    check_name("model", &model.name, place)?;
    if all.iter().any(|known| known.name.eq_ignore_ascii_case(&model.name)) {
        let message = format!("model `{}` is named twice; give all its units in one place", model.name);
        return Err(PlanError::new(place, message));
    }
    if model.units.is_empty() {
        let message = format!("model `{0}` has no units; write {0}=unit,unit", model.name);
        return Err(PlanError::new(place, message));
    }
    for (number, unit) in model.units.iter().enumerate() {
        check_name("unit", unit, place)?;
        if model.units[..number].iter().any(|known| known.eq_ignore_ascii_case(unit)) {
            let message = format!("unit `{unit}` of model `{}` is named twice; give each its own name", model.name);
            return Err(PlanError::new(place, message));
        }
    }
    all.push(model);
    Ok(())
}

/// What stands between names cannot be in one, and what a label cannot hold neither.
fn check_name(what: &str, name: &str, place: &str) -> Result<(), PlanError> {
    let fail = |message: String| Err(PlanError::new(place, message));
    if name.is_empty() {
        return fail(format!("a {what} has no name; write model=unit,unit"));
    }
    if name.len() > LONGEST_NAME {
        return fail(format!("a name of a {what} has {} bytes; use at most {LONGEST_NAME}", name.len()));
    }
    if let Some(sign) = name.chars().find(|c| ",;=".contains(*c)) {
        let sign = match sign {
            ',' => "a comma",
            ';' => "a semicolon",
            _ => "an equals sign",
        };
        return fail(format!("{what} `{}` holds {sign}, which stands between names; leave it out", harmless(name)));
    }
    check_shown(name, place)?;
    if name.trim() != name {
        return fail(format!("{what} `{name}` begins or ends with a space; leave it out"));
    }
    Ok(())
}

/// Refuses text with control characters. The text is shown unescaped, because a shell has to read it.
pub(super) fn check_shown(text: &str, place: &str) -> Result<(), PlanError> {
    if harmless(text) == text {
        return Ok(());
    }
    Err(PlanError::new(place, format!("{} holds a character that cannot be shown; leave it out", quoted(text))))
}

/// Places that units sit in: at least one, none twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Slots(Vec<String>);

impl Slots {
    /// Parses `28` (slots 1 to 28) or `a,b,c`.
    ///
    /// # Errors
    /// [`PlanError`] for no slots, too many slots, a repeated name, or a name that cannot be a label.
    pub fn parse(text: &str, place: &str) -> Result<Self, PlanError> {
        let text = text.trim();
        if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
            return match text.parse::<usize>() {
                Ok(count) if (1..=MOST_SLOTS).contains(&count) => {
                    Ok(Self((1..=count).map(|slot| slot.to_string()).collect()))
                }
                _ => Err(PlanError::new(place, format!("{text} slots; give 1 to {MOST_SLOTS}, or names: a,b,c"))),
            };
        }
        Self::from_names(
            text.split(',').map(|slot| slot.trim().to_owned()).filter(|slot| !slot.is_empty()).collect(),
            place,
        )
    }

    pub(super) fn from_names(names: Vec<String>, place: &str) -> Result<Self, PlanError> {
        if names.is_empty() || names.len() > MOST_SLOTS {
            let message = format!("{} slots; give 1 to {MOST_SLOTS}: a number, or names: a,b,c", names.len());
            return Err(PlanError::new(place, message));
        }
        for (number, name) in names.iter().enumerate() {
            check_name("slot", name, place)?;
            if names[..number].iter().any(|known| known.eq_ignore_ascii_case(name)) {
                return Err(PlanError::new(place, format!("slot `{name}` is named twice; give each its own name")));
            }
        }
        Ok(Self(names))
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

// Errors in the request of a plan, or in its file.

/// One line with the place, the problem and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct PlanError {
    /// An argument as the user knows it, or file and line.
    pub place: String,
    /// The problem and its remedy.
    pub message: String,
}

impl PlanError {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// Something in a line of a file, counted from 1.
    pub(super) fn in_line(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{file}:{line}"), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_with_units_are_read_from_a_line_and_from_a_file() {
        let line = Roster::inline("SanDisk Ultra A1 = 1, 2;EVO=a;", "--units").unwrap();
        let file = Roster::file("# cards\nSanDisk Ultra A1 = 1, 2\n\nEVO = a\n", "units.txt").unwrap();
        assert_eq!(line, file);
        assert_eq!(line.models()[0].units, ["1", "2"]);
        assert_eq!(line.units().collect::<Vec<_>>(), [(0, "1"), (0, "2"), (1, "a")]);
    }

    #[test]
    fn every_mistake_says_where_and_what() {
        for (text, words) in [
            ("", "there are no units"),
            ("A", "`A` is not a model with units"),
            ("A=", "model `A` has no units"),
            ("=1", "a model has no name"),
            ("A,B=1", "model `A,B` holds a comma"),
            ("A=1,2,1", "unit `1` of model `A` is named twice"),
            ("A=x,X", "named twice"),
            ("A=1;a=2", "model `a` is named twice"),
            ("A=1=2", "holds an equals sign"),
            ("A=\u{1b}[2J", "cannot be shown"),
            ("EVO=1-5", "a range of units is not read; write EVO=1,2,3,4,5"),
            ("EVO=[8-99]", "write EVO=8,9,10,11,12,13,14,15,16,17,18,19,…"),
        ] {
            let error = Roster::inline(text, "--units").unwrap_err().to_string();
            assert!(error.starts_with("--units: ") && error.contains(words), "{text}: {error}");
            assert!(!error.contains(['\n', '\u{1b}']), "{error:?}");
        }
        let error = Roster::file("A = 1\n\nB\n", "u.txt").unwrap_err();
        assert_eq!(error.place, "u.txt:3");
        assert!(Roster::inline(&format!("A={}", "x".repeat(257)), "--units").is_err());
        let many: Vec<String> = (0..2001).map(|n| n.to_string()).collect();
        assert!(Roster::inline(&format!("A={}", many.join(",")), "--units").unwrap_err().message.contains("2001"));
    }

    #[test]
    fn slots_are_a_number_or_names() {
        assert_eq!(Slots::parse("3", "--slots").unwrap().names(), ["1", "2", "3"]);
        assert_eq!(Slots::parse("a, b", "--slots").unwrap().names(), ["a", "b"]);
        for (text, words) in [("0", "0 slots"), ("501", "501 slots"), ("", "0 slots"), ("a,a", "named twice")] {
            assert!(Slots::parse(text, "--slots").unwrap_err().to_string().contains(words), "{text}");
        }
        assert!(Slots::parse("99999999999999999999999", "--slots").is_err());
    }
}
