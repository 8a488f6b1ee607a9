//! Values as fio writes them: sizes, durations, switches, and numbers that fio reckons by itself.

use std::time::Duration;

use assay_core::text::quoted;

/// A size in bytes, as fio reads it: `4k`, `1m`, `4096`, `0x1000`.
///
/// With `kb_base` 1024, fio's default, `k`, `kB` and `Ki` are 1024 and `KiB` is 1000; with 1000
/// it is the other way round as the standards have it (fio's manual, "Units"; seen with 3.33).
pub(crate) fn size(text: &str, kb_base: u64) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let wrong = || format!("{} is not a size; write a whole number and a unit, like 4k, 1m or 2g", quoted(text));
    if let Some(hex) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| wrong());
    }
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let mut letters = unit.chars();
    let power = match letters.next() {
        None => return Ok(number),
        Some('b') if unit == "b" => return Ok(number),
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return Err(wrong()),
    };
    let base: u64 = match (letters.as_str(), kb_base) {
        ("ib", 1024) => 1000,
        ("ib" | "i", 1000) => 1024,
        ("" | "b" | "i", base) => base,
        _ => return Err(wrong()),
    };
    base.checked_pow(power)
        .and_then(|factor| number.checked_mul(factor))
        .ok_or_else(|| format!("{} is too large", quoted(text)))
}

/// A duration; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let lower = text.trim().to_ascii_lowercase();
    let wrong =
        || format!("{} is not a duration; write a whole number and a unit, like 500ms, 30s or 10m", quoted(text));
    let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let micros = match unit {
        "us" | "usec" => 1,
        "ms" | "msec" => 1000,
        "" | "s" | "sec" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(micros).map(Duration::from_micros).ok_or_else(|| format!("{} is too long", quoted(text)))
}

/// A switch: `option`, `option=1` or `option=0`.
pub(crate) fn switch(value: Option<&str>) -> Result<bool, String> {
    match value.map(str::trim) {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("{} must be 0 or 1", quoted(other))),
    }
}

/// The text of a job file with `${NAME}` replaced by what `variable` says of it, outside of comments; else the line and
/// what is wrong with it.
pub(crate) fn expanded(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, (usize, String)> {
    let mut whole = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        let (mut rest, comment) = line.split_at(line.find([';', '#']).unwrap_or(line.len()));
        while let Some((before, (name, after))) =
            rest.split_once("${").and_then(|(before, from)| Some((before, from.split_once('}')?)))
        {
            let value = variable(name).filter(|value| !value.contains(['\n', '\r', ';', '#']));
            let missing = || format!("the environment has no value for {} that can stand in a line", quoted(name));
            whole.push_str(before);
            whole.push_str(&value.ok_or_else(|| (index + 1, missing()))?);
            rest = after;
        }
        whole.push_str(rest);
        whole.push_str(comment);
        whole.push('\n');
    }
    Ok(whole)
}

// Numbers that fio reckons by itself: `$mb_memory`, `$pagesize`, `$ncpus`, and `10*10*1000`.

/// Deeper brackets are refused.
const DEEPEST: usize = 16;

/// The value of an expression of whole numbers with units, `+ - * /` and brackets; `None` where it is a single value,
/// which has other forms too.
///
/// # Errors
/// One line, where it cannot be reckoned.
pub(crate) fn reckoned(text: &str, number: impl Fn(&str) -> Result<u64, String>) -> Result<Option<u64>, String> {
    let replaced = keywords(text)?;
    if !replaced.contains(['*', '+', '/', '(']) && replaced == text {
        return Ok(None);
    }
    let mut rest = Rest { text: &replaced, depth: 0, number: &number };
    let value = rest.sum().filter(|value| *value >= 0 && rest.text.trim().is_empty());
    match value.map(u64::try_from) {
        Some(Ok(value)) => Ok(Some(value)),
        _ => Err(format!("{} cannot be reckoned; write the number", quoted(text))),
    }
}

