//! Whether a flagged unit or its slot is to blame: the measurements to make, and their result.

use assay_core::record::Record;
use assay_core::text::quoted;
use assay_stats::plan::{Effect, Swap};
use serde::Serialize;

use super::names::PlanError;
use crate::identity::identity;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

/// A unit and the slot it usually sits in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapPlace {
    /// Model.
    pub model: String,
    /// Unit.
    pub unit: String,
    /// Slot.
    pub slot: String,
}

/// The test that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapOptions {
    /// The flagged unit at home.
    pub suspect: SwapPlace,
    /// A good unit at home, best one of the same model.
    pub other: SwapPlace,
}

/// One session of the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapStep {
    /// 1: both at home; 2: places changed. Sessions of a step run at the same time.
    pub step: u32,
    /// The unit in the slot.
    #[serde(flatten)]
    pub place: SwapPlace,
    /// Repeats that there are; it takes two.
    pub repeats: usize,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapEffect {
    /// Suspect over other; below 1 it has less.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// It is significant and more than 15 %.
    pub real: bool,
}

/// The test and its result so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapTest {
    /// Title of the deciding load; null before anything is measured.
    pub load_title: Option<String>,
    /// The deciding figure.
    pub quantity: Option<Quantity>,
    /// What to measure, in this order.
    pub steps: Vec<SwapStep>,
    /// Suspect against the other unit; null until all is measured.
    pub unit: Option<SwapEffect>,
    /// The suspect's slot against the other slot; null until all is measured.
    pub slot: Option<SwapEffect>,
    /// Degrees of freedom between sessions behind both; 0 where there is one in each place.
    pub degrees: Option<u32>,
}

impl SwapPlace {
    /// Reads `MODEL=UNIT@SLOT`, as it stands on the command line after `place`.
    ///
    /// # Errors
    /// [`PlanError`] where a part is missing.
    pub fn parse(text: &str, place: &str) -> Result<Self, PlanError> {
        let parts = text.split_once('=').and_then(|(model, rest)| Some((model, rest.rsplit_once('@')?)));
        match parts.map(|(model, (unit, slot))| (model.trim(), unit.trim(), slot.trim())) {
            Some((model, unit, slot)) if !model.is_empty() && !unit.is_empty() && !slot.is_empty() => {
                Ok(Self { model: model.to_owned(), unit: unit.to_owned(), slot: slot.to_owned() })
            }
            _ => Err(PlanError::new(place, format!("{} is not a unit in a slot; write MODEL=UNIT@SLOT", quoted(text)))),
        }
    }
}

/// The order of the test and, where `records` hold all of it, its result.
///
/// # Errors
/// [`PlanError`]: one unit, or one slot, named twice; a figure where less is better; values that are not above zero.
pub fn swap_test(
    records: &[Record],
    deciding: Option<(&Load, Quantity)>,
    options: &SwapOptions,
) -> Result<SwapTest, PlanError> {
    let (suspect, other) = (&options.suspect, &options.other);
    if (&suspect.model, &suspect.unit) == (&other.model, &other.unit) {
        return Err(PlanError::new("--other", "is the suspect itself; name another unit"));
    }
    if suspect.slot == other.slot {
        let message = format!("sits in slot {}, too; name a unit of another slot", other.slot);
        return Err(PlanError::new("--other", message));
    }
    let away = |unit: &SwapPlace, slot: &SwapPlace| SwapPlace { slot: slot.slot.clone(), ..unit.clone() };
    let places = [suspect.clone(), away(suspect, other), away(other, suspect), other.clone()];
    let cells = places
        .each_ref()
        .map(|place| deciding.map_or_else(Vec::new, |(load, quantity)| sessions(records, load, quantity, place)));
    let measured = cells.iter().all(|sessions| sessions.iter().map(Vec::len).sum::<usize>() >= 2);
    let found = if measured {
        let [suspect_home, suspect_away, other_away, other_home] = cells.each_ref().map(Vec::as_slice);
        let swap = Swap { suspect_home, suspect_away, other_away, other_home };
        Some(assay_stats::plan::swap(&swap).map_err(|fault| PlanError::new("swap", fault.to_string()))?)
    } else {
        None
    };
    let steps = [(1, 0), (1, 3), (2, 1), (2, 2)]
        .map(|(step, index): (u32, usize)| SwapStep {
            step,
            place: places[index].clone(),
            repeats: cells[index].iter().map(Vec::len).sum(),
        })
        .to_vec();
    let effect = |e: Effect| SwapEffect { ratio: e.ratio, interval: e.interval, real: e.real };
    Ok(SwapTest {
        load_title: deciding.map(|(load, _)| load.title()),
        quantity: deciding.map(|(_, quantity)| quantity),
        steps,
        unit: found.map(|found| effect(found.unit)),
        slot: found.map(|found| effect(found.slot)),
        degrees: found.map(|found| found.degrees),
    })
}

/// The repeats of each session in a place.
fn sessions(records: &[Record], load: &Load, quantity: Quantity, place: &SwapPlace) -> Vec<Vec<f64>> {
    let here = records.iter().filter(|record| {
        let identity = identity(record);
        identity.model == place.model && identity.unit == place.unit && identity.slot.as_ref() == Some(&place.slot)
    });
    here.filter_map(|record| reading(record, load, quantity)).filter(|r| r.counts()).map(|r| r.values).collect()
}
