//! The next step of a race and why.

use assay_analysis::Quantity;
use assay_analysis::plan::{Chance, NextAction, Order, Race};
use assay_core::text::clean;
use assay_core::units;
use assay_core::units::{counted, figures, latency, probability};

use super::show::percent_above;
use crate::caveats;
use crate::caveats::{ADJUSTED, least_loss};
use crate::document::{Block, Data, Document, Table, TableRow, left, number, right};
use crate::headline::{interval, percent};

/// The next action, the probabilities of the models, and their basis.
#[must_use]
pub fn race(race: &Race) -> Document {
    let mut lines = action(race).into_iter();
    let finding = lines.next().unwrap_or_default();
    let mut blocks: Vec<Block> = lines.map(Block::Text).collect();
    let (listed, without): (Vec<&Chance>, Vec<&Chance>) = race.chances.iter().partition(|chance| is_listed(chance));
    let rows: Vec<TableRow> = listed.iter().map(|chance| row(race, chance).into()).collect();
    let title = match race.quantity.unit() {
        Some((unit, _)) => format!("mean {unit}"),
        None => race.quantity.title().to_owned(),
    };
    let columns = vec![left("model"), right("units"), right(&title), right("95 %"), right("best"), left("")];
    blocks.push(Block::Table(Table { caption: String::new(), columns, rows }));
    if !without.is_empty() {
        let models: Vec<String> = without.iter().map(|chance| chance.model.clone()).collect();
        blocks.push(Block::Text(format!("No figure of this load: {}", names(&models))));
    }
    blocks.extend(foot(race).into_iter().map(Block::Text));
    let about = format!("Race for the best model by {}", clean(&race.load_title));
    Document { kind: "Plan", about, finding, blocks, data: data(race) }
}

/// Whether there is something to say of a model in a table: a figure, or what its units did.
fn is_listed(chance: &Chance) -> bool {
    chance.units > 0 || chance.out || chance.dropped || chance.failed || chance.wrong_data
}

/// A row for each model.
fn data(race: &Race) -> Data {
    let columns = vec![
        "model",
        "units",
        "load",
        "metric",
        "mean",
        "low",
        "high",
        "probability_best",
        "at_ceiling",
        "units_failed",
        "wrong_data",
        "out_of_race",
        "dropped",
    ];
    let row = |chance: &Chance| {
        vec![
            chance.model.clone(),
            chance.units.to_string(),
            race.load_title.clone(),
            race.quantity.name().to_owned(),
            number(chance.mean),
            number(chance.interval.map(|ends| ends.0)),
            number(chance.interval.map(|ends| ends.1)),
            number(chance.best),
            chance.at_ceiling.to_string(),
            chance.failed.to_string(),
            chance.wrong_data.to_string(),
            chance.out.to_string(),
            chance.dropped.to_string(),
        ]
    };
    Data { columns, rows: race.chances.iter().map(row).collect() }
}

fn names(models: &[String]) -> String {
    models.iter().map(|model| clean(model)).collect::<Vec<_>>().join(", ")
}

