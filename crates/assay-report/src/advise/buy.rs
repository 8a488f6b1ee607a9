//! Which one to buy.

use assay_analysis::Reason;
use assay_analysis::advise::{BuyAdvice, BuyOffer, Choice, FrontStanding};
use assay_core::text::clean;
use assay_core::units::{figures, fixed, grouped, probability};

use super::parts::{FIGURE, Parts, exact_cells, figure_cells, left_out_items, marks_text, percent};
use crate::caveats::{ADJUSTED, least_loss, listed_names};
use crate::document::{Answered, Data, left, number, right};
use crate::headline::unit;

/// Price, performance and power.
#[must_use]
pub fn buy(advice: &BuyAdvice) -> Answered {
    let sentence = sentence(advice) + &unpriced(advice);
    let mut parts = Parts::default();
    table(&mut parts, advice);
    behind(&mut parts, advice);
    left_out_items(&mut parts, &advice.excluded);
    parts.answered("buy", format!("What to buy for {}", clean(&advice.title)), sentence, data(advice), advice)
}

/// Whole amounts without decimals, others with two.
fn money(amount: f64, currency: &str) -> String {
    let cents = (amount * 100.0).round();
    let number = if cents % 100.0 == 0.0 && cents.abs() < 1e15 {
        grouped((cents / 100.0) as i64)
    } else {
        if amount < 1000.0 { fixed(amount, 2) } else { figures(amount) }
    };
    format!("{number} {}", clean(currency)).trim_end().to_owned()
}

/// A loss on the log scale as a share.
fn loss(regret: f64) -> String {
    percent(1.0 - (-regret).exp())
}

fn sentence(a: &BuyAdvice) -> String {
    let currency = &a.currency;
    let of = |o: &BuyOffer| format!("{} {} for {}", o.pieces, clean(&o.model), money(o.cost, currency));
    match &a.choice {
        Choice::Buy { index, tested_enough, one_unit } => {
            let offer = &a.options[*index];
            let front = offer.on_front.map(probability).unwrap_or_default();
            let regret = offer.regret.map(loss).unwrap_or_default();
            let unit = if *one_unit { "; this describes the one unit measured, not the model" } else { "" };
            let enough =
                if *tested_enough { "; more tests are not worth it, as they would gain at most 1 %" } else { "" };
            format!(
                "Buy {}: it is among the best trade-offs of price and performance with probability {front}, and is on average {regret} \
                 slower than the fastest{unit}{enough}{}.",
                of(offer),
                unjudged(a)
            )
        }
        Choice::CannotTell { .. } if a.options.len() == 1 => nothing_to_compare(a, &of(&a.options[0])),
        Choice::CannotTell { by_estimate } => {
            let offer = &a.options[*by_estimate];
            let judged = a.options.iter().filter(|o| o.regret.is_some()).count();
            format!(
                "Cannot tell: {judged} of {} models have more than one value, and a single value has no interval; measure with \
                 3 repeats; by the estimates, the fastest is {}.",
                a.options.len(),
                of(offer)
            )
        }
        Choice::OverBudget => {
            let budget = a.budget.map(|b| money(b, currency)).unwrap_or_default();
            let cheapest = a.options.first().map(of).unwrap_or_default();
            format!("None is within {budget}: the cheapest option is {cheapest}.")
        }
    }
}

/// One candidate alone, and why each of the others was left out; what lacks a price is said elsewhere.
fn nothing_to_compare(a: &BuyAdvice, only: &str) -> String {
    let mut others: Vec<(String, String)> = Vec::new();
    let of_others = a.excluded.iter().filter(|left| left.model != a.options[0].model && left.reason != Reason::NoPrice);
    for left in of_others {
        let model = clean(&left.model);
        if !others.iter().any(|(known, _)| *known == model) {
            others.push((model, clean(&left.reason.to_string())));
        }
    }
    let each: Vec<String> = others.iter().map(|(model, why)| format!("{model} was left out: {why}")).collect();
    let why = if each.is_empty() { String::new() } else { format!("; {}", listed_names(&each, "; ", Some("--json"))) };
    format!("Nothing to compare: one candidate is left, {only}; it takes two{why}.")
}

/// Those that took no part.
fn unjudged(a: &BuyAdvice) -> String {
    let names: Vec<String> =
        a.options.iter().filter(|o| o.standing == FrontStanding::CannotTell).map(|o| clean(&o.model)).collect();
    match names.len() {
        0 => String::new(),
        _ => format!("; not judged, as there is one value: {}", names.join(", ")),
    }
}

/// Models whose price or power is not known: the choice is among fewer than were measured.
fn unpriced(a: &BuyAdvice) -> String {
    let without = |reason: &Reason, what: &str| {
        let mut models: Vec<String> =
            a.excluded.iter().filter(|left| left.reason == *reason).map(|left| clean(&left.model)).collect();
        models.dedup();
        match models.is_empty() {
            true => String::new(),
            false => format!(" Left out, as the {what} is not known: {}.", listed_names(&models, ", ", Some("--json"))),
        }
    };
    without(&Reason::NoPrice, "price") + &without(&Reason::NoPower, "power")
}

