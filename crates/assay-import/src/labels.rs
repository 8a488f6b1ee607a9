//! Labels from the path of a file.

use std::collections::BTreeMap;

use assay_core::medium::MediumKind;
use assay_core::text::quoted;
use regex_lite::Regex;

/// A pattern of paths, like `{model}/{unit}/output_{run}.txt`: a name in braces is a label, whose value is one component
/// of the path or a part of one; `*` stands for anything within a component. It is matched with the end of the path.
#[derive(Debug, Clone)]
pub struct PathPattern {
    text: String,
    /// None where the text stands for itself.
    regex: Option<Regex>,
    labels: Vec<String>,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}; say it like {{model}}/{{unit}}/output_{{run}}.txt", quoted(.pattern))]
pub struct PathError {
    pattern: String,
    reason: String,
}

impl PathPattern {
    /// Reads a pattern that names labels.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse(pattern: &str) -> Result<Self, PathError> {
        let parsed = Self::parse_any(pattern)?;
        if parsed.labels.is_empty() {
            return Err(PathError { pattern: pattern.to_owned(), reason: "it names no label".to_owned() });
        }
        Ok(parsed)
    }

    /// Reads a pattern, which may name no label.
    pub(crate) fn parse_any(pattern: &str) -> Result<Self, PathError> {
        let bad = |reason: &str| PathError { pattern: pattern.to_owned(), reason: reason.to_owned() };
        let mut regex = "(?:^|/)".to_owned();
        let mut labels: Vec<String> = Vec::new();
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            match c {
                '{' => {
                    let (name, after) = rest[1..].split_once('}').ok_or_else(|| bad("a brace is not closed"))?;
                    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                    if name.is_empty() || !name.chars().all(word) {
                        return Err(bad("a label is made of small letters, digits and _"));
                    }
                    if labels.iter().any(|label| label == name) {
                        return Err(bad("a label stands there twice"));
                    }
                    regex += "([^/]+?)";
                    labels.push(name.to_owned());
                    rest = after;
                }
                '*' => {
                    regex += "[^/]*?";
                    rest = &rest[1..];
                }
                c => {
                    regex += &regex_lite::escape(c.encode_utf8(&mut [0; 4]));
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        if pattern.is_empty() {
            return Err(bad("it is empty"));
        }
        regex.push('$');
        let plain = !pattern.contains(['{', '*']);
        let regex = (!plain).then(|| Regex::new(&regex)).transpose().map_err(|_| bad("it is too long"))?;
        Ok(Self { text: pattern.to_owned(), regex, labels })
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The last component of the paths that are like it, where it stands for itself.
    pub(crate) fn name(&self) -> Option<&str> {
        self.regex.is_none().then(|| last_part(&self.text))
    }

    /// The labels of a path; `None` where it is not like the pattern.
    #[must_use]
    pub fn labels(&self, path: &str) -> Option<BTreeMap<String, String>> {
        let Some(regex) = &self.regex else {
            let before = path.strip_suffix(self.text.as_str())?;
            return (before.is_empty() || before.ends_with('/')).then(BTreeMap::new);
        };
        let found = regex.captures(path)?;
        let value = |at: usize| found.get(at + 1).map_or("", |part| part.as_str()).to_owned();
        Some(self.labels.iter().enumerate().map(|(at, name)| (name.clone(), value(at))).collect())
    }
}

/// The last component of a path.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

// What is said of a file beside what it holds.

/// What is said of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Labels of its records.
    pub labels: BTreeMap<String, String>,
    /// Where they were measured.
    pub host: Option<String>,
    /// What was measured.
    pub kind: Option<MediumKind>,
    /// Loads whose figures are doubtful, each with the reason, which may be empty.
    pub doubtful: Vec<(String, String)>,
    /// The row of the sheet that says it, from 0; `None` where no row does.
    pub row: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_the_end_of_a_path() {
        let pattern = PathPattern::parse("{model}/{unit}/output_{run}.txt").unwrap();
        let labels = pattern.labels("/home/x/results/SanDisk Ultra/3/output_5.txt").unwrap();
        let got: Vec<(&str, &str)> = labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(got, [("model", "SanDisk Ultra"), ("run", "5"), ("unit", "3")]);
        assert_eq!(pattern.labels("output_5.txt"), None);
        assert_eq!(pattern.labels("a/b/output_5.txt.bak"), None);
        let any = PathPattern::parse("{model}_*.log").unwrap();
        assert_eq!(any.labels("x/EVO_run1.log").unwrap()["model"], "EVO");
        let plain = PathPattern::parse_any("b/1.txt").unwrap();
        let like = |path: &str| plain.labels(path).is_some();
        assert!(like("b/1.txt") && like("a/b/1.txt") && !like("ab/1.txt") && !like("1.txt") && !like("b/1.txt.bak"));
        assert_eq!(PathPattern::parse("a.b/{unit}").unwrap().labels("aXb/1"), None, "a point is a point");
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for bad in ["", "plain.txt", "{model", "{}", "{Model}", "{a}/{a}"] {
            assert!(PathPattern::parse(bad).is_err(), "{bad}");
        }
    }
}
