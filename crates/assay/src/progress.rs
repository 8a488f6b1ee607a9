//! Consumers of the event stream.

use std::collections::{HashMap, VecDeque};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::finding::{Severity, Warning};
use assay_core::medium::{Medium, Mounted};
use assay_core::text::harmless;
use assay_core::units::{Bytes, figures, latency, rate, span};

use crate::output;
use crate::output::{can_repaint, stderr_style, tell, tell_wrapped, wrapped};

// What a consumer of events does.

/// Someone who watches a run.
pub(crate) trait Progress {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Something happened that is no event of the run: a line for people, whatever else they see.
    fn tell(&mut self, line: &str) {
        tell_wrapped(line);
    }
}

/// No progress is shown.
pub(crate) struct Silent;

impl Progress for Silent {
    fn event(&mut self, _event: &Event) {}
}

// Events as JSON lines, for programs.

/// Writes each event as a line on standard output.
pub(crate) struct Machine;

impl Progress for Machine {
    fn event(&mut self, event: &Event) {
        // The run goes on without its reader, or on a full disk: its record is still wanted. The first error is reported at the end.
        if let Err(failure) = output::print_event(event) {
            output::keep_lost(failure);
        }
    }
}

// Plain lines, where there is no terminal: cron, Ansible, a log.

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
                tell(&announcement(medium, suite, *budget_ns, *planned_write_bytes));
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
                    half_width.map_or_else(String::new, |half| format!(", {}", so_far(half)))
                ));
            }
            EventKind::ProgramFinished { program, value, unit, .. } => {
                let title = self.titles.get(program).map_or("", String::as_str);
                tell(&format!("[{}/{}] {title}: {} {unit}", self.done + 1, self.total, figures(*value)));
            }
            EventKind::Warning { workload, title, warning } if warning.severity >= Severity::Suspect => {
                tell(&warning_line(title.as_deref().or(workload.as_deref()), warning));
            }
            _ => {}
        }
    }
}

/// How well a mean is known by the repeats so far. An interval wider than the mean says only that more repeats are needed.
fn so_far(half_width: f64) -> String {
    if half_width > 1.0 { "mean not yet known".to_owned() } else { format!("mean ±{} %", figures(half_width * 100.0)) }
}

/// A finding in a line, with the title of the workload that it is about.
fn warning_line(title: Option<&str>, warning: &Warning) -> String {
    let about = title.map(|title| format!(" ({title})")).unwrap_or_default();
    format!("warning{about}: {}", warning.cause())
}

/// Where the medium is mounted, in brackets; nothing where it is mounted at the path that was named.
pub(crate) fn place_of(medium: &Medium) -> String {
    match (medium.mounted(), medium.mount_point.as_deref()) {
        (Mounted::Root, _) => " (the disk of this system: nothing is mounted at this directory)".to_owned(),
        (Mounted::Above, Some(point)) => format!(" (mounted at {})", harmless(point)),
        _ => String::new(),
    }
}

/// What is about to happen, said before the first byte is written. Where the medium is mounted is said unless it is where it was
/// named: a card that is not mounted is another medium.
fn announcement(medium: &Medium, suite: &str, budget_ns: u64, planned_write_bytes: u64) -> String {
    let what = format!("measuring {}{} with suite {suite}", medium.title(), place_of(medium));
    let time = span(Duration::from_nanos(budget_ns));
    let writes = match planned_write_bytes {
        0 => "writes nothing".to_owned(),
        bytes => format!("writes at most {}", Bytes(bytes)),
    };
    format!("{what}\ntakes at most {time}, {writes}")
}

// The live view on a terminal: the workload under way, its figures, what is left.

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
                self.say(&announcement(medium, suite, *budget_ns, *planned_write_bytes));
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
                let known = half_width.map_or_else(String::new, |half| format!(", {}", so_far(half)));
                self.before = format!(" · last: {} {}{known}", self.title, rate(*bytes_per_second));
            }
            EventKind::ProgramFinished { value, unit, .. } => {
                self.before = format!(" · last: {} {} {unit}", self.title, figures(*value));
            }
            EventKind::Warning { workload, title, warning: found } if found.severity >= Severity::Suspect => {
                self.say(&warning_line(title.as_deref().or(workload.as_deref()), found));
            }
            EventKind::Finished { .. } => self.painter.clear(),
            EventKind::Warning { .. } | EventKind::Sample { .. } | EventKind::RepeatFinished { .. } => {}
        }
    }
}

fn left(left_ns: u64) -> String {
    time_left(Duration::from_nanos(left_ns))
}