fn table(parts: &mut Parts, a: &BuyAdvice) {
    let unit = a.options.first().map_or("", |o| unit(o.performance.quantity, o.performance.value).0);
    let worth = a.options.iter().any(|o| o.regret_money.is_some());
    let groups = a.options.iter().map(|o| {
        let [value, range, n] = figure_cells(&o.performance);
        let dash = || "–".to_owned();
        let regret = if worth { o.regret_money.map(|r| money(r, "")) } else { o.regret.map(loss) };
        let row = vec![
            standing(o.standing).to_owned(),
            value,
            range,
            n,
            money(o.price, ""),
            o.pieces.to_string(),
            money(o.cost, ""),
            o.on_front.map_or_else(dash, probability),
            regret.unwrap_or_else(dash),
        ];
        (clean(&o.model), vec![row])
    });
    let mut columns = vec![left("best trade-off")];
    columns.extend([unit, "95 %", "of", "price", "buy", "cost", "chance", "loss"].map(right));
    parts.groups(String::new(), columns, groups.collect());
}

/// A row for each model.
fn data(a: &BuyAdvice) -> Data {
    let mut columns = vec!["model", "best_tradeoff", "load"];
    columns.extend(FIGURE);
    columns.extend(["currency", "price", "pieces", "cost", "probability", "loss_share", "loss_money"]);
    let row = |o: &BuyOffer| {
        let head = [o.model.clone(), standing(o.standing).to_owned(), a.title.clone()];
        let tail = [
            a.currency.clone(),
            number(Some(o.price)),
            o.pieces.to_string(),
            number(Some(o.cost)),
            number(o.on_front),
            number(o.regret.map(|regret| 1.0 - (-regret).exp())),
            number(o.regret_money),
        ];
        head.into_iter().chain(exact_cells(&o.performance)).chain(tail).collect()
    };
    Data { columns, rows: a.options.iter().map(row).collect() }
}

fn standing(standing: FrontStanding) -> &'static str {
    match standing {
        FrontStanding::Certain => "yes",
        FrontStanding::Member => "likely",
        FrontStanding::Off => "no",
        FrontStanding::CannotTell => "cannot tell",
        FrontStanding::OverBudget => "over budget",
    }
}

fn behind(parts: &mut Parts, a: &BuyAdvice) {
    if let Some(text) = least_loss(&a.not_separated) {
        parts.item("note", &text);
    }
    parts.item("load", &clean(&a.title));
    parts.item("nodes", &format!("{}, one medium each", a.nodes));
    let currency = clean(&a.currency);
    parts.item(
        "cost",
        &format!(
            "in {currency}: pieces * price{}",
            match (a.hours, a.kilowatt_hour) {
                (Some(hours), Some(price)) => {
                    format!(" + nodes * watts * {} h * {} {currency}/kWh", figures(hours), figures(price))
                }
                _ => "; power is left out (--power-price)".to_owned(),
            }
        ),
    );
    if let Some(budget) = a.budget {
        parts.item("budget", &format!("{}; options that cost more are left out", money(budget, &a.currency)));
    }
    for offer in a.options.iter().filter(|o| o.spares > 0) {
        let (units, failed) = offer.units;
        let text = format!(
            "{}: {} of {} pieces; {failed} of {units} units failed",
            clean(&offer.model),
            offer.spares,
            offer.pieces
        );
        parts.item("spares", &text);
    }
    parts.item("chance", "probability that no cheaper model is as fast; speeds within 3 % count as equal");
    match a.worth {
        Some((percent, assumed)) => {
            let of = if assumed { " (1 % of the cheapest; --worth changes it)" } else { "" };
            let worth = money(percent, &a.currency);
            parts.item(
                "loss",
                &format!("average loss against the best choice, in money; 1 % more performance is worth {worth}{of}"),
            );
        }
        None => parts.item("loss", "average loss of performance against the best choice"),
    }
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for offer in &a.options {
        let (said, model) = (marks_text(&offer.performance.marks), clean(&offer.model));
        match notes.iter_mut().find(|(same, _)| *same == said) {
            Some((_, models)) => models.push(model),
            None => notes.push((said, vec![model])),
        }
    }
    for (said, models) in notes.into_iter().filter(|(said, _)| !said.is_empty()) {
        parts.item("note", &format!("{}: {said}", models.join(", ")));
    }
    let adjusted = a.options.iter().filter_map(|o| Some((o, o.performance.measured?)));
    for (offer, measured) in adjusted {
        let (unit, divisor) = unit(offer.performance.quantity, measured);
        let text = format!("{}: {ADJUSTED}; {} {unit} as measured", clean(&offer.model), figures(measured / divisor));
        parts.item("adjusted", &text);
    }
    let per_money: Vec<String> =
        a.options.iter().map(|o| format!("{} {}", clean(&o.model), figures(o.per_money))).collect();
    let unit = a.options.first().map_or("", |o| unit(o.performance.quantity, o.performance.value).0);
    // Bytes per second are shown in millions elsewhere; a ratio is.
    let scale = if unit == "IOPS" { "IOPS" } else { "B/s" };
    parts.item(&format!("per {currency}"), &format!("{scale}, for information only: {}", per_money.join("; ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_whole_or_has_cents() {
        assert_eq!(money(700.0, "USD"), "700 USD");
        assert_eq!(money(12.9, "EUR"), "12.90 EUR");
        assert_eq!(money(1234.56, "USD"), "1 235 USD");
    }
}
