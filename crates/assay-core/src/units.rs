//! Sizes, rates and durations: how people write them and how they are shown.
//!
//! Inside, everything is bytes, nanoseconds and operations per second. People see MB/s (10^6),
//! MiB (2^20), IOPS, µs and ms.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::text::quoted;

/// 2^10 bytes.
pub const KIB: u64 = 1 << 10;
/// 2^20 bytes.
pub const MIB: u64 = 1 << 20;
/// 2^30 bytes.
pub const GIB: u64 = 1 << 30;

/// A time in nanoseconds, as records have it; the most that fits for a longer one.
#[must_use]
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A size in bytes, written `4KiB`, `4k` (binary, as fio does), `1MB` (decimal) or `4096`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Why a size, duration or percentage could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nothing was written.
    #[error("is empty; write a size like 4KiB, 1MiB or 2GiB")]
    Empty,
    /// No number at the start.
    #[error("{} is not a size; write a number and a unit, like 4KiB, 1MiB or 2GB", quoted(.0))]
    NotASize(String),
    /// The unit is unknown.
    #[error("{} has an unknown unit; use B, k/KiB, M/MiB, G/GiB, T/TiB or the decimal kB, MB, GB, TB", quoted(.0))]
    UnknownUnit(String),
    /// Not a whole number of bytes, or more than 2^64.
    #[error("{} is not a whole number of bytes that fits in 64 bits", quoted(.0))]
    OutOfRange(String),
    /// Not a duration.
    #[error("{} is not a duration; write 500ms, 90s, 10m or 1h30m", quoted(.0))]
    NotADuration(String),
    /// Not a rate.
    #[error("{} is not a rate; write bytes per second above zero, like 23MB/s or 8MiB/s", quoted(.0))]
    NotARate(String),
    /// Not a share.
    #[error("{} is not a share; write it like 5% or 0.05", quoted(.0))]
    NotAShare(String),
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(UnitError::Empty);
        }
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let factor = match unit.trim() {
            "" | "B" | "b" => 1u64,
            "k" | "K" | "ki" | "Ki" | "KiB" | "kiB" | "kib" => KIB,
            "m" | "M" | "mi" | "Mi" | "MiB" | "mib" => MIB,
            "g" | "G" | "gi" | "Gi" | "GiB" | "gib" => GIB,
            "t" | "T" | "ti" | "Ti" | "TiB" | "tib" => GIB * 1024,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return Err(UnitError::UnknownUnit(trimmed.to_owned())),
        };
        let bytes = match number.split_once('.') {
            None => number.parse::<u64>().map_err(|_| UnitError::NotASize(trimmed.to_owned()))?.checked_mul(factor),
            Some((whole, fraction)) => exact_fraction(whole, fraction, factor),
        };
        bytes.map(Bytes).ok_or_else(|| UnitError::OutOfRange(trimmed.to_owned()))
    }
}

/// `whole.fraction * factor` in whole bytes, or `None` where it is none.
fn exact_fraction(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    if fraction.is_empty() || fraction.len() > 12 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let whole: u128 = whole.parse().ok()?;
    let part: u128 = fraction.parse().ok()?;
    let scaled = whole.checked_mul(scale)?.checked_add(part)?.checked_mul(u128::from(factor))?;
    scaled.is_multiple_of(scale).then_some(scaled / scale)?.try_into().ok()
}

