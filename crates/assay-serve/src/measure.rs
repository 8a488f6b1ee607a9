//! Measuring from the page: choose a medium, see what would be done, start, watch, stop.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_core::text::harmless;
use assay_report::UnitCard;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::app::App;
use crate::browse::{as_text, encoded, figures_markup, harmless_lines};
use crate::form::{Pairs, command_line, value};
use crate::jobs::{Job, State};
use crate::live::shown;
use crate::page::{self, Page, Tab};
use crate::program::{Program, Refusal, SuiteLine};

/// What is done to a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// `assay run`.
    Measure,
    /// `assay verify --quick`.
    QuickCheck,
    /// `assay verify`.
    FullCheck,
    /// `assay verify --resume`.
    Resume,
    /// `assay verify --remove`.
    Remove,
}

const WHATS: [(&str, What, &str); 5] = [
    ("measure", What::Measure, "Measure its speed"),
    ("quick", What::QuickCheck, "Check by samples whether it is genuine"),
    ("full", What::FullCheck, "Fill the free space, and read it back"),
    ("resume", What::Resume, "Resume a full check that was stopped"),
    ("remove", What::Remove, "Remove the files of a check or a run that was stopped or killed"),
];
/// Longest text of a field, in bytes: a path.
const LONGEST_TEXT: usize = 4096;
/// Labels that a form offers.
const LABELS: [(&str, &str); 4] =
    [("model", "Model"), ("unit", "Unit"), ("slot", "Slot"), ("price", "Price, like 12.90USD")];

/// What a form asks for.
struct Asked {
    what: What,
    target: String,
    suite: String,
    labels: Vec<(&'static str, String)>,
    /// Whether the suite writes.
    writes: bool,
    /// Whether the target is a device.
    is_device: bool,
}

impl Asked {
    fn read(pairs: &Pairs, suites: &[SuiteLine]) -> Result<Self, Refusal> {
        let usage = |message: &str| Refusal { message: message.to_owned(), is_usage: true };
        if pairs.iter().any(|(_, text)| text.contains('\0') || text.len() > LONGEST_TEXT) {
            return Err(usage("a field is longer than 4096 bytes, or no text"));
        }
        let text = |name: &str| value(pairs, name).map(str::trim).filter(|text| !text.is_empty());
        let target =
            text("other").or(text("target")).ok_or_else(|| usage("choose a medium, or name a directory on it"))?;
        // A job file of fio would be run where it says.
        if std::fs::metadata(target).is_ok_and(|meta| !meta.is_dir()) && !is_device(target) {
            return Err(usage("the target is a file; name a directory on the medium, or a device"));
        }
        let name = text("what").unwrap_or(WHATS[0].0);
        let what = WHATS.iter().find(|(known, ..)| *known == name).map(|known| known.1);
        let what = what.ok_or_else(|| usage("what: choose one of the page"))?;
        let suite = text("suite").unwrap_or("quick").to_owned();
        // Other suites are files, which pages do not read.
        let known = suites.iter().find(|known| known.name == suite);
        let writes = known.ok_or_else(|| usage("suite: choose one of the page"))?.writes;
        let labels = LABELS.iter().filter_map(|(key, _)| Some((*key, text(key)?.to_owned()))).collect();
        Ok(Self { what, target: target.to_owned(), suite, labels, writes, is_device: is_device(target) })
    }

    /// Words of the command; `typed` is the name of the device that the user typed.
    fn words(&self, typed: Option<&str>) -> Vec<String> {
        let mut words: Vec<String> = match self.what {
            What::Measure => vec!["run".to_owned(), format!("--suite={}", self.suite)],
            What::QuickCheck => vec!["verify".to_owned(), "--quick".to_owned()],
            What::FullCheck => vec!["verify".to_owned()],
            What::Resume => vec!["verify".to_owned(), "--resume".to_owned()],
            What::Remove => vec!["verify".to_owned(), "--remove".to_owned()],
        };
        if !matches!(self.what, What::Resume | What::Remove) {
            words.extend(self.labels.iter().map(|(key, text)| format!("--label={key}={text}")));
        }
        if self.what == What::Measure && self.is_device {
            words.push("--raw".to_owned());
            words.extend(typed.map(|name| format!("--overwrite={name}")));
        }
        words.extend(["--".to_owned(), self.target.clone()]);
        words
    }

