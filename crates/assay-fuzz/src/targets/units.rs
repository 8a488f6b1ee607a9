//! Sizes and durations as people write them, and figures as they are shown.

use std::time::Duration;

use assay_core::units::{self, Bytes, parse_duration, parse_rate, parse_share};

use crate::claims;

/// A size or duration is read exactly or refused in a line; a figure of any bits is short text.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    match text.parse::<Bytes>() {
        Ok(bytes) => {
            assert_eq!(bytes.0.to_string().parse(), Ok(bytes));
            assert_eq!(format!("{}B", bytes.0).parse(), Ok(bytes));
            short(&bytes.to_string());
        }
        Err(error) => claims::one_line(&error),
    }
    match parse_duration(&text) {
        Ok(length) => {
            short(&units::span(length));
            assert!(length < Duration::MAX);
        }
        Err(error) => claims::one_line(&error),
    }
    match parse_rate(&text) {
        Ok(rate) => assert!(rate.is_finite() && rate > 0.0, "{rate}"),
        Err(error) => claims::one_line(&error),
    }
    match parse_share(&text) {
        Ok(share) => assert!(share.is_finite() && share >= 0.0, "{share}"),
        Err(error) => claims::one_line(&error),
    }
    if let Some(bits) = data.first_chunk::<8>() {
        let number = f64::from_le_bytes(*bits);
        for text in [
            units::figures(number),
            units::fixed(number, 3),
            units::trimmed(number, 3),
            units::rate(number),
            units::latency(number),
            units::exact(number),
            units::capacity(u64::from_le_bytes(*bits)),
            units::grouped(i64::from_le_bytes(*bits)),
            Bytes(u64::from_le_bytes(*bits)).to_string(),
        ] {
            short(&text);
        }
        let exact = units::exact(number);
        assert!(exact.is_empty() != number.is_finite());
        assert!(exact.is_empty() || exact.parse() == Ok(number), "{exact}");
    }
}

#[track_caller]
fn short(text: &str) {
    assert!(text.chars().count() <= 32 && !text.chars().any(char::is_control), "{text:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "4KiB",
        "3 %",
        "8MiB/s",
        "0.05",
        "1e400%",
        "4 k",
        "1.5GiB",
        "0",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999T",
        "1.3B",
        ".5k",
        "340282366920938463463374607431768211455.5TB",
        "90s",
        "1h30m",
        "1.5m",
        "1e400s",
        "500ms",
        "-3s",
        "4 parsecs",
        "18446744073709551616s",
        "584542046090y",
        "\u{1b}[2J",
        "4\nk",
        "٣k",
    ]);
    let numbers = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX, f64::MIN, 999.95, 1e15, 5e-324];
    seeds.extend(numbers.map(|number: f64| number.to_le_bytes().to_vec()));
    seeds.push(vec![b'9'; 4000]);
    seeds
}
