//! Numbers with units, as people write them on the command line.

use assay_analysis::advise::{Link, Price, PriceError};
use assay_core::units::{Bytes, UnitError, parse_duration};

fn number(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).filter(|value| *value > 0.0).ok_or_else(|| "write a number above zero, like 130".to_owned())
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text).ok_or_else(|| "write a number, zero or more, like 0.30".to_owned())
}

/// `50%` or `0.5`.
pub(super) fn share_or_none(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => number(percent.trim_end()).map(|v| v / 100.0),
        None => number(text),
    };
    value.filter(|share| *share <= 1.0).ok_or_else(|| "write a share from 0% to 100%, like 50%".to_owned())
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let value = share_or_none(text)?;
    if value > 0.0 { Ok(value) } else { Err("write a share above 0%, up to 100%".to_owned()) }
}

/// A share that may be above one.
pub(super) fn margin(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => number(percent.trim_end()).map(|v| v / 100.0),
        None => number(text),
    };
    value.ok_or_else(|| "write a share, like 10%".to_owned())
}

pub(super) fn size(text: &str) -> Result<f64, String> {
    let bytes: Bytes = text.parse().map_err(|e: UnitError| e.to_string())?;
    if bytes.0 == 0 { Err("a size has to be above zero".to_owned()) } else { Ok(bytes.0 as f64) }
}

/// Bytes per second: `8MiB/s`, `1.6MB/s`.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let bytes = text.strip_suffix("/s").ok_or("write bytes per second, like 8MiB/s or 1.6MB/s")?;
    size(bytes)
}

/// Bits per second are a line rate, bytes per second a payload.
pub(super) fn link(text: &str) -> Result<Link, String> {
    const HELP: &str = "write a line rate like 1Gbit, or a payload like 125MB/s";
    let bare = text.strip_suffix("/s").unwrap_or(text);
    let bits = bare.strip_suffix("bit").or_else(|| bare.strip_suffix("bps"));
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

pub(super) fn price(text: &str) -> Result<Price, String> {
    text.parse().map_err(|e: PriceError| e.to_string())
}

pub(super) fn model_price(text: &str) -> Result<(String, Price), String> {
    let (model, amount) = text.rsplit_once('=').ok_or("write MODEL=PRICE, like 'SanDisk Ultra A1=25USD'")?;
    Ok((model.to_owned(), price(amount)?))
}

pub(super) fn class(text: &str) -> Result<&'static str, String> {
    assay_analysis::advise::class_named(text).ok_or_else(|| {
        let known: Vec<&str> = assay_core::classes::CLASSES.iter().map(|c| c.name).collect();
        format!("there are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_read_by_their_unit() {
        for (text, rate) in [("1Gbit", 125e6), ("1Gbit/s", 125e6), ("2.5 Gbit/s", 312.5e6), ("100Mbps", 12.5e6)] {
            assert_eq!(link(text), Ok(Link::Line(rate)), "{text}");
        }
        assert_eq!(link("125MB/s"), Ok(Link::Payload(125e6)));
        for bad in ["", "1", "1G", "Gbit", "0Gbit", "-1Gbit", "nanGbit", "infMbit", "1e400Gbit", "0MB/s"] {
            assert!(link(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_percent_or_fractions() {
        assert_eq!(share_or_none("50%"), Ok(0.5));
        assert_eq!(share_or_none("0.5"), Ok(0.5));
        assert_eq!(share("100%"), Ok(1.0));
        for bad in ["", "101%", "-1%", "NaN", "nan%", "half", "inf"] {
            assert!(share_or_none(bad).is_err(), "{bad}");
        }
        assert!(share("0%").is_err() && share_or_none("0%").is_ok());
        assert_eq!(margin("150%"), Ok(1.5));
        assert_eq!(rate("8MiB/s"), Ok(8_388_608.0));
    }
}
