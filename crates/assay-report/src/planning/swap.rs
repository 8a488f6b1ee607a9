//! The swap test: what to measure, and whether unit or slot is to blame.

use assay_analysis::plan::{SwapEffect, SwapTest};
use assay_core::units::fixed;

use super::layout::{paragraph, table};
use crate::facts::clean;
use crate::style::Style;
use crate::wrap::shorten;

/// Columns of a name.
const NAME: usize = 30;
/// Columns of a unit or a slot.
const SHORT_NAME: usize = 14;

/// The order of the test, and its verdict where all is measured.
#[must_use]
pub fn swap(test: &SwapTest, style: &Style) -> String {
    let style = style.bounded();
    let rows: Vec<Vec<String>> = test
        .steps
        .iter()
        .map(|step| {
            let p = &step.place;
            vec![
                step.step.to_string(),
                shorten(&clean(&p.slot), SHORT_NAME),
                shorten(&clean(&p.model), NAME),
                shorten(&clean(&p.unit), SHORT_NAME),
                step.repeats.to_string(),
            ]
        })
        .collect();
    let mut out = table(&["step", "slot", "model", "unit", "repeats"], &[0, 4], &rows, style);
    out.push('\n');
    let load = test.load_title.as_deref().unwrap_or("the load that was odd");
    let lines = match (&test.unit, &test.slot, test.degrees) {
        (Some(unit), Some(slot), Some(degrees)) => {
            let to_blame = match (unit.real, slot.real) {
                (true, true) => "UNIT AND SLOT both differ.",
                (true, false) => "THE UNIT is to blame, not its slot.",
                (false, true) => "THE SLOT is to blame, not the unit.",
                (false, false) => "CANNOT TELL: neither differs by more than 15 % for sure.",
            };
            vec![
                to_blame.to_owned(),
                effect("Suspect over the other unit", unit),
                effect("Slot of the suspect over the other slot", slot),
                format!(
                    "{load}{}; logarithms of repeats, Student's t with {degrees} degrees of freedom.",
                    test.quantity.map_or_else(String::new, |quantity| format!(", {}", quantity.name()))
                ),
            ]
        }
        _ => vec![format!(
            "Measure step 1, change places, measure step 2: two repeats or more of {load} in each place, with the labels \
             model, unit and slot. Units of a step run at the same time."
        )],
    };
    for line in lines {
        out += &paragraph(&line, style);
    }
    out
}

fn effect(what: &str, effect: &SwapEffect) -> String {
    format!(
        "{what}: ×{}, 95 % interval ×{}–{}{}",
        fixed(effect.ratio, 2),
        fixed(effect.interval.0, 2),
        fixed(effect.interval.1, 2),
        if effect.real { "" } else { ", not for sure or less than 15 %" }
    )
}