impl fmt::Display for Bytes {
    /// Binary units: exact where the size is a whole number of them, else three figures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(GIB * 1024, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];
        for (size, name) in UNITS {
            // What three figures would tell as 1 024 of the smaller unit is about one of this.
            let nearly = (size - size / 2048..size).contains(&self.0) && size > KIB;
            if self.0 >= size || nearly {
                return if self.0.is_multiple_of(size) {
                    f.pad(&format!("{} {name}", self.0 / size))
                } else {
                    f.pad(&format!("{} {name}", figures(self.0 as f64 / size as f64)))
                };
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

/// A size in the largest unit that divides it, as [`Bytes`] reads it: `4KiB`, `6GiB`, `1000B`.
#[must_use]
pub fn exact_bytes(bytes: u64) -> String {
    let units = [(GIB * 1024, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes}B"), |(size, name)| format!("{}{name}", bytes / size))
}

/// A duration in the largest unit that divides it, as [`parse_duration`] reads it: `10s`, `1500ms`, `2h`.
/// What is shorter than a microsecond is left out.
#[must_use]
pub fn exact_duration(time: Duration) -> String {
    let micros = time.as_micros();
    let units = [(3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1000, "ms")];
    let unit = units.iter().find(|(size, _)| micros >= *size && micros.is_multiple_of(*size));
    unit.map_or_else(|| format!("{micros}us"), |(size, name)| format!("{}{name}", micros / size))
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size like \"4KiB\" or a number of bytes")
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Bytes, E> {
                Ok(Bytes(value))
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Bytes, E> {
                u64::try_from(value).map(Bytes).map_err(|_| E::custom("a size cannot be negative"))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Bytes, E> {
                value.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Reads a duration like `500ms`, `90s`, `10m`, `1h30m`; a bare number is seconds.
///
/// # Errors
/// [`UnitError::NotADuration`] for anything else.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let fail = || UnitError::NotADuration(text.to_owned());
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(fail());
    }
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let value: f64 = rest[..digits].parse().map_err(|_| fail())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += value
            * match rest[..letters].trim() {
                "us" => 1e-6,
                "ms" => 1e-3,
                "" | "s" | "sec" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return Err(fail()),
            };
        rest = &rest[letters..];
    }
    Duration::try_from_secs_f64(total).map_err(|_| fail())
}

/// Reads a rate above zero in bytes per second: a size as [`Bytes`] reads it, and `/s`.
///
/// # Errors
/// [`UnitError::NotARate`] for anything else.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let bytes = text.trim().strip_suffix("/s").and_then(|size| size.trim_end().parse::<Bytes>().ok());
    match bytes {
        Some(Bytes(bytes)) if bytes > 0 => Ok(bytes as f64),
        _ => Err(UnitError::NotARate(text.to_owned())),
    }
}

/// Reads a share: `5%`, `5 %` or `0.05`. More than the whole is written in percent (`150%`), because a bare `5` may
/// mean either.
///
/// # Errors
/// [`UnitError::NotAShare`] for anything else, signs and exponents included.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let fail = || UnitError::NotAShare(text.to_owned());
    let trimmed = text.trim();
    let (number, in_percent) = trimmed.strip_suffix('%').map_or((trimmed, false), |number| (number.trim_end(), true));
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(fail());
    }
    // An exponent instead of a division, so that 99.99% is the number nearest to 0.9999.
    let share: f64 = format!("{number}e{}", if in_percent { -2 } else { 0 }).parse().map_err(|_| fail())?;
    if share.is_finite() && (in_percent || share <= 1.0) { Ok(share) } else { Err(fail()) }
}

/// From here on a figure is written as `1.00e15`: nothing that assay measures is as large, and 300
/// digits of a damaged or hostile record would push everything else aside.
const LONG: f64 = 1e15;

/// A number with three significant figures, as people read rates: `23.4`, `1 480`, `0.021`, `1.00e15`.
#[must_use]
pub fn figures(value: f64) -> String {
    // What was computed in two ways, as 360.5 and as 360.499 999 999 999, is rounded alike: half up. Of larger numbers that
    // would change a digit.
    let value = if value.abs() < 1e9 { value * (1.0 + 1e-12) } else { value };
    let magnitude = value.abs();
    if (999.5..LONG).contains(&magnitude) {
        grouped(value.round() as i64)
    } else if magnitude >= 99.95 {
        fixed(value, 0)
    } else if magnitude >= 9.995 {
        fixed(value, 1)
    } else if magnitude >= 0.9995 || magnitude == 0.0 {
        fixed(value, 2)
    } else {
        fixed(value, 3)
    }
}

/// A number with `decimals` decimals, at most a few columns wide: from 10^15 on as `1.00e15`, and `–` for
/// what is no number.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        "–".to_owned()
    } else if value.abs() >= LONG {
        format!("{value:.2e}")
    } else {
        let text = format!("{value:.decimals$}");
        // A sum of nothing is -0.0, and what rounds to zero has no sign.
        match text.strip_prefix('-') {
            Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
            _ => text,
        }
    }
}