fn action(race: &Race) -> Vec<String> {
    let out: Vec<&Chance> = race.chances.iter().filter(|chance| chance.out).collect();
    let best = if out.is_empty() { "the best" } else { "the best that is left" };
    let good = race.good.map_or_else(String::new, |good| {
        format!(
            " It is within 3 % of {best} with probability {}; required: {}.",
            probability(good),
            units::percent(race.sure, 1)
        )
    });
    let mut lines = vec![match &race.action {
        NextAction::Measure { orders } => format!("MEASURE {}", units_to_measure(orders)),
        NextAction::Buy { model } => format!("BUY {}.{good}", clean(model)),
        NextAction::OnlyOneLeft { model } => {
            format!("BUY {}: no other model is left in the race.{good}", clean(model))
        }
        NextAction::PracticallyTied { models, loss } => tied(race, models, *loss, best),
        NextAction::Exhausted { models } => format!(
            "STOP, no more units may be measured. The best is among {} (95 %); more units would be needed to say which.",
            names(models)
        ),
        NextAction::CeilingTie { models } => format!(
            "STOP, ceiling tie: {} reach the limit of the bus, which hides the difference. Take the cheapest.",
            names(models)
        ),
        NextAction::NothingFit => "STOP: every model returned wrong data; none can be bought.".to_owned(),
    }];
    match (&race.action, &race.leader) {
        (NextAction::Measure { .. }, Some(leader)) => lines.push(format!(
            "{} leads.{good} Taking it now would lose {} on average.",
            clean(leader),
            race.regret.map_or_else(|| "nothing".to_owned(), percent)
        )),
        (NextAction::Measure { .. }, None) => {
            lines.push("No conclusion before each model has two units.".to_owned());
        }
        _ => {}
    }
    lines.extend(least_loss(&race.not_separated));
    if !out.is_empty() && !race.nothing_fit() {
        let why = |chance: &&Chance| {
            let why = if chance.wrong_data { "units returned wrong data" } else { "units failed" };
            format!("{} ({why})", clean(&chance.model))
        };
        let out: Vec<String> = out.iter().map(why).collect();
        lines.push(format!("Out of the race, however fast: {}.", out.join(", ")));
    }
    if !race.newly_dropped.is_empty() {
        lines.push(format!(
            "DROP {}: probability of being the best below 1 %. Name it with --dropped in the next step.",
            names(&race.newly_dropped)
        ));
    }
    lines
}

/// The orders of new units. Models with equal orders share a part.
fn units_to_measure(orders: &[Order]) -> String {
    let mut of: Vec<(u32, Vec<String>)> = Vec::new();
    for order in orders {
        match of.iter_mut().find(|(units, _)| *units == order.units) {
            Some((_, models)) => models.push(clean(&order.model)),
            None => of.push((order.units, vec![clean(&order.model)])),
        }
    }
    let orders: Vec<String> = of
        .into_iter()
        .map(|(units, models)| {
            let each = if models.len() > 1 { " each" } else { "" };
            format!("{}{each} of {}", counted(units as usize, "new unit"), models.join(", "))
        })
        .collect();
    orders.join("; ")
}

/// The advice where the best model is undecided; `best` names the models it is compared with.
fn tied(race: &Race, models: &[String], loss: f64, best: &str) -> String {
    let gain = race.regret.map_or_else(|| "nothing".to_owned(), percent);
    let loss = units::percent(loss, 1);
    match models {
        [one] => format!(
            "STOP, take {}: it loses at most {loss} against {best} (95 %), and more measuring would gain {gain} \
             on average.",
            clean(one)
        ),
        _ => format!(
            "STOP, practically tied: {}. Take the cheapest: each loses at most {loss} against {best} (95 %), and \
             more measuring would gain {gain} on average.",
            names(models)
        ),
    }
}

fn row(race: &Race, chance: &Chance) -> Vec<String> {
    let unit = race.quantity.unit();
    let value = |value: f64| unit.map_or_else(|| latency(value), |(_, divisor)| figures(value / divisor));
    let ends = |(low, high): (f64, f64)| match unit {
        Some((_, divisor)) => interval(low / divisor, high / divisor),
        None => format!("{}–{}", latency(low), latency(high)),
    };
    let notes = [
        (chance.at_ceiling, "bus limit"),
        (chance.failed, "units failed"),
        (chance.wrong_data, "wrong data"),
        (chance.dropped, "dropped"),
    ];
    let notes: Vec<&str> = notes.iter().filter(|(holds, _)| *holds).map(|(_, note)| *note).collect();
    vec![
        clean(&chance.model),
        chance.units.to_string(),
        chance.mean.map_or_else(
            || "–".to_owned(),
            |mean| if chance.at_ceiling { format!(">= {}", value(mean)) } else { value(mean) },
        ),
        chance.interval.map_or_else(|| "–".to_owned(), ends),
        chance.best.map_or_else(|| "–".to_owned(), probability),
        notes.join(", "),
    ]
}

