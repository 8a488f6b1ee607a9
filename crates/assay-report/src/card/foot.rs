//! Classes, warnings, outcome and the verdict.

use assay_core::finding::Severity;
use assay_core::record::Record;

use crate::facts::{self, Rank};
use crate::line::{Page, Paint, VALUES};
use crate::notes::notes;
use crate::verdict::{Tone, capitalised, tone, verdict_sentence};

pub(crate) fn add(page: &mut Page, record: &Record) {
    page.rule();
    facts::results(record).iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
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
