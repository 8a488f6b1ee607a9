//! Numbers that fio reckons by itself: `$mb_memory`, `$pagesize`, `$ncpus`, and `10*10*1000`.

use assay_core::text::quoted;

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
