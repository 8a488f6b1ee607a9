//! Watched media: what `assay watch status` says, and a page of each with its year.

use axum::response::{IntoResponse, Response};
use maud::{PreEscaped, html};

use crate::browse::encoded;
use crate::page::{self, Page, Tab};
use crate::program::{Program, Refusal};

/// The words of the status of one watch, or of all.
pub(crate) fn words(name: Option<&str>) -> Vec<String> {
    ["watch", "status"].into_iter().chain(name.map(|_| "--")).chain(name).map(str::to_owned).collect()
}

pub(crate) fn all(program: &dyn Program) -> Result<Response, Refusal> {
    let names = program.watches()?;
    let answer = program.answer(&words(None))?;
    let body = html! {
        (PreEscaped(&answer.part.body))
        @if !names.is_empty() {
            h2 { "The year of each" }
            ul.links { @for name in &names { li { a href={ "/watch/" (encoded(name)) } { (name) } } } }
        }
        (page::same_command(&words(None)))
    };
    Ok(Page::new(Tab::Watch, "Watched media", body).with_answer(&answer).into_response())
}

pub(crate) fn one(program: &dyn Program, name: &str) -> Result<Response, Refusal> {
    if !program.watches()?.iter().any(|known| known == name) {
        return Ok(page::missing());
    }
    let answer = program.answer(&words(Some(name)))?;
    let picture = format!("/watch/{}/picture", encoded(name));
    let body = page::answered(&answer, &words(Some(name)), &picture);
    Ok(Page::new(Tab::Watch, answer.part.title.clone(), body).with_answer(&answer).into_response())
}
