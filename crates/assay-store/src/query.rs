//! Queries: how people name records.

use assay_core::medium::MediumKind;

use crate::error::StoreError;

/// A longer query is refused: SQLite limits patterns and expressions too.
const LONGEST: usize = 4096;
const MOST_VALUES: usize = 100;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Query<'q> {
    /// Every record.
    All,
    /// The newest record, or the one that is this many before it.
    Last(u32),
    /// An id or the beginning of one.
    Id(&'q str),
    /// Records that meet all of these conditions.
    Where(Vec<Condition<'q>>),
}

/// A property or label with one of these values; case is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition<'q> {
    pub(crate) property: Property<'q>,
    pub(crate) values: Vec<Pattern<'q>>,
}

/// What a value must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern<'q> {
    /// Exactly this text.
    Whole(&'q str),
    /// This text, where `*` matches any text.
    Wild(&'q str),
}

/// The property of a record that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property<'q> {
    /// Label `model`, the product name or the title of the medium.
    Model,
    /// Label `unit`, or the serial number or CID.
    Unit,
    /// Label `slot`, or the slot of the host.
    Slot,
    /// Name of the suite.
    Suite,
    /// Kind of the medium.
    Kind,
    /// Any label.
    Label(&'q str),
}

impl<'q> Query<'q> {
    /// Parses a query.
    pub(crate) fn parse(text: &'q str) -> Result<Self, StoreError> {
        let bad = |reason| StoreError::BadQuery { query: text.to_owned(), reason };
        if text.len() > LONGEST {
            return Err(too_long(text));
        }
        let trimmed = text.trim();
        match headed(trimmed).next() {
            Some(("all", terms)) => return conditions(terms).map(Self::Where),
            Some((head, _)) if head == "last" || head.starts_with("last~") => {
                return Err(bad("`last` is one record, and takes no conditions"));
            }
            _ if trimmed.contains('=') => return conditions(trimmed).map(Self::Where),
            _ => {}
        }
        match trimmed {
            "" | "all" => Ok(Self::All),
            "last" => Ok(Self::Last(0)),
            _ => match trimmed.strip_prefix("last~") {
                Some(back) => match back.parse() {
                    Ok(back) if !text.contains('+') => Ok(Self::Last(back)),
                    _ => Err(bad("after `last~` comes how many records to go back")),
                },
                None => Ok(Self::Id(trimmed)),
            },
        }
    }
}

/// Positions where `key=value` may begin after a name: the name and the rest, the shortest name first. Empty for a text
/// that is longer than a path and a query.
pub fn headed(text: &str) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    let starts = if text.len() > 2 * LONGEST { Vec::new() } else { key_starts(text) };
    let divided = starts.into_iter().map(|at| (text[..at].trim(), &text[at..]));
    divided.filter(|(head, _)| !head.is_empty())
}

/// Parses a text that consists only of conditions.
pub(crate) fn conditions(text: &str) -> Result<Vec<Condition<'_>>, StoreError> {
    let bad = |reason| StoreError::BadQuery { query: text.to_owned(), reason };
    if text.len() > LONGEST {
        return Err(too_long(text));
    }
    let all: Vec<Condition<'_>> =
        split_pairs(text).into_iter().map(Condition::parse).collect::<Result<_, _>>().map_err(bad)?;
    if all.iter().map(|condition| condition.values.len()).sum::<usize>() > MOST_VALUES {
        return Err(bad("it has more than 100 values"));
    }
    for condition in all.iter().filter(|condition| condition.property == Property::Kind) {
        check_kinds(&condition.values)?;
    }
    Ok(all)
}

