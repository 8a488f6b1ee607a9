//! What is read beside the I/O: kinds, units and values typed by people.

use crate::health::CounterKind;
use crate::record::{Record, Sensor};
use crate::text::{label, quoted};

/// What a sensor measures; the record keeps its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SensorKind {
    /// In °C.
    Temperature,
    /// In Hz.
    Frequency,
    /// In W.
    Power,
}

impl SensorKind {
    /// Name in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::Frequency => "frequency",
            Self::Power => "power",
        }
    }

    /// Unit of its values.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Temperature => "°C",
            Self::Frequency => "Hz",
            Self::Power => "W",
        }
    }

    /// The kind whose values a unit as people type it counts, and what one of it is in the unit
    /// of the kind: `C`, `°C`, `W`, `mW`, `Hz`, `kHz`, `MHz`, `GHz`.
    #[must_use]
    pub fn of_unit(unit: &str) -> Option<(Self, f64)> {
        Some(match unit.trim() {
            "C" | "°C" => (Self::Temperature, 1.0),
            "W" => (Self::Power, 1.0),
            "mW" => (Self::Power, 1e-3),
            "Hz" => (Self::Frequency, 1.0),
            "kHz" => (Self::Frequency, 1e3),
            "MHz" => (Self::Frequency, 1e6),
            "GHz" => (Self::Frequency, 1e9),
            _ => return None,
        })
    }

    /// An empty series of this kind.
    #[must_use]
    pub fn series(self, name: &str, source: &str) -> Sensor {
        Sensor {
            name: label(name, 64).unwrap_or_else(|| self.name().to_owned()),
            kind: self.name().to_owned(),
            unit: self.unit().to_owned(),
            source: source.to_owned(),
            samples: Vec::new(),
        }
    }
}

impl Record {
    /// Whether a sensor is one of the medium, or one that the user named.
    #[must_use]
    pub fn is_of_medium(&self, sensor: &Sensor) -> bool {
        matches!(sensor.source.as_str(), "drive" | "command")
            || self.medium.stack.iter().any(|node| node.name == sensor.name)
    }

    /// The highest temperature of the medium in °C: reported by the medium, or with its health, read by a command, or
    /// noted by a user. The temperature of the processor does not count.
    #[must_use]
    pub fn medium_celsius(&self) -> Option<f64> {
        let temperature = SensorKind::Temperature.name();
        let of_medium = |s: &&Sensor| if s.source == "note" { s.name == temperature } else { self.is_of_medium(s) };
        let sensors = self.sensors.iter().filter(|s| s.kind == temperature).filter(of_medium);
        let readings = sensors.flat_map(|s| s.samples.iter().map(|(_, value)| *value));
        let readings = readings.chain(self.medium.count(CounterKind::TemperatureCelsius).map(|celsius| celsius as f64));
        readings.filter(|value| value.is_finite()).reduce(f64::max)
    }
}

/// `NAME:UNIT=COMMAND`: a sensor that a command reads.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorCommand {
    /// Name of the sensor.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// What its number is multiplied with to be in the unit of the kind.
    pub factor: f64,
    /// Line for the shell.
    pub command: String,
}

impl SensorCommand {
    /// Reads `NAME:UNIT=COMMAND`.
    ///
    /// # Errors
    /// One line with what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "write NAME:UNIT=COMMAND with unit C, W or Hz, like plug:W='plug-power 10.0.0.7'";
        let (head, command) = text.split_once('=').ok_or(FORM)?;
        let (name, unit) = head.rsplit_once(':').ok_or(FORM)?;
        let name = label(name, 64).ok_or(FORM)?;
        let (kind, factor) =
            SensorKind::of_unit(unit).ok_or_else(|| format!("unit {} is not C, W or Hz", quoted(unit)))?;
        if command.trim().is_empty() {
            return Err(FORM.to_owned());
        }
        Ok(Self { name, kind, factor, command: command.to_owned() })
    }

    /// A number that the command printed, in the unit of the kind; `None` for one too large, as a record
    /// with it could not be read.
    #[must_use]
    pub fn scaled(&self, number: f64) -> Option<f64> {
        Some(number * self.factor).filter(|value| value.is_finite())
    }
}

