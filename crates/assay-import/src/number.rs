//! Numbers as tools and locales print them.

use assay_core::finding::{Contradiction, Finding, SourceAmount, SourceQuantity};
use assay_core::verification::{Checker, FakeKind, Method, Pass, SECTOR_BYTES, Verdict, Verification};

/// A decimal number with a point or a comma: `19.3`, `19,3`, `1.234,5`, `1,234.5`, `1 234,5`, `1'234.5`. Of one mark
/// alone it is the decimal one, unless three digits and nothing else follow several of it.
#[must_use]
pub(crate) fn decimal(text: &str) -> Option<f64> {
    printed(text).map(|number| number.value)
}

/// The same with what one of its last digit is worth.
#[must_use]
pub(crate) fn printed(text: &str) -> Option<Printed> {
    let text: String = text.trim().chars().map(wide_to_narrow).filter(|c| !matches!(c, ' ' | '\'' | '_')).collect();
    let number = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) if comma > point => text.replace('.', "").replace(',', "."),
        (Some(_), Some(_)) => text.replace(',', ""),
        (Some(_), None) if text.matches(',').count() > 1 => text.replace(',', ""),
        (Some(_), None) => text.replace(',', "."),
        (None, Some(_)) if text.matches('.').count() > 1 => text.replace('.', ""),
        _ => text,
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    let value = number.parse::<f64>().ok().filter(|value| plain && value.is_finite())?;
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((&number, "0"));
    let places = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let power = power.parse::<i32>().unwrap_or(0).saturating_sub(i32::try_from(places).unwrap_or(0));
    Some(Printed { value, step: 10f64.powi(power) })
}

/// Digits and marks of Chinese and Japanese locales.
fn wide_to_narrow(c: char) -> char {
    match c {
        '０'..='９' => char::from(b'0' + u8::try_from(u32::from(c) - u32::from('０')).unwrap_or(0)),
        '，' => ',',
        '．' => '.',
        other => other,
    }
}

/// Bytes of one unit, as the tool that prints it means it: `kB`, `MB/sec`, `MiB`, `GByte`, in any case of letters. One
/// with an `i` is a power of 1024 always, another only where `base` says so.
#[must_use]
pub(crate) fn unit(text: &str, base: Base) -> Option<f64> {
    let lower = text.trim().to_lowercase();
    let name = lower.split(['/', ' ']).next().unwrap_or("");
    let name = name.strip_suffix("bytes").or_else(|| name.strip_suffix("byte")).or_else(|| name.strip_suffix('b'));
    let (power, binary) = match name? {
        "" => (0, false),
        "k" => (1, false),
        "m" => (2, false),
        "g" => (3, false),
        "t" => (4, false),
        "ki" => (1, true),
        "mi" => (2, true),
        "gi" => (3, true),
        "ti" => (4, true),
        _ => return None,
    };
    let step: f64 = if binary || base == Base::Binary { 1024.0 } else { 1000.0 };
    Some(step.powi(power))
}

/// What `k`, `M` and `G` mean where no `i` follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// Powers of 1000.
    Decimal,
    /// Powers of 1024.
    Binary,
}

// Whether what a tool prints of one run agrees with itself.
//
// Many tools print two or more of rate, operations per second, bytes, operations and time, each rounded for itself. A
// typing fault or a garbled digit is in one of them, so that they no longer agree: within the rounding of what was
// printed, and a hundredth on top for tools that count each over a slightly other time.

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
        use SourceQuantity::{BlockBytes, Bytes, BytesPerSecond, Iops, Operations, Seconds};
        let block = block.filter(|bytes| *bytes > 0).map(|bytes| Printed::exact(bytes as f64));
        let products = [
            [(BytesPerSecond, self.rate), (Iops, self.iops), (BlockBytes, block)],
            [(Bytes, self.bytes), (BytesPerSecond, self.rate), (Seconds, self.seconds)],
            [(Operations, self.operations), (Iops, self.iops), (Seconds, self.seconds)],
            [(Bytes, self.bytes), (Operations, self.operations), (BlockBytes, block)],
        ];
        let contradiction = products.into_iter().find_map(differ)?;
        Some(Finding::SourceContradicts { contradiction })
    }
}

/// A contradiction where the first of three that are known is not the product of the others.
fn differ([product, one, other]: [(SourceQuantity, Option<Printed>); 3]) -> Option<Contradiction> {
    let all = [product.1?, one.1?, other.1?];
    let sound = all.iter().all(Printed::is_sound);
    let [value, first, second] = all;
    let (computed, tolerance) = (first.value * second.value, SLACK + all.iter().map(Printed::share).sum::<f64>());
    // Alike in both directions: what is ten times too small is as wrong as what is ten times too large.
    let ratio = (computed / value.value).max(value.value / computed);
    let told = |(quantity, _), printed: Printed| SourceAmount::new(quantity, printed.value);
    (sound && ratio > 1.0 + tolerance)
        .then(|| Contradiction::product(told(product, value), told(one, first), told(other, second)))
}

// Results of tests that fill a medium and read it back.

/// Share of the sectors from which on a loss may be that of a fake, in percent: the limit of `verify`. Fakes announce at
/// least a twentieth too much, and a worn medium loses less.
const FAKE_PERCENT: u64 = 5;

/// A check without results: only its method is known.
pub(crate) fn check_undecided(checker: Checker, method: Method) -> Verification {
    Verification { checker, ..Verification::undecided(method) }
}

