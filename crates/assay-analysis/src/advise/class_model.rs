//! What the units of a model say of the next one: at least 90 % of them pass, with 95 % confidence. A model passes or
//! fails only where one of its units does.

use assay_core::classes::{CLASSES, Class};
use assay_stats::decide::{Tolerance, tolerance};

use super::class_types::{
    KINDS, Kind, ModelAnswer, ModelClasses, ModelPart, ModelWord, SpecimenClasses, Status, needs,
};
use super::error::AdviseError;
use super::evidence::Subject;
use super::figure::UnitValues;
use crate::Load;

/// The measurements of a quantity: each unit, with the load that it is judged by.
pub(super) type Measured = Vec<(Load, UnitValues)>;

/// Share of the units that a statement about a model is about.
pub(super) const CONTENT: f64 = 0.90;

/// `None` where there are no measurements. `specimens` are the units of the model.
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
    let judged = |class: &Class, kind: Kind, status: Status| {
        let of = specimens.iter().flat_map(|s| &s.classes).filter(|c| c.class == class.name);
        of.flat_map(|c| &c.tests).any(|test| (test.kind, test.status) == (kind, status))
    };
    let bounded = |kind: Kind| {
        let mut of = specimens.iter().flat_map(|s| &s.figures).filter(|figure| figure.kind == kind);
        of.any(|figure| figure.bounds.is_some())
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
    let classes = wanted
        .map(|c| answer(c, testable(c), means, bounded, |kind, status| judged(c, kind, status)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Some(ModelClasses { model: subject.model.clone(), units, content: CONTENT, classes }))
}

fn answer(
    class: &Class,
    testable: bool,
    means: impl Fn(Kind) -> Vec<f64>,
    bounded: impl Fn(Kind) -> bool,
    judged: impl Fn(Kind, Status) -> bool,
) -> Result<ModelAnswer, AdviseError> {
    let mut parts = Vec::new();
    for (kind, threshold) in needs(class) {
        let values = means(kind);
        if values.is_empty() {
            parts.push(ModelPart { kind, threshold, word: ModelWord::NotMeasured, lower_limit: None, n: 0 });
            continue;
        }
        let limits = tolerance(&values, CONTENT)?;
        let word = match word(limits, threshold) {
            // A model is not judged more certainly than its units.
            ModelWord::Pass if !judged(kind, Status::Pass) => ModelWord::Indeterminate,
            ModelWord::Fail if !judged(kind, Status::Fail) => ModelWord::Indeterminate,
            word => word,
        };
        let lower_limit = limits.map(|limits| limits.lower).filter(|_| bounded(kind));
        parts.push(ModelPart { kind, threshold, word, lower_limit, n: values.len() });
    }
    let order = [ModelWord::Fail, ModelWord::OneUnit, ModelWord::NotMeasured, ModelWord::Indeterminate];
    let worst = order.into_iter().find(|w| parts.iter().any(|p| p.word == *w));
    let word = if testable { worst.unwrap_or(ModelWord::Pass) } else { ModelWord::NotTestable };
    Ok(ModelAnswer { class: class.name, word, parts })
}

/// What limits of the units say about a threshold; `None` of one unit.
fn word(limits: Option<Tolerance>, threshold: f64) -> ModelWord {
    match limits {
        None => ModelWord::OneUnit,
        Some(limits) if limits.lower >= threshold => ModelWord::Pass,
        Some(limits) if limits.upper < threshold => ModelWord::Fail,
        Some(_) => ModelWord::Indeterminate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_about_a_model() {
        let units = [1800.0 * (-0.02f64).exp(), 1800.0, 1800.0 * 0.02f64.exp()];
        let claim = |units: &[f64], threshold| word(tolerance(units, CONTENT).unwrap(), threshold);
        assert_eq!(claim(&units, 1500.0), ModelWord::Pass);
        assert_eq!(claim(&units, 1700.0), ModelWord::Indeterminate);
        assert_eq!(claim(&units, 2500.0), ModelWord::Fail);
        assert_eq!(claim(&[9000.0], 1500.0), ModelWord::OneUnit);
    }
}
