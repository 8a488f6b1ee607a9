//! What a launcher says: for each of its nodes the last line, and whether it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// No line for people is longer than this; the rest of it is left out.
pub(super) const MOST_LINE: usize = 512;
/// Of no more nodes is something kept: a launcher starts fewer.
const MOST_NODES: usize = 100_000;

/// How a node ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEnd {
    /// How it ended, as text.
    pub words: String,
    /// The exit code of the program there, or of the launcher; `None` where a signal ended it, or where it is unknown.
    pub code: Option<i32>,
    /// Whether the node was reached.
    pub reached: bool,
}

/// Something that a line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutputEvent {
    /// A node said something.
    Said(usize, String),
    /// A node ended.
    Ended(usize, NodeEnd),
    /// The launcher itself said something.
    Plain(String),
    /// A node said who it is.
    Known(usize),
    /// Nothing that is kept.
    Nothing,
}

/// How lines are understood.
pub(super) type Reader = Box<dyn FnMut(&str) -> OutputEvent + Send>;

/// The output so far.
#[derive(Debug, Default)]
pub(super) struct LauncherOutput {
    /// The last line of the launcher itself.
    plain: String,
    /// Nodes that said who they are: what the launcher says after that may be about another one.
    known: BTreeSet<usize>,
    said: BTreeMap<usize, String>,
    ended: BTreeMap<usize, NodeEnd>,
}

impl LauncherOutput {
    /// The last that a node said, or else the launcher.
    pub(super) fn last_line(&self, place: usize) -> String {
        match self.said.get(&place) {
            Some(line) => line.clone(),
            None if self.known.contains(&place) => String::new(),
            None => self.plain.clone(),
        }
    }

    /// What a node that ended came to.
    pub(super) fn ended(&self, place: usize) -> Option<NodeEnd> {
        self.ended.get(&place).cloned()
    }

    pub(super) fn take(&mut self, event: OutputEvent) {
        match event {
            OutputEvent::Said(place, line) if self.said.len() < MOST_NODES => {
                self.said.insert(place, line);
            }
            OutputEvent::Ended(place, end) if self.ended.len() < MOST_NODES => {
                self.ended.insert(place, end);
            }
            OutputEvent::Plain(line) => self.plain = line,
            OutputEvent::Known(place) if self.known.len() < MOST_NODES => {
                self.known.insert(place);
            }
            OutputEvent::Said(..) | OutputEvent::Ended(..) | OutputEvent::Known(_) | OutputEvent::Nothing => {}
        }
    }
}

/// Calls `each` with every line of `source` that is not empty, cut where it is longer than `most`.
pub(super) fn lines(mut source: impl Read, most: usize, mut each: impl FnMut(&str)) {
    let (mut line, mut bytes) = (Vec::new(), [0u8; 4096]);
    let mut whole = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line);
        if !text.trim().is_empty() {
            each(text.trim());
        }
        line.clear();
    };
    while let Ok(count @ 1..) = source.read(&mut bytes) {
        for byte in &bytes[..count] {
            match byte {
                b'\n' | b'\r' => whole(&mut line),
                _ if line.len() < most => line.push(*byte),
                _ => {}
            }
        }
    }
    whole(&mut line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_and_end_are_told_apart() {
        let long = "y".repeat(100_000);
        let text = format!("first\n\n  second \r{long}\nlast");
        let mut seen = Vec::new();
        lines(text.as_bytes(), MOST_LINE, |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["first", "second", &long[..MOST_LINE], "last"]);
    }

    #[test]
    fn a_node_that_said_nothing_has_the_words_of_its_launcher() {
        let mut output = LauncherOutput::default();
        output.take(OutputEvent::Plain("no such partition".to_owned()));
        output.take(OutputEvent::Said(1, "disk full".to_owned()));
        let end = NodeEnd { words: "it ended with exit code 4".to_owned(), code: Some(4), reached: true };
        output.take(OutputEvent::Ended(1, end.clone()));
        assert_eq!((output.last_line(0).as_str(), output.last_line(1).as_str()), ("no such partition", "disk full"));
        output.take(OutputEvent::Known(2));
        output.take(OutputEvent::Plain("task 1 exited with exit code 4".to_owned()));
        assert_eq!(output.last_line(2), "", "that is about another one");
        assert_eq!((output.ended(0), output.ended(1)), (None, Some(end)));
    }
}
