//! What a result file holds, whatever its form.

use std::collections::BTreeMap;

/// A result file.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    /// Version of the suite that wrote it.
    pub(super) client: Option<String>,
    pub(super) systems: Vec<System>,
    pub(super) tests: Vec<Test>,
    /// Whether its end is missing.
    pub(super) cut_off: bool,
    /// Whether elements do not end in the order in which they began.
    pub(super) broken: bool,
}

/// A machine, or a run on it.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    /// Its names in the results: one, up to version 2 several.
    pub(super) identifiers: Vec<String>,
    pub(super) hardware: BTreeMap<String, String>,
    pub(super) software: BTreeMap<String, String>,
    pub(super) time: String,
    pub(super) client: Option<String>,
}

/// A test with one set of options, and its results on all systems.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    /// `pts/fio-1.15.0`; up to version 2 `fio`.
    pub(super) identifier: String,
    pub(super) title: String,
    pub(super) arguments: String,
    pub(super) description: String,
    /// Unit of the values.
    pub(super) scale: String,
    pub(super) less_is_better: bool,
    pub(super) entries: Vec<Entry>,
}

/// The result of a test on a system.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) system: String,
    pub(super) value: Option<f64>,
    /// How many runs the value is the mean of; 0 where that is not told.
    pub(super) runs: u32,
    /// Whether it is a line of many values, such as a sensor's, or a word.
    pub(super) drawn: bool,
}

impl Entry {
    /// Takes a value as it is written.
    pub(super) fn set(&mut self, text: &str) {
        let text = text.trim();
        self.value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        self.drawn = self.value.is_none() && !text.is_empty();
    }
}

impl Test {
    /// An option by its name: descriptions are `Type: Random Read - Block Size: 4KB`.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let mut all = self.description.split(" - ");
        all.find_map(|option| option.trim().strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }

    /// Name of the profile, its version where that is told, and whether it is one of the suite itself: others may do
    /// anything by the same name.
    pub(super) fn profile(&self) -> (&str, Option<(u32, u32)>, bool) {
        let (collection, name) = self.identifier.rsplit_once('/').unwrap_or(("pts", &self.identifier));
        let versioned = name.rsplit_once('-').and_then(|(name, version)| {
            let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
            Some((name, (parts.next()??, parts.next()??)))
        });
        match versioned {
            Some((name, version)) => (name, Some(version), collection == "pts"),
            None => (name, None, collection == "pts"),
        }
    }
}

/// Longest text of a name or a value in bytes: each of thousands of results may have a copy of it.
const LONGEST: usize = 4_096;

/// A text within that.
pub(super) fn short(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// `Processor: A @ 3.0GHz (4 Cores), Motherboard: B` by its parts. A comma stands within a part too.
pub(super) fn components(text: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for part in text.split(", ") {
        match (part.split_once(": "), &last) {
            (Some((name, value)), _) => {
                all.insert(name.trim().to_owned(), value.to_owned());
                last = Some(name.trim().to_owned());
            }
            (None, Some(name)) => {
                if let Some(value) = all.get_mut(name) {
                    value.push_str(", ");
                    value.push_str(part);
                }
            }
            (None, None) => {}
        }
    }
    all
}

/// `Phoronix Test Suite v10.8.4` and `phoronix-test-suite/10.8.4` as `10.8.4`.
pub(super) fn version(text: &str) -> Option<String> {
    let words = text.split([' ', '/', '-']).map(|word| word.trim_start_matches('v'));
    let version = words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_options() {
        let test = |identifier: &str| Test { identifier: identifier.to_owned(), ..Test::default() };
        assert_eq!(test("pts/fio-1.15.0").profile(), ("fio", Some((1, 15)), true));
        assert_eq!(test("local/hdparm-read-1.0.0").profile(), ("hdparm-read", Some((1, 0)), false));
        assert_eq!(test("aio-stress").profile(), ("aio-stress", None, true));
        let test = Test { description: "Type: Random Read - Disk Target: /mnt/a b".to_owned(), ..Test::default() };
        assert_eq!((test.option("Type"), test.option("Disk Target")), (Some("Random Read"), Some("/mnt/a b")));
        assert_eq!(test.option("Disk"), None);
    }

    #[test]
    fn components_and_versions() {
        let parts = components("Processor: A, B @ 1GHz (2 Cores / 4 Threads), Memory: 8GB");
        assert_eq!(parts["Processor"], "A, B @ 1GHz (2 Cores / 4 Threads)");
        assert_eq!(parts.len(), 2);
        for text in ["Phoronix Test Suite v10.8.4", "phoronix-test-suite/10.8.4", "10.8.4"] {
            assert_eq!(version(text).as_deref(), Some("10.8.4"), "{text}");
        }
    }
}
