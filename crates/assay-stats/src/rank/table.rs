//! Observations with units, slots and waves numbered, and what their design allows to tell.

use super::notice::{FitError, Notice};
use super::observation::Observation;
use super::sweep::{Design, Factor};

/// Observations in an order of their own, with everything numbered.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) y: Vec<f64>,
    pub(super) order: Option<Vec<f64>>,
    /// Model and unit of each unit number.
    pub(super) units: Vec<(String, String)>,
    pub(super) slots: Vec<String>,
    pub(super) waves: Vec<u32>,
    pub(super) design: Design,
    /// Whether the first factor is the slot.
    pub(super) slotted: bool,
    /// Slot and wave of each row, numbered together; `None` where rows do not name them. They are there whether their
    /// effects are taken out or not.
    pub(super) levels: Vec<[Option<usize>; 2]>,
    /// Whether the effects of slots and of waves are taken out.
    pub(super) swept: [bool; 2],
    pub(super) notices: Vec<Notice>,
}

impl Table {
    pub(super) fn new(observations: &[Observation<'_>]) -> Result<Self, FitError> {
        let mut rows = Vec::with_capacity(observations.len());
        for o in observations {
            rows.push((o, o.ln().map_err(FitError::Invalid)?));
        }
        if rows.is_empty() {
            return Err(FitError::Empty);
        }
        // Sums depend on the order of their terms in the last digit; this makes it always the same.
        rows.sort_by(|(a, x), (b, y)| {
            (&a.model, &a.unit, &a.slot, a.wave)
                .cmp(&(&b.model, &b.unit, &b.slot, b.wave))
                .then_with(|| a.order.unwrap_or(0.0).total_cmp(&b.order.unwrap_or(0.0)))
                .then_with(|| x.total_cmp(y).then(a.weight.total_cmp(&b.weight)))
        });
        let (unit, units) = number(rows.iter().map(|(o, _)| (&*o.model, &*o.unit)));
        let units = units.into_iter().map(|(model, unit)| (model.to_owned(), unit.to_owned())).collect::<Vec<_>>();
        let missing = rows.iter().filter(|(o, _)| o.slot.is_none()).count();
        let mut notices = Vec::new();
        let mut factors = Vec::new();
        let mut slots = Vec::new();
        if missing == 0 {
            let (of, names) = number(rows.iter().filter_map(|(o, _)| o.slot.as_deref()));
            let factor = Factor::new(of, names.len(), &unit, units.len());
            if factor.free() == 0 {
                notices.push(Notice::NoSwap);
            } else {
                if factor.parts > 1 {
                    notices.push(Notice::Parts { parts: factor.parts });
                }
                factors.push(factor);
                slots = names.into_iter().map(str::to_owned).collect();
            }
        } else {
            notices.push(Notice::SlotsUnknown { runs: missing });
        }
        let mut waves = Vec::new();
        if rows.iter().all(|(o, _)| o.wave.is_some()) {
            let (of, names) = number(rows.iter().filter_map(|(o, _)| o.wave));
            let factor = Factor::new(of, names.len(), &unit, units.len());
            if factor.free() > 0 {
                factors.push(factor);
                waves = names;
            }
        }
        let mut design = Design { unit, weight: weights(&rows), units: units.len(), factors };
        let free: usize = design.factors.iter().map(Factor::free).sum();
        if !slots.is_empty() && !waves.is_empty() && design.rank() < design.units + free {
            design.factors.remove(0);
            slots.clear();
            notices.push(Notice::SlotsConfounded);
        }
        let levels = levels(&rows.iter().map(|(o, _)| *o).collect::<Vec<_>>());
        let order = rows.iter().map(|(o, _)| o.order).collect();
        let y = rows.iter().map(|(_, ln)| *ln).collect();
        let swept = [!slots.is_empty(), !waves.is_empty()];
        Ok(Self { y, order, units, slotted: swept[0], slots, waves, design, notices, levels, swept })
    }

    /// Degrees of freedom between repeats.
    pub(super) fn degrees(&self) -> usize {
        self.y.len() - self.design.rank()
    }
}

/// What each row counts for. Where all count alike that is one, so that sums have the digits of plain ones.
fn weights(rows: &[(&Observation<'_>, f64)]) -> Vec<f64> {
    let first = rows.first().map_or(1.0, |(o, _)| o.weight);
    let alike = rows.iter().all(|(o, _)| o.weight == first);
    rows.iter().map(|(o, _)| if alike { 1.0 } else { o.weight }).collect()
}

/// Slot and wave of each, waves after slots; neither is known where one of all lacks it.
fn levels(observations: &[&Observation<'_>]) -> Vec<[Option<usize>; 2]> {
    let (slots, names) = number(observations.iter().map(|o| o.slot.as_deref()));
    let (waves, _) = number(observations.iter().map(|o| o.wave));
    let known = [observations.iter().all(|o| o.slot.is_some()), observations.iter().all(|o| o.wave.is_some())];
    let offset = if known[0] { names.len() } else { 0 };
    let of = |(slot, wave): (usize, usize)| [known[0].then_some(slot), known[1].then_some(wave + offset)];
    slots.into_iter().zip(waves).map(of).collect()
}

fn number<T: Ord + Clone>(names: impl Iterator<Item = T> + Clone) -> (Vec<usize>, Vec<T>) {
    let mut sorted: Vec<T> = names.clone().collect();
    sorted.dedup();
    sorted.sort();
    sorted.dedup();
    (names.map(|name| sorted.partition_point(|other| *other < name)).collect(), sorted)
}
