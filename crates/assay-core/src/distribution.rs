//! Which blocks random operations go to, and how often.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::quoted;

/// How random operations are spread over the blocks of the test area. Names and parameters are those of fio's
/// `random_distribution`, but for `hot`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Distribution {
    /// Each block alike.
    #[default]
    Uniform,
    /// The k-th most frequent block k^-theta times as often as the first; which block that is, the seed decides.
    Zipf {
        /// Above 0, at most 5.
        theta: f64,
    },
    /// Self-similar: a share of `h` of the blocks gets a share of 1 - `h` of the operations, and so on within each
    /// part (Gray et al. 1994, "Quickly generating billion-record synthetic databases").
    Pareto {
        /// Above 0, below 1.
        h: f64,
    },
    /// Around the middle of the area.
    Normal {
        /// Standard deviation in percent of the area; above 0, at most 100.
        deviation_percent: f64,
    },
    /// Some operations go to the beginning of the area, the others to the rest of it.
    Hot {
        /// Percent of the operations; above 0, at most 100.
        operations_percent: f64,
        /// The beginning, in percent of the area; above 0, below 100.
        area_percent: f64,
    },
}

/// Smaller parameters are refused: they would be written with hundreds of digits, and mean nothing.
const LEAST: f64 = 0.001;

impl Distribution {
    /// Whether each block is as frequent as any other.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }

    /// Reads `uniform`, `zipf:1.1`, `pareto:0.2`, `normal:10` or `hot:80/20`.
    ///
    /// # Errors
    /// One line with what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, given) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let number = |text: &str, most: f64| {
            text.trim().parse::<f64>().ok().filter(|n: &f64| n.is_finite() && *n >= LEAST && *n <= most)
        };
        let found = match kind {
            "uniform" | "random" if given.is_empty() => Some(Self::Uniform),
            "zipf" => number(given, 5.0).map(|theta| Self::Zipf { theta }),
            "pareto" => number(given, 1.0).filter(|h| *h < 1.0).map(|h| Self::Pareto { h }),
            "normal" | "gauss" => number(given, 100.0).map(|deviation_percent| Self::Normal { deviation_percent }),
            "hot" => given.split_once('/').and_then(|(operations, area)| {
                let area_percent = number(area, 100.0).filter(|area| *area < 100.0)?;
                Some(Self::Hot { operations_percent: number(operations, 100.0)?, area_percent })
            }),
            _ => None,
        };
        found.ok_or_else(|| {
            format!(
                "distribution {} must be uniform, zipf:THETA (to 5), pareto:H (below 1), normal:PERCENT or \
                 hot:OPERATIONS/AREA in percent",
                quoted(text)
            )
        })
    }
}

impl fmt::Display for Distribution {
    /// As [`Distribution::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Pareto { h } => write!(f, "pareto:{h}"),
            Self::Normal { deviation_percent } => write!(f, "normal:{deviation_percent}"),
            Self::Hot { operations_percent, area_percent } => write!(f, "hot:{operations_percent}/{area_percent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_and_written_back() {
        for text in ["uniform", "zipf:1.1", "pareto:0.2", "normal:10", "hot:80/20", "hot:100/0.5"] {
            assert_eq!(Distribution::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "zipf",
            "zipf:0",
            "zipf:1e-300",
            "zipf:6",
            "pareto:1",
            "normal:-1",
            "hot:80",
            "hot:80/100",
            "hot:0/5",
            "levy:1",
        ] {
            assert!(Distribution::parse(text).unwrap_err().contains("must be uniform"), "{text}");
        }
    }
}