/// The time that something still takes, as far as it is known: in whole seconds, which is more than the estimate knows.
pub(crate) fn time_left(left: Duration) -> String {
    match left.as_secs_f64().round() as u64 {
        0 => "almost done".to_owned(),
        seconds @ 1..60 => format!("{seconds} s left"),
        seconds => format!("{} left", span(Duration::from_secs(seconds))),
    }
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

// Lines at the end of a terminal that are painted over.

/// Control sequences of ECMA-48: EL (erase the line) and CUU (one line up).
const ERASE: &str = "\r\x1b[2K";
const UP: &str = "\x1b[1A";

/// The lines on the terminal, if any. They are never wider than it, so that each is one row.
#[derive(Default)]
pub(crate) struct Painter {
    lines: Vec<String>,
}

impl Painter {
    /// Shows these lines in place of those before.
    pub(crate) fn paint(&mut self, lines: &[String]) {
        let mut out = erasing(self.lines.len());
        self.lines = lines.to_vec();
        out.push_str(&rows(&self.lines, stderr_style().width));
        write(&out);
    }

    /// Prints text above the lines, to stay.
    pub(crate) fn say(&mut self, text: &str) {
        let mut out = erasing(self.lines.len());
        let width = stderr_style().width;
        let lines: Vec<String> = text.lines().map(harmless).collect();
        out.push_str(&wrapped(&lines.join("\n"), width));
        out.push('\n');
        out.push_str(&rows(&self.lines, width));
        write(&out);
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) {
        if !self.lines.is_empty() {
            write(&erasing(self.lines.len()));
            self.lines.clear();
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Lines cut so that none reaches the last column; names from elsewhere in them are made harmless here.
fn rows(lines: &[String], width: usize) -> String {
    let row = |line: &String| harmless(line).chars().take(width.saturating_sub(1)).collect::<String>();
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// The control sequence that erases this number of rows; the cursor is in the last.
fn erasing(rows: usize) -> String {
    vec![ERASE; rows].join(UP)
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    // In one piece, so that nothing half-painted is seen; a terminal that went away is no failure.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

// One line that says how far something is: painted over on a terminal, now and then elsewhere.

/// Between two lines where none can be painted over.
const SELDOM: Duration = Duration::from_secs(30);
/// Between two paintings.
const OFTEN: Duration = Duration::from_millis(100);

/// How far something is.
pub(crate) struct Status {
    /// None where nothing is shown.
    how: Option<How>,
    last: Option<Instant>,
}

enum How {
    Paint(Painter),
    Lines,
}

impl Status {
    /// Shows nothing where `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let how = match (quiet, std::io::stderr().is_terminal() && can_repaint()) {
            (true, _) => None,
            (false, true) => Some(How::Paint(Painter::default())),
            (false, false) => Some(How::Lines),
        };
        // What is done within seconds needs no line in a log.
        let last = matches!(how, Some(How::Lines)).then(Instant::now);
        Self { how, last }
    }

    /// Shows the line, if it is time to.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        let Some(how) = &mut self.how else { return };
        let pause = if matches!(how, How::Paint(_)) { OFTEN } else { SELDOM };
        if self.last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.last = Some(Instant::now());
        match how {
            How::Paint(painter) => painter.paint(&[line()]),
            How::Lines => tell(&line()),
        }
    }

    /// Takes the line away until it is shown again.
    pub(crate) fn clear(&mut self) {
        if let Some(How::Paint(painter)) = &mut self.how {
            painter.clear();
        }
    }

    /// Says something that stays.
    pub(crate) fn say(&mut self, text: &str) {
        match &mut self.how {
            None => {}
            Some(How::Paint(painter)) => painter.say(text),
            Some(How::Lines) => tell_wrapped(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_is_hardly_known_has_no_percentage() {
        assert_eq!(so_far(0.0739), "mean ±7.39 %");
        assert_eq!(so_far(73.95), "mean not yet known");
    }

    #[test]
    fn what_is_measured_is_named_with_its_mount_unless_that_was_named() {
        let on = |path: &str| Medium { mount_point: Some("/".to_owned()), ..Medium::unknown(path) };
        let said = announcement(&on("/mnt/card"), "quick", 90_000_000_000, 1 << 30);
        assert!(said.contains("nothing is mounted at this directory) with suite quick"), "{said}");
        let said = announcement(&on("/"), "quick", 90_000_000_000, 1 << 30);
        assert!(!said.contains("mounted at"), "{said}");
    }

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

    #[test]
    fn as_many_rows_are_erased_as_were_painted() {
        assert_eq!(erasing(2), "\r\x1b[2K\x1b[1A\r\x1b[2K");
        assert_eq!(erasing(0), "");
    }

    #[test]
    fn no_row_reaches_the_last_column() {
        let lines = ["x".repeat(200), "µ".repeat(200)];
        assert!(rows(&lines, 60).lines().all(|row| row.chars().count() == 59));
        assert_eq!(rows(&["SD\u{1b}[2JCARD".to_owned()], 60), "SD\u{fffd}[2JCARD");
    }
}
