//! What the units of a model say of the next one: at least 90 % of them pass, with 95 % confidence.

use assay_core::classes::{CLASSES, Class};
use assay_stats::decide::{Claim, model_claim};
use serde::Serialize;

use super::class::{KINDS, Measured, needs};
use super::class_types::{Kind, SpecimenClasses};
use super::error::AdviseError;
use super::evidence::Subject;

/// Share of the units that a statement about a model is about.
pub(super) const CONTENT: f64 = 0.90;

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelWord {
    /// With 95 % confidence at least 90 % of the units pass.
    Pass,
    /// With 95 % confidence fewer do.
    Fail,
    /// The data do not tell.
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
pub struct ModelPart {
    /// Which one.
    pub kind: Kind,
    /// What the class asks for.
    pub threshold: f64,
    /// The answer.
    pub word: ModelWord,
    /// What 90 % of the units exceed, with 95 % confidence.
    pub lower_limit: Option<f64>,
    /// Units.
    pub n: usize,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// `None` where nothing was measured. `specimens` are its units.
pub(super) fn model_classes(
    subject: &Subject<'_>,
    measured: &[Measured; 3],
    specimens: &[SpecimenClasses],
    asked: &[&'static str],
) -> Result<Option<ModelClasses>, AdviseError> {
    let means = |kind: Kind| -> Vec<f64> {
        let of = KINDS.iter().position(|k| *k == kind).map(|at| &measured[at]);
        of.into_iter().flatten().filter_map(|(_, unit)| unit.mean()).collect()
    };
    let units = measured.iter().map(Vec::len).max().unwrap_or(0);
    if units == 0 {
        return Ok(None);
    }
    let wanted = CLASSES.iter().filter(|c| asked.is_empty() || asked.contains(&c.name));
    let testable = |class: &Class| {
        let mut of = specimens.iter().flat_map(|s| &s.classes).filter(|c| c.class == class.name);
        of.all(|c| c.obstacle.is_none())
    };
    let classes = wanted.map(|c| answer(c, testable(c), means)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(ModelClasses { model: subject.model.clone(), units, content: CONTENT, classes }))
}

fn answer(class: &Class, testable: bool, means: impl Fn(Kind) -> Vec<f64>) -> Result<ModelAnswer, AdviseError> {
    let mut parts = Vec::new();
    for (kind, threshold) in needs(class) {
        let values = means(kind);
        if values.is_empty() {
            parts.push(ModelPart { kind, threshold, word: ModelWord::NotMeasured, lower_limit: None, n: 0 });
            continue;
        }
        let claim = model_claim(&values, threshold, CONTENT)?;
        let word = match claim.claim {
            Claim::Pass => ModelWord::Pass,
            Claim::Fail => ModelWord::Fail,
            Claim::Indeterminate => ModelWord::Indeterminate,
            Claim::OneUnit => ModelWord::OneUnit,
        };
        parts.push(ModelPart { kind, threshold, word, lower_limit: claim.lower_limit, n: claim.n });
    }
    let order = [ModelWord::Fail, ModelWord::OneUnit, ModelWord::NotMeasured, ModelWord::Indeterminate];
    let worst = order.into_iter().find(|w| parts.iter().any(|p| p.word == *w));
    let word = if testable { worst.unwrap_or(ModelWord::Pass) } else { ModelWord::NotTestable };
    Ok(ModelAnswer { class: class.name, word, parts })
}
