//! `assay run --dry-run`: what would be run, how long and with how many bytes.

use assay_core::record::Record;
use assay_core::suite::{Suite, SuiteWorkload};
use assay_core::units::{Bytes, nanoseconds, span};
use assay_core::workload::Sync;
use assay_runner::longest_repeat;

use crate::documents::{DryRunDocument, DryRunStep, SuiteName};
use crate::failure::Failure;
use crate::output;

/// Shows the plan of a run that was checked against the medium.
pub(super) fn show(record: &Record, suite: &Suite, as_json: bool) -> Result<(), Failure> {
    let settings = &record.settings;
    let each: Vec<_> = suite.workloads.iter().map(|w| longest_repeat(suite, w)).collect();
    if as_json {
        let step = |name: &str, title: String, longest| DryRunStep {
            name: name.to_owned(),
            title,
            repeats: suite.repeats,
            longest_ns: nanoseconds(longest),
        };
        let workloads = suite.workloads.iter().zip(&each).map(|(w, longest)| step(&w.name, title(w), *longest));
        let programs = suite.programs.iter().map(|p| step(&p.name, p.does.to_string(), p.duration));
        return output::print_json(&DryRunDocument {
            dry_run: true,
            suite: SuiteName { name: suite.name.clone(), version: suite.version },
            medium: record.medium.title(),
            budget_ns: settings.budget_ns,
            enough: suite.enough,
            planned_write_bytes: settings.planned_write_bytes,
            workloads: workloads.collect(),
            programs: programs.collect(),
        });
    }
    let mut lines = vec![format!(
        "suite {}, version {}, on {}: at most {}, at most {} written",
        suite.name,
        suite.version,
        record.title(),
        span(suite.budget),
        Bytes(settings.planned_write_bytes)
    )];
    let workloads = suite.workloads.iter().zip(each).map(|(w, longest)| (title(w), longest));
    let programs = suite.programs.iter().map(|p| (p.does.to_string(), p.duration));
    let all: Vec<_> = workloads.chain(programs).collect();
    let widest = all.iter().map(|(words, _)| words.chars().count()).max().unwrap_or(0);
    for (words, longest) in all {
        let gap = " ".repeat(widest - words.chars().count());
        lines.push(match suite.enough {
            None => format!("{words}{gap}  {} × at most {}", suite.repeats, span(longest)),
            Some(enough) => {
                let share = (enough * 1000.0).round() / 10.0;
                format!("{words}{gap}  until known to {share} %, at most {}", span(longest * suite.repeats))
            }
        });
    }
    lines.push(
        "Nothing was written. A slow medium gets fewer repeats and shallower queues; the record says so.".to_owned(),
    );
    output::print(&lines.join("\n"))
}

/// The load as people say it; a rate as the suite has it.
fn title(w: &SuiteWorkload) -> String {
    let cached = if w.direct || w.sync != Sync::End { "" } else { ", cached" };
    let group = w.group.as_ref().map_or_else(String::new, |group| format!(", at once in group {group}"));
    format!("{}{group}{cached}", w.title())
}