/// Refuses a kind that no medium can have.
fn check_kinds(values: &[Pattern<'_>]) -> Result<(), StoreError> {
    for pattern in values {
        if let Pattern::Whole(value) = pattern
            && let value = value.to_ascii_lowercase()
            && value != "unknown"
        {
            value.parse::<MediumKind>().map_err(StoreError::NoKind)?;
        }
    }
    Ok(())
}

fn too_long(text: &str) -> StoreError {
    StoreError::BadQuery { query: text.chars().take(80).collect(), reason: "it is longer than 4096 bytes" }
}

/// Splits a list into queries: at commas, unless white space follows, as in the title of a medium. After a `=` a comma
/// separates values of a query, unless a query begins there that cannot be a value: `unit=1,2,kind=sd,last` are three.
#[must_use]
pub fn divided(list: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut from, mut quoted) = (0, false);
    for (at, c) in list.char_indices() {
        quoted ^= c == '"';
        let rest = list[at..].get(1..).unwrap_or_default();
        let more = rest.chars().next().is_some_and(|next| !next.is_whitespace());
        if c == ',' && !quoted && more && (!list[from..at].contains('=') || begins_query(rest)) {
            all.push(&list[from..at]);
            from = at + 1;
        }
    }
    all.push(&list[from..]);
    all
}

/// Whether a text cannot be a value, since it begins a query.
fn begins_query(text: &str) -> bool {
    let word = text.split(',').next().unwrap_or_default();
    let named = ["last~", "baseline:", "published:"].iter().any(|prefix| word.starts_with(prefix));
    named || ["last", "all"].contains(&word) || begins_with_key(text)
}

/// Splits a text into its `key=value` parts. A value extends over blanks up to a word that is a key with `=`, since
/// model names contain blanks. Quotes keep a value together.
fn split_pairs(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    for at in key_starts(text) {
        if starts.last().is_some_and(|start| text[*start..at].contains('=')) {
            starts.push(at);
        }
    }
    starts.push(text.len());
    starts.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).map(str::trim).collect()
}

/// Positions of words after a blank that are a key with `=`, outside of quotes.
fn key_starts(text: &str) -> Vec<usize> {
    let (mut quoted, mut blank) = (false, false);
    let mut starts = Vec::new();
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        if blank && !quoted && begins_with_key(&text[at..]) {
            starts.push(at);
        }
        blank = c.is_whitespace();
    }
    starts
}

/// Whether letters, digits, `.`, `_` and `-` precede a `=`.
fn begins_with_key(text: &str) -> bool {
    let key = text.split('=').next().filter(|key| key.len() < text.len()).unwrap_or_default();
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || ['.', '_', '-'].contains(&c))
}

impl<'q> Condition<'q> {
    fn parse(word: &'q str) -> Result<Self, &'static str> {
        let (key, value) = word.split_once('=').ok_or("a word before `=` is missing")?;
        let property = match key.trim() {
            "" => return Err("there is no key before `=`"),
            "model" => Property::Model,
            "unit" => Property::Unit,
            "slot" => Property::Slot,
            "suite" => Property::Suite,
            "kind" => Property::Kind,
            // Names of records and files are not part of a key. Labels from elsewhere may contain white space, which
            // needs `label.`.
            key if key.contains(char::is_whitespace) && !key.starts_with("label.") => {
                return Err("a key before `=` has no white space");
            }
            "label." => return Err("there is no key after `label.`"),
            key => Property::Label(key.strip_prefix("label.").unwrap_or(key)),
        };
        Ok(Self { property, values: values(value.trim()) })
    }
}

/// Splits a list into values: at commas, unless white space follows, as in the title of a medium. A quoted value keeps
/// its commas and stars.
fn values(text: &str) -> Vec<Pattern<'_>> {
    let mut all = Vec::new();
    let (mut from, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        let more = text[at..].chars().nth(1).is_some_and(|next| !next.is_whitespace());
        if c == ',' && !quoted && more {
            all.push(pattern(&text[from..at]));
            from = at + 1;
        }
    }
    all.push(pattern(&text[from..]));
    all
}

