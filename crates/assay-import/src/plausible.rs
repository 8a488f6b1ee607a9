//! Whether what a tool prints of one run agrees with itself.
//!
//! Many tools print two or more of rate, operations per second, bytes, operations and time, each rounded for itself. A
//! typing fault or a garbled digit is in one of them, so that they no longer agree: within the rounding of what was
//! printed, and a hundredth on top for tools that count each over a slightly other time.

use assay_core::finding::Finding;
use assay_core::units::Bytes;

/// What tools may differ by beyond the rounding of what they print.
const SLACK: f64 = 0.01;

/// A figure as it was printed: the value may be off by one of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    /// What one of the last digit is worth.
    pub(crate) step: f64,
}

impl Printed {
    /// One that is exact.
    pub(crate) fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }

    /// The same in another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, step: self.step * factor }
    }

    fn is_sound(&self) -> bool {
        self.value.is_finite() && self.value > 0.0
    }

    fn share(&self) -> f64 {
        self.step / self.value
    }
}

/// What was printed of one run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Told {
    /// Bytes per second.
    pub(crate) rate: Option<Printed>,
    /// Operations per second.
    pub(crate) iops: Option<Printed>,
    pub(crate) bytes: Option<Printed>,
    pub(crate) operations: Option<Printed>,
    pub(crate) seconds: Option<Printed>,
}

impl Told {
    /// Nothing that could contradict: what was printed of the parts of a figure was looked at apart.
    pub(crate) const LOOKED_AT: Self = Self {
        rate: Some(Printed { value: 0.0, step: 0.0 }),
        iops: None,
        bytes: None,
        operations: None,
        seconds: None,
    };

    /// The first contradiction between two of its figures. `block` is the size of an operation in bytes, if known.
    pub(crate) fn contradiction(&self, block: Option<u64>) -> Option<Finding> {
        let block_bytes = block.filter(|bytes| *bytes > 0);
        let block = block_bytes.map(|bytes| Printed::exact(bytes as f64));
        let size = block_bytes.map(|bytes| Bytes(bytes).to_string()).unwrap_or_default();
        let megabytes = |rate: Printed| format!("{} MB/s", digits(rate.value / 1e6));
        let how = differ(self.rate, self.iops, block)
            .map(|(rate, iops, _)| format!("{} are not {} IOPS of {size}", megabytes(rate), digits(iops.value)))
            .or_else(|| {
                differ(self.bytes, self.rate, self.seconds).map(|(bytes, rate, seconds)| {
                    format!("{} bytes in {} s are not {}", bytes.value, digits(seconds.value), megabytes(rate))
                })
            })
            .or_else(|| {
                differ(self.operations, self.iops, self.seconds).map(|(operations, iops, seconds)| {
                    let (iops, seconds) = (digits(iops.value), digits(seconds.value));
                    format!("{} operations in {seconds} s are not {iops} IOPS", operations.value)
                })
            })
            .or_else(|| {
                differ(self.bytes, self.operations, block).map(|(bytes, operations, _)| {
                    format!("{} operations of {size} are not {} bytes", operations.value, bytes.value)
                })
            })?;
        Some(Finding::SourceContradicts { how })
    }
}

/// The three where they are known, and the first is not the product of the others.
fn differ(
    product: Option<Printed>,
    one: Option<Printed>,
    other: Option<Printed>,
) -> Option<(Printed, Printed, Printed)> {
    let all = [product?, one?, other?];
    let sound = all.iter().all(Printed::is_sound);
    let [product, one, other] = all;
    let (computed, tolerance) = (one.value * other.value, SLACK + all.iter().map(Printed::share).sum::<f64>());
    // Alike in both directions: what is ten times too small is as wrong as what is ten times too large.
    let ratio = (computed / product.value).max(product.value / computed);
    (sound && ratio > 1.0 + tolerance).then_some((product, one, other))
}

/// With four digits, or all before the point.
fn digits(value: f64) -> String {
    let places = match value {
        1e3.. => 0,
        10.0.. => 2,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64, step: f64) -> Option<Printed> {
        Some(Printed { value, step })
    }

    #[test]
    fn what_does_not_agree_is_told_and_rounding_is_not() {
        let told = |rate, iops| Told { rate, iops, ..Told::default() };
        let cause = |told: Told, block| told.contradiction(block).map(|finding| finding.cause());
        let (rate, iops) = (printed(384.064e6, 1e3), printed(366.3, 0.1));
        assert_eq!(cause(told(rate, iops), Some(1 << 20)), None);
        assert_eq!(
            cause(told(printed(38.4064e6, 100.0), iops), Some(1 << 20)).unwrap(),
            "the imported text contradicts itself: 38.41 MB/s are not 366.3 IOPS of 1 MiB"
        );
        assert_eq!(cause(told(rate, iops), None), None, "nothing to compare with");
        // Two operations by the second, cut off to whole ones.
        assert_eq!(cause(told(printed(11.6 * 4096.0, 10.0), printed(2.0, 1.0)), Some(16384)), None);
        assert_eq!(cause(told(printed(0.0, 1.0), printed(2.0, 1.0)), Some(4096)), None, "nothing printed");
        let run = Told {
            bytes: printed(191.0 * 1_048_576.0, 1_048_576.0),
            seconds: printed(2.001, 0.001),
            rate: printed(100e6, 1e6),
            operations: printed(48_919.0, 0.0),
            iops: printed(24_400.0, 100.0),
        };
        assert_eq!(cause(run, Some(4096)), None);
        for wrong in [
            Told { seconds: printed(20.01, 0.001), ..run },
            Told { bytes: printed(291.0 * 1_048_576.0, 1_048_576.0), ..run },
            Told { operations: printed(84_919.0, 0.0), ..run },
            Told { iops: printed(34_400.0, 100.0), ..run },
        ] {
            assert!(cause(wrong, Some(4096)).is_some(), "{wrong:?}");
        }
    }
}
