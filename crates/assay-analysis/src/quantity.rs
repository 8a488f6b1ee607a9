//! The figures of a measurement, and the properties of each.

use std::fmt::Display;

use assay_core::estimate::Estimate;
use assay_core::histogram::Histogram;
use assay_core::observation::{ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_core::text::quoted;
use assay_core::workload::Pattern;
use assay_stats::geometric_like;
use serde::{Serialize, Serializer};

use crate::load::Load;

/// Which figure of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations per second.
    Iops,
    /// Bytes per second; of writes, acknowledged.
    BytesPerSecond,
    /// Bytes per second with the final sync in the clock.
    DurableBytesPerSecond,
    /// Median latency in nanoseconds.
    P50Ns,
    /// 90th percentile of the latency in nanoseconds.
    P90Ns,
    /// 95th percentile of the latency in nanoseconds.
    P95Ns,
    /// 99th percentile of the latency in nanoseconds.
    P99Ns,
    /// 99.9th percentile of the latency in nanoseconds.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// 99.99th percentile of the latency in nanoseconds.
    #[serde(rename = "p99_99_ns")]
    P9999Ns,
}

/// The properties of a quantity.
struct About {
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    /// Its unit and the divisor for this unit; `None` for times, which are shown in a unit that suits their size.
    unit: Option<(&'static str, f64)>,
    more_is_better: bool,
    repeat: OfRepeat,
    estimate: fn(&ObservedMeasurement) -> Option<&Estimate>,
}

/// How a quantity is taken from a repeat.
enum OfRepeat {
    Field(fn(&ObservedRepeat) -> Option<f64>),
    /// The latency that this share of the operations does not exceed. `Histogram::thinned` has to keep it.
    Percentile(f64),
}

use OfRepeat::{Field, Percentile};

const MB: f64 = 1e6;

const fn latency(
    [name, title, meaning]: [&'static str; 3],
    share: f64,
    estimate: fn(&ObservedMeasurement) -> Option<&Estimate>,
) -> About {
    About { name, title, meaning, unit: None, more_is_better: false, repeat: Percentile(share), estimate }
}

impl Quantity {
    /// All of them, in the order in which they are named to people.
    pub const ALL: [Self; 9] = [
        Self::Iops,
        Self::BytesPerSecond,
        Self::DurableBytesPerSecond,
        Self::P50Ns,
        Self::P90Ns,
        Self::P95Ns,
        Self::P99Ns,
        Self::P999Ns,
        Self::P9999Ns,
    ];

    fn about(self) -> About {
        match self {
            Self::Iops => About {
                name: "iops",
                title: "IOPS",
                meaning: "Operations per second",
                unit: Some(("IOPS", 1.0)),
                more_is_better: true,
                repeat: Field(|repeat| Some(repeat.iops)),
                estimate: |m| m.iops.as_ref(),
            },
            Self::BytesPerSecond => About {
                name: "rate",
                title: "rate",
                meaning: "Bytes per second",
                unit: Some(("MB/s", MB)),
                more_is_better: true,
                repeat: Field(|repeat| Some(repeat.bytes_per_second)),
                estimate: |m| m.bytes_per_second.as_ref(),
            },
            Self::DurableBytesPerSecond => About {
                name: "durable",
                title: "durable rate",
                meaning: "Bytes per second, including the final sync",
                unit: Some(("MB/s durable", MB)),
                more_is_better: true,
                repeat: Field(|repeat| repeat.durable_bytes_per_second),
                estimate: |m| m.durable_bytes_per_second.as_ref(),
            },
            Self::P50Ns => latency(["p50", "median latency", "Median latency"], 0.5, |m| m.latency_ns.p50.as_deref()),
            Self::P90Ns => {
                latency(["p90", "p90 latency", "Latency that 90 % of the operations do not exceed"], 0.9, |m| {
                    m.latency_ns.p90.as_deref()
                })
            }
            Self::P95Ns => {
                latency(["p95", "p95 latency", "Latency that 95 % of the operations do not exceed"], 0.95, |_| None)
            }
            Self::P99Ns => {
                latency(["p99", "p99 latency", "Latency that 99 % of the operations do not exceed"], 0.99, |m| {
                    m.latency_ns.p99.as_deref()
                })
            }
            Self::P999Ns => {
                latency(["p99.9", "p99.9 latency", "Latency that 99.9 % of the operations do not exceed"], 0.999, |m| {
                    m.latency_ns.p99_9.as_deref()
                })
            }
            Self::P9999Ns => latency(
                ["p99.99", "p99.99 latency", "Latency that 99.99 % of the operations do not exceed"],
                0.9999,
                |_| None,
            ),
        }
    }

    /// Reads the name of a quantity on the command line.
    ///
    /// # Errors
    /// One line with the names there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|quantity| quantity.name() == name);
        found.ok_or_else(|| format!("no figure is named {}; there are {}", quoted(name), Self::names()))
    }

    /// The names of all of them, for a message.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The title, for a heading: `IOPS`, `durable rate`, `p99 latency`.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.about().title
    }