fn pattern(text: &str) -> Pattern<'_> {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(whole) => Pattern::Whole(whole),
        None if text.contains('*') => Pattern::Wild(text),
        None => Pattern::Whole(text),
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern::{Whole, Wild};
    use super::*;

    fn conditions<'q, const N: usize>(all: [(Property<'q>, &[Pattern<'q>]); N]) -> Query<'q> {
        Query::Where(all.map(|(property, values)| Condition { property, values: values.to_vec() }).into())
    }

    #[test]
    fn queries_are_read() {
        let one = |property, value| conditions([(property, &[Whole(value)])]);
        for (text, query) in [
            ("", Query::All),
            (" all ", Query::All),
            ("last", Query::Last(0)),
            ("last~3", Query::Last(3)),
            ("all kind=sd", one(Property::Kind, "sd")),
            ("0y3k", Query::Id("0y3k")),
            ("model=SanDisk Ultra, 32 GB", one(Property::Model, "SanDisk Ultra, 32 GB")),
            ("kind=sd", one(Property::Kind, "sd")),
            ("label.model=x", one(Property::Label("model"), "x")),
            ("shop=a=b", one(Property::Label("shop"), "a=b")),
            ("label.my shop=a", one(Property::Label("my shop"), "a")),
            ("slot=", one(Property::Slot, "")),
            (r#"shop="a,b *""#, one(Property::Label("shop"), "a,b *")),
            (r#"shop="a b=c" "#, one(Property::Label("shop"), "a b=c")),
            ("unit=1,x*,3 4", conditions([(Property::Unit, &[Whole("1"), Wild("x*"), Whole("3 4")])])),
            (
                "suite=quick  model=SanDisk Ultra* label.x=1, 2",
                conditions([
                    (Property::Suite, &[Whole("quick")]),
                    (Property::Model, &[Wild("SanDisk Ultra*")]),
                    (Property::Label("x"), &[Whole("1, 2")]),
                ]),
            ),
        ] {
            assert_eq!(Query::parse(text).unwrap(), query, "{text}");
        }
    }

    #[test]
    fn lists_of_queries_are_divided() {
        for (list, queries) in [
            ("5f3,9ka", &["5f3", "9ka"][..]),
            ("model=SanDisk Ultra, 32 GB", &["model=SanDisk Ultra, 32 GB"]),
            ("unit=1,unit=2,last", &["unit=1", "unit=2", "last"]),
            ("unit=1,2,kind=sd,all", &["unit=1,2", "kind=sd", "all"]),
            (r#"shop="a,b=c",baseline:x"#, &[r#"shop="a,b=c""#, "baseline:x"]),
            // The store reports what is wrong with it.
            ("last,", &["last,"]),
        ] {
            assert_eq!(divided(list), queries, "{list}");
        }
    }

    #[test]
    fn a_name_stands_before_conditions() {
        for (text, divided) in [
            (
                "published:a model=A B unit=1",
                &[("published:a", "model=A B unit=1"), ("published:a model=A B", "unit=1")][..],
            ),
            ("my results/ unit=1", &[("my results/", "unit=1")]),
            (r#"a/b shop="x y=z""#, &[("a/b", r#"shop="x y=z""#)]),
            ("unit=1", &[]),
            (" unit=1", &[]),
            ("a/b=c", &[]),
        ] {
            assert_eq!(headed(text).collect::<Vec<_>>(), divided, "{text}");
        }
    }

    #[test]
    fn half_a_query_is_refused() {
        let long = format!("model={}", "x".repeat(LONGEST));
        let many = format!("unit={}", ["1"; MOST_VALUES + 1].join(","));
        for text in [
            &many,
            "=x",
            " = ",
            "label.=x",
            "last~",
            "last~x",
            "last unit=1",
            "last~2 unit=1",
            "last~-1",
            "last~+1",
            "last~99999999999",
            &long,
        ] {
            assert!(matches!(Query::parse(text), Err(StoreError::BadQuery { .. })), "{text}");
        }
    }
}
