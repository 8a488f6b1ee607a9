//! Runs on many nodes: the list, and the report of each, which follows the run while that is under way.

use assay_core::text::{clean, harmless};
use assay_core::units::counted;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::json;

use crate::browse::encoded;
use crate::form::{Pairs, value};
use crate::page::{self, Page, Tab};
use crate::program::{Answer, FleetRunLine, Program, Refusal};

pub(crate) fn fleets(program: &dyn Program) -> Result<Response, Refusal> {
    let runs = program.fleet_runs()?;
    let body = html! {
        h1 { "Runs on many nodes" }
        @if runs.is_empty() { p.text { "There is none yet: " code { "assay fleet run" } " begins one." } } @else {
            div.scroll { table.summary.stacked {
                thead { tr { th scope="col" { "Run" } th scope="col" { "Begun" } th scope="col" { "Recorded" } th scope="col" { "State" } } }
                tbody { @for run in &runs { tr {
                    th scope="row" { a href={ "/fleet/" (encoded(&run.name)) } { (harmless(&run.name)) } }
                    td data-title="Begun" { (clean(&run.created)) }
                    td data-title="Recorded" { (run.recorded) " of " (counted(run.nodes, "node")) }
                    td data-title="State" { @if run.is_open { "under way" } @else { "ended" } }
                } } }
            } }
        }
    };
    Ok(Page::new(Tab::Fleet, "Runs on many nodes", body).into_response())
}

/// The words of the report of a run.
pub(crate) fn report_words(run: &str) -> Vec<String> {
    ["fleet", "report", "--", run].map(str::to_owned).to_vec()
}

/// A run that is under way.
fn under_way(program: &dyn Program, run: &str) -> Result<Option<FleetRunLine>, Refusal> {
    Ok(program.fleet_runs()?.into_iter().find(|known| known.name == run && known.is_open))
}

/// Seconds after which a browser without scripts reads a page again.
const AGAIN: u32 = 5;

pub(crate) fn fleet(program: &dyn Program, run: &str) -> Result<Response, Refusal> {
    let line = under_way(program, run)?;
    let answer = program.answer(&report_words(run))?;
    let body = match &line {
        None => reported(run, &answer),
        Some(line) => html! {
            section id="fleet" data-part={ "/fleet/" (encoded(run)) "/part" } data-stand=(line.stand) { (followed(line, &answer)) }
        },
    };
    let mut page = Page::new(Tab::Fleet, answer.part.title.clone(), body).with_answer(&answer);
    page.again = line.map(|_| AGAIN);
    Ok(page.into_response())
}

/// What a page that follows a run asks for: nothing where all is as it was, else the report as it is now, or that the run has ended.
pub(crate) fn part(program: &dyn Program, run: &str, pairs: &Pairs) -> Result<Response, Refusal> {
    let now = match under_way(program, run)? {
        None => json!({ "ended": true }),
        Some(line) if value(pairs, "seen") == Some(&line.stand) => return Ok(StatusCode::NO_CONTENT.into_response()),
        Some(line) => {
            let answer = program.answer(&report_words(run))?;
            json!({ "ended": false, "stand": line.stand, "html": followed(&line, &answer).into_string() })
        }
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], Body::from(now.to_string())).into_response())
}

/// The report of a run that is under way.
fn followed(line: &FleetRunLine, answer: &Answer) -> Markup {
    html! {
        p.sub { "Under way: " (line.recorded) " of " (counted(line.nodes, "node")) " recorded. This page follows the run." }
        progress max=(line.nodes.max(1)) value=(line.recorded) aria-label="Nodes that are recorded" {}
        (reported(&line.name, answer))
    }
}

fn reported(run: &str, answer: &Answer) -> Markup {
    page::answered(answer, &report_words(run), &format!("/fleet/{}/picture", encoded(run)))
}