    /// The meaning, for a list of the names.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.about().meaning
    }

    /// The unit that people read, and what figures are divided by for it; `None` for times, which are shown in the
    /// unit of their size.
    #[must_use]
    pub fn unit(self) -> Option<(&'static str, f64)> {
        self.about().unit
    }

    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self.about().more_is_better
    }

    /// For a percentile, the share of operations that are not slower; else `None`.
    #[must_use]
    pub fn percentile(self) -> Option<f64> {
        match self.about().repeat {
            Percentile(share) => Some(share),
            Field(_) => None,
        }
    }

    /// Operations that a repeat needs, so that at least one is slower than the percentile: of fewer, it is the slowest
    /// operation by another name.
    #[must_use]
    pub fn least_operations(self) -> u64 {
        self.percentile().map_or(1, operations_for)
    }

    /// What people read first of a load: the operations of random work, the rate of all other; the latency where the
    /// rate is given.
    #[must_use]
    pub fn usual(load: &Load) -> Self {
        match load.pattern() {
            _ if !load.offered.is_empty() => Self::P99Ns,
            Some(Pattern::Random) => Self::Iops,
            Some(Pattern::Sequential) | None => Self::BytesPerSecond,
        }
    }
}

/// The value of a repeat; `None` where it has none.
pub(crate) fn value(repeat: &ObservedRepeat, quantity: Quantity) -> Option<f64> {
    match quantity.about().repeat {
        Field(field) => field(repeat),
        Percentile(share) => {
            let histogram = Histogram::from(&*repeat.histogram);
            histogram.quantile(share).filter(|_| histogram.total() >= quantity.least_operations())
        }
    }
}

/// The estimate of a quantity that a record holds; it holds some percentiles only.
#[must_use]
pub fn estimate(measurement: &ObservedMeasurement, quantity: Quantity) -> Option<&Estimate> {
    (quantity.about().estimate)(measurement)
}

// Arbitrary percentiles of the latency, over the repeats of a record.

/// The latency in nanoseconds that a `share` of the operations does not exceed, 0 < `share` < 1, over the completed
/// repeats, as for other figures. `None` where there are none, or where one of them has so few operations that none is
/// expected to be slower: the value would then only be that of the slowest operation.
#[must_use]
pub fn percentile(measurement: &ObservedMeasurement, share: f64) -> Option<Estimate> {
    let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed && r.operations > 0);
    let all: Vec<Histogram> = completed.map(|r| Histogram::from(&*r.histogram)).collect();
    let enough = |h: &Histogram| h.total() >= operations_for(share);
    let values: Vec<f64> = all.iter().filter(|h| enough(h)).filter_map(|h| h.quantile(share)).collect();
    let like = || geometric_like(&values, measurement.latency_ns.p50.as_deref());
    (!all.is_empty() && values.len() == all.len()).then(like).flatten()
}

/// Operations that each repeat needs for a percentile. Above the 99th percentile at least one operation has to be
/// slower; else the value would only be that of the slowest operation.
#[must_use]
pub fn operations_for(share: f64) -> u64 {
    if share <= 0.99 { 1 } else { (1.0 / (1.0 - share) - 1e-6).ceil() as u64 }
}

// Values that documents hold as sentences: they stay values until they are written.

/// Writes an optional value as people read it; null where there is none. For `#[serde(serialize_with)]`.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn displayed<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use assay_core::histogram::StoredHistogram;
    use assay_core::observation::ObservedRepeat;
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;

    #[test]
    fn each_quantity_is_found_by_its_name_and_a_percentile_says_how_many_operations_it_needs() {
        for quantity in Quantity::ALL {
            assert_eq!(Quantity::parse(quantity.name()), Ok(quantity));
            assert_eq!(quantity.percentile().is_some(), quantity.name().starts_with('p'));
        }
        let least = |name: &str| Quantity::parse(name).unwrap().least_operations();
        assert_eq!(["rate", "p50", "p99", "p99.9", "p99.99"].map(least), [1, 1, 1, 1_000, 10_000]);
        let unknown = Quantity::parse("p98").unwrap_err();
        assert!(unknown.starts_with("no figure is named `p98`; there are iops, rate, durable, p50"), "{unknown}");
    }

    #[test]
    fn a_percentile_needs_an_operation_beyond_it() {
        let mut m = ObservedMeasurement::new(Workload::new("w", Op::Read, Pattern::Random, 4096));
        for shift in [0, 1] {
            let mut histogram = Histogram::default();
            (1..=1000u64).for_each(|n| histogram.add(n * 1000 + shift));
            let histogram = StoredHistogram::from(&histogram).into();
            m.repeats.push(ObservedRepeat { histogram, operations: 1000, ..ObservedRepeat::new(Outcome::Completed) });
        }
        let of = |share: f64| percentile(&m, share).map(|e| (e.point, e.n));
        let (p99, n) = of(0.99).unwrap();
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.005 && n == 2, "{p99}");
        assert!(of(0.999).is_some());
        assert_eq!(of(0.9991), None);
        assert_eq!((operations_for(0.999), operations_for(0.9999), operations_for(0.5)), (1000, 10_000, 1));
        m.repeats[1].outcome = Outcome::Running;
        assert_eq!(percentile(&m, 0.5).map(|e| e.n), Some(1), "what is not over does not count");
    }
}
