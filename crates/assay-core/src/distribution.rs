//! Which blocks random operations go to, and how often.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::quoted;

/// How random operations are spread over the blocks of the test area. Names and parameters are those of fio's
/// `random_distribution`, but for `hot`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The area in zones one after the other, each with a share of the operations, uniform within.
    Zones {
        /// From the beginning of the area on; their shares make the whole.
        zones: Vec<Zone>,
    },
}

/// A part of the area, and how often operations go there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Zone {
    /// Percent of the operations; 0 to 100.
    pub operations_percent: f64,
    /// Percent of the area; above 0, at most 100.
    pub area_percent: f64,
}

/// Most zones of an area.
const MOST_ZONES: usize = 256;

/// Zones written `50/5:30/15:20/80`. A share that is left out has an equal part of what is missing.
fn zones(text: &str) -> Option<Vec<Zone>> {
    let share = |text: &str| match text.trim() {
        "" => Some(None),
        number => number.parse::<f64>().ok().filter(|n| (0.0..=100.0).contains(n)).map(Some),
    };
    let given: Option<Vec<_>> = text
        .split(':')
        .take(MOST_ZONES + 1)
        .map(|zone| {
            let (operations, area) = zone.split_once('/').unwrap_or((zone, ""));
            Some((share(operations)?, share(area)?))
        })
        .collect();
    let given = given.filter(|given| given.len() <= MOST_ZONES)?;
    let missing = |values: Vec<Option<f64>>| {
        let sum: f64 = values.iter().flatten().sum();
        let open = values.iter().filter(|value| value.is_none()).count();
        (100.0 - sum).max(0.0) / open.max(1) as f64
    };
    let operations = missing(given.iter().map(|(operations, _)| *operations).collect());
    let area = missing(given.iter().map(|(_, area)| *area).collect());
    let zones: Vec<Zone> = given
        .into_iter()
        .map(|(o, a)| Zone { operations_percent: o.unwrap_or(operations), area_percent: a.unwrap_or(area) })
        .collect();
    let whole = |sum: f64| (sum - 100.0).abs() < 0.1;
    let sums = zones.iter().fold((0.0, 0.0), |(o, a), z| (o + z.operations_percent, a + z.area_percent));
    (whole(sums.0) && whole(sums.1) && zones.iter().all(|zone| zone.area_percent >= LEAST)).then_some(zones)
}

/// Smaller parameters are refused: they would be written with hundreds of digits, and mean nothing.
const LEAST: f64 = 0.001;

impl Distribution {
    /// Whether each block is as frequent as any other.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }

    /// Reads `uniform`, `zipf:1.1`, `pareto:0.2`, `normal:10`, `hot:80/20` or `zones:50/5:30/15:20/80`.
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
            "zones" if !given.is_empty() => zones(given).map(|zones| Self::Zones { zones }),
            _ => None,
        };
        found.ok_or_else(|| {
            format!(
                "distribution {} must be uniform, zipf:THETA (to 5), pareto:H (below 1), normal:PERCENT, \
                 hot:OPERATIONS/AREA or zones:OPERATIONS/AREA:… in percent",
                quoted(text)
            )
        })
    }
}

impl Distribution {
    /// Reads fio's `random_distribution`: two zones are a hot share, more are zones.
    ///
    /// # Errors
    /// One line with what is wrong.
    pub fn from_fio(text: &str) -> Result<Self, String> {
        let Some(zones) = text.strip_prefix("zoned:") else { return Self::parse(text) };
        Ok(match Self::parse(&format!("zones:{zones}"))? {
            Self::Zones { zones } if zones.len() == 2 => {
                Self::Hot { operations_percent: zones[0].operations_percent, area_percent: zones[0].area_percent }
            }
            other => other,
        })
    }

    /// As fio's `random_distribution` takes it.
    #[must_use]
    pub fn to_fio(&self) -> String {
        match self {
            Self::Uniform => "random".to_owned(),
            // Its zones go through the area one after the other.
            Self::Hot { operations_percent, area_percent } => {
                let (operations, area) = (100.0 - operations_percent, 100.0 - area_percent);
                format!("zoned:{operations_percent}/{area_percent}:{operations}/{area}")
            }
            Self::Zones { .. } => self.to_string().replacen("zones", "zoned", 1),
            other => other.to_string(),
        }
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
            Self::Zones { zones } => {
                f.write_str("zones")?;
                zones.iter().try_for_each(|zone| write!(f, ":{}/{}", zone.operations_percent, zone.area_percent))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fio_and_assay_mean_the_same() {
        for text in ["random", "zipf:1.1", "zoned:50/5:30/15:20/80", "zoned:80/20:20/80"] {
            assert_eq!(Distribution::from_fio(text).unwrap().to_fio(), text);
        }
        assert_eq!(Distribution::from_fio("zoned:80/20:20/80").unwrap().to_string(), "hot:80/20");
        assert!(Distribution::from_fio("zipf:1.1:0.3").is_err() && Distribution::from_fio("zoned:1/2,3/4").is_err());
    }

    #[test]
    fn distributions_are_read_and_written_back() {
        for text in
            ["uniform", "zipf:1.1", "pareto:0.2", "normal:10", "hot:80/20", "hot:100/0.5", "zones:50/5:30/15:20/80"]
        {
            assert_eq!(Distribution::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Distribution::parse("zones:50/5:30/:20/80").unwrap().to_string(), "zones:50/5:30/15:20/80");
        for text in [
            "",
            "zones",
            "zones:50/50:60/50",
            "zones:50/0:50/100",
            "zones:-1/50:101/50",
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