    /// With further options before `--`.
    fn words_with(&self, typed: Option<&str>, more: &[&str]) -> Vec<String> {
        let mut words = self.words(typed);
        let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(at..at, more.iter().map(|word| (*word).to_owned()));
        words
    }

    /// What is said of a command that has no dry run.
    fn without_dry_run(&self) -> Option<&'static str> {
        match self.what {
            What::Resume => Some("goes on where the check was stopped, reads all back, and removes its files"),
            What::Remove => Some("removes the files that checks and runs of assay left there, and nothing else"),
            What::Measure | What::QuickCheck | What::FullCheck => None,
        }
    }

    fn button(&self) -> &'static str {
        match self.what {
            What::Measure => "Measure",
            What::QuickCheck | What::FullCheck => "Check",
            What::Resume => "Resume",
            What::Remove => "Remove",
        }
    }

    /// Whether what is on the medium is lost, so that its name has to be typed.
    fn overwrites(&self) -> bool {
        self.is_device && self.what == What::Measure && self.writes
    }

    fn fields(&self) -> Markup {
        let what = WHATS.iter().find(|known| known.1 == self.what).map_or("measure", |known| known.0);
        html! {
            input type="hidden" name="target" value=(self.target);
            input type="hidden" name="what" value=(what);
            input type="hidden" name="suite" value=(self.suite);
            @for (key, text) in &self.labels { input type="hidden" name=(key) value=(text); }
        }
    }
}

fn is_device(target: &str) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(target).is_ok_and(|meta| meta.file_type().is_block_device())
    }
    #[cfg(not(unix))]
    {
        target.starts_with(r"\\.\")
    }
}

pub(crate) fn choose(app: &App) -> Response {
    let (places, suites) = (app.program.places(), app.program.suites());
    let jobs = app.jobs.all();
    let body = html! {
        h1 { "Measure or check a medium" }
        @if !jobs.is_empty() {
            h2 { "Begun from here" }
            ul.links { @for job in &jobs { li { a href={ "/runs/" (job.id) } { (harmless(&job.target)) } " " (state_words(job.state())) } } }
        }
        form.question method="get" action="/measure/plan" {
            fieldset {
                legend { "Medium" }
                @for (at, place) in places.iter().enumerate() {
                    @let id = format!("m{at}");
                    div.choice {
                        input type="radio" id=(id) name="target" value=(place.path.to_string_lossy());
                        label for=(id) {
                            b { (harmless(&place.path.to_string_lossy())) } " "
                            (harmless(&place.title)) " · " (place.kind) @if !place.size.is_empty() { " · " (place.size) }
                            @if !place.is_mounted { " · " span.pill.care { "not mounted" } }
                        }
                    }
                }
                div.field { label for="other" { "Or a directory on another medium" } input type="text" id="other" name="other" autocomplete="off" spellcheck="false"; }
            }
            fieldset {
                legend { "What" }
                @for (name, what, title) in WHATS {
                    div.choice { input type="radio" id={ "w-" (name) } name="what" value=(name) checked[what == What::Measure]; label for={ "w-" (name) } { (title) } }
                }
                div.field { label for="suite" { "Suite" } select id="suite" name="suite" {
                    @for suite in &suites { option value=(suite.name) selected[suite.name == "quick"] { (suite.name) ": " (suite.about) } }
                } }
            }
            fieldset {
                legend { "Labels, where you want them" }
                div.fields { @for (key, title) in LABELS { div.field { label for=(key) { (title) } input type="text" id=(key) name=(key) autocomplete="off"; } } }
            }
            p { button.main type="submit" { "Show what would be done" } }
        }
    };
    Page::new(Tab::Measure, "Measure", body).into_response()
}

/// How long a dry run may take: a medium that hangs holds it up.
const DRY_RUN: Duration = Duration::from_secs(30);
/// Longest text that a dry run says, in bytes.
const LONGEST_PLAN: u64 = 64 << 10;