/// `NAME=VALUE UNIT`: a value read by eye.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorNote {
    /// Name of what was read.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// In the unit of the kind.
    pub value: f64,
}

impl SensorNote {
    /// Reads `temperature=46C`.
    ///
    /// # Errors
    /// One line with what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "write NAME=VALUE with unit C, W or Hz, like temperature=46C or plug=3.1W";
        let (name, value) = text.split_once('=').ok_or(FORM)?;
        let name = label(name, 64).ok_or(FORM)?;
        let (number, end) = first_number(value).ok_or(FORM)?;
        let unit = value.get(end..).unwrap_or_default();
        let (kind, factor) = SensorKind::of_unit(unit).ok_or(FORM)?;
        // What is beyond the numbers would make a record that cannot be read.
        let value = Some(number * factor).filter(|value| value.is_finite()).ok_or(FORM)?;
        Ok(Self { name, kind, value })
    }
}

/// The first decimal number in a text and where it ends, in bytes.
#[must_use]
pub fn first_number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut start = (0..bytes.len()).find(|&i| digit(i) || (bytes.get(i) == Some(&b'.') && digit(i + 1)))?;
    let mut end = start;
    while digit(end) {
        end += 1;
    }
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digit(end + 1 + sign) {
        end += 1 + sign;
        while digit(end) {
            end += 1;
        }
    }
    if start > 0 && bytes.get(start - 1) == Some(&b'-') {
        start -= 1;
    }
    let number: f64 = text.get(start..end)?.parse().ok()?;
    number.is_finite().then_some((number, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_text_is_found() {
        let value = |text| first_number(text).map(|(v, _)| v);
        assert_eq!(value("Current power: 3.25 W (max 9)"), Some(3.25));
        assert_eq!(value("-12.5"), Some(-12.5));
        assert_eq!(value("1.5e3 Hz"), Some(1500.0));
        assert_eq!(value("25e-1 W"), Some(2.5));
        assert_eq!(value("2e+1 W"), Some(20.0));
        assert_eq!(value("t=.5"), Some(0.5));
        assert_eq!(value("46C"), Some(46.0));
        assert_eq!(value("5e"), Some(5.0));
        for none in ["", "none", "-", "°C", "e9x".trim_end_matches(|c| c != 'e')] {
            assert_eq!(value(none), None, "{none}");
        }
        assert_eq!(value(&"9".repeat(400)), None, "not finite");
    }

    #[test]
    fn sensors_of_the_command_line_are_read() {
        let s = SensorCommand::parse("my plug:W=curl -s http://x/?a=b | jq .power").unwrap();
        assert_eq!(
            (s.name.as_str(), s.kind, s.command.as_str()),
            ("my plug", SensorKind::Power, "curl -s http://x/?a=b | jq .power")
        );
        assert_eq!(SensorCommand::parse("ir:C=cat x").unwrap().kind, SensorKind::Temperature);
        let fast = SensorCommand::parse("cpu:GHz=cat x").unwrap();
        assert_eq!((fast.scaled(1.5), fast.scaled(1e300)), (Some(1.5e9), None));
        for bad in ["", "plug", "plug=cat", "plug:V=cat", "plug:W=", ":W=cat"] {
            assert!(SensorCommand::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_refusal_repeats_no_character_that_a_terminal_obeys() {
        let error = SensorCommand::parse(&format!("a:\u{1b}[2J{}=b", "x".repeat(1000))).unwrap_err();
        assert!(!error.contains('\u{1b}') && error.len() < 200, "{error}");
    }

    #[test]
    fn notes_of_the_command_line_are_read() {
        let note = |text| SensorNote::parse(text).map(|n| (n.name, n.kind, n.value));
        assert_eq!(note("temperature=46C"), Ok(("temperature".to_owned(), SensorKind::Temperature, 46.0)));
        assert_eq!(note("case=38.5 °C"), Ok(("case".to_owned(), SensorKind::Temperature, 38.5)));
        assert_eq!(note("cpu=1.5GHz"), Ok(("cpu".to_owned(), SensorKind::Frequency, 1.5e9)));
        for bad in
            ["46C", "temperature=", "temperature=warm", "temperature=46", "temperature=46F", "=46C", "x=1e300GHz"]
        {
            assert!(note(bad).is_err(), "{bad}");
        }
    }
}
