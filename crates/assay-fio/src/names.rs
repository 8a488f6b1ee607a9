//! Names of workloads.

use std::collections::{HashMap, HashSet};

/// A name in letters that a suite may have.
pub(crate) fn clean(name: &str) -> String {
    let clean: String = name
        .chars()
        .take(56)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    if clean.is_empty() { "job".to_owned() } else { clean }
}

/// Names of workloads, each different from those before it.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The number to try next for a name that is taken.
    next: HashMap<String, usize>,
}

impl Names {
    /// A name like this that was not given out yet.
    pub(crate) fn unused(&mut self, name: &str) -> String {
        let clean = clean(name);
        let mut candidate = clean.clone();
        let number = self.next.entry(clean.clone()).or_insert(2);
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{clean}_{number}");
            *number += 1;
        }
        candidate
    }
}
