//! Questions as forms: a form becomes the words of a command line, which is all that a page can ask.

use assay_core::text::shell;
use maud::{Markup, html};

/// How a field is filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A line of text.
    Line,
    /// Several lines, each a word of its own.
    Lines,
    /// One of several values with their titles; an empty value is that of the command.
    Choice(&'static [(&'static str, &'static str)]),
    /// Yes or no.
    Tick,
}

/// What a field becomes on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Word {
    /// `--name=value`, once for each line.
    Option(&'static str),
    /// `--name`.
    Flag(&'static str),
    /// A query behind the options, once for each line.
    Query,
}

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    /// An example or a rule, in a line.
    pub(crate) hint: &'static str,
    /// What stands in it at first.
    pub(crate) first: &'static str,
    pub(crate) kind: Kind,
    pub(crate) word: Word,
    /// Whether the command needs it.
    pub(crate) needed: bool,
}

/// A question that the program answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Path of its page.
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    /// What it decides, in a sentence.
    pub(crate) lead: &'static str,
    /// The command.
    pub(crate) command: &'static [&'static str],
    pub(crate) fields: &'static [Field],
}

/// Fields of an address or of a form, in their order.
pub(crate) type Pairs = Vec<(String, String)>;

/// Longest text of a field, in bytes: a comparison of hundreds of records by their ids.
const LONGEST_FIELD: usize = 16 << 10;

/// The value of a field; the last of several.
pub(crate) fn value<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

impl Form {
    /// Whether anything was asked: an address without fields shows the empty form.
    pub(crate) fn is_asked(&self, pairs: &[(String, String)]) -> bool {
        self.fields
            .iter()
            .any(|field| field.needed && value(pairs, field.name).is_some_and(|text| !text.trim().is_empty()))
    }

    /// The words of the command; options before `--`, so that no query is taken for one.
    ///
    /// # Errors
    /// What is missing or too long.
    pub(crate) fn words(&self, pairs: &[(String, String)]) -> Result<Vec<String>, String> {
        let mut words: Vec<String> = self.command.iter().map(|word| (*word).to_owned()).collect();
        let mut queries = Vec::new();
        for field in self.fields {
            let given: Vec<&str> =
                pairs.iter().filter(|(name, _)| name == field.name).map(|(_, value)| value.as_str()).collect();
            if given.iter().any(|text| text.len() > LONGEST_FIELD || text.contains('\0')) {
                return Err(format!("{}: the text is longer than {LONGEST_FIELD} bytes, or no text", field.label));
            }
            let lines: Vec<&str> = match field.kind {
                Kind::Line | Kind::Choice(_) => {
                    given.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect()
                }
                Kind::Lines => {
                    given.iter().flat_map(|text| text.lines()).map(str::trim).filter(|text| !text.is_empty()).collect()
                }
                Kind::Tick => given,
            };
            if field.needed && lines.is_empty() {
                return Err(format!("{}: fill this in; {}", field.label, field.hint));
            }
            match field.word {
                Word::Option(name) => words.extend(lines.iter().map(|line| format!("{name}={line}"))),
                Word::Flag(name) if !lines.is_empty() => words.push(name.to_owned()),
                Word::Flag(_) => {}
                Word::Query => queries.extend(lines.iter().map(|line| (*line).to_owned())),
            }
        }
        if !queries.is_empty() {
            words.push("--".to_owned());
            words.extend(queries);
        }
        Ok(words)
    }

    /// The form with what was filled in.
    pub(crate) fn markup(&self, pairs: &[(String, String)]) -> Markup {
        let asked = self.is_asked(pairs);
        html! {
            form.question method="get" action=(self.path) {
                div.fields {
                    @for field in self.fields { (field.markup(pairs, asked)) }
                }
                p { button.main type="submit" { (self.title) } }
            }
        }
    }
}

