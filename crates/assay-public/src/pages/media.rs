//! Pages of models, units and hosts. That of a model is made once for each snapshot that changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use assay_analysis::advise::Price;
use assay_core::text::{clean, harmless};
use assay_core::units::{counted, rate};
use axum::extract::State;
use axum::http::HeaderMap;
use maud::{Markup, PreEscaped, html};

use super::frame::{HTML, MOST_ROWS, cited, escaped, frame, link};
use super::{Answer, Shared};
use crate::answers::{Asked, Named, of_snapshot};
use crate::api::Words;
use crate::classes;
use crate::digest::{Entry, Text};
use crate::snapshot::{CONFIRMED, Model, Snapshot};

pub(crate) async fn models(State(app): Shared, Asked(asked): Asked<Words>, headers: HeaderMap) -> Answer {
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
    html! { form action="/compare" {
        div.scroll { table.summary {
            thead { tr {
                th.left { "Compare" } th.left { "Model" } th.left { "Class" } th { "Units" } th { "Accounts" } th { "Records" }
                th.left { "Confirmed" }
            } }
            tbody { @for model in found { tr {
                td.left { input type="checkbox" name="model" value=(model.name) aria-label=(format!("Compare {}", clean(&model.name))); }
                td.left { (link("/models/", &model.name)) }
                td.left { (class_title(model.class())) }
                td { (model.units) } td { (model.accounts) } td { (model.entries.len()) }
                td.left { (standing_of(model)) }
            } } }
        } }
        p { button type="submit" { "Compare what is ticked" } }
    } }
}

fn standing_of(model: &Model) -> &'static str {
    if model.is_confirmed() { "confirmed" } else { "unconfirmed" }
}

pub(super) fn class_title(class: &str) -> &'static str {
    classes::ALL.iter().find(|(name, _)| *name == class).map_or("", |(_, title)| title)
}

pub(crate) async fn model(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let model = newest.models.get(name.as_str())?;
        let body = html! {
            h1 { (harmless(&name)) }
            (cited(&newest.cited))
            (PreEscaped(model.page.get_or_init(|| of_model(model).into_string())))
        };
        Some(frame("/", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
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

/// The figures of the units under each load: the lowest, the middle and the highest. A unit counts once, by its newest record.
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
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Load" } th { "Units" } th { "Lowest" } th { "Median" } th { "Highest" } } }
        tbody { @for (load, units) in loads {
            @let mut values: Vec<f64> = units.into_values().map(|(_, rate)| rate).collect();
            @let () = values.sort_by(f64::total_cmp);
            tr {
                td.left { (harmless(load)) } td { (values.len()) }
                @for at in [0, values.len() / 2, values.len().saturating_sub(1)] {
                    td { (values.get(at).map(|value| rate(*value)).unwrap_or_default()) }
                }
            }
        } }
    } } }
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
    html! { div.scroll { table.summary {
        thead { tr { th.left { "When" } th.left { "Currency" } th { "Units" } th { "Lowest" } th { "Median" } th { "Highest" } } }
        tbody { @for ((quarter, currency), amounts) in paid {
            @let mut amounts = amounts.clone();
            @let () = amounts.sort_by(f64::total_cmp);
            tr {
                td.left { (clean(quarter)) } td.left { (clean(currency)) } td { (amounts.len()) }
                @for at in [0, amounts.len() / 2, amounts.len().saturating_sub(1)] {
                    td { (amounts.get(at).map(|amount| format!("{amount:.2}")).unwrap_or_default()) }
                }
            }
        } }
    } } }
}

fn hosts_table(entries: &[Arc<Entry>]) -> Markup {
    let mut seen: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    for entry in entries {
        *seen.entry([&entry.host, &entry.slot, &entry.bus, &entry.bridge]).or_default() += 1;
    }
    html! { div.scroll { table.summary {
        thead { tr { th.left { "Host" } th.left { "Slot" } th.left { "Bus" } th.left { "Driver" } th { "Records" } } }
        tbody { @for ([host, slot, bus, bridge], count) in seen { tr {
            td.left { @if !host.is_empty() { (link("/hosts/", host)) } }
            td.left { (slot) } td.left { (bus) } td.left { (bridge) } td { (count) }
        } } }
    } } }
}

fn records_table(entries: &[Arc<Entry>]) -> Markup {
    html! {
        div.scroll { table.summary {
            thead { tr { th.left { "Record" } th.left { "Unit" } th.left { "Measured" } th.left { "Suite" } th.left { "Verdict" } } }
            tbody { @for entry in entries.iter().take(MOST_ROWS) { tr {
                td.left { (link("/records/", &entry.id)) } td.left { (link("/units/", &entry.unit)) }
                td.left { (clean(&entry.created).chars().take(10).collect::<String>()) }
                td.left { (entry.suite) } td.left { (verdict_of(entry)) }
            } } }
        } }
        @if entries.len() > MOST_ROWS { p { "The first " (MOST_ROWS) " of " (entries.len()) "; the data have all." } }
    }
}

fn verdict_of(entry: &Entry) -> String {
    let name = serde_json::to_value(entry.verdict).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(crate) async fn unit(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let entries = newest.unit(&name)?;
        let models: BTreeSet<&Text> = entries.iter().map(|entry| &entry.model).collect();
        let body = html! {
            h1 { "Unit " (harmless(&name)) }
            (cited(&newest.cited))
            p { "Of " @for model in models { (link("/models/", model)) " " } }
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
        let body = html! {
            h1 { "Hosts" }
            (cited(&newest.cited))
            p { "A host is named by its board, and where that is not known, by its processor." }
            div.scroll { table.summary {
                thead { tr { th.left { "Host" } th { "Models" } th { "Records" } } }
                tbody { @for (host, [models, records]) in all.iter().take(MOST_ROWS) { tr {
                    td.left { (link("/hosts/", host)) } td { (models) } td { (records) }
                } } }
            } }
        };
        Some(frame("/hosts", "Hosts", &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}

pub(crate) async fn host(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let page = move |newest: &Snapshot| {
        let at = |model: &Arc<Model>| model.hosts().get(name.as_str()).copied();
        let mut found: Vec<(&Arc<Model>, (usize, usize))> =
            newest.models.values().filter_map(|model| Some((model, at(model)?))).collect();
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|(_, (records, _))| std::cmp::Reverse(*records));
        let classes: BTreeSet<&str> = found.iter().flat_map(|(model, _)| model.classes()).collect();
        let body = html! {
            h1 { "Host " (harmless(&name)) }
            (cited(&newest.cited))
            @for class in classes {
                p { a href=(format!("/rank?class={}&host={}", escaped(class), escaped(&name))) {
                    "Ranking of " (class_title(class)) " at this host"
                } }
            }
            div.scroll { table.summary {
                thead { tr { th.left { "Model" } th { "Units" } th { "Records" } } }
                tbody { @for (model, (records, units)) in found.iter().take(MOST_ROWS) { tr {
                    td.left { (link("/models/", &model.name)) } td { (units) } td { (records) }
                } } }
            } }
        };
        Some(frame("/hosts", &name, &body))
    };
    Ok(of_snapshot(&app, &headers, HTML, page).await?)
}
