//! How far another instrument agrees.

use crate::line::{Page, Paint};
use crate::presented::{Crosscheck, Presented};

/// Right edges of the columns after the workload's name.
const EDGES: [usize; 3] = [42, 60, 79];

pub(crate) fn add(page: &mut Page, record: &Presented<'_>) {
    let Some(found) = &record.crosscheck else { return };
    page.blank();
    let width = page.style.width;
    // Narrow terminals keep the ratio of the rates, which is the answer.
    let columns = EDGES.iter().filter(|edge| **edge <= width).count().max(1);
    let edges = if EDGES[0] <= width { &EDGES[..columns] } else { &EDGES[..0] };
    let mut line = page.line();
    line.push(Paint::Bold, &found.title);
    for (head, edge) in Crosscheck::COLUMNS.iter().zip(edges) {
        line.right(Paint::Dim, head, *edge);
    }
    page.add(line);
    for row in &found.rows {
        if edges.is_empty() {
            page.text(Paint::Plain, 0, &format!("{}: rate {}", row.workload, row.rate));
            continue;
        }
        let mut line = page.line();
        line.push(Paint::Plain, &row.workload);
        for (value, edge) in [&row.rate, &row.p50, &row.p99].into_iter().zip(edges) {
            line.to(line.width() + 1).right(Paint::Plain, value, *edge);
        }
        page.add(line);
        if let Some(trouble) = &row.trouble {
            page.text(Paint::Care, 2, trouble);
        }
    }
}