/// The same without zeros at the end that say nothing: `95`, `99.5`.
#[must_use]
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    match text.split_once('.') {
        Some((_, fraction)) if !fraction.contains('e') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text,
    }
}

/// How many times as much, without a unit: `1.25`, `0.28`, `14.2`; three figures from ten on, three decimals below a fifth.
#[must_use]
pub fn multiple(ratio: f64) -> String {
    if (0.1995..9.995).contains(&ratio.abs()) { fixed(ratio, 2) } else { figures(ratio) }
}

/// A ratio in words: `1.25 times`.
#[must_use]
pub fn times(ratio: f64) -> String {
    format!("{} times", multiple(ratio))
}

/// The interval of a ratio: `0.44–3.61`.
#[must_use]
pub fn multiples(low: f64, high: f64) -> String {
    format!("{}–{}", multiple(low), multiple(high))
}

/// A share in percent with at most `decimals` decimals, without zeros at the end: `95 %`, `3.7 %`.
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", trimmed(share * 100.0, decimals))
}

/// A probability in percent, never rounded to certainty: `91 %`, `>99 %`, `<1 %`.
#[must_use]
pub fn probability(p: f64) -> String {
    if p >= 0.995 {
        ">99 %".to_owned()
    } else if p <= 0.005 {
        "<1 %".to_owned()
    } else {
        format!("{} %", fixed(p * 100.0, 0))
    }
}

/// The shortest text that reads back as the same number, for machines: `23.4`, `1e305`; empty for what
/// is no number.
#[must_use]
pub fn exact(value: f64) -> String {
    if !value.is_finite() {
        String::new()
    } else if value == 0.0 || (1e-5..LONG).contains(&value.abs()) {
        (value + 0.0).to_string()
    } else {
        format!("{value:e}")
    }
}

/// A whole number with thin groups of three: `12 345`.
#[must_use]
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0 {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Bytes per second as `23.4 MB/s` (10^6).
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    format!("{} MB/s", figures(bytes_per_second / 1e6))
}

/// A latency in the unit people use for it: `840 ns`, `94.6 µs`, `1.20 ms`, `2.00 s`.
#[must_use]
pub fn latency(nanoseconds: f64) -> String {
    let magnitude = nanoseconds.abs();
    if magnitude < 1e3 {
        format!("{} ns", fixed(nanoseconds, 0))
    } else if magnitude < 1e6 {
        format!("{} µs", figures(nanoseconds / 1e3))
    } else if magnitude < 1e9 {
        format!("{} ms", figures(nanoseconds / 1e6))
    } else {
        format!("{} s", figures(nanoseconds / 1e9))
    }
}

/// A span of time as people say it: `840 ms`, `3.2 s`, `38 min 5 s`, `2 h 4 min`.
#[must_use]
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        format!("{} ms", duration.as_millis())
    } else if seconds < 59.95 {
        format!("{} s", trimmed(seconds, 1))
    } else {
        let whole = seconds.round() as u64;
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
        match (hours, minutes, rest) {
            (0, m, 0) => format!("{m} min"),
            (0, m, s) => format!("{m} min {s} s"),
            (h, m, _) => format!("{h} h {m} min"),
        }
    }
}

