//! Pages of rankings and comparisons, whose answers are kept with the snapshot that they rest on.

use std::collections::BTreeSet;
use std::sync::Arc;

use assay_analysis::compare::Comparison;
use assay_analysis::rank::RankReport;
use assay_core::text::harmless;
use assay_report::{compare as compared, rank as ranked};
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use maud::{Markup, PreEscaped, html};

use super::frame::{HTML, cited, escaped, frame, links};
use super::{Answer, Missing, Of, Shared};
use crate::answers::{Asked, Failure, tagged};
use crate::api::{AskedRanking, asked_comparison};
use crate::app::App;
use crate::classes;
use crate::questions::{Answer as Said, Answered, MOST_COMPARED, Question, Ranked};
use crate::snapshot::Snapshot;

/// Models that a field offers.
const MOST_OFFERED: usize = 200;

/// An answer as a page that is made once.
async fn page(
    app: &Arc<App>,
    headers: &HeaderMap,
    question: Question,
    make: impl FnOnce(&Answered, &Snapshot) -> Option<String> + Send + 'static,
) -> Answer {
    let answered = app.ask(&question).await?;
    let tag = answered.cited.tag();
    if crate::answers::has(headers, &tag) {
        return Ok(tagged(headers, &tag, HTML, Body::empty));
    }
    let page = match answered.page.get() {
        Some(page) => page.clone(),
        None => {
            let of = Arc::clone(&answered);
            let newest = app.snapshots.newest();
            let text = app.on_a_thread(move |_| make(&of, &newest)).await?.ok_or_else(Failure::missing)?;
            answered.page.get_or_init(|| text.into()).clone()
        }
    };
    Ok(tagged(headers, &tag, HTML, || Body::from(page)))
}

pub(crate) async fn rank(State(app): Shared, asked: Of<Asked<AskedRanking>>, headers: HeaderMap) -> Answer {
    let Asked(asked) = asked?;
    let newest = app.snapshots.newest();
    let first = || classes::ALL.iter().find(|(class, _)| newest.loads.contains_key(class)).map(|(class, _)| *class);
    let Some(class) = Some(asked.class.as_str()).filter(|class| !class.is_empty()).or_else(first) else {
        let body = html! { h1 { "Ranking" } (cited(&newest.cited)) p { "No record is here." } };
        return Ok(tagged(&headers, &newest.tag(), HTML, || Body::from(frame("/rank", "Ranking", &body))));
    };
    let asked = AskedRanking { class: class.to_owned(), ..asked };
    let question = asked.question(&newest).ok_or_else(Failure::missing)?;
    page(&app, &headers, question, move |answered, newest| {
        let Said::Ranking(ranking) = &answered.answer else { return None };
        let body = html! {
            (ranking_form(&asked, ranking, newest))
            @match &ranking.report {
                Ok(report) => {
                    // Other loads have pages of their own.
                    (PreEscaped(ranked::document(&RankReport { exploratory: Vec::new(), ..report.clone() }).part().body))
                    p { "Models: " (links("/models/", report.primary.models.iter().map(|row| &row.model))) "." }
                    p { "As a picture: " code { "/pictures/ranking.svg" (asked.address()) } }
                }
                Err(error) => { h1 { "Ranking" } p { (harmless(error)) } },
            }
            @if ranking.models < ranking.of {
                p { "Ranked are the " (ranking.models) " most measured models of " (ranking.of) "." }
            }
            (cited(&answered.cited))
        };
        Some(frame("/rank", "Ranking", &body))
    })
    .await
}

fn ranking_form(asked: &AskedRanking, ranking: &Ranked, newest: &Snapshot) -> Markup {
    let values = &ranking.values;
    html! { form.choose action="/rank" {
        div { label for="class" { "Class" } select id="class" name="class" {
            @for (class, title) in classes::ALL.iter().filter(|(class, _)| newest.loads.contains_key(class)) {
                option value=(class) selected[*class == asked.class] { (title) }
            }
        } }
        div { label for="load" { "Load" } select id="load" name="load" {
            option value="" { "the usual one" }
            @for load in &ranking.loads { option value=(load) selected[asked.load == **load] { (harmless(load)) } }
        } }
        (choice("host", "Host", &values.hosts, &asked.host))
        (choice("slot", "Slot", &values.slots, &asked.slot))
        (choice("bus", "Bus", &values.buses, &asked.bus))
        (choice("bridge", "Driver", &values.bridges, &asked.bridge))
        button type="submit" { "Show" }
    } }
}

