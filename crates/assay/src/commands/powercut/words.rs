//! What a test of power cuts says to people.

use assay_core::text::harmless;
use assay_core::units::{Bytes, grouped, span};
use assay_powercut::{Answer, CutReport, FileSystem, PowerCuts};

/// A count with its noun.
fn of(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// One cut in a few lines.
pub(super) fn cut(report: &CutReport) -> String {
    let head = format!("cut {} ({})", report.cut, report.how.title());
    let acknowledged = of(report.acknowledged, "write");
    let mut lines = vec![match report.answer {
        Answer::Kept => format!("{head}: all {acknowledged} that were acknowledged are there"),
        Answer::CannotTell { reason } => format!("{head}: cannot tell: {}", reason.title()),
        Answer::Failed => {
            format!("{head}: after {acknowledged} that were acknowledged: {}", wrong(report))
        }
    }];
    if let Some(ago) = report.longest_ago_ns {
        let ago = std::time::Duration::from_nanos(ago);
        lines.push(format!("  a lost write was acknowledged {} before the last", span(ago)));
    }
    let open = &report.unacknowledged;
    if open.there + open.partly + open.absent > 0 {
        lines.push(format!(
            "  not acknowledged: {} there, {} in part, {} not; {} out of order; {} torn within",
            open.there,
            open.partly,
            open.absent,
            open.out_of_order,
            of(open.torn_sectors, "sector")
        ));
    }
    if let Some(system) = &report.file_system {
        lines.push(format!("  {}", file_system(system)));
    }
    lines.join("\n")
}

fn wrong(report: &CutReport) -> String {
    let said = [
        (report.lost, "lost"),
        (report.torn, "torn"),
        (report.garbage, "garbage"),
        (report.unreadable, "unreadable"),
        (report.older_damaged, "of older data damaged"),
    ];
    let mut parts: Vec<String> = said
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", of(count, "place")))
        .collect();
    if report.reordered > 0 {
        parts.push(format!("{} while later writes are there", report.reordered));
    }
    parts.join(", ")
}

fn file_system(system: &FileSystem) -> String {
    let kind = system.kind.as_deref().map_or_else(|| "file system".to_owned(), harmless);
    if !system.mounted {
        return format!("{kind}: not mounted where it was");
    }
    let mut said = vec![format!("{kind}: mounted")];
    if system.read_only {
        said.push("read-only".to_owned());
    }
    if let Some(errors) = system.errors.filter(|errors| *errors > 0) {
        said.push(format!("{} counted", of(errors, "error")));
    }
    if !system.file_whole {
        said.push("the file of the test is not there in whole".to_owned());
    }
    said.join(", ")
}

/// A test in a few lines.
pub(super) fn summary(test: &PowerCuts) -> String {
    let name = [&test.model, &test.unit].into_iter().flatten().map(|name| harmless(name)).collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
    let mut lines = vec![format!("{}  {name}{} of {}", test.id, Bytes(test.area_bytes), Bytes(test.capacity_bytes))];
    lines.extend(test.cuts.iter().map(cut));
    if let Some(share) = &test.share {
        let percent = |value: f64| format!("{:.1} %", value * 100.0);
        let (low, high) = (share.low.unwrap_or(0.0), share.high.unwrap_or(1.0));
        let cuts = of(u64::from(share.n), "cut");
        lines.push(if share.point == 0.0 {
            format!("no loss in {cuts}: the chance of one is at most {} (95 %, {})", percent(high), share.method)
        } else {
            format!(
                "a loss in {} of {cuts}, {} to {} (95 %, {})",
                percent(share.point),
                percent(low),
                percent(high),
                share.method
            )
        });
    }
    if test.unchecked {
        lines.push("the last cut is not checked: assay powercut --check".to_owned());
    }
    let not_shown: Vec<&str> = test.not_shown.iter().map(|what| what.title()).collect();
    lines.push(format!("not shown: {}", not_shown.join("; ")));
    lines.join("\n")
}
