//! Which nodes have answered, while others are waited for: a line on a terminal, and nothing elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use crate::output;
use crate::progress::Painter;

/// Nodes that are named; more are counted.
const NAMED: usize = 5;

/// Who is waited for.
pub(super) struct Count {
    all: usize,
    inner: Option<Mutex<Inner>>,
}

struct Inner {
    painter: Painter,
    left: Vec<String>,
}

impl Count {
    pub(super) fn of<'a>(nodes: impl Iterator<Item = &'a str>) -> Self {
        let left: Vec<String> = nodes.map(str::to_owned).collect();
        let count = Self {
            all: left.len(),
            inner: (std::io::stderr().is_terminal() && output::can_repaint())
                .then(|| Mutex::new(Inner { painter: Painter::default(), left })),
        };
        count.paint(|_| {});
        count
    }

    /// A node has answered, or failed.
    pub(super) fn done(&self, node: &str) {
        self.paint(|left| left.retain(|name| name != node));
    }

    fn paint(&self, change: impl FnOnce(&mut Vec<String>)) {
        if let Some(inner) = &self.inner {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Inner { painter, left } = &mut *inner;
            change(left);
            painter.paint(&[line(self.all, left)]);
        }
    }
}

fn line(all: usize, left: &[String]) -> String {
    let named: Vec<&str> = left.iter().take(NAMED).map(String::as_str).collect();
    let more = left.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let waits = if left.is_empty() { String::new() } else { format!("; left: {}{more}", named.join(", ")) };
    format!("  {} of {all} nodes{waits}", all - left.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_left_is_named_and_many_are_counted() {
        let left: Vec<String> = (1..=28).map(|n| format!("n{n}")).collect();
        assert_eq!(line(28, &left), "  0 of 28 nodes; left: n1, n2, n3, n4, n5 and 23 more");
        assert_eq!(line(28, &left[..2]), "  26 of 28 nodes; left: n1, n2");
        assert_eq!(line(28, &[]), "  28 of 28 nodes");
    }
}
