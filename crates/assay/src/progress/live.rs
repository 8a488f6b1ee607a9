//! The live view on a terminal: the workload under way, its figures, what is left.

use std::collections::VecDeque;
use std::time::Duration;

use assay_core::event::{Event, EventKind};
use assay_core::finding::Severity;
use assay_core::units::{Bytes, figures, latency, rate, span};

use super::lines::{announcement, so_far, warning};
use super::painter::Painter;
use super::watcher::Progress;
use crate::output::stderr_style;

/// Intervals shown as a small curve.
const CURVE: usize = 16;
/// Columns of the bar, and of the one on a narrow terminal.
const BAR: usize = 24;
const SHORT_BAR: usize = 8;

/// Two lines that repaint themselves on standard error.
pub(crate) struct Live {
    painter: Painter,
    unicode: bool,
    /// Share that is done, 0 to 1.
    share: f64,
    /// What is done now, with its number among all.
    head: String,
    /// Name of the workload that is shown.
    workload: String,
    title: String,
    curve: VecDeque<f64>,
    /// What the last repeat came to; stands in until the next one has figures of its own.
    before: String,
}

impl Live {
    pub(crate) fn new(unicode: bool) -> Self {
        Self {
            painter: Painter::default(),
            unicode,
            share: 0.0,
            head: String::new(),
            workload: String::new(),
            title: String::new(),
            curve: VecDeque::with_capacity(CURVE),
            before: String::new(),
        }
    }

    fn paint(&mut self, figures: &str) {
        let columns = if stderr_style().width < 76 { SHORT_BAR } else { BAR };
        let head = format!("  {} {}", bar(self.share, columns, self.unicode), self.head);
        let lines = [head, format!("  {figures}")].map(|line| if self.unicode { line } else { ascii(&line) });
        self.painter.paint(&lines);
    }

    fn say(&mut self, text: &str) {
        self.painter.say(&if self.unicode { text.to_owned() } else { ascii(text) });
    }

    fn sample(&mut self, bytes_per_second: f64, iops: f64, p99_ns: Option<f64>, celsius: Option<f64>, left_ns: u64) {
        if self.curve.len() == CURVE {
            self.curve.pop_front();
        }
        self.curve.push_back(bytes_per_second);
        let mut text = format!("{} · {} IOPS", rate(bytes_per_second), figures(iops));
        if let Some(p99) = p99_ns {
            text.push_str(&format!(" · p99 {}", latency(p99)));
        }
        if let Some(celsius) = celsius {
            text.push_str(&format!(" · {celsius:.0} °C"));
        }
        text.push_str(&format!(" · {}", left(left_ns)));
        if self.unicode {
            text = format!("{} {text}", curve(&self.curve));
        }
        self.paint(&text);
    }
}

impl Progress for Live {
    fn tell(&mut self, line: &str) {
        self.say(line);
    }

    fn event(&mut self, event: &Event) {
        match &event.event {
            EventKind::Started { medium, suite, budget_ns, planned_write_bytes, .. } => {
                self.say(&announcement(&medium.title(), suite, *budget_ns, *planned_write_bytes));
            }
            EventKind::Phase { phase } => {
                self.head = match phase.as_str() {
                    "layout" => "writing the test file",
                    "calibrate" => "timing the instrument itself",
                    "cleanup" => "removing the test file",
                    _ => "",
                }
                .to_owned();
                self.paint("");
            }
            EventKind::Progress { done_bytes, total_bytes, bytes_per_second } => {
                self.share = *done_bytes as f64 / (*total_bytes).max(1) as f64;
                let (done, total) = (Bytes(*done_bytes), Bytes(*total_bytes));
                self.paint(&format!("{done} of {total} at {}", rate(*bytes_per_second)));
            }
            EventKind::RepeatStarted { workload, title, repeat, repeats, done, total, left_ns, .. } => {
                // Of several at once the last that began is shown.
                self.workload.clone_from(workload);
                self.title.clone_from(title);
                self.curve.clear();
                self.share = f64::from(*done) / f64::from((*total).max(1));
                self.head = format!("{:>2}/{total} {}", done + 1, self.title);
                if *repeats > 1 {
                    self.head.push_str(&format!(", repeat {repeat} of {repeats}"));
                }
                let figures = format!("{}{}", left(*left_ns), self.before);
                self.paint(&figures);
            }
            EventKind::Sample { workload, bytes_per_second, iops, p99_ns, temperature_celsius, left_ns, .. }
                if *workload == self.workload =>
            {
                self.sample(*bytes_per_second, *iops, *p99_ns, *temperature_celsius, *left_ns);
            }
            EventKind::RepeatFinished { workload, bytes_per_second, half_width, .. } if *workload == self.workload => {
                let known = half_width.map_or_else(String::new, |half| format!(", mean {}", so_far(half)));
                self.before = format!(" · last: {} {}{known}", self.title, rate(*bytes_per_second));
            }
            EventKind::ProgramFinished { value, unit, .. } => {
                self.before = format!(" · last: {} {} {unit}", self.title, figures(*value));
            }
            EventKind::Warning { workload, title, warning: found } if found.severity >= Severity::Suspect => {
                self.say(&warning(title.as_deref().or(workload.as_deref()), found));
            }
            EventKind::Finished { .. } => self.painter.clear(),
            EventKind::Warning { .. } | EventKind::Sample { .. } | EventKind::RepeatFinished { .. } => {}
        }
    }
}

fn left(left_ns: u64) -> String {
    format!("{} left", span(Duration::from_nanos(left_ns)))
}

/// A bar of `columns` columns, in halves where the terminal has such characters.
fn bar(share: f64, columns: usize, unicode: bool) -> String {
    let halves = (share.clamp(0.0, 1.0) * (columns * 2) as f64).round() as usize;
    let (full, half) = (halves / 2, halves % 2);
    let rest = columns - full - half;
    if unicode {
        format!("{}{}{}", "█".repeat(full), "▌".repeat(half), "░".repeat(rest))
    } else {
        format!("[{}{}]", "=".repeat(full + half), " ".repeat(rest))
    }
}

/// The same for a terminal that knows only ASCII.
fn ascii(text: &str) -> String {
    text.replace('·', "|").replace("µs", "us").replace("°C", "C").replace('×', "x")
}

/// Values as a line of blocks, from zero to the largest.
fn curve(values: &VecDeque<f64>) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().fold(0.0, f64::max);
    values
        .iter()
        .map(|value| {
            let share = if most > 0.0 { value / most } else { 0.0 };
            BLOCKS[((share * 7.0).round() as usize).min(7)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_runs_from_zero_to_the_largest() {
        assert_eq!(curve(&VecDeque::from([0.0, 3.5, 7.0])), "▁▅█");
        assert_eq!(curve(&VecDeque::from([0.0, 0.0])), "▁▁");
        assert_eq!(curve(&VecDeque::new()), "");
    }

    #[test]
    fn a_bar_always_has_its_width() {
        for share in [f64::NAN, -1.0, 0.0, 0.02, 0.5, 0.99, 1.0, 7.0] {
            assert_eq!(bar(share, BAR, true).chars().count(), BAR, "{share}");
            assert_eq!(bar(share, BAR, false).len(), BAR + 2, "{share}");
        }
        assert_eq!(bar(0.5, BAR, false), "[============            ]");
        assert!(ascii("4.00 µs · 40 °C").is_ascii());
    }
}
