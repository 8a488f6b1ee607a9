//! Whose figures stand in the rows.

use assay_analysis::rank::RankReport;
use assay_analysis::{Identity, identity};
use assay_core::record::Record;

use crate::facts;

/// A model with its units.
pub(super) struct Model<'a> {
    /// Its name in rankings.
    pub(super) key: String,
    /// Its name for people.
    pub(super) title: String,
    pub(super) units: Vec<Unit<'a>>,
}

/// A physical piece.
pub(super) struct Unit<'a> {
    /// Its name in rankings; empty where the records tell none.
    pub(super) key: String,
    /// Its name for people.
    pub(super) title: String,
    pub(super) records: Vec<&'a Record>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) enum Of<'a> {
    /// A model of several units.
    Whole(&'a Model<'a>),
    /// A unit.
    One(&'a Model<'a>, &'a Unit<'a>),
}

impl<'a> Of<'a> {
    pub(super) fn model(self) -> &'a Model<'a> {
        match self {
            Self::Whole(model) | Self::One(model, _) => model,
        }
    }

    /// The unit; `None` of a model as a whole.
    pub(super) fn unit(self) -> Option<&'a Unit<'a>> {
        match self {
            Self::Whole(_) => None,
            Self::One(_, unit) => Some(unit),
        }
    }
}

/// All media, models in the order of the ranking, which is that of the records where nothing was ranked.
pub(super) fn media<'a>(records: &'a [Record], ranked: Option<&RankReport>) -> Vec<Model<'a>> {
    let mut all: Vec<Model<'a>> = Vec::new();
    for record in records {
        let Identity { model, unit, .. } = identity(record);
        let at = all.iter().position(|known| known.key == model).unwrap_or_else(|| {
            all.push(Model { key: model, title: record.title(), units: Vec::new() });
            all.len() - 1
        });
        let units = &mut all[at].units;
        match units.iter_mut().find(|known| known.key == unit) {
            Some(known) => known.records.push(record),
            None => units.push(Unit { key: unit, title: facts::unit(record), records: vec![record] }),
        }
    }
    for model in &mut all {
        model.units.sort_by_key(number);
    }
    if let Some(report) = ranked.filter(|report| report.primary.refusal.is_none()) {
        let place = |model: &Model<'_>| report.primary.models.iter().position(|row| row.model == model.key);
        all.sort_by_key(|model| place(model).unwrap_or(usize::MAX));
    }
    all
}

/// Numbers in their order, then all others in that of the records.
fn number(unit: &Unit<'_>) -> u64 {
    unit.title.parse().unwrap_or(u64::MAX)
}

/// The rows of a table of these media: a model of several units, and under it each of them.
pub(super) fn rows<'a>(media: &'a [Model<'a>]) -> Vec<Of<'a>> {
    let of = |model: &'a Model<'a>| {
        let whole = (model.units.len() > 1).then_some(Of::Whole(model));
        whole.into_iter().chain(model.units.iter().map(move |unit| Of::One(model, unit)))
    };
    media.iter().flat_map(of).collect()
}
