//! Sensors of the command line, and what their commands print.

use assay_core::sensor::{SensorCommand, SensorNote, first_number};
use assay_core::text::harmless;

use crate::claims;

/// A specification is read or refused in a line; names are harmless, numbers are numbers.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    match SensorCommand::parse(&text) {
        Ok(sensor) => {
            name(&sensor.name);
            assert!(sensor.factor > 0.0 && text.ends_with(&sensor.command) && !sensor.command.trim().is_empty());
            let printed = first_number(&sensor.command).and_then(|(number, _)| sensor.scaled(number));
            assert!(printed.is_none_or(f64::is_finite));
            name(&sensor.kind.series(&sensor.name, "command").name);
        }
        Err(error) => claims::one_line(&error),
    }
    match SensorNote::parse(&text) {
        Ok(note) => {
            name(&note.name);
            assert!(note.value.is_finite(), "{text:?}: {}", note.value);
        }
        Err(error) => claims::one_line(&error),
    }
    if let Some((number, end)) = first_number(&text) {
        assert!(number.is_finite() && text.is_char_boundary(end) && end > 0);
        assert!(text.as_bytes()[end - 1].is_ascii_digit());
    }
}

#[track_caller]
fn name(name: &str) {
    assert!(!name.is_empty() && name.chars().count() <= 64 && harmless(name) == *name, "{name:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "my plug:W=curl -s http://x/?a=b | jq .power",
        "ir:C=cat x",
        "temperature=46C",
        "case=-38.5 °C",
        "cpu=1.5e3GHz",
        "x=179769313486231570000000000000000e290GHz",
        "plug:V=cat",
        "a:\u{1b}=b",
        "\u{202e}=1W",
        "t=.5",
        "5e",
        "-",
        "1e+",
        "x=1e308GHz",
    ]);
    seeds.push(format!("x:{}=y", "V".repeat(3000)).into_bytes());
    seeds.push(vec![b'9'; 500]);
    seeds
}
