//! Pages of models, units and hosts. That of a model is made once for each snapshot that changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use assay_analysis::advise::Price;
use assay_core::text::{clean, harmless};
use assay_core::units::{counted, rate};
use axum::extract::State;
use axum::http::HeaderMap;
use maud::{Markup, PreEscaped, html};

use super::frame::{HTML, Holds, MOST_ROWS, cited, escaped, frame, link, table, words};
use super::{Answer, Of, Shared};
use crate::answers::{Asked, Named, of_snapshot};
use crate::api::Words;
use crate::classes;
use crate::digest::{Entry, Text};
use crate::judge::median;
use crate::snapshot::{CONFIRMED, Model, Snapshot};

pub(crate) async fn models(State(app): Shared, asked: Of<Asked<Words>>, headers: HeaderMap) -> Answer {
    let Asked(asked) = asked?;
    let page = move |newest: &Snapshot| {
        let found = newest.search(&asked.q, MOST_ROWS);
        let body = html! {
            h1 { "Models" }
            (cited(&newest.cited))
            form.choose action="/" role="search" {
                div { label for="q" { "Words in the name" } input type="search" id="q" name="q" value=(harmless(&asked.q)); }
                button type="submit" { "Search" }
            }
            @if found.is_empty() { p { "No model is here." } }
            @else { (models_table(&found)) }
            @if found.len() == MOST_ROWS { p { "There are more: search for one." } }
        };
        Some(frame("/", "Models", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

/// With boxes to choose those that are compared.
fn models_table(found: &[&Arc<Model>]) -> Markup {
    let columns = [
        ("Class", Holds::Words),
        ("Units", Holds::Figures),
        ("Accounts", Holds::Figures),
        ("Records", Holds::Figures),
        ("Confirmed", Holds::Words),
        ("Compare", Holds::Words),
    ];
    let row = |model: &&Arc<Model>| {
        let tick = html! {
            input type="checkbox" name="model" value=(model.name) aria-label=(format!("Compare {}", clean(&model.name)));
        };
        let class = html! { (class_title(model.class())) };
        let counts = [model.units, model.accounts, model.entries.len()].map(|count| html! { (count) });
        let confirmed = html! { (if model.is_confirmed() { "yes" } else { "no" }) };
        (link("/models/", &model.name), [vec![class], counts.to_vec(), vec![confirmed, tick]].concat())
    };
    html! { form action="/compare" {
        (table("Model", &columns, found.iter().map(row)))
        p { button type="submit" { "Compare what is ticked" } }
    } }
}

fn standing_of(model: &Model) -> &'static str {
    if model.is_confirmed() { "confirmed" } else { "unconfirmed" }
}

pub(super) fn class_title(class: &str) -> &'static str {
    classes::ALL.iter().find(|(name, _)| *name == class).map_or("", |(_, title)| title)
}

pub(crate) async fn model(State(app): Shared, name: Of<Named>, headers: HeaderMap) -> Answer {
    let Named(name) = name?;
    let page = move |newest: &Snapshot| {
        let model = newest.models.get(name.as_str())?;
        let body = html! {
            h1 { (harmless(&name)) }
            (cited(&newest.cited))
            (PreEscaped(prepared(model)))
        };
        Some(frame("/", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

/// Makes the page of a model before it is asked for.
pub(crate) fn prepare(model: &Model) {
    prepared(model);
}

fn prepared(model: &Model) -> &str {
    model.page.get_or_init(|| of_model(model).into_string())
}

/// What is the same in all snapshots in which the model has the same records.
fn of_model(model: &Model) -> Markup {
    let entries = &model.entries;
    let badge = format!("/badges/{}", escaped(&model.name));
    html! {
        p { (counted(model.units, "unit")) " at " (counted(model.accounts, "account")) ": " (standing_of(model))
            @if !model.is_confirmed() { ", as confirmation takes " (CONFIRMED) " accounts" } "." }
        @for class in model.classes() {
            p { a href=(format!("/rank?class={}", escaped(class))) { "Ranking of " (class_title(class)) } }
        }
        form.choose action="/compare" {
            input type="hidden" name="model" value=(model.name);
            div { label for="with" { "Compare with" } input type="text" id="with" name="model" required; }
            button type="submit" { "Compare" }
        }
        h2 { "Over units" } (spread(entries))
        h2 { "Genuineness" } (genuineness(entries))
        @let paid = prices(entries);
        @if !paid.is_empty() { h2 { "Prices" } (prices_table(&paid)) }
        h2 { "Hosts and buses" } (hosts_table(entries))
        h2 { "Records" } (records_table(entries))
        h2 { "Badge" }
        p { img src=(badge) alt=(format!("Badge of {}", clean(&model.name))) height="20"; " Its address: " code { (badge) } }
    }
}

/// The figures of the units under each load: the lowest, the median and the highest. A unit counts once, by its newest record.
fn spread(entries: &[Arc<Entry>]) -> Markup {
    let mut loads: BTreeMap<&Text, HashMap<*const u8, (&str, f64)>> = BTreeMap::new();
    for entry in entries {
        for figure in &entry.figures {
            let Some(rate) = figure.rate else { continue };
            let units = loads.entry(&figure.apart).or_default();
            let newest = units.entry(entry.unit.as_ptr()).or_insert((&entry.created, rate));
            if newest.0 <= &*entry.created {
                *newest = (&entry.created, rate);
            }
        }
    }
    let columns = [
        ("Units", Holds::Figures),
        ("Lowest", Holds::Figures),
        ("Median", Holds::Figures),
        ("Highest", Holds::Figures),
    ];
    let row = |(load, units): (&Text, HashMap<*const u8, (&str, f64)>)| {
        let values: Vec<f64> = units.into_values().map(|(_, rate)| rate).collect();
        let mut cells = vec![html! { (values.len()) }];
        cells.extend(of_all(values).map(|value| html! { (value.map(rate).unwrap_or_default()) }));
        (words(load), cells)
    };
    table("Load", &columns, loads.into_iter().map(row))
}

/// The lowest, the median and the highest.
fn of_all(values: Vec<f64>) -> [Option<f64>; 3] {
    let (low, high) = (values.iter().copied().reduce(f64::min), values.iter().copied().reduce(f64::max));
    [low, median(values), high]
}

fn genuineness(entries: &[Arc<Entry>]) -> Markup {
    let mut verdicts: BTreeMap<&str, HashSet<*const u8>> = BTreeMap::new();
    for entry in entries {
        if let Some(verdict) = entry.checked {
            verdicts.entry(verdict.title()).or_default().insert(entry.unit.as_ptr());
        }
    }
    html! {
        @if verdicts.is_empty() { p { "No unit was checked." } }
        @else { ul { @for (verdict, units) in verdicts { li { (counted(units.len(), "unit")) ": " (verdict) } } } }
    }
}

/// What was paid in a quarter of a year, in a currency.
type Paid = BTreeMap<(String, String), Vec<f64>>;

/// Prices by quarter and currency, from label `price`. A unit counts once in a quarter.
fn prices(entries: &[Arc<Entry>]) -> Paid {
    let mut seen = HashSet::new();
    let mut paid = Paid::new();
    for entry in entries.iter().filter(|entry| !entry.price.is_empty()) {
        let Ok(price) = entry.price.parse::<Price>() else { continue };
        let (Some(year), Some(Ok(month))) = (entry.created.get(..4), entry.created.get(5..7).map(str::parse::<u32>))
        else {
            continue;
        };
        let quarter = format!("{year}, quarter {}", month.saturating_sub(1) / 3 + 1);
        if seen.insert((entry.unit.as_ptr(), quarter.clone())) {
            paid.entry((quarter, price.currency)).or_default().push(price.amount);
        }
    }
    paid
}

fn prices_table(paid: &Paid) -> Markup {
    let columns = [
        ("Currency", Holds::Words),
        ("Units", Holds::Figures),
        ("Lowest", Holds::Figures),
        ("Median", Holds::Figures),
        ("Highest", Holds::Figures),
    ];
    let row = |((quarter, currency), amounts): (&(String, String), &Vec<f64>)| {
        let mut cells = vec![html! { (clean(currency)) }, html! { (amounts.len()) }];
        let shown = |amount: f64| format!("{amount:.2}");
        cells.extend(of_all(amounts.clone()).map(|amount| html! { (amount.map(shown).unwrap_or_default()) }));
        (html! { (clean(quarter)) }, cells)
    };
    table("When", &columns, paid.iter().map(row))
}

fn hosts_table(entries: &[Arc<Entry>]) -> Markup {
    let mut seen: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    for entry in entries {
        *seen.entry([&entry.host, &entry.slot, &entry.bus, &entry.bridge]).or_default() += 1;
    }
    let columns =
        [("Slot", Holds::Words), ("Bus", Holds::Words), ("Driver", Holds::Words), ("Records", Holds::Figures)];
    let row = |([host, slot, bus, bridge], count): ([&str; 4], usize)| {
        let named = html! { @if host.is_empty() { "not known" } @else { (link("/hosts/", host)) } };
        let mut cells = [slot, bus, bridge].map(words).to_vec();
        cells.push(html! { (count) });
        (named, cells)
    };
    table("Host", &columns, seen.into_iter().map(row))
}

fn records_table(entries: &[Arc<Entry>]) -> Markup {
    let columns =
        [("Unit", Holds::Words), ("Measured", Holds::Words), ("Suite", Holds::Words), ("Verdict", Holds::Words)];
    let row = |entry: &Arc<Entry>| {
        let day = clean(&entry.created).chars().take(10).collect::<String>();
        let cells =
            vec![link("/units/", &entry.unit), html! { (day) }, words(&entry.suite), html! { (verdict_of(entry)) }];
        (link("/records/", &entry.id), cells)
    };
    html! {
        (table("Record", &columns, entries.iter().take(MOST_ROWS).map(row)))
        @if entries.len() > MOST_ROWS { p { "The first " (MOST_ROWS) " of " (entries.len()) "; the data have all." } }
    }
}

fn verdict_of(entry: &Entry) -> String {
    let name = serde_json::to_value(entry.verdict).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(crate) async fn unit(State(app): Shared, name: Of<Named>, headers: HeaderMap) -> Answer {
    let Named(name) = name?;
    let page = move |newest: &Snapshot| {
        let entries = newest.unit(&name)?;
        let models: BTreeSet<&Text> = entries.iter().map(|entry| &entry.model).collect();
        let body = html! {
            h1 { "Unit " (harmless(&name)) }
            (cited(&newest.cited))
            p { "Of " (super::frame::links("/models/", models)) "." }
            p { "Names of units are made by each account: the same unit at another account has another name." }
            h2 { "Figures" } (spread(entries))
            h2 { "Records" } (records_table(entries))
        };
        Some(frame("/", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

// Hosts.

pub(crate) async fn hosts(State(app): Shared, headers: HeaderMap) -> Answer {
    let page = |newest: &Snapshot| {
        let mut all: BTreeMap<&Text, [usize; 2]> = BTreeMap::new();
        for (host, (records, _)) in newest.models.values().flat_map(|model| model.hosts()) {
            let [models, of] = all.entry(host).or_default();
            (*models, *of) = (*models + 1, *of + records);
        }
        let mut all: Vec<(&Text, [usize; 2])> = all.into_iter().filter(|(host, _)| !host.is_empty()).collect();
        all.sort_by_key(|(_, [_, records])| std::cmp::Reverse(*records));
        let columns = [("Models", Holds::Figures), ("Records", Holds::Figures)];
        let row = |(host, counts): (&Text, [usize; 2])| {
            (link("/hosts/", host), counts.map(|count| html! { (count) }).to_vec())
        };
        let body = html! {
            h1 { "Hosts" }
            (cited(&newest.cited))
            p { "A host is named by its board, and where that is not known, by its processor." }
            @if all.is_empty() { p { "No host is here." } } @else { (table("Host", &columns, all.into_iter().take(MOST_ROWS).map(row))) }
        };
        Some(frame("/hosts", "Hosts", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

pub(crate) async fn host(State(app): Shared, name: Of<Named>, headers: HeaderMap) -> Answer {
    let Named(name) = name?;
    let page = move |newest: &Snapshot| {
        let at = |model: &Arc<Model>| model.hosts().get(name.as_str()).copied();
        let mut found: Vec<(&Arc<Model>, (usize, usize))> =
            newest.models.values().filter_map(|model| Some((model, at(model)?))).collect();
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|(_, (records, _))| std::cmp::Reverse(*records));
        let columns = [("Units", Holds::Figures), ("Records", Holds::Figures)];
        let row = |(model, (records, units)): &(&Arc<Model>, (usize, usize))| {
            (link("/models/", &model.name), [units, records].map(|count| html! { (count) }).to_vec())
        };
        let classes: BTreeSet<&str> = found.iter().flat_map(|(model, _)| model.classes()).collect();
        let body = html! {
            h1 { "Host " (harmless(&name)) }
            (cited(&newest.cited))
            @for class in classes {
                p { a href=(format!("/rank?class={}&host={}", escaped(class), escaped(&name))) {
                    "Ranking of " (class_title(class)) " at this host"
                } }
            }
            (table("Model", &columns, found.iter().take(MOST_ROWS).map(row)))
        };
        Some(frame("/hosts", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_units_is_between_them() {
        assert_eq!(of_all(vec![143.0, 76.0]), [76.0, 109.5, 143.0].map(Some));
        assert_eq!(of_all(vec![3.0, 1.0, 2.0]), [1.0, 2.0, 3.0].map(Some));
        assert_eq!(of_all(Vec::new()), [None; 3]);
    }
}