/// A capacity as it is printed on a medium: decimal, `32.0 GB`.
#[must_use]
pub fn capacity(bytes: u64) -> String {
    let value = bytes as f64;
    if value >= 1e12 {
        format!("{} TB", figures(value / 1e12))
    } else if value >= 1e9 {
        format!("{} GB", figures(value / 1e9))
    } else {
        format!("{} MB", figures(value / 1e6))
    }
}

/// A number with its noun: `1 node`, `3 nodes`.
#[must_use]
pub fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `show` said 360 and `advise class` 361 of one figure.
    #[test]
    fn a_figure_is_rounded_alike_however_it_was_computed() {
        for half in [360.5, 451.5, 452.5, 12.45, 0.8125] {
            let again = f64::exp(f64::ln(half));
            assert_eq!(figures(half), figures(again), "{half}");
        }
        assert_eq!((figures(360.5), figures(451.5)), ("361".to_owned(), "452".to_owned()));
    }

    #[test]
    fn ratios_and_probabilities_have_one_form() {
        assert_eq!((times(1.25), multiples(0.4444, 3.609)), ("1.25 times".to_owned(), "0.44–3.61".to_owned()));
        assert_eq!([multiple(0.05), multiple(14.21), multiple(2170.0)], ["0.050", "14.2", "2 170"]);
        assert_eq!([0.0, 0.005, 0.953, 0.995, 1.0].map(probability), ["<1 %", "<1 %", "95 %", ">99 %", ">99 %"]);
        assert_eq!([percent(0.95, 1), percent(0.037, 1), percent(0.12345, 3)], ["95 %", "3.7 %", "12.345 %"]);
    }

    #[test]
    fn sizes_are_read_as_fio_and_people_write_them() {
        for (text, bytes) in [
            ("4096", 4096),
            ("512B", 512),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("1M", MIB),
            ("1MiB", MIB),
            ("1MB", 1_000_000),
            ("3G", 3 * GIB),
            ("1.5GiB", GIB + GIB / 2),
            ("2GB", 2_000_000_000),
            ("2T", 2048 * GIB),
            ("0.5TiB", 512 * GIB),
            ("1.5TB", 1_500_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn bad_sizes_say_what_is_wrong() {
        assert_eq!("".parse::<Bytes>(), Err(UnitError::Empty));
        assert!(matches!("lots".parse::<Bytes>(), Err(UnitError::UnknownUnit(_))));
        assert!(matches!("4Q".parse::<Bytes>(), Err(UnitError::UnknownUnit(_))));
        assert!(matches!("KiB".parse::<Bytes>(), Err(UnitError::NotASize(_))));
        assert!("-4k".parse::<Bytes>().is_err());
        assert!(matches!("1.3B".parse::<Bytes>(), Err(UnitError::OutOfRange(_))));
        // More than 64 bits, and more than 128.
        for text in ["99999999999T", "340282366920938463463374607431768211455.5TB"] {
            assert!(matches!(text.parse::<Bytes>(), Err(UnitError::OutOfRange(_))), "{text}");
        }
    }

    #[test]
    fn what_was_written_is_repeated_in_one_short_line() {
        let long = format!("4\n\u{1b}[2J{}", "Q".repeat(1000));
        for error in [long.parse::<Bytes>().unwrap_err(), parse_duration(&long).unwrap_err()] {
            let text = error.to_string();
            assert!(!text.chars().any(char::is_control) && text.chars().count() < 250, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        for (text, millis) in [("90s", 90_000), ("500ms", 500), ("1h30m", 5_400_000), ("2", 2_000), ("1.5m", 90_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "4 parsecs", "-3s", "1e400s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn large_whole_numbers_keep_their_digits() {
        assert_eq!(figures(1e12), "1 000 000 000 000");
        assert_eq!(figures(360.499_999_999_999_9), "361");
    }

    #[test]
    fn rates_are_sizes_a_second() {
        assert_eq!(parse_rate("23MB/s"), Ok(23e6));
        assert_eq!(parse_rate(" 23000 KiB/s "), Ok(23_000.0 * 1024.0));
        assert_eq!(parse_rate("1.6MB/s"), Ok(1.6e6));
        for text in ["", "23", "23MB", "MB/s", "-1MB/s", "0MB/s", "nanMB/s", "23 furlongs/s", "/s"] {
            assert!(matches!(parse_rate(text), Err(UnitError::NotARate(_))), "{text}");
        }
    }

    #[test]
    fn shares_are_read_in_percent_and_as_fractions() {
        for (text, share) in
            [("3%", 0.03), ("3 %", 0.03), (" 0.03 ", 0.03), ("0%", 0.0), ("1", 1.0), ("150%", 1.5), ("99.99%", 0.9999)]
        {
            assert_eq!(parse_share(text), Ok(share), "{text}");
        }
        for text in ["", "%", "3", "-1%", "+3%", "nan%", "inf", "1e3%", "x%", "3%%", "3 % 4", "."] {
            assert!(matches!(parse_share(text), Err(UnitError::NotAShare(_))), "{text}");
        }
    }

    #[test]
    fn numbers_keep_three_figures() {
        assert_eq!(figures(std::iter::empty::<f64>().sum()), "0.00");
        assert_eq!(
            (fixed(-0.004, 2).as_str(), fixed(-0.006, 2).as_str(), exact(-0.0).as_str()),
            ("0.00", "-0.01", "0")
        );
        assert_eq!(figures(23.44), "23.4");
        assert_eq!(figures(1480.2), "1 480");
        assert_eq!(figures(0.0211), "0.021");
        assert_eq!(figures(9.996), "10.0");
        assert_eq!(figures(f64::NAN), "–");
        assert_eq!(figures(f64::INFINITY), "–");
        assert_eq!(figures(-1e305), "-1.00e305");
        assert_eq!(fixed(12.345, 1), "12.3");
        assert_eq!(fixed(1e305, 1), "1.00e305");
        assert_eq!(
            (trimmed(95.0, 2), trimmed(99.5, 2), trimmed(1e300, 2)),
            ("95".into(), "99.5".into(), "1.00e300".into())
        );
        assert_eq!(rate(1e305), "1.00e299 MB/s");
        assert_eq!(latency(f64::MAX), "1.80e299 s");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(rate(23_400_000.0), "23.4 MB/s");
        assert_eq!(latency(94_600.0), "94.6 µs");
        assert_eq!(span(Duration::from_secs(2285)), "38 min 5 s");
        assert_eq!(capacity(31_914_983_424), "31.9 GB");
    }

    /// An interval of sizes read "512 B to 1 024 MiB".
    #[test]
    fn a_size_just_below_a_unit_is_told_in_it() {
        let texts = [GIB - 4096, GIB - MIB, MIB - 1, KIB - 1, 1024 * GIB - 1, 1000 * MIB + 1];
        let texts = texts.map(|bytes| Bytes(bytes).to_string());
        assert_eq!(texts, ["1.00 GiB", "1023 MiB", "1.00 MiB", "1023 B", "1.00 TiB", "1 000 MiB"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_exactly_reads_back(units in 1u64..1023, power in 0u32..4) {
            let bytes = Bytes(units << (10 * power));
            prop_assert_eq!(bytes.to_string().parse::<Bytes>(), Ok(bytes));
        }

        #[test]
        fn a_figure_is_never_long(value in proptest::num::f64::ANY) {
            for text in [figures(value), fixed(value, 3), rate(value), latency(value)] {
                prop_assert!(text.chars().count() <= 25, "{}", text);
            }
        }

        #[test]
        fn an_exact_number_reads_back_and_is_never_long(value in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            let text = exact(value);
            prop_assert_eq!(text.parse::<f64>().unwrap(), value);
            prop_assert!(text.len() <= 25, "{}", text);
        }

        #[test]
        fn reading_never_panics(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
            let _ = parse_duration(&text);
            let _ = parse_rate(&text);
            let _ = parse_share(&text);
        }
    }
}
