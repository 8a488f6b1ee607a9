//! Classes, warnings, outcome and the verdict.

use assay_core::finding::Severity;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::clean;

use crate::classes::judge;
use crate::facts;
use crate::line::{Page, Paint, VALUES};
use crate::load_curve;
use crate::notes::notes;
use crate::over_days;
use crate::scores;
use crate::sensors;
use crate::verdict::{Tone, capitalised, tone, verdict_sentence};

pub(crate) fn add(page: &mut Page, record: &Record) {
    page.rule();
    if let Some(classes) = judge(record).sentence() {
        page.labelled("classes", Paint::Dim, &clean(&classes), Paint::Plain);
    }
    if let Some(days) = over_days::sentence(record) {
        page.labelled("over days", Paint::Dim, &days, Paint::Plain);
    }
    if let Some(source) = &record.source {
        page.labelled("imported", Paint::Dim, &clean(&format!("{} from {}", source.format, source.file)), Paint::Plain);
    }
    for line in scores::lines(record) {
        page.labelled("score", Paint::Dim, &line, Paint::Plain);
    }
    for line in load_curve::lines(record) {
        page.labelled("knee", Paint::Dim, &line, Paint::Plain);
    }
    if let Some(words) = sensors::per_watt(record) {
        page.labelled("per watt", Paint::Dim, &words, Paint::Plain);
    }
    if let Some(words) = sensors::noted(record) {
        page.labelled("noted", Paint::Dim, &words, Paint::Plain);
    }
    let effort = facts::effort(record);
    if !effort.is_empty() {
        page.labelled("effort", Paint::Dim, &effort, Paint::Plain);
    }
    if record.outcome != Outcome::Completed {
        let paint = if record.outcome.medium_failed() { Paint::Bad } else { Paint::Care };
        page.labelled("outcome", Paint::Dim, &record.outcome.sentence(), paint);
    }
    for note in notes(record) {
        let paint = match note.severity {
            Severity::Invalid => Paint::Bad,
            Severity::Suspect => Paint::Care,
            Severity::Note => Paint::Dim,
        };
        page.labelled(note.word(), paint, &note.sentence(), Paint::Plain);
        if !note.remedy.is_empty() {
            page.text(Paint::Dim, VALUES, &format!("→ {}", note.remedy));
        }
    }
    page.rule();
    let paint = match tone(record) {
        Tone::Good => Paint::Good,
        Tone::Plain => Paint::Plain,
        Tone::Care => Paint::Care,
        Tone::Bad => Paint::Bad,
    };
    page.text(paint, 0, &capitalised(&verdict_sentence(record)));
}
