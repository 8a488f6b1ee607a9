//! An option as it stands in a job file, and the forms that its value may have.

use assay_core::suite::MAX_BLOCK;
use assay_core::text::{label, quoted};
use assay_core::units::Bytes;

use crate::expression::reckoned;
use crate::values::size;

/// A value with the line that set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// A size in bytes or in percent of the file or device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// In bytes.
    Bytes(u64),
    /// In percent, above 0 and at most 100.
    Percent(f64),
}

impl Amount {
    /// `count` times the amount.
    pub(crate) fn times(self, count: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(count)),
            Self::Percent(percent) => Self::Percent(percent * count as f64),
        }
    }

    /// In bytes, of a medium of that many.
    pub(crate) fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (percent / 100.0 * whole as f64) as u64 / 4096 * 4096,
        }
    }

    /// The percent, where it is in percent.
    pub(crate) fn percent(self) -> Option<f64> {
        match self {
            Self::Bytes(_) => None,
            Self::Percent(percent) => Some(percent),
        }
    }
}

/// An option as it stands in the file.
#[derive(Clone, Copy)]
pub(crate) struct Given<'k, 't> {
    pub(crate) key: &'k str,
    pub(crate) value: Option<&'t str>,
    pub(crate) line: usize,
    /// What `k` is: 1024 or 1000.
    pub(crate) base: u64,
}

impl<'t> Given<'_, 't> {
    pub(crate) fn text(&self) -> Result<&'t str, String> {
        let text = self.value.map(|v| v.trim_matches('"')).filter(|v| !v.is_empty());
        text.ok_or_else(|| format!("{0} needs a value: {0}=…", self.key))
    }

    pub(crate) fn named(&self, message: String) -> String {
        format!("{}: {message}", self.key)
    }

    pub(crate) fn at<T>(&self, value: T) -> At<T> {
        At { value, line: self.line }
    }

    /// A size in bytes.
    pub(crate) fn bytes(&self) -> Result<u64, String> {
        self.bytes_of(self.text()?)
    }

    fn bytes_of(&self, text: &str) -> Result<u64, String> {
        let number = |text: &str| size(text, self.base);
        match reckoned(text, number).map_err(|message| self.named(message))? {
            Some(bytes) => Ok(bytes),
            None => number(text).map_err(|message| self.named(message)),
        }
    }

    /// A size in bytes or percent.
    pub(crate) fn amount(&self) -> Result<Amount, String> {
        let text = self.text()?;
        // A file that a script fills in has `100%%`.
        let Some(percent) = text.strip_suffix('%').map(|text| text.trim_end_matches('%')) else {
            return self.bytes().map(Amount::Bytes);
        };
        let percent = percent.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        percent.map(Amount::Percent).ok_or_else(|| self.named(format!("{} must be 0% to 100%", quoted(text))))
    }

    /// The values of reads and of writes. One that ends with no comma is for all that come after it.
    pub(crate) fn directions(&self) -> Result<[Option<&'t str>; 2], String> {
        let text = self.text()?;
        let mut values = text.split(',').map(str::trim);
        let reads = values.next().unwrap_or_default();
        let writes = values.next().unwrap_or(reads);
        Ok([reads, writes].map(|value| Some(value).filter(|value| !value.is_empty())))
    }

    /// A block, in bytes.
    pub(crate) fn block(&self, text: &str) -> Result<u64, String> {
        let bytes = self.bytes_of(text)?;
        if bytes == 0 || bytes > MAX_BLOCK.0 {
            return Err(format!("{} = {} must be 1 B to {MAX_BLOCK}", self.key, Bytes(bytes)));
        }
        Ok(bytes)
    }

    pub(crate) fn count(&self, limit: u32) -> Result<u32, String> {
        let text = self.text()?;
        text.parse()
            .ok()
            .filter(|n| (1..=limit).contains(n))
            .ok_or_else(|| format!("{} = {} must be 1 to {limit}", self.key, shown(text)))
    }

    /// A whole number; 0 is as if the option were not there.
    pub(crate) fn count_or_none(&self, limit: u32) -> Result<Option<u32>, String> {
        if self.text()? == "0" { Ok(None) } else { self.count(limit).map(Some) }
    }

    pub(crate) fn percent(&self) -> Result<u8, String> {
        let text = self.text()?;
        text.trim_end_matches('%')
            .parse()
            .ok()
            .filter(|n| *n <= 100)
            .ok_or_else(|| format!("{} = {} must be 0 to 100", self.key, shown(text)))
    }
}

/// A value for a message.
fn shown(text: &str) -> String {
    label(text, 80).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Given<'static, '_> {
        Given { key: "x", value: Some(text), line: 1, base: 1024 }
    }

    /// As fio 3.33 was seen to take them.
    #[test]
    fn values_are_for_reads_and_for_writes() {
        for (text, reads, writes) in [
            ("4k", Some("4k"), Some("4k")),
            ("4k,8k", Some("4k"), Some("8k")),
            (",8k", None, Some("8k")),
            ("4k,", Some("4k"), None),
            ("4k,8k,16k", Some("4k"), Some("8k")),
        ] {
            assert_eq!(given(text).directions(), Ok([reads, writes]), "{text}");
        }
    }

    #[test]
    fn amounts_are_bytes_or_percent() {
        assert_eq!(given("12.5%").amount(), Ok(Amount::Percent(12.5)));
        assert_eq!(given("100%%").amount(), Ok(Amount::Percent(100.0)));
        assert_eq!(given("2g").amount(), Ok(Amount::Bytes(2 << 30)));
        assert!(given("101%").amount().is_err() && given("-1%").amount().is_err());
        assert_eq!(Amount::Percent(50.0).of(1 << 20), 1 << 19);
    }
}