/// What a dry run says: its lines, and whether it would begin.
fn dry_run(program: &dyn Program, words: &[String]) -> Result<(String, bool), Refusal> {
    let failed =
        |error: std::io::Error| Refusal { message: format!("assay cannot be started: {error}"), is_usage: false };
    let mut command = Command::new(program.executable());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (output, messages) = (child.stdout.take().map(some_of), child.stderr.take().map(some_of));
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if begun.elapsed() > DRY_RUN => {
                let _ = child.kill();
                let message = format!("no plan was made within {} s: the medium does not answer", DRY_RUN.as_secs());
                return Err(Refusal { message, is_usage: false });
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let said = if status.success() { output } else { messages };
    let said = said.and_then(|reader| reader.join().ok()).unwrap_or_default();
    Ok((harmless_lines(String::from_utf8_lossy(&said).trim_end()), status.success()))
}

/// Reads the beginning of what a process says, on a thread of its own.
fn some_of(pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.take(LONGEST_PLAN).read_to_end(&mut text);
        text
    })
}

pub(crate) fn plan(app: &App, pairs: &Pairs) -> Result<Response, Refusal> {
    let asked = Asked::read(pairs, &app.program.suites())?;
    if let Some(words) = asked.without_dry_run() {
        return Ok(planned(app, &asked, words, true, None));
    }
    // Whether data on a device may go is asked below; the rest of the plan is shown before that.
    let typed = asked.overwrites().then_some(asked.target.as_str());
    let (said, begins) = dry_run(app.program.as_ref(), &asked.words_with(typed, &["--dry-run"]))?;
    Ok(planned(app, &asked, &said, begins, typed))
}

/// What would be done, and the button that does it.
fn planned(app: &App, asked: &Asked, said: &str, begins: bool, typed: Option<&str>) -> Response {
    let body = html! {
        h1 { @if begins { "This would be done" } @else { "This is refused" } }
        pre.said { (said) }
        @if begins {
            form.question method="post" action="/measure/start" {
                (page::token(&app.access)) (asked.fields())
                @if asked.overwrites() {
                    p.refusal { "Everything on " (harmless(&asked.target)) " is lost." }
                    div.field { label for="typed" { "Type the name of the device" } input type="text" id="typed" name="typed" required autocomplete="off" spellcheck="false"; }
                }
                p { button.main type="submit" { (asked.button()) } }
            }
        }
        p { a href="/measure" { "Choose again" } }
        (page::same_command(&asked.words(typed)))
    };
    Page::new(Tab::Measure, "Measure", body).into_response()
}

pub(crate) fn start(app: &App, pairs: &Pairs) -> Result<Response, Refusal> {
    let asked = Asked::read(pairs, &app.program.suites())?;
    let typed = value(pairs, "typed").map(str::trim);
    if asked.overwrites() && typed != Some(asked.target.as_str()) {
        let message = format!("the name that was typed is not {}; nothing was started", harmless(&asked.target));
        return Err(Refusal { message, is_usage: true });
    }
    let events: &[&str] = if asked.what == What::Remove { &[] } else { &["--events"] };
    let words = asked.words_with(typed.filter(|_| asked.overwrites()), events);
    let job = app.jobs.start(&app.program.executable(), words, asked.target.clone());
    let job = job.map_err(|error| Refusal { message: format!("assay cannot be started: {error}"), is_usage: false })?;
    Ok(page::see(&format!("/runs/{}", job.id)))
}

fn state_words(state: State) -> String {
    let code = match state {
        State::Running => return "is running".to_owned(),
        State::Stopping => return "is stopping, and removes its files".to_owned(),
        State::Ended(None) => return "was killed".to_owned(),
        State::Ended(Some(code)) => code,
    };
    let words = match Exit::ALL.into_iter().find(|exit| *exit as i32 == code) {
        Some(Exit::Good) => "has ended",
        Some(Exit::No) => "has ended: the answer is no",
        Some(Exit::Medium) => "has ended: the medium failed",
        Some(Exit::Damaged) => "has ended: the medium loses data",
        Some(Exit::CannotTell) => "has ended: it cannot tell",
        Some(Exit::Interrupted) => "was stopped",
        Some(Exit::Usage | Exit::Environment) => "was refused",
        Some(Exit::Limit | Exit::Waiting) | None => return format!("has ended with exit code {code}"),
    };
    words.to_owned()
}

