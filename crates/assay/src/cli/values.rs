//! Numbers with units, as people write them on the command line: the same for every option.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::time::Duration;

use assay_analysis::Quantity;
use assay_analysis::advise::{Link, Price, PriceError};
use assay_core::text::quoted;
use assay_core::units::{Bytes, UnitError, grouped, parse_duration, parse_rate, parse_share, trimmed};
use assay_fio::Amount;
use assay_pictures::PictureKind;
use assay_report::ReportFormat;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// A suite by name or file; completions offer the names, and any text is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct SuiteName;

impl TypedValueParser for SuiteName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(crate::suites::BUILT_IN.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

/// A picture by its name.
pub(super) fn picture() -> impl TypedValueParser<Value = PictureKind> {
    let names = PictureKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.help()));
    PossibleValuesParser::new(names).try_map(|name| {
        PictureKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("no picture is named {name}"))
    })
}

/// A format of reports by its name.
pub(super) fn format() -> impl TypedValueParser<Value = ReportFormat> {
    let named = |format: &ReportFormat| PossibleValue::new(format.about().0).help(format.about().1);
    PossibleValuesParser::new(ReportFormat::ALL.iter().map(named)).try_map(|name| {
        let found = ReportFormat::ALL.iter().find(|format| format.about().0 == name);
        found.copied().ok_or_else(|| format!("no format is named {name}"))
    })
}

/// A figure by its name.
pub(super) fn figure() -> impl TypedValueParser<Value = Quantity> {
    let names = Quantity::ALL.map(|quantity| PossibleValue::new(quantity.name()).help(quantity.meaning()));
    PossibleValuesParser::new(names).try_map(|name| Quantity::parse(&name))
}

fn number(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

/// A whole number in a range, which the refusal names.
pub(super) fn count(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let (least, most) = (range.start(), range.end());
        let known = text.trim().parse::<u32>().ok().filter(|number| range.contains(number));
        known.ok_or_else(|| format!("write a whole number, {least} to {}", grouped(i64::from(*most))))
    }
}

/// The start of random numbers: any whole number that a computer counts in one word.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("write a whole number, 0 to {}", u64::MAX))
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).filter(|value| *value > 0.0).ok_or_else(|| "write a number above zero, like 130".to_owned())
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text).ok_or_else(|| "write a number, zero or more, like 0.30".to_owned())
}

/// A share in a range, like `5%` or `0.05`.
pub(super) fn share(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let share = parse_share(text).map_err(|e| e.to_string())?;
        if range.contains(&share) {
            return Ok(share);
        }
        let [least, most] = [range.start(), range.end()].map(|end| trimmed(end * 100.0, 2));
        Err(format!("write a share from {least}% to {most}%, like 5% or 0.05"))
    }
}

pub(super) fn size(text: &str) -> Result<f64, String> {
    let bytes: Bytes = text.parse().map_err(|e: UnitError| e.to_string())?;
    if bytes.0 == 0 { Err("a size has to be above zero".to_owned()) } else { Ok(bytes.0 as f64) }
}

/// A size in bytes or in percent of the medium: `1GiB`, `50%`.
pub(super) fn amount(text: &str) -> Result<Amount, String> {
    match text.trim().ends_with('%') {
        true => share(0.0001..=1.0)(text).map(|share| Amount::Percent(share * 100.0)),
        false => size(text).map(|bytes| Amount::Bytes(bytes as u64)),
    }
}

/// Bytes per second: `8MiB/s`, `1.6MB/s`.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    parse_rate(text).map_err(|e| e.to_string())
}

/// `bus=45MB/s`, in bytes per second.
pub(super) fn what_if(text: &str) -> Result<f64, String> {
    const HELP: &str = "write bus= and a rate, like bus=45MB/s";
    rate(text.strip_prefix("bus=").ok_or(HELP)?).map_err(|_| HELP.to_owned())
}

/// Bits per second are a line rate, bytes per second a payload.
pub(super) fn link(text: &str) -> Result<Link, String> {
    const HELP: &str = "write a line rate like 1Gbit, or a payload like 125MB/s";
    let bare = text.strip_suffix("/s").unwrap_or(text);
    let bits = ["bit", "bps", "bE", "b"].iter().find_map(|ending| bare.strip_suffix(ending));
    let Some(bits) = bits.map(str::trim_end) else {
        return rate(text).map(Link::Payload).map_err(|_| HELP.to_owned());
    };
    let (number, factor) = match bits.char_indices().last() {
        Some((at, 'k' | 'K')) => (&bits[..at], 1e3),
        Some((at, 'M')) => (&bits[..at], 1e6),
        Some((at, 'G')) => (&bits[..at], 1e9),
        Some((at, 'T')) => (&bits[..at], 1e12),
        _ => (bits, 1.0),
    };
    positive(number.trim_end()).map(|value| Link::Line(value * factor / 8.0)).map_err(|_| HELP.to_owned())
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let value = parse_duration(text).map_err(|e| e.to_string())?.as_secs_f64();
    if value > 0.0 { Ok(value) } else { Err("a time has to be above zero".to_owned()) }
}

/// A time in a range, which the refusal names.
pub(super) fn time(
    range: RangeInclusive<Duration>,
    words: &'static str,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let time = parse_duration(text).map_err(|e| e.to_string())?;
        if range.contains(&time) { Ok(time) } else { Err(format!("must be {words}")) }
    }
}

/// A time of day with its zone.
pub(super) fn time_of_day(text: &str) -> Result<jiff::Timestamp, String> {
    text.trim().parse().map_err(|_| "write date, time and zone, like 2026-11-23T12:00:00Z".to_owned())
}

