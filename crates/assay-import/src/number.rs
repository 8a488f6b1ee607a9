//! Numbers as tools and locales print them.

use crate::plausible::Printed;

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
}
