//! Operations that begin at planned times, whether or not earlier ones are done: an open loop.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::quoted;
use crate::units::{figures, parse_rate};

/// How the planned times follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Independently of each other: the intervals are exponential, as where many clients ask for themselves.
    #[default]
    Poisson,
    /// One after the other at equal intervals.
    Constant,
}

impl Process {
    /// Its name in suites and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
        }
    }
}

/// When operations are to begin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrivals {
    /// Operations per second, of all jobs together; above 0.
    pub iops: f64,
    /// How their times follow each other.
    pub process: Process,
}

impl fmt::Display for Arrivals {
    /// `500 IOPS offered` of a Poisson process, `500 IOPS offered at equal intervals`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IOPS offered", figures(self.iops))?;
        match self.process {
            Process::Poisson => Ok(()),
            Process::Constant => f.write_str(" at equal intervals"),
        }
    }
}

/// The rate of an open loop, as a suite asks for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Rate {
    /// Operations per second of all jobs together.
    Iops(f64),
    /// Bytes per second of all jobs together.
    BytesPerSecond(f64),
    /// Percent of the operations per second that another workload of the suite reached in its first repeat.
    Share {
        /// Above 0, at most 1000.
        percent: f64,
        /// Name of the other workload.
        of: String,
    },
}

/// Rates above this are refused: the instrument itself would be late.
pub const MOST_IOPS: f64 = 10_000_000.0;

impl Rate {
    /// Operations per second with blocks of `block` bytes; `None` for a share.
    #[must_use]
    pub fn iops(&self, block_bytes: u64) -> Option<f64> {
        match self {
            Self::Iops(iops) => Some(*iops),
            Self::BytesPerSecond(bytes) => Some(bytes / block_bytes.max(1) as f64),
            Self::Share { .. } => None,
        }
    }

    /// Reads `500 iops`, `20 MB/s` or `50 % of NAME`.
    ///
    /// # Errors
    /// One line with what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("rate {} must be like \"500 iops\", \"20 MB/s\" or \"50 % of NAME\"", quoted(text));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
        let lower = text.trim().to_ascii_lowercase();
        if let Some((percent, rest)) = text.split_once('%') {
            let of = rest.trim().strip_prefix("of ").map(str::trim).filter(|of| !of.is_empty());
            let percent = number(percent).filter(|percent| *percent <= 1000.0);
            let (Some(percent), Some(of)) = (percent, of) else { return Err(wrong()) };
            return Ok(Self::Share { percent, of: of.to_owned() });
        }
        if let Some(count) = lower.strip_suffix("iops") {
            let iops = number(count).filter(|iops| *iops <= MOST_IOPS);
            return iops.map(Self::Iops).ok_or_else(wrong);
        }
        parse_rate(text).map(Self::BytesPerSecond).map_err(|_| wrong())
    }
}

impl fmt::Display for Rate {
    /// As [`Rate::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iops(iops) => write!(f, "{iops} iops"),
            Self::BytesPerSecond(bytes) => write!(f, "{bytes}B/s"),
            Self::Share { percent, of } => write!(f, "{percent} % of {of}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written_back() {
        let share = Rate::Share { percent: 12.5, of: "rand-read".to_owned() };
        for (text, rate) in [
            ("500 iops", Rate::Iops(500.0)),
            ("0.5IOPS", Rate::Iops(0.5)),
            ("20 MB/s", Rate::BytesPerSecond(20e6)),
            ("4KiB/s", Rate::BytesPerSecond(4096.0)),
            ("12.5% of rand-read", share),
        ] {
            assert_eq!(Rate::parse(text), Ok(rate.clone()), "{text}");
            assert_eq!(Rate::parse(&rate.to_string()), Ok(rate), "{text}");
        }
        for text in
            ["", "500", "-1 iops", "0 iops", "nan iops", "1e9 iops", "0/s", "5 % of", "0 % of x", "% of x", "9 Q/s"]
        {
            assert!(Rate::parse(text).unwrap_err().contains("must be like"), "{text}");
        }
    }
}
