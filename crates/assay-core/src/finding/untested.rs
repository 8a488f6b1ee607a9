//! Systems that assay compiles for and was never tested on.

use super::Finding;

impl Finding {
    /// What is to be said of every record that is made on a system, by its name in [`std::env::consts::OS`].
    #[must_use]
    pub fn of_system(system: &str) -> Option<Self> {
        match system {
            // Until somebody runs the tests on one: docs/platforms.md.
            "macos" => Some(Self::UntestedSystem { system: "macOS".to_owned() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn records_of_a_system_that_was_never_tested_say_so() {
        let found = Finding::of_system("macos").unwrap();
        assert_eq!(found, Finding::UntestedSystem { system: "macOS".to_owned() });
        assert_eq!(found.severity(), Severity::Note, "the figures stand");
        assert!(found.cause().contains("macOS"), "{}", found.cause());
        for tested in ["linux", "windows"] {
            assert_eq!(Finding::of_system(tested), None, "{tested}");
        }
    }
}
