//! What a medium is called in a picture.

use std::fmt;

use crate::font;

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
const LONGEST: usize = 48;
/// Letters of a model that still tell something.
const LEAST: usize = 6;
/// Longest number of a unit: longer ones are serial numbers, which are known as such.
const LONGEST_NUMBER: usize = 3;

impl Label {
    /// A name without a unit.
    #[must_use]
    pub fn without_unit(model: String) -> Self {
        Self { model, unit: String::new() }
    }

    /// What stands behind the model: ` · EU`, ` · unit 2`.
    fn suffix(&self) -> String {
        let is_number = self.unit.len() <= LONGEST_NUMBER && self.unit.chars().all(|c| c.is_ascii_digit());
        match self.unit.as_str() {
            "" => String::new(),
            unit if is_number => format!(" · unit {unit}"),
            unit => format!(" · {unit}"),
        }
    }

    /// The name, with as much of the model as leaves it `most` pixels wide. Of a unit that alone is too wide, beginning and end
    /// are left.
    pub(crate) fn fitted(&self, size: f64, most: f64) -> String {
        let suffix = self.suffix();
        let room = most - font::width(&suffix, size, false);
        let least: String = self.model.chars().take(LEAST).chain(['…']).collect();
        if self.model.chars().count() > LEAST && room < font::width(&least, size, false) {
            return font::fitted(&format!("{}{suffix}", self.model), size, most);
        }
        font::fitted(&self.model, size, room) + &suffix
    }
}

impl fmt::Display for Label {
    /// With beginning and end of a model too long for a title.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letters, suffix) = (self.model.chars().collect::<Vec<char>>(), self.suffix());
        let room = LONGEST.saturating_sub(suffix.chars().count()).max(LEAST);
        if letters.len() <= room {
            return write!(f, "{}{suffix}", self.model);
        }
        let half = room / 2;
        let model: String = letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half + 1..]).collect();
        write!(f, "{model}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(long.chars().count() <= LONGEST + 1 && long.ends_with(" · 0x1234abcd"), "{long}");
    }

    #[test]
    fn a_unit_that_alone_is_too_wide_keeps_its_ends() {
        let name = label("Samsung EVO Plus 64GB", &"0123456789".repeat(9)).fitted(12.0, 120.0);
        assert!(font::width(&name, 12.0, false) <= 120.0 && name.ends_with('9'), "{name}");
    }
}
