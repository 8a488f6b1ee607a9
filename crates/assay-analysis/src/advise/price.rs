//! Prices and powers as people label their media.

use std::str::FromStr;

use assay_core::record::Record;
use assay_core::text::quoted;
use serde::Serialize;

use super::error::AdviseError;

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// How much; above zero.
    pub amount: f64,
    /// Of what, as it was written: `USD`, `EUR`, `$`.
    pub currency: String,
}

/// A text that is no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a price; write an amount and a currency, like 12.90USD", quoted(.0))]
pub struct PriceError(pub String);

/// Longest name of a currency.
const LONGEST: usize = 8;

impl FromStr for Price {
    type Err = PriceError;

    /// `12.90USD`, `12.90 USD`, `USD 12.90`, `$25`.
    fn from_str(text: &str) -> Result<Self, PriceError> {
        let fail = || PriceError(text.to_owned());
        let part = |number: bool| -> String {
            text.chars().filter(|c| (c.is_ascii_digit() || *c == '.') == number && !c.is_whitespace()).collect()
        };
        let (number, currency) = (part(true), part(false));
        // The number is in one piece, before or after the currency.
        let whole = text.replace(char::is_whitespace, "");
        let tidy = whole == format!("{number}{currency}") || whole == format!("{currency}{number}");
        let named = !currency.is_empty()
            && currency.chars().count() <= LONGEST
            && currency.chars().all(|c| c.is_alphabetic() || "$€£¥".contains(c));
        let amount: f64 = number.parse().map_err(|_| fail())?;
        if !tidy || !named || !amount.is_finite() || amount <= 0.0 {
            return Err(fail());
        }
        Ok(Self { amount, currency: currency.to_uppercase() })
    }
}

/// The price that the records of a model agree on, if any has one.
pub(super) fn price_of(model: &str, records: &[&Record]) -> Result<Option<Price>, AdviseError> {
    let fail = |problem: String| AdviseError::Label { model: model.to_owned(), problem };
    let mut found: Option<Price> = None;
    for text in records.iter().filter_map(|r| r.labels.get("price")) {
        let price: Price = text.parse().map_err(|e: PriceError| fail(format!("label price: {e}")))?;
        if found.as_ref().is_some_and(|known| *known != price) {
            return Err(fail("its records have different prices; say which with --price 'MODEL=12.90USD'".to_owned()));
        }
        found = Some(price);
    }
    Ok(found)
}

/// Watts that the records of a model agree on, from the label `power`: `1.2W`, `150mW`, `0.3`.
pub(super) fn watts_of(model: &str, records: &[&Record]) -> Result<Option<f64>, AdviseError> {
    let mut found: Option<f64> = None;
    for text in records.iter().filter_map(|r| r.labels.get("power")) {
        let bare = text.trim();
        let (number, factor) = match bare.strip_suffix("mW") {
            Some(number) => (number, 1e-3),
            None => (bare.strip_suffix('W').unwrap_or(bare), 1.0),
        };
        let watts = number.trim().parse::<f64>().ok().map(|w| w * factor).filter(|w| w.is_finite() && *w >= 0.0);
        let problem = match (watts, found) {
            (None, _) => Some(format!("label power: {} is not a power; write watts, like power=1.2W", quoted(text))),
            (Some(watts), Some(known)) if watts != known => {
                Some("its records have different powers; make their labels power equal".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(AdviseError::Label { model: model.to_owned(), problem });
        }
        found = watts;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_people_write_them() {
        for text in ["12.90USD", "12.90 usd", "USD 12.90"] {
            assert_eq!(text.parse(), Ok(Price { amount: 12.9, currency: "USD".to_owned() }), "{text}");
        }
        assert_eq!("$25".parse(), Ok(Price { amount: 25.0, currency: "$".to_owned() }));
        for bad in ["", "25", "USD", "0USD", "-3USD", "1.2.3USD", "NaNUSD", "1U2SD", "12,90EUR", "inf", "25US/D"] {
            assert!(bad.parse::<Price>().is_err(), "{bad}");
        }
    }
}
