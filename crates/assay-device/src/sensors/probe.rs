//! Reads one value: one system call for a number, two for a product.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use assay_core::sensor::SensorKind;

use crate::system;

/// A way of reading a value.
#[derive(Debug)]
pub(super) enum Probe {
    /// A number in another unit: `over` of that unit are `times` of ours.
    Number { file: File, times: f64, over: f64 },
    /// The product of two numbers, volts and amperes. `over` of its unit are one of ours.
    Product { files: [File; 2], over: f64 },
    /// Growth of a counter of microjoules that wraps around beyond `range`.
    Energy { file: File, range: u64, last: Option<(Instant, u64)> },
}

/// A sensor that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) kind: SensorKind,
    pub(super) source: &'static str,
    /// Highest possible value: the maximum clock.
    pub(super) most: Option<f64>,
    pub(super) probe: Probe,
}

impl Probe {
    /// A file with a value in fractions of a unit (`over` fractions make one unit); `None` if it cannot be opened.
    pub(super) fn parts(path: &Path, over: f64) -> Option<Self> {
        Some(Self::Number { file: File::open(path).ok()?, times: 1.0, over })
    }

    /// The value in the unit of its kind; `None` if the sensor has none at the moment.
    pub(super) fn read(&mut self, now: Instant) -> Option<f64> {
        match self {
            Self::Number { file, times, over } => Some(number(file)? * *times / *over),
            Self::Product { files: [a, b], over } => Some(number(a)? * number(b)? / *over),
            Self::Energy { file, range, last } => {
                let energy = number(file)? as u64;
                let (then, before) = last.replace((now, energy))?;
                let seconds = now.saturating_duration_since(then).as_secs_f64();
                let microjoules =
                    if energy >= before { energy - before } else { range.checked_sub(before)?.checked_add(energy)? };
                (seconds > 0.0).then(|| microjoules as f64 / 1e6 / seconds)
            }
        }
    }
}

/// Rejects values that no working sensor has: drivers return 0 K, 255 °C or all ones if nothing is attached.
pub(super) fn plausible(kind: SensorKind, value: f64) -> bool {
    match kind {
        SensorKind::Temperature => (-40.0..=150.0).contains(&value),
        SensorKind::Frequency => value > 0.0 && value < 2e10,
        SensorKind::Power => (0.0..1e4).contains(&value),
    }
}

/// The number at the start of a file that stays open.
fn number(file: &File) -> Option<f64> {
    let mut buffer = [0u8; 32];
    let length = system::read_at(file, &mut buffer, 0).ok()?;
    std::str::from_utf8(buffer.get(..length)?).ok()?.trim().parse().ok()
}
