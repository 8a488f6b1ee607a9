//! How people name records.

use crate::error::StoreError;

/// A longer query is refused: SQLite bounds patterns and expressions too.
const LONGEST: usize = 4096;
const MOST_VALUES: usize = 100;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Query<'q> {
    /// Every record.
    All,
    /// The newest record, or the one so many before it.
    Last(u32),
    /// An id or the beginning of one.
    Id(&'q str),
    /// Records that keep all of these conditions.
    Where(Vec<Condition<'q>>),
}

/// A property or label with one of these values, in any case of letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition<'q> {
    pub(crate) property: Property<'q>,
    pub(crate) values: Vec<Pattern<'q>>,
}

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern<'q> {
    /// This.
    Whole(&'q str),
    /// This, where `*` stands for any text.
    Wild(&'q str),
}

/// What a record is asked for.
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
    /// Reads a query.
    pub(crate) fn parse(text: &'q str) -> Result<Self, StoreError> {
        let bad = |reason| StoreError::BadQuery { query: text.to_owned(), reason };
        if text.len() > LONGEST {
            let query = text.chars().take(80).collect();
            return Err(StoreError::BadQuery { query, reason: "it is longer than 4096 bytes" });
        }
        let trimmed = text.trim();
        if trimmed.contains('=') {
            let all: Vec<Condition<'_>> =
                words(trimmed).into_iter().map(Condition::parse).collect::<Result<_, _>>().map_err(bad)?;
            if all.iter().map(|condition| condition.values.len()).sum::<usize>() > MOST_VALUES {
                return Err(bad("it has more than 100 values"));
            }
            return Ok(Self::Where(all));
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

/// The queries of a list: divided at commas, unless white space follows, as in the title of a medium. After a `=` a comma
/// divides values of a query, unless a query begins there that is no value: `unit=1,2,kind=sd,last` are three.
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

/// Whether a text cannot be a value.
fn begins_query(text: &str) -> bool {
    let word = text.split(',').next().unwrap_or_default();
    let named = ["last~", "baseline:", "published:"].iter().any(|prefix| word.starts_with(prefix));
    named || ["last", "all"].contains(&word) || begins_with_key(text)
}

/// The `key=value` of a text. A value goes on over blanks until a word that is a key with `=`: a model's name has
/// blanks. Quotes hold a value together.
fn words(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let (mut quoted, mut blank) = (false, false);
    for (at, c) in text.char_indices() {
        quoted ^= c == '"';
        let complete = starts.last().is_some_and(|start| text[*start..at].contains('='));
        if blank && !quoted && complete && begins_with_key(&text[at..]) {
            starts.push(at);
        }
        blank = c.is_whitespace();
    }
    starts.push(text.len());
    starts.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).map(str::trim).collect()
}

/// Whether letters, digits, `.`, `_` and `-` stand before a `=`.
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
            "label." => return Err("there is no key after `label.`"),
            key => Property::Label(key.strip_prefix("label.").unwrap_or(key)),
        };
        Ok(Self { property, values: values(value.trim()) })
    }
}

/// The values of a list: divided at commas, unless white space follows, as in the title of a medium. One in quotes
/// holds commas and stars as they are.
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

impl Pattern<'_> {
    /// The comparison in SQL, and what stands in it for `?`: the value itself, or a pattern of `LIKE`, in which `%` and
    /// `_` are wildcards, and which is told by `\` that they are none here. Both know ASCII letters in any case.
    pub(crate) fn sql(&self) -> (&'static str, String) {
        match self {
            Self::Whole(value) => ("= ? COLLATE NOCASE", (*value).to_owned()),
            Self::Wild(pattern) => {
                let mut like = String::with_capacity(pattern.len());
                for c in pattern.chars() {
                    match c {
                        '*' => like.push('%'),
                        '%' | '_' | '\\' => like.extend(['\\', c]),
                        _ => like.push(c),
                    }
                }
                (r"LIKE ? ESCAPE '\'", like)
            }
        }
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
            ("0y3k", Query::Id("0y3k")),
            ("model=SanDisk Ultra, 32 GB", one(Property::Model, "SanDisk Ultra, 32 GB")),
            ("kind=sd", one(Property::Kind, "sd")),
            ("label.model=x", one(Property::Label("model"), "x")),
            ("shop=a=b", one(Property::Label("shop"), "a=b")),
            ("my shop=a", one(Property::Label("my shop"), "a")),
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
            // The store says what is wrong with it.
            ("last,", &["last,"]),
        ] {
            assert_eq!(divided(list), queries, "{list}");
        }
    }

    #[test]
    fn half_a_query_is_refused() {
        let long = format!("model={}", "x".repeat(LONGEST));
        let many = format!("unit={}", ["1"; MOST_VALUES + 1].join(","));
        for text in [&many, "=x", " = ", "label.=x", "last~", "last~x", "last~-1", "last~+1", "last~99999999999", &long]
        {
            assert!(matches!(Query::parse(text), Err(StoreError::BadQuery { .. })), "{text}");
        }
    }

    #[test]
    fn a_wildcard_of_sql_is_only_text() {
        assert_eq!(Wild("50%_\\*").sql().1, r"50\%\_\\%");
    }
}
