//! The answer to which classes are met.

use assay_core::classes::Class;
use serde::Serialize;

use crate::{Excluded, Load, Mark};

/// All quantities that classes ask for.
pub(super) const KINDS: [Kind; 3] = [Kind::SequentialWrite, Kind::RandomRead, Kind::RandomWrite];

/// What a class asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Sustained sequential write in bytes per second.
    SequentialWrite,
    /// Random reads of 4 KiB per second, over all jobs.
    RandomRead,
    /// Random writes of 4 KiB per second, over all jobs.
    RandomWrite,
}

/// Answer about a quantity or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Threshold met under these conditions, with 95 % confidence. A class: all of its parts are, each at that
    /// confidence (intersection-union test, Berger 1982).
    Pass,
    /// Not met, with 95 % confidence. A class: one of its parts is not, with a confidence of 95 % over all of them
    /// (Bonferroni).
    Fail,
    /// The repeats do not tell, or there are fewer than three.
    Indeterminate,
    /// Not met here, but the bus ended it, not the medium.
    BusLimited,
    /// Not measured.
    NotMeasured,
    /// See [`ClassAnswer::obstacle`].
    NotTestable,
}

/// Why a class cannot be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A2 rests on a command queue and a cache (SD 6.0), which this host is not known to use.
    CommandQueue,
    /// Not a medium that can be bought: a virtual disk, memory or a network volume.
    Virtual,
}

/// One quantity of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassPart {
    /// Which one.
    pub kind: Kind,
    /// Load it was measured with.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// Geometric mean in bytes or operations per second.
    pub value: f64,
    /// With 95 % confidence at least and (another 95 %) at most; `None` for fewer than 3 repeats.
    pub bounds: Option<(f64, f64)>,
    /// Repeats.
    pub n: usize,
    /// Caveats.
    pub marks: Vec<Mark>,
}

/// One class of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAnswer {
    /// Name as printed on cards.
    pub class: &'static str,
    /// Whether the medium claims it.
    pub claimed: bool,
    /// The answer.
    pub status: Status,
    /// Why it is not testable; null where it is.
    pub obstacle: Option<Obstacle>,
    /// The quantities behind it.
    pub tests: Vec<ClassTest>,
}

/// One quantity of a class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassTest {
    /// Which one.
    pub kind: Kind,
    /// What the class asks for, in bytes or operations per second.
    pub threshold: f64,
    /// The answer.
    pub status: Status,
    /// Whether the estimate is below the threshold; `None` where it was not measured.
    pub below: Option<bool>,
}

/// One unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpecimenClasses {
    /// Its model.
    pub model: String,
    /// Its unit; empty where not known.
    pub unit: String,
    /// The measured figures.
    pub figures: Vec<ClassPart>,
    /// The requested classes.
    pub classes: Vec<ClassAnswer>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAdvice {
    /// Classes that were named; empty: all.
    pub asked: Vec<&'static str>,
    /// Each unit.
    pub units: Vec<SpecimenClasses>,
    /// Each model.
    pub models: Vec<ModelClasses>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

impl ClassAdvice {
    /// Whether a class that was named, or else one that the medium claims, is not met.
    #[must_use]
    pub fn is_no(&self) -> bool {
        let mut all = self.units.iter().flat_map(|s| &s.classes);
        all.any(|c| c.status == Status::Fail && (c.claimed || !self.asked.is_empty()))
    }
}

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelWord {
    /// With 95 % confidence at least 90 % of the units pass.
    Pass,
    /// With 95 % confidence fewer do.
    Fail,
    /// The data do not tell, or no single unit passes or fails.
    Indeterminate,
    /// One unit says nothing about the model.
    OneUnit,
    /// Not measured.
    NotMeasured,
    /// Not testable for one of its units, so not for the model.
    NotTestable,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelPart {
    /// Which one.
    pub kind: Kind,
    /// What the class asks for.
    pub threshold: f64,
    /// The answer.
    pub word: ModelWord,
    /// What 90 % of the units exceed, with 95 % confidence; `None` where no unit has three repeats.
    pub lower_limit: Option<f64>,
    /// Units.
    pub n: usize,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelAnswer {
    /// Name as printed on cards.
    pub class: &'static str,
    /// The answer.
    pub word: ModelWord,
    /// The quantities behind it.
    pub parts: Vec<ModelPart>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelClasses {
    /// Its name.
    pub model: String,
    /// Units.
    pub units: usize,
    /// The share of the units that it is about.
    pub content: f64,
    /// The classes that were asked for.
    pub classes: Vec<ModelAnswer>,
}

/// What a class asks for, in bytes or operations per second.
pub(super) fn needs(class: &Class) -> Vec<(Kind, f64)> {
    let random = class.random.map(|(read, write)| [(Kind::RandomRead, read), (Kind::RandomWrite, write)]);
    std::iter::once((Kind::SequentialWrite, class.sequential_write)).chain(random.into_iter().flatten()).collect()
}
