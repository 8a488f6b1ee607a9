//! Pictures for other sites: badges of models, and rankings.

use std::sync::Arc;

use assay_core::text::clean;
use assay_report::rank as ranked;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::html;

use crate::answers::{Asked, Failure, Named, of_snapshot, tagged};
use crate::api::AskedRanking;
use crate::app::App;
use crate::questions::Answer as Said;
use crate::snapshot::{Model, Snapshot};

const SVG: &str = "image/svg+xml";
/// Height of a badge, and what is left and right of its texts.
const HEIGHT: usize = 20;
const MARGIN: usize = 6;
/// Widths of letters in Verdana of 11 pixels, in tenths of a pixel: of narrow, wide and other ones. A text that is a little
/// narrower or wider is fitted by `textLength`.
const NARROW: usize = 40;
const OTHER: usize = 68;
const WIDE: usize = 95;

fn width(text: &str) -> usize {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '(' | ')' | '\'' | '|' => NARROW,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => WIDE,
        c if !c.is_ascii() => WIDE,
        _ => OTHER,
    };
    text.chars().map(of).sum::<usize>().div_ceil(10)
}

/// How often a model was measured, as a badge.
fn badge_of(model: &Model) -> String {
    let name: String = clean(&model.name).chars().take(60).collect();
    let standing = if model.is_confirmed() { "confirmed" } else { "unconfirmed" };
    let units = assay_core::units::counted(model.units, "unit");
    let said = format!("{units}, {} ({standing})", assay_core::units::counted(model.accounts, "account"));
    let [left, right] = [&name, &said].map(|text| width(text) + 2 * MARGIN);
    let colour = if model.is_confirmed() { "#2b6a3b" } else { "#6b5200" };
    let text = |at: usize, of: &str| {
        html! {
            text x=(at + MARGIN) y="14" textLength=(width(of)) lengthAdjust="spacingAndGlyphs" { (of) }
        }
    };
    let title = format!("{name}: {said}");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height=(HEIGHT) role="img" aria-label=(title) {
            title { (title) }
            rect width=(left) height=(HEIGHT) fill="#444" {}
            rect x=(left) width=(right) height=(HEIGHT) fill=(colour) {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                (text(0, &name)) (text(left, &said))
            }
        }
    };
    svg.into_string()
}

pub(crate) async fn badge(
    State(app): State<Arc<App>>,
    Named(name): Named,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let badge = move |newest: &Snapshot| newest.models.get(name.as_str()).map(|model| badge_of(model));
    of_snapshot(&app, &headers, SVG, badge).await
}

/// The picture of a ranking's page.
pub(crate) async fn ranking(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<AskedRanking>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let question = asked.question(&app.snapshots.newest()).ok_or_else(Failure::missing)?;
    let answered = app.ask(&question).await?;
    let tag = answered.cited.tag();
    let draw = move |_: &Arc<App>| {
        let Said::Ranking(ranking) = &answered.answer else { return None };
        let report = ranking.report.as_ref().ok()?;
        ranked::picture(report, &report.primary).map(|drawing| drawing.svg())
    };
    let svg = app.on_a_thread(draw).await?.ok_or_else(Failure::missing)?;
    Ok(tagged(&headers, &tag, SVG, || Body::from(svg)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_more_room() {
        assert!(width("iiii") < width("aaaa") && width("aaaa") < width("mmmm"));
        assert_eq!(width(""), 0);
    }
}