/// A time in minutes; without its unit it would be taken for minutes by some and for seconds by others.
pub(super) fn minutes(text: &str) -> Result<f64, String> {
    if text.trim().parse::<f64>().is_ok() {
        return Err("say the unit, like 1m or 90s".to_owned());
    }
    parse_duration(text).map(|time| time.as_secs_f64() / 60.0).map_err(|e| e.to_string())
}

pub(super) fn price(text: &str) -> Result<Price, String> {
    text.parse().map_err(|e: PriceError| e.to_string())
}

pub(super) fn model_price(text: &str) -> Result<(String, Price), String> {
    let (model, amount) = text.rsplit_once('=').ok_or("write MODEL=PRICE, like 'SanDisk Ultra A1=25USD'")?;
    Ok((model.to_owned(), price(amount)?))
}

pub(super) fn class(text: &str) -> Result<&'static str, String> {
    assay_analysis::advise::class_named(text).ok_or_else(|| {
        let known: Vec<&str> = assay_core::medium::CLASSES.iter().map(|c| c.name).collect();
        format!("there are {}", known.join(", "))
    })
}

/// A percentile as people write it, `99.9`, as a share.
pub(crate) fn percentile(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_start_matches('p').parse::<f64>().ok();
    let inside = number.filter(|percent| *percent > 0.0 && *percent < 100.0);
    inside
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("{} is not a percentile; write a number between 0 and 100, like 99.9", quoted(text)))
}

/// After how long without an answer a medium is taken for hung.
pub(super) fn hang_after(text: &str) -> Result<Duration, String> {
    time(Duration::from_secs(5)..=Duration::from_secs(600), "5s to 10m")(text)
}

/// How long nodes have to get ready.
pub(super) fn ready_within(text: &str) -> Result<Duration, String> {
    time(Duration::from_secs(5)..=Duration::from_secs(24 * 3600), "5s to 24h")(text)
}

/// A label that a record is given, or, without a value, loses.
pub(super) fn label_or_none(text: &str) -> Result<(String, Option<String>), String> {
    match text.strip_suffix('=') {
        Some(key) => label(&format!("{key}=-")).map(|(key, _)| (key, None)),
        None => label(text).map(|(key, value)| (key, Some(value))),
    }
}

/// A name and a value that the user gives a record.
pub(super) fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, like slot=7")?;
    // As a query writes it.
    let key = key.strip_prefix("label.").unwrap_or(key);
    if key.is_empty() || key.len() > 64 {
        return Err("a key has 1 to 64 letters".to_owned());
    }
    if !key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(format!("key `{key}` may hold only letters, digits, `-`, `_` and `.`"));
    }
    if value.trim().is_empty() || value.len() > 256 {
        return Err("a value has 1 to 256 bytes, and more than blanks".to_owned());
    }
    if key == "price" {
        let _: Price = value.parse().map_err(|error: PriceError| error.to_string())?;
    }
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_read_by_their_unit() {
        for (text, rate) in [
            ("1Gbit", 125e6),
            ("1Gbit/s", 125e6),
            ("2.5 Gbit/s", 312.5e6),
            ("100Mbps", 12.5e6),
            ("1Gb", 125e6),
            ("2.5GbE", 312.5e6),
        ] {
            assert_eq!(link(text), Ok(Link::Line(rate)), "{text}");
        }
        assert_eq!(link("125MB/s"), Ok(Link::Payload(125e6)));
        for bad in ["", "1", "1G", "Gbit", "0Gbit", "-1Gbit", "nanGbit", "infMbit", "1e400Gbit", "0MB/s"] {
            assert!(link(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_have_a_range_that_the_refusal_names() {
        let margin = share(0.0..=0.5);
        for text in ["3%", "3 %", "0.03"] {
            assert_eq!(margin(text), Ok(0.03), "{text}");
        }
        assert_eq!(margin("51%").unwrap_err(), "write a share from 0% to 50%, like 5% or 0.05");
        assert_eq!(share(0.001..=0.9999)("100%").unwrap_err(), "write a share from 0.1% to 99.99%, like 5% or 0.05");
        assert!(margin("3").unwrap_err().contains("`3` is not a share"));
    }

    #[test]
    fn whole_numbers_have_a_range_that_the_refusal_names() {
        let repeats = count(1..=1000);
        assert_eq!(["1", "1000", " 7 "].map(&repeats), [Ok(1), Ok(1000), Ok(7)]);
        for bad in ["0", "1001", "99999999999999999999", "-1", "1.5", "", "many"] {
            assert_eq!(repeats(bad).unwrap_err(), "write a whole number, 1 to 1 000", "{bad}");
        }
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert!(seed("18446744073709551616").unwrap_err().contains("0 to 18446744073709551615"));
    }

    #[test]
    fn a_time_of_day_has_a_date_and_a_zone() {
        assert!(time_of_day("2026-11-23T12:00:00Z").is_ok() && time_of_day(" 2026-11-23 12:00:00+01:00").is_ok());
        for bad in ["tomorrow", "12:00", "2026-11-23", "2026-11-23T12:00:00", ""] {
            assert!(time_of_day(bad).unwrap_err().contains("date, time and zone"), "{bad}");
        }
    }

    #[test]
    fn minutes_need_their_unit() {
        assert_eq!((minutes("90s"), minutes("1m"), minutes("2 min")), (Ok(1.5), Ok(1.0), Ok(2.0)));
        assert!(minutes("2").unwrap_err().contains("unit") && minutes("-1m").is_err());
    }
}
