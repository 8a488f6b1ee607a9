//! Plans: a new one, and how far each that is kept has come.

use std::collections::BTreeMap;

use assay_core::text::{clean, harmless};
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};

use crate::app::App;
use crate::browse::{encoded, harmless_lines};
use crate::form::Pairs;
use crate::page::{self, Page, Tab};
use crate::program::{Program, Refusal};
use crate::questions::NEW_PLAN;

/// What records say of a plan.
#[derive(Default)]
struct Measured {
    records: usize,
    newest: String,
}

/// Plans that are kept, or that records name, by their labels; whether they are kept, and their records.
fn all(program: &dyn Program) -> Result<BTreeMap<String, (bool, Measured)>, Refusal> {
    let mut all: BTreeMap<String, (bool, Measured)> =
        program.plans()?.into_iter().map(|label| (label, (true, Measured::default()))).collect();
    for summary in program.summaries("all")? {
        let Some(plan) = summary.labels.get("plan").filter(|plan| !plan.is_empty()) else { continue };
        // As `assay plan status` reads the label.
        let known = all.keys().find(|known| known.eq_ignore_ascii_case(plan)).cloned();
        let (_, measured) = all.entry(known.unwrap_or_else(|| plan.clone())).or_default();
        measured.records += 1;
        measured.newest = summary.created.clone().max(std::mem::take(&mut measured.newest));
    }
    Ok(all)
}

pub(crate) fn plans(program: &dyn Program) -> Result<Response, Refusal> {
    let plans = all(program)?;
    let records = |label: &str| format!("/records?q={}", encoded(&format!("plan={label}")));
    let body = html! {
        h1 { "Plans" }
        p.text { "A plan says which unit is measured in which slot in which round. Each plan that was made here, or with " code { "assay plan new -o FILE" } ", has a page that says what is missing." }
        p { a href="/plan/new" { "Make a plan" } }
        @if !plans.is_empty() {
            div.scroll { table.summary.stacked {
                thead { tr { th scope="col" { "Plan" } th scope="col" { "Records" } th scope="col" { "Last" } } }
                tbody { @for (label, (is_kept, measured)) in &plans { tr {
                    th scope="row" { @if *is_kept { a href={ "/plan/of/" (encoded(label)) } { (harmless(label)) } } @else { (harmless(label)) } }
                    td data-title="Records" { @if measured.records == 0 { "none" } @else { a href=(records(label)) { (measured.records) } } }
                    td data-title="Last" { @if measured.newest.is_empty() { "–" } @else { (clean(&measured.newest)) } }
                } } }
            } }
        }
        ul.links {
            li { a href="/plan/race" { "What to measure next?" } " Which models are out of the race, and which units are next." }
            li { a href="/plan/swap" { "Card or slot?" } " Whether a slow unit or its slot is to blame." }
        }
    };
    Ok(Page::new(Tab::Plan, "Plans", body).into_response())
}

pub(crate) fn plan(program: &dyn Program, label: &str) -> Result<Response, Refusal> {
    let Some(kept) = program.plan(label)? else { return Ok(page::missing()) };
    let body = html! {
        (PreEscaped(&kept.status.body))
        details.folded {
            summary { "What is measured where, in order, with the commands" }
            pre tabindex="0" { (harmless_lines(&kept.order)) }
        }
        p.actions {
            a href={ "/plan/of/" (encoded(label)) "/file" } download={ "plan-" (encoded(label)) ".toml" } { "Download the plan" }
            a href={ "/records?q=" (encoded(&format!("plan={label}"))) } { "Its records" }
        }
        (page::same_command(&kept.command))
    };
    Ok(Page::new(Tab::Plan, kept.status.title.clone(), body).with(&kept.status).into_response())
}

pub(crate) fn file(program: &dyn Program, label: &str) -> Result<Response, Refusal> {
    let Some(kept) = program.plan(label)? else { return Ok(page::missing()) };
    let name = format!("attachment; filename=\"plan-{}.toml\"", encoded(label));
    let headers = [(header::CONTENT_TYPE, "application/toml".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from(kept.file)).into_response())
}

/// The form of a plan; where it is filled in, what the plan would distinguish, and the button that keeps it.
pub(crate) fn new(app: &App, pairs: &Pairs) -> Result<Response, Refusal> {
    let found = match NEW_PLAN.is_asked(pairs) {
        false => Ok(None),
        true => words(pairs).and_then(|words| Ok(Some((app.program.new_plan(&words, false)?, words)))),
    };
    let body = html! {
        h1 { (NEW_PLAN.title) }
        p.text { (NEW_PLAN.lead) }
        @if let Err(refusal) = &found { (page::said(refusal)) }
        @if let Ok(Some((plan, words))) = &found {
            pre.said { (harmless_lines(&plan.outlook)) }
            form.question method="post" action="/plan/new" {
                (page::token(&app.access)) (hidden(pairs))
                p { button.main type="submit" { "Keep this plan" } }
            }
            (page::same_command(words))
            h2 { "Change it" }
        }
        (NEW_PLAN.markup(pairs))
    };
    let page = Page::new(Tab::Plan, NEW_PLAN.title, body);
    Ok(if found.is_err() { page.refused() } else { page.into_response() })
}

/// What was filled in, for the form that keeps the plan.
fn hidden(pairs: &Pairs) -> Markup {
    let given = pairs.iter().filter(|(name, _)| NEW_PLAN.fields.iter().any(|field| field.name == name));
    html! { @for (name, value) in given { input type="hidden" name=(name) value=(value); } }
}

fn words(pairs: &Pairs) -> Result<Vec<String>, Refusal> {
    NEW_PLAN.words(pairs).map_err(|message| Refusal { message, is_usage: true })
}

pub(crate) fn keep(app: &App, pairs: &Pairs) -> Result<Response, Refusal> {
    let plan = app.program.new_plan(&words(pairs)?, true)?;
    Ok(page::see(&format!("/plan/of/{}", encoded(&plan.label))))
}