/// What losses come to. Data of another place, and a good beginning with nothing good behind it, are what a fake
/// leaves, where at least a twentieth is lost; other losses are damage. A text that does not tell that all was read proves
/// no medium good.
pub(crate) fn check_decide(check: &mut Verification, tail_is_lost: bool, complete: bool) {
    let counts = check.counts;
    let (lost, total) = (counts.lost(), counts.total());
    let many = lost.saturating_mul(100) >= total.saturating_mul(FAKE_PERCENT);
    check.verdict = match lost {
        0 if complete => Verdict::Genuine,
        0 => Verdict::Undecided,
        _ if many && (counts.overwritten > 0 || tail_is_lost) => Verdict::Fake,
        _ => Verdict::Damaged,
    };
    if check.verdict == Verdict::Fake {
        check.kind = Some(FakeKind::Unknown);
        check.real_bytes = Some(counts.good.saturating_mul(SECTOR_BYTES));
    }
    check.checked_bytes = total.saturating_mul(SECTOR_BYTES);
    check.announced_bytes = check.announced_bytes.max(check.checked_bytes);
}

/// What contradicts a count of sectors: a size that is printed beside it, rounded or cut off.
pub(crate) fn check_contradicts(size: &str, unit: Option<f64>, sectors: u64) -> Option<Finding> {
    let size = printed(size)?.times(unit?);
    let counted = sectors.saturating_mul(SECTOR_BYTES) as f64;
    // Without digits behind the point a size below one is printed as none.
    let differs = (size.value - counted).abs() > size.step.max(counted * 0.01);
    let contradiction = || {
        Contradiction::product(
            SourceAmount::new(SourceQuantity::Bytes, size.value),
            SourceAmount::new(SourceQuantity::Sectors, sectors as f64),
            SourceAmount::new(SourceQuantity::SectorBytes, SECTOR_BYTES as f64),
        )
    };
    differs.then(|| Finding::SourceContradicts { contradiction: contradiction() })
}

/// A pass over `bytes` at a rate.
pub(crate) fn check_pass(bytes: u64, rate: Option<f64>) -> Option<Pass> {
    let rate = rate.filter(|rate| *rate > 0.0 && bytes > 0)?;
    Some(Pass { bytes, elapsed_ns: (bytes as f64 / rate * 1e9) as u64, speed: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_locales() {
        for (text, value) in [
            ("19.3", 19.3),
            ("19,3", 19.3),
            (" 1,86384 ", 1.86384),
            ("1.234,5", 1234.5),
            ("1,234.5", 1234.5),
            ("1,234,567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1 234,5", 1234.5),
            ("１２，５", 12.5),
            ("1e3", 1000.0),
        ] {
            assert_eq!(decimal(text), Some(value), "{text}");
        }
        for (text, step) in [("19.30", 0.01), ("1.234,5", 0.1), ("17", 1.0), ("2.5e3", 100.0)] {
            let found = printed(text).unwrap().step;
            assert!((found / step - 1.0).abs() < 1e-9, "{text}: {found}");
        }
        for bad in ["", "-", ".", "1.2.3,4,5x", "nan", "inf", "0x10", "1e999"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn units_by_each_tools_own_convention() {
        for (unit, base, value) in [
            ("MB/s", Base::Decimal, 1e6),
            ("MB/sec", Base::Binary, 1_048_576.0),
            ("MiB/s", Base::Decimal, 1_048_576.0),
            ("kB", Base::Decimal, 1e3),
            ("KB", Base::Binary, 1024.0),
            ("GByte", Base::Binary, 1_073_741_824.0),
            ("bytes", Base::Decimal, 1.0),
            ("B/s", Base::Decimal, 1.0),
        ] {
            assert_eq!(super::unit(unit, base), Some(value), "{unit}");
        }
        assert_eq!(super::unit("furlongs", Base::Decimal), None);
    }

    fn printed_with_step(value: f64, step: f64) -> Option<Printed> {
        Some(Printed { value, step })
    }

    #[test]
    fn what_does_not_agree_is_told_and_rounding_is_not() {
        let told = |rate, iops| Told { rate, iops, ..Told::default() };
        let cause = |told: Told, block| told.contradiction(block).map(|finding| finding.cause());
        let (rate, iops) = (printed_with_step(384.064e6, 1e3), printed_with_step(366.3, 0.1));
        assert_eq!(cause(told(rate, iops), Some(1 << 20)), None);
        assert_eq!(
            cause(told(printed_with_step(38.4064e6, 100.0), iops), Some(1 << 20)).unwrap(),
            "the imported text contradicts itself: 366 IOPS of 1 MiB make 384 MB/s, not 38.4 MB/s (one is 10.0 times the other)"
        );
        assert_eq!(cause(told(rate, iops), None), None, "nothing to compare with");
        // Two operations by the second, cut off to whole ones.
        assert_eq!(cause(told(printed_with_step(11.6 * 4096.0, 10.0), printed_with_step(2.0, 1.0)), Some(16384)), None);
        assert_eq!(
            cause(told(printed_with_step(0.0, 1.0), printed_with_step(2.0, 1.0)), Some(4096)),
            None,
            "nothing printed"
        );
        let run = Told {
            bytes: printed_with_step(191.0 * 1_048_576.0, 1_048_576.0),
            seconds: printed_with_step(2.001, 0.001),
            rate: printed_with_step(100e6, 1e6),
            operations: printed_with_step(48_919.0, 0.0),
            iops: printed_with_step(24_400.0, 100.0),
        };
        assert_eq!(cause(run, Some(4096)), None);
        for wrong in [
            Told { seconds: printed_with_step(20.01, 0.001), ..run },
            Told { bytes: printed_with_step(291.0 * 1_048_576.0, 1_048_576.0), ..run },
            Told { operations: printed_with_step(84_919.0, 0.0), ..run },
            Told { iops: printed_with_step(34_400.0, 100.0), ..run },
        ] {
            assert!(cause(wrong, Some(4096)).is_some(), "{wrong:?}");
        }
    }
}
