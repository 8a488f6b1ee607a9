//! One line that says how far something is: painted over on a terminal, now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use super::painter::Painter;
use crate::output::{can_repaint, tell, tell_wrapped};

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