/// Names of the host's own numbers, as fio has them.
fn keywords(text: &str) -> Result<String, String> {
    let mut whole = text.to_owned();
    for name in ["$mb_memory", "$pagesize", "$ncpus"] {
        if !whole.contains(name) {
            continue;
        }
        let value = match name {
            "$pagesize" => Some(4096),
            "$ncpus" => std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u64),
            _ => memory_mb(),
        };
        let value = value.ok_or_else(|| format!("{name} is not known here; write the number"))?;
        whole = whole.replace(name, &value.to_string());
    }
    Ok(whole)
}

/// Memory of the host in MiB.
fn memory_mb() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// What is left to read.
struct Rest<'t, F> {
    text: &'t str,
    depth: usize,
    number: &'t F,
}

impl<F: Fn(&str) -> Result<u64, String>> Rest<'_, F> {
    fn sum(&mut self) -> Option<i128> {
        let mut sum = self.product()?;
        loop {
            sum = match self.taken(&['+', '-']) {
                Some('+') => sum.checked_add(self.product()?)?,
                Some(_) => sum.checked_sub(self.product()?)?,
                None => return Some(sum),
            };
        }
    }

    fn product(&mut self) -> Option<i128> {
        let mut product = self.factor()?;
        loop {
            product = match self.taken(&['*', '/']) {
                Some('*') => product.checked_mul(self.factor()?)?,
                Some(_) => product.checked_div(self.factor()?)?,
                None => return Some(product),
            };
        }
    }

    fn factor(&mut self) -> Option<i128> {
        if self.taken(&['(']).is_some() {
            self.depth += 1;
            let inner = if self.depth > DEEPEST { None } else { self.sum() }?;
            self.depth -= 1;
            self.taken(&[')'])?;
            return Some(inner);
        }
        let text = self.text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let value = (self.number)(&text[..end]).ok()?;
        self.text = &text[end..];
        Some(i128::from(value))
    }

    fn taken(&mut self, of: &[char]) -> Option<char> {
        let text = self.text.trim_start();
        let first = text.chars().next().filter(|c| of.contains(c))?;
        self.text = &text[first.len_utf8()..];
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::size;

    #[test]
    fn variables_are_replaced_outside_of_comments() {
        let variable = |name: &str| match name {
            "SIZE" => Some("64m".to_owned()),
            "EVIL" => Some("1\n[x]".to_owned()),
            _ => None,
        };
        let text = "[a] ; ${NONE}\nsize=${SIZE}${SIZE}\n# ${EVIL}\nx=${open";
        assert_eq!(expanded(text, variable).unwrap(), "[a] ; ${NONE}\nsize=64m64m\n# ${EVIL}\nx=${open\n");
        for (text, line) in [("\nsize=${NONE}\n", 2), ("size=${EVIL}", 1)] {
            let (at, message) = expanded(text, variable).unwrap_err();
            assert!(at == line && message.contains("no value"), "{message}");
        }
    }

    #[test]
    fn sizes_are_what_fio_makes_of_them() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kB", 4096),
            ("4Ki", 4096),
            ("4KiB", 4000),
            ("1m", 1 << 20),
            ("2g", 2 << 30),
            ("0x1000", 4096),
            ("4b", 4),
            ("512", 512),
        ] {
            assert_eq!(size(text, 1024), Ok(bytes), "{text}");
        }
        assert_eq!((size("4k", 1000), size("4KiB", 1000)), (Ok(4000), Ok(4096)));
        for bad in ["", "k", "1.5k", "-1", "4kk", "50%", "99999999999999999999", "16777216t", "0x", "4 k"] {
            assert!(size(bad, 1024).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_seconds_unless_they_say_otherwise() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("7us"), Ok(Duration::from_micros(7)));
        for bad in ["", "s", "1:30", "-3", "1y", "99999999999999999d"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_reckoned_as_fio_does() {
        let of = |text| reckoned(text, |number| size(number, 1024));
        for (text, value) in [("10*10*1000", 100_000), ("(1g - 1m) / 2", 536_346_624), ("2*(3+4)", 14)] {
            assert_eq!(of(text), Ok(Some(value)), "{text}");
        }
        assert_eq!((of("4k"), of("50%")), (Ok(None), Ok(None)));
        assert_eq!(of("2*$pagesize"), Ok(Some(8192)));
        for text in ["1/0", "1+", "(1", "1-2*3+", "2*x", &"(".repeat(1000), "99999999999999999999*2"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