impl Field {
    fn markup(&self, pairs: &[(String, String)], asked: bool) -> Markup {
        let id = format!("f-{}", self.name);
        let hint = format!("{id}-hint");
        let given: Vec<&str> =
            pairs.iter().filter(|(name, _)| name == self.name).map(|(_, value)| value.as_str()).collect();
        let text = if asked || !given.is_empty() { given.join("\n") } else { self.first.to_owned() };
        html! {
            div.field.tick[matches!(self.kind, Kind::Tick)] {
                label for=(id) { (self.label) @if self.needed { span.needed { " (needed)" } } }
                @match self.kind {
                    Kind::Line => input type="text" id=(id) name=(self.name) value=(text) required[self.needed] autocomplete="off" spellcheck="false" aria-describedby=(hint);,
                    Kind::Lines => textarea id=(id) name=(self.name) rows="4" required[self.needed] spellcheck="false" aria-describedby=(hint) { (text) },
                    Kind::Choice(values) => select id=(id) name=(self.name) aria-describedby=(hint) {
                        @for (value, title) in values { option value=(value) selected[*value == text] { (title) } }
                    },
                    Kind::Tick => input type="checkbox" id=(id) name=(self.name) value="yes" checked[!given.is_empty()] aria-describedby=(hint);,
                }
                @if !self.hint.is_empty() { p.hint id=(hint) { (self.hint) } }
            }
        }
    }
}

/// The command as a user would type it.
pub(crate) fn command_line(words: &[String]) -> String {
    let plain = words.iter().skip_while(|word| *word != "--").skip(1).all(|query| !query.starts_with('-'));
    let mut line = "assay".to_owned();
    let mut behind = false;
    for word in words {
        if word == "--" && !behind {
            behind = true;
            if !plain {
                line.push_str(" --");
            }
            continue;
        }
        line.push(' ');
        line.push_str(&if behind { shell(word) } else { quoted(word) });
    }
    line
}

/// `--load='random read 4 KiB'` instead of `'--load=random read 4 KiB'`.
fn quoted(word: &str) -> String {
    match word.split_once('=').filter(|(name, _)| name.starts_with("--")) {
        Some((name, value)) if value.starts_with('-') => format!("{name}={}", shell(value)),
        Some((name, value)) => format!("{name} {}", shell(value)),
        None => shell(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form {
        path: "/x",
        title: "X",
        lead: "",
        command: &["advise", "nas"],
        fields: &[
            Field {
                name: "records",
                label: "Records",
                hint: "like all",
                first: "all",
                kind: Kind::Lines,
                word: Word::Query,
                needed: true,
            },
            Field {
                name: "nodes",
                label: "Nodes",
                hint: "",
                first: "",
                kind: Kind::Line,
                word: Word::Option("--nodes"),
                needed: false,
            },
            Field {
                name: "all",
                label: "All",
                hint: "",
                first: "",
                kind: Kind::Tick,
                word: Word::Flag("--all"),
                needed: false,
            },
        ],
    };

    fn pairs(all: &[(&str, &str)]) -> Pairs {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn nothing_that_is_filled_in_becomes_another_option() {
        let asked =
            pairs(&[("records", "--output=x\n -o y "), ("nodes", "--all"), ("other", "--json"), ("all", "yes")]);
        let expected = ["advise", "nas", "--nodes=--all", "--all", "--", "--output=x", "-o y"];
        assert_eq!(FORM.words(&asked).unwrap(), expected);
        assert_eq!(
            command_line(&FORM.words(&asked).unwrap()),
            "assay advise nas --nodes=--all --all -- --output=x '-o y'"
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(!FORM.is_asked(&pairs(&[("nodes", "28")])));
        assert!(FORM.words(&pairs(&[("nodes", "28")])).unwrap_err().starts_with("Records: fill this in"));
        assert!(FORM.words(&pairs(&[("records", "a\0b")])).is_err());
        assert!(FORM.words(&pairs(&[("records", &"x".repeat(LONGEST_FIELD + 1))])).is_err());
    }
}