/// A field of one of several values; nothing where there is no choice.
fn choice(name: &str, title: &str, values: &BTreeSet<String>, asked: &str) -> Markup {
    html! { @if values.len() > 1 || !asked.is_empty() {
        div { label for=(name) { (title) } select id=(name) name=(name) {
            option value="" { "any" }
            @for value in values { option value=(value) selected[asked == value] { (harmless(value)) } }
        } }
    } }
}

// Comparisons.

pub(crate) async fn compare(
    State(app): Shared,
    fields: Of<Asked<Vec<(String, String)>>>,
    headers: HeaderMap,
) -> Answer {
    let Asked(fields) = fields?;
    let newest = app.snapshots.newest();
    let (models, load) = asked_comparison(&fields);
    let missing: Vec<&String> = models.iter().filter(|name| !newest.models.contains_key(name.as_str())).collect();
    if models.len() < 2 || models.len() > MOST_COMPARED || !missing.is_empty() {
        let body = html! {
            h1 { "Compare models" }
            @for name in missing { p.refusal { "No model here is named “" (harmless(name)) "”." } }
            (comparison_form(&models, &load, &newest))
            p { "Write the names of two to " (MOST_COMPARED) " models, or tick them on the page of " a href="/" { "models" } "." }
            (cited(&newest.cited))
        };
        return Ok(tagged(&headers, &newest.tag(), HTML, || Body::from(frame("/compare", "Compare", &body))));
    }
    let question = Question::Comparison { models: models.clone(), load: load.clone() };
    page(&app, &headers, question, move |answered, newest| {
        let Said::Comparison(comparison) = &answered.answer else { return None };
        let body = html! {
            @match comparison {
                Ok(compared) => (PreEscaped(document(&compared.comparison))),
                Err(error) => { h1 { "Comparison" } p { (harmless(error)) } },
            }
            p { "Models: " (links("/models/", &models)) "." }
            (comparison_form(&models, &load, newest))
            (cited(&answered.cited))
        };
        Some(frame("/compare", "Comparison", &body))
    })
    .await
}

fn document(comparison: &Comparison) -> String {
    compared::document(comparison, None).part().body
}

fn comparison_form(models: &[String], load: &str, newest: &Snapshot) -> Markup {
    let fields =
        models.iter().map(String::as_str).chain(std::iter::repeat("")).take(MOST_COMPARED.min(models.len() + 2));
    html! { form.choose action="/compare" {
        @for (at, name) in fields.enumerate() {
            div {
                label for=(format!("model{at}")) { "Model" }
                input type="text" id=(format!("model{at}")) name="model" value=(harmless(name)) list="names";
            }
        }
        div { label for="load" { "Load" } input type="text" id="load" name="load" value=(harmless(load)) placeholder="the usual one"; }
        datalist id="names" { @for model in newest.search("", MOST_OFFERED) { option value=(harmless(&model.name)) {} } }
        button type="submit" { "Compare" }
    } }
}

impl AskedRanking {
    /// The fields as a part of an address.
    pub(crate) fn address(&self) -> String {
        let Self { class, load, host, slot, bus, bridge } = self;
        let fields =
            [("class", class), ("load", load), ("host", host), ("slot", slot), ("bus", bus), ("bridge", bridge)];
        let fields = fields.iter().filter(|(_, value)| !value.is_empty());
        let fields: Vec<String> = fields.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("?{}", fields.join("&"))
    }
}

impl From<crate::questions::NoAnswer> for Missing {
    fn from(none: crate::questions::NoAnswer) -> Self {
        Self(none.into())
    }
}
