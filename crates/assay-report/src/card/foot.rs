//! Classes, warnings, outcome and the verdict.

use assay_core::finding::Severity;

use crate::facts::Rank;
use crate::line::{Page, Paint, VALUES};
use crate::presented::Presented;
use crate::verdict::Tone;

pub(crate) fn add(page: &mut Page, record: &Presented<'_>) {
    page.rule();
    record.results.iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
    for note in &record.notes {
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
    let paint = match record.tone {
        Tone::Good => Paint::Good,
        Tone::Plain => Paint::Plain,
        Tone::Care => Paint::Care,
        Tone::Bad => Paint::Bad,
    };
    page.text(paint, 0, &record.sentence);
}
