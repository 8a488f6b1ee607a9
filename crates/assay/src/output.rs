//! Standard output, what the terminal can show, and questions to the user there.

use std::cell::RefCell;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use assay_core::exit::Exit;
use assay_core::text::{self, harmless, shell};
use assay_report::Style;
use serde::Serialize;
use serde_json::Value;

use crate::documents::{ErrorDocument, ErrorReason};
use crate::ending::Failure;
use crate::system;

/// Prints on standard output what assay-report has laid out, or a line whose parts from elsewhere are
/// harmless.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(&[text.as_bytes(), end.as_bytes()].concat())
}

/// The same with lines that break between words, on a terminal.
pub(crate) fn print_wrapped(text: &str) -> Result<(), Failure> {
    let out = std::io::stdout();
    if out.is_terminal() { print(&wrapped(text, stdout_style().width)) } else { print(text) }
}

/// Why events were lost: the first reason.
static LOST: Mutex<Option<Failure>> = Mutex::new(None);

/// Keeps why an event could not be printed, unless another reason is known.
pub(crate) fn keep_lost(failure: Failure) {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
}

/// The reason why events were lost, once.
pub(crate) fn take_lost() -> Option<Failure> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether something stands on standard output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether something stands on standard output already.
pub(crate) fn has_printed() -> bool {
    PRINTED.load(Ordering::Relaxed)
}

/// Writes what is text or an image to standard output, as it is. A reader that went away is success and ends
/// nothing: what a command found decides its exit code.
pub(crate) fn print_bytes(content: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    PRINTED.store(true, Ordering::Relaxed);
    match out.write_all(content).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a file as it is; on a terminal, what that could obey is written out.
pub(crate) fn print_file(content: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { print(&text::visible(content)) } else { print_bytes(content.as_bytes()) }
}

/// Prints one JSON document, in which nothing is left that a terminal could obey.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let value = json(document)?;
    print(&text::json(&format!("{value:#}")))
}

/// Prints an event as one line of JSON.
pub(crate) fn print_event(event: &impl Serialize) -> Result<(), Failure> {
    print(&text::json(&json(event)?.to_string()))
}

/// A document as a JSON value.
pub(crate) fn json(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document)
        .map_err(|e| Failure::environment(format!("the answer cannot be written as JSON: {e}")))
}

/// Says why a command ended without its answer: one line on standard error, and where the command line asks for JSON a document
/// on standard output. That one of them is closed changes nothing.
pub(crate) fn tell_failure(failure: &Failure) -> Exit {
    let (exit, message) = (failure.exit(), harmless(failure.message()));
    // As it was typed: it may be what cannot be read.
    let asked: Vec<_> = std::env::args_os().skip(1).take_while(|word| word != "--").collect();
    let asks_for = |option: &str| asked.iter().any(|word| word == option);
    let reason = ErrorReason { kind: exit.name(), exit_code: exit as u8, message: message.clone() };
    let document = ErrorDocument { error: reason };
    let _ = if asks_for("--events") {
        print_event(&document)
    } else if asks_for("--json") && !has_printed() {
        print_json(&document)
    } else {
        Ok(())
    };
    let _ = writeln!(std::io::stderr(), "assay: {message}");
    exit
}

thread_local! {
    /// Lines for people while this thread answers a page; none while it does not.
    static OF_PAGE: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does work whose lines for people belong on a page, and returns these with its result.
pub(crate) fn for_a_page<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    OF_PAGE.with_borrow_mut(|lines| *lines = Some(Vec::new()));
    let done = work();
    (done, OF_PAGE.with_borrow_mut(Option::take).unwrap_or_default())
}

/// Whether this thread answers a page, which reads no files that are named on it.
pub(crate) fn answers_a_page() -> bool {
    OF_PAGE.with_borrow(Option::is_some)
}

/// Prints lines for people on standard error, which may be closed; names from elsewhere in them are made
/// harmless here.
pub(crate) fn tell(text: &str) {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    tell_page(&lines.join("\n"));
}

/// Prints on standard error what assay-report has laid out, with its colours.
pub(crate) fn tell_page(text: &str) {
    let kept = OF_PAGE.with_borrow_mut(|lines| lines.as_mut().map(|lines| lines.push(text.trim_end().to_owned())));
    if kept.is_some() {
        return;
    }
    let _ = writeln!(std::io::stderr(), "{}", text.strip_suffix('\n').unwrap_or(text));
}

