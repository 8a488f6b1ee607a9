//! The live view on a terminal: the workload under way, its figures, what is left.

use std::collections::VecDeque;
use std::time::Duration;

use assay_core::event::{Event, EventKind};
use assay_core::finding::Severity;
use assay_core::text::harmless;
use assay_core::units::{Bytes, figures, latency, rate, span};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Progress;
use super::lines::announcement;

/// Intervals shown as a small curve.
const CURVE: usize = 16;

/// Two lines that repaint themselves on standard error.
pub(crate) struct Live {
    bar: ProgressBar,
    title: String,
    curve: VecDeque<f64>,
    unicode: bool,
}

impl Live {
    pub(crate) fn new(unicode: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        let template = if unicode {
            "  {bar:24} {pos:>2}/{len} {prefix}\n  {wide_msg}"
        } else {
            "  [{bar:24}] {pos:>2}/{len} {prefix}\n  {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars(if unicode { "█▌░" } else { "=> " }));
        }
        Self { bar, title: String::new(), curve: VecDeque::with_capacity(CURVE), unicode }
    }

    fn figures(&mut self, bytes_per_second: f64, iops: f64, p99_ns: Option<f64>, celsius: Option<f64>, left_ns: u64) {
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
        text.push_str(&format!(" · {} left", span(Duration::from_nanos(left_ns))));
        if self.unicode {
            text = format!("{} {text}", curve(&self.curve));
        } else {
            text = text.replace('·', "|").replace("µs", "us").replace("°C", "C");
        }
        self.bar.set_message(text);
    }
}

impl Progress for Live {
    fn event(&mut self, event: &Event) {
        match &event.event {
            EventKind::Started { medium, suite, budget_ns, planned_write_bytes, .. } => {
                self.bar.println(announcement(&medium.title(), suite, *budget_ns, *planned_write_bytes));
            }
            EventKind::Phase { phase } => {
                self.bar.set_prefix(match phase.as_str() {
                    "layout" => "writing the test file",
                    "calibrate" => "timing the instrument itself",
                    "cleanup" => "removing the test file",
                    _ => "",
                });
                self.bar.tick();
            }
            EventKind::Progress { done_bytes, total_bytes, bytes_per_second } => {
                self.bar.set_message(format!(
                    "{} of {} at {}",
                    Bytes(*done_bytes),
                    Bytes(*total_bytes),
                    rate(*bytes_per_second)
                ));
            }
            EventKind::RepeatStarted { title, repeat, repeats, done, total, left_ns, .. } => {
                self.title = harmless(title);
                self.curve.clear();
                self.bar.set_length(u64::from(*total));
                self.bar.set_position(u64::from(*done));
                self.bar.set_prefix(format!("{}, repeat {repeat} of {repeats}", self.title));
                self.bar.set_message(format!("{} left", span(Duration::from_nanos(*left_ns))));
            }
            EventKind::Sample { bytes_per_second, iops, p99_ns, temperature_celsius, left_ns, .. } => {
                self.figures(*bytes_per_second, *iops, *p99_ns, *temperature_celsius, *left_ns);
            }
            EventKind::Warning { workload, warning } if warning.severity >= Severity::Suspect => {
                let about = workload.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
                self.bar.println(harmless(&format!("warning{about}: {}", warning.cause)));
            }
            EventKind::Finished { .. } => self.bar.finish_and_clear(),
            _ => {}
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
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
}