pub(crate) fn job(app: &App, job: &Arc<Job>) -> Result<Response, Refusal> {
    let state = job.state();
    let ended = matches!(state, State::Ended(_));
    let record = match job.record().filter(|_| ended) {
        Some(id) => app.program.whole_records(&[id]).unwrap_or_default().into_iter().next(),
        None => None,
    };
    let body = html! {
        h1 { (harmless(&job.target)) " " (state_words(state)) }
        @if let Some(record) = &record { (result(record)) }
        @if !ended { (live(app, job)) }
        @let messages = job.messages();
        @if !messages.is_empty() { details.folded open[ended && record.is_none()] { summary { "Messages" } pre tabindex="0" { (messages.join("\n")) } } }
        p { a href="/measure" { "Measure again" } }
        p.command { "The same on the command line: " code { (harmless(&command_line(&plain_words(job)))) } }
    };
    let title = format!("{} {}", job.target, state_words(state));
    let page = Page::new(Tab::Measure, title, body);
    Ok(Page { again: (!ended).then_some(2), ..page }.into_response())
}

/// Without the option by which the server watches.
fn plain_words(job: &Job) -> Vec<String> {
    job.words.iter().filter(|word| *word != "--events").cloned().collect()
}

/// The result as large figures and as text.
fn result(record: &assay_core::record::Record) -> Markup {
    let observation = Observation::from(record);
    let card = UnitCard::from_records(std::slice::from_ref(&observation));
    html! {
        @if let Some(card) = &card {
            p class=(card.tone) { span.pill { (card.word) } " " (harmless(&assay_report::verdict_sentence(&observation))) }
            @if !card.figures.is_empty() { (figures_markup(&card.figures)) }
        }
        (as_text(record))
        p { a href={ "/records/" (encoded(&record.id)) } { "The whole record" } }
    }
}

/// The view of a job that runs: filled by the script, and without it read again every two seconds.
fn live(app: &App, job: &Job) -> Markup {
    let events = job.events(0);
    let all: Vec<_> = events.iter().filter_map(|(_, event)| shown(event)).collect();
    let last = |kinds: &[&str], key: &str| {
        let with =
            all.iter().rev().find(|value| kinds.iter().any(|kind| value["kind"] == *kind) && value[key].is_string());
        with.and_then(|value| value[key].as_str()).unwrap_or("–").to_owned()
    };
    let share = all.iter().rev().find_map(|value| value["share"].as_f64()).unwrap_or(0.0);
    let next = events.last().map_or(0, |(number, _)| number + 1);
    html! {
        section.live id="live" data-events={ "/runs/" (job.id) "/events?from=" (next) } aria-live="off" {
            p id="live-head" { (last(&["repeat", "phase", "started"], "text")) }
            progress id="live-share" max="1" value=(share) aria-label="Done" {}
            dl.figures {
                div { dt { "Rate" } dd { b id="live-rate" { (last(&["sample", "progress"], "rate")) } } }
                div { dt { "IOPS" } dd { b id="live-iops" { (last(&["sample"], "iops")) } } }
                div { dt { "p99" } dd { b id="live-p99" { (last(&["sample"], "p99")) } } }
                div { dt { "Temperature" } dd { b id="live-temperature" { (last(&["sample"], "temperature")) } } }
                div { dt { "Time" } dd { b id="live-left" { (last(&["sample", "repeat", "progress"], "left")) } } }
            }
            svg id="live-curve" viewBox="0 0 600 80" role="img" aria-label="Rate over time" hidden { polyline fill="none" points="" {} }
            ul id="live-warnings" { @for value in all.iter().filter(|value| value["kind"] == "warning") { li { (value["text"].as_str().unwrap_or_default()) } } }
            div.scroll { table.summary {
                thead { tr { th scope="col" { "Done" } th scope="col" { "Rate" } th scope="col" { "IOPS" } th scope="col" { "p99" } } }
                tbody id="live-done" { @for value in all.iter().filter(|value| value["kind"] == "done") { tr {
                    th scope="row" { (value["load"].as_str().unwrap_or_default()) " " (value["repeat"].as_u64().unwrap_or(0)) }
                    @for key in ["rate", "iops", "p99"] { td { (value[key].as_str().unwrap_or_default()) } }
                } } }
            } }
        }
        form method="post" action={ "/runs/" (job.id) "/stop" } { (page::token(&app.access)) p { button.main type="submit" { "Stop" } } }
    }
}
