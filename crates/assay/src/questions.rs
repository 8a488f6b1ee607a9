//! Questions to the user at the terminal.

use std::io::{IsTerminal, Write};

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
