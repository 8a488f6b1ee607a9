//! Plain lines, where there is no terminal: cron, Ansible, a log.

use std::collections::HashMap;
use std::time::Duration;

use assay_core::event::{Event, EventKind};
use assay_core::finding::{Severity, Warning};
use assay_core::units::{Bytes, figures, latency, rate, span};

use super::watcher::Progress;
use crate::output::tell;

/// A line for each repeat that is done and each warning.
#[derive(Default)]
pub(crate) struct Lines {
    /// Titles of the workloads under way by their names: several may run at once.
    titles: HashMap<String, String>,
    done: u32,
    total: u32,
}

impl Progress for Lines {
    fn event(&mut self, event: &Event) {
        match &event.event {
            EventKind::Started { medium, suite, budget_ns, planned_write_bytes, .. } => {
                tell(&announcement(&medium.title(), suite, *budget_ns, *planned_write_bytes));
            }
            EventKind::Phase { phase } if phase == "layout" => tell("writing the test file"),
            EventKind::RepeatStarted { workload, title, done, total, .. } => {
                (self.done, self.total) = (*done, *total);
                self.titles.insert(workload.clone(), title.clone());
            }
            EventKind::RepeatFinished { workload, iops, bytes_per_second, p99_ns, half_width, .. } => {
                tell(&format!(
                    "[{}/{}] {}: {}, {} IOPS, p99 {}{}",
                    self.done + 1,
                    self.total,
                    self.titles.get(workload).map_or("", String::as_str),
                    rate(*bytes_per_second),
                    figures(*iops),
                    p99_ns.map_or_else(|| "–".to_owned(), latency),
                    half_width.map_or_else(String::new, |half| format!(", mean {}", so_far(half)))
                ));
            }
            EventKind::ProgramFinished { program, value, unit, .. } => {
                let title = self.titles.get(program).map_or("", String::as_str);
                tell(&format!("[{}/{}] {title}: {} {unit}", self.done + 1, self.total, figures(*value)));
            }
            EventKind::Warning { workload, title, warning } if warning.severity >= Severity::Suspect => {
                tell(&self::warning(title.as_deref().or(workload.as_deref()), warning));
            }
            _ => {}
        }
    }
}

/// How well a mean is known by the repeats so far.
pub(super) fn so_far(half_width: f64) -> String {
    format!("±{} %", figures(half_width * 100.0))
}

/// A finding in a line, with the title of the workload that it is about.
pub(super) fn warning(title: Option<&str>, warning: &Warning) -> String {
    let about = title.map(|title| format!(" ({title})")).unwrap_or_default();
    format!("warning{about}: {}", warning.cause)
}

/// What is about to happen, said before the first byte is written.
pub(super) fn announcement(medium: &str, suite: &str, budget_ns: u64, planned_write_bytes: u64) -> String {
    let what = format!("measuring {medium} with suite {suite}");
    let time = span(Duration::from_nanos(budget_ns));
    let writes = match planned_write_bytes {
        0 => "writes nothing".to_owned(),
        bytes => format!("writes at most {}", Bytes(bytes)),
    };
    format!("{what}\ntakes at most {time}, {writes}")
}
