//! A ranking as a picture.

use assay_analysis::Mark;
use assay_analysis::rank::{LoadRanking, ModelRow, RankReport};
use assay_core::estimate::Estimate;
use assay_core::text::{clean, statement};
use assay_pictures::{Ceiling, Drawing, Label, RankRow, Ranking, Value, ranking};

use super::words;

/// Models under one of the loads of a report, with their places and simultaneous intervals; the title is the
/// answer. `None` where no model has a figure.
#[must_use]
pub fn picture(report: &RankReport, of: &LoadRanking) -> Option<Drawing> {
    titled(report, of, words::answer(of, report.alpha))
}

/// The same under another title, for a page where the answer stands already.
pub(super) fn titled(report: &RankReport, of: &LoadRanking, title: String) -> Option<Drawing> {
    let (unit, divisor) = words::unit(of);
    let all = &report.primary.models;
    let hue = |model: &ModelRow| all.iter().position(|m| m.model == model.model).unwrap_or(all.len());
    let rows: Vec<RankRow> = of.models.iter().filter_map(|model| row(model, hue(model), divisor)).collect();
    if rows.is_empty() {
        return None;
    }
    let without = of.models.len() - rows.len();
    let mut notes = vec![format!("Ceiling: {}.", statement(&words::ceiling(of.ceiling.as_ref())))];
    if without > 0 {
        let have = if without == 1 { "has" } else { "have" };
        notes.push(format!("{without} of {} models {have} no figure of this load.", of.models.len()));
    }
    let ceilings = of
        .ceiling
        .as_ref()
        .filter(|_| unit == "MB/s")
        .map(|used| Ceiling { name: "ceiling".to_owned(), value: used.bytes_per_second / 1e6 });
    Some(ranking(&Ranking {
        title: Some(title),
        load: of.title.clone(),
        unit: unit.to_owned(),
        rows,
        ceilings: ceilings.into_iter().collect(),
        notes,
    }))
}

fn row(model: &ModelRow, hue: usize, divisor: f64) -> Option<RankRow> {
    let e: &Estimate = model.estimate.as_ref()?;
    let interval = e.low.zip(e.high).map(|(low, high)| (low / divisor, high / divisor));
    Some(RankRow {
        place: words::place(model),
        label: Label::without_unit(clean(&model.model)),
        hue,
        value: Value {
            point: e.point / divisor,
            interval,
            level: e.level,
            n: e.n,
            // The interval is over units; that each is published without repeats stands in the text.
            marks: model.marks.iter().map(|(mark, _)| *mark).filter(|mark| *mark != Mark::Published).collect(),
        },
    })
}
