//! How people name records.

use crate::error::StoreError;

/// A query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Query<'q> {
    /// Every record.
    All,
    /// The newest record, or the one so many before it.
    Last(u32),
    /// An id or the beginning of one.
    Id(&'q str),
    /// A property or label with exactly this value, in any case of letters.
    Is(Property<'q>, &'q str),
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
        let trimmed = text.trim();
        if let Some((key, value)) = trimmed.split_once('=') {
            let property = match key.trim() {
                "" => return Err(bad("there is no key before `=`")),
                "model" => Property::Model,
                "unit" => Property::Unit,
                "slot" => Property::Slot,
                "suite" => Property::Suite,
                "kind" => Property::Kind,
                "label." => return Err(bad("there is no key after `label.`")),
                key => Property::Label(key.strip_prefix("label.").unwrap_or(key)),
            };
            return Ok(Self::Is(property, value.trim()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        for (text, query) in [
            ("", Query::All),
            (" all ", Query::All),
            ("last", Query::Last(0)),
            ("last~3", Query::Last(3)),
            ("0y3k", Query::Id("0y3k")),
            ("model=SanDisk Ultra, 32 GB", Query::Is(Property::Model, "SanDisk Ultra, 32 GB")),
            ("kind=sd", Query::Is(Property::Kind, "sd")),
            ("label.model=x", Query::Is(Property::Label("model"), "x")),
            ("shop=a=b", Query::Is(Property::Label("shop"), "a=b")),
            ("slot=", Query::Is(Property::Slot, "")),
        ] {
            assert_eq!(Query::parse(text).unwrap(), query, "{text}");
        }
    }

    #[test]
    fn half_a_query_is_refused() {
        for text in ["=x", " = ", "label.=x", "last~", "last~x", "last~-1", "last~+1", "last~99999999999"] {
            assert!(matches!(Query::parse(text), Err(StoreError::BadQuery { .. })), "{text}");
        }
    }
}