fn foot(race: &Race) -> Vec<String> {
    let mut lines = vec![format!("Decided by {}, {}.", race.load_title, quantity(race.quantity))];
    if let Some(deviation) = race.unit_deviation {
        lines.push(format!(
            "Units vary by {} within a model (standard deviation of logarithms, pooled, prior 10 %). \
             Intervals: Student's t. Best: share of 4000 draws in which the model is best.",
            percent(deviation)
        ));
    }
    if let (true, Some(spread)) = (race.close_models, race.spread) {
        lines.push(format!(
            "Models are close, so more certainty is required: this answer was tested on models that differ by 15 % \
             or more, and these differ by {}.",
            percent_above(spread.exp())
        ));
    }
    if race.chances.iter().any(|chance| chance.dropped) {
        lines.push("Dropped models have fewer units; their intervals are wider in the final ranking.".to_owned());
    }
    if race.adjusted_units > 0 {
        lines.push(format!("Figures of {} are {ADJUSTED}.", counted(race.adjusted_units, "unit")));
    }
    if !race.unnamed_units.is_empty() {
        lines.push(format!(
            "Records of {} name no unit: all of a model count as one unit. Measure with --label unit=….",
            names(&race.unnamed_units)
        ));
    }
    if !race.excluded.is_empty() {
        lines.push("Left out:".to_owned());
        lines.extend(caveats::left_out_of_one_load(&race.excluded, Some("--json")));
    }
    lines
}

fn quantity(quantity: Quantity) -> String {
    let better = if quantity.more_is_better() { "" } else { "; less is better" };
    format!("{}{better}", quantity.title())
}

#[cfg(test)]
mod tests {
    use assay_analysis::{Excluded, Reason};

    use super::*;

    #[test]
    fn a_model_that_is_out_of_the_race_is_told_with_the_reason_beside_what_to_buy() {
        let records = assay_analysis::published("sandisk-ultra-a1").unwrap();
        let load = assay_analysis::loads(&records).remove(0);
        let mut records: Vec<_> = ["A", "A", "B", "B"].iter().map(|_| records[0].clone()).collect();
        for (at, record) in records.iter_mut().enumerate() {
            record.id = at.to_string();
            record.labels.insert("model".to_owned(), ["A", "A", "B", "B"][at].to_owned());
            record.labels.insert("unit".to_owned(), at.to_string());
        }
        records[0].outcome = assay_core::outcome::Outcome::Failed {
            failure: assay_core::outcome::RunFailure::ReadOnly,
            detail: String::new(),
            workload: None,
            elapsed_ns: 1,
            written_bytes: 0,
        };
        let options = assay_analysis::plan::RaceOptions {
            threshold: 0.95,
            cap: 12,
            left: None,
            slots: 1,
            dropped: Vec::new(),
            seed: 1,
        };
        let found = assay_analysis::plan::race(&records, &load, Quantity::Iops, &options).unwrap();
        let text = race(&found).text(&crate::Style::default());
        assert!(text.contains("BUY B. It is within 3 % of the best that is left"), "{text}");
        assert!(text.contains("Out of the race, however fast: A (units failed)."), "{text}");
    }

    #[test]
    fn records_that_are_not_used_are_named_with_their_reason() {
        let records = assay_analysis::published("sandisk-ultra-a1").unwrap();
        let load = assay_analysis::loads(&records).remove(0);
        let mut found = Race {
            load_title: load.title(),
            load,
            quantity: Quantity::Iops,
            action: NextAction::NothingFit,
            chances: Vec::new(),
            leader: None,
            good: None,
            sure: 0.95,
            regret: None,
            unit_deviation: None,
            spread: None,
            close_models: false,
            not_separated: Vec::new(),
            newly_dropped: Vec::new(),
            adjusted_units: 0,
            unnamed_units: Vec::new(),
            excluded: Vec::new(),
        };
        assert!(!race(&found).text(&crate::Style::default()).contains("Left out"));
        found.excluded.push(Excluded {
            record: "abc".to_owned(),
            model: "Card".to_owned(),
            unit: "1".to_owned(),
            load: None,
            reason: Reason::NotMeasured,
        });
        let text = race(&found).text(&crate::Style::default());
        let named = format!("Left out:\nabc (Card · unit 1): {}\n", Reason::NotMeasured);
        assert!(text.contains(&named), "{text}");
    }
}
