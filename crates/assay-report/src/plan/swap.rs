//! The swap test: what to measure, and whether unit or slot is to blame.

use assay_analysis::plan::{SwapEffect, SwapStep, SwapTest};
use assay_core::text::clean;
use assay_core::units::{multiples, times};

use crate::document::{Block, Data, Document, Row, Table, left, number, right};

/// The order of the test, and its verdict where all is measured.
#[must_use]
pub fn swap(test: &SwapTest) -> Document {
    let row = |step: &SwapStep| -> Row {
        let p = &step.place;
        vec![step.step.to_string(), clean(&p.slot), clean(&p.model), clean(&p.unit), step.repeats.to_string()].into()
    };
    let mut lines = verdict(test).into_iter();
    let finding = lines.next().unwrap_or_default();
    let mut columns = vec![right("step")];
    columns.extend(["slot", "model", "unit"].map(left));
    columns.push(right("repeats"));
    let rows = test.steps.iter().map(row).collect();
    let mut blocks = vec![Block::Table(Table { caption: String::new(), columns, rows })];
    blocks.extend(lines.map(Block::Text));
    Document { kind: "Plan", about: "Swap test: unit or slot".to_owned(), finding, blocks, data: data(test) }
}

/// Whether unit or slot is to blame, and by how much; or the next step.
fn verdict(test: &SwapTest) -> Vec<String> {
    let load = test.load_title.as_deref().unwrap_or("the load that was odd");
    match (&test.unit, &test.slot, test.degrees) {
        (Some(unit), Some(slot), Some(degrees)) => {
            let to_blame = match (unit.real, slot.real) {
                (true, true) => "UNIT AND SLOT both differ.",
                (true, false) => "THE UNIT differs, not the slot.",
                (false, true) => "THE SLOT differs, not the unit.",
                (false, false) => "CANNOT TELL: neither certainly differs by more than 15 %.",
            };
            vec![
                to_blame.to_owned(),
                effect("Suspect over the other unit", unit),
                effect("Slot of the suspect over the other slot", slot),
                format!(
                    "{load}{}; logarithms of sessions, Student's t including day-to-day variation, {}.",
                    test.quantity.map_or_else(String::new, |quantity| format!(", {}", quantity.name())),
                    match degrees {
                        0 => "one session in each place; a second one in each would say more".to_owned(),
                        n => format!("{n} degrees of freedom between sessions"),
                    }
                ),
            ]
        }
        _ => vec![format!(
            "Measure step 1, change places, measure step 2: two repeats or more of {load} in each place, with the labels \
             model, unit and slot. Units of a step run at the same time."
        )],
    }
}

/// A row for each step, and one for each effect.
fn data(test: &SwapTest) -> Data {
    let step = |s: &SwapStep| {
        let p = &s.place;
        let place = [s.step.to_string(), p.slot.clone(), p.model.clone(), p.unit.clone(), s.repeats.to_string()];
        place.into_iter().chain(std::iter::repeat_n(String::new(), 4)).collect()
    };
    let effect = |(name, e): (&str, &SwapEffect)| {
        let numbers = [number(Some(e.ratio)), number(Some(e.interval.0)), number(Some(e.interval.1))];
        let name = std::iter::once(name.to_owned());
        std::iter::repeat_n(String::new(), 5).chain(name).chain(numbers).collect()
    };
    let effects = [("unit", &test.unit), ("slot", &test.slot)].into_iter().filter_map(|(n, e)| Some((n, e.as_ref()?)));
    Data {
        columns: vec!["step", "slot", "model", "unit", "repeats", "effect_of", "ratio", "low", "high"],
        rows: test.steps.iter().map(step).chain(effects.map(effect)).collect(),
    }
}

fn effect(what: &str, effect: &SwapEffect) -> String {
    format!(
        "{what}: {} ({}, 95 %){}",
        times(effect.ratio),
        multiples(effect.interval.0, effect.interval.1),
        if effect.real { "" } else { ", not certain or less than 15 %" }
    )
}