/// The same, broken between words where the terminal's line ends.
pub(crate) fn tell_wrapped(text: &str) {
    let err = std::io::stderr();
    tell(&if err.is_terminal() { wrapped(text, stderr_style().width) } else { text.to_owned() });
}

/// Text whose lines break between words, where they are longer than `width`; what follows a break
/// is indented. What is quoted for a shell is one word.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let mut column = 0;
        for (at, word) in quoted_words(line).into_iter().enumerate() {
            let length = word.chars().count();
            if at > 0 && column + 1 + length > width {
                out.push_str("\n  ");
                column = 2;
            } else if at > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
        }
    }
    out
}

/// A path for a line on a terminal.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// The words of a line: what begins with a quote lasts until the word that ends with the same.
fn quoted_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = Some(line);
    while let Some(left) = rest {
        let quote = left.chars().next().filter(|first| "'\"".contains(*first));
        let end = quote.and_then(|quote| {
            let closes = |at: &usize| left[..*at].trim_end_matches(|c: char| ".,;:)".contains(c)).ends_with(quote);
            let ends = left.match_indices(' ').map(|(at, _)| at).chain([left.len()]);
            ends.filter(|at| *at > 1).find(closes)
        });
        let end = end.or_else(|| left.find(' ')).unwrap_or(left.len());
        words.push(&left[..end]);
        rest = left.get(end + 1..);
    }
    words
}

/// A path in a command that is shown to be copied: no option and one word, whatever a medium, an archive or another user
/// called it.
pub(crate) fn operand(path: impl AsRef<Path>) -> String {
    let path = path.as_ref().to_string_lossy();
    if path.starts_with('-') { shell(&format!("./{path}")) } else { shell(&path) }
}

/// Where text for people goes, and what can be shown there.
pub(crate) fn style(stream: &impl IsTerminal, columns: Option<u16>) -> Style {
    let terminal = stream.is_terminal();
    let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .is_none_or(|locale| {
            // Who names the locale C or POSIX asks for ASCII; cron, ssh and containers name none.
            locale.to_lowercase().contains("utf")
        });
    let width = columns.filter(|_| terminal).map_or_else(named_width, usize::from);
    Style { width, color: terminal && color_wanted(), unicode }
}

/// The width of text that goes to no terminal: `COLUMNS`, where that was exported, or 80.
fn named_width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<usize>().ok());
    named.filter(|columns| (20..=1000).contains(columns)).unwrap_or(80)
}

/// Style of standard output.
pub(crate) fn stdout_style() -> Style {
    let out = std::io::stdout();
    style(&out, system::terminal(&out).map(|(columns, _)| columns).filter(|c| *c > 0))
}

/// Style of standard error.
pub(crate) fn stderr_style() -> Style {
    let err = std::io::stderr();
    style(&err, system::terminal(&err).map(|(columns, _)| columns).filter(|c| *c > 0))
}

/// Rows of the terminal on standard error; 24 where it does not say.
pub(crate) fn stderr_rows() -> usize {
    let size = system::terminal(&std::io::stderr());
    size.map(|(_, rows)| usize::from(rows)).filter(|rows| *rows > 0).unwrap_or(24)
}

/// Whether the terminal obeys control sequences.
pub(crate) fn can_repaint() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb") && system::terminal_obeys()
}

fn color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && can_repaint()
}

// Questions to the user at the terminal.

/// Asks on a terminal, and nowhere else: a program that waits for an answer would wait for ever.
pub(crate) struct Questions {
    asks: bool,
}

impl Questions {
    /// Asks nothing where `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { asks: !quiet && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() }
    }

    /// Whether somebody can be asked.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// The answer; `None` without a terminal, or without an answer. After the end of the input nothing more is asked.
    pub(crate) fn ask(&mut self, question: &str) -> Option<String> {
        if !self.asks {
            return None;
        }
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "{question} ").and_then(|()| err.flush());
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(read) if read > 0 => Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty()),
            _ => {
                self.asks = false;
                let _ = writeln!(err);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_between_words() {
        assert_eq!(wrapped("one two three", 80), "one two three");
        assert_eq!(wrapped("one two three\nfour", 8), "one two\n  three\nfour");
        assert_eq!(wrapped("a-word-longer-than-the-line b", 8), "a-word-longer-than-the-line\n  b");
        assert_eq!(wrapped("", 8), "");
        assert_eq!(wrapped("run 'a b c', or it's x", 8), "run\n  'a b c',\n  or\n  it's x");
        assert_eq!(wrapped("run 'a b c", 8), "run 'a b\n  c", "it is not closed");
    }
}
