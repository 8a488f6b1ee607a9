//! Operations of several sizes in one load.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::quoted;
use crate::units::{Bytes, exact_bytes};

/// Most sizes of a mix.
const MOST_SIZES: usize = 64;
/// Shares may be off the whole by this much, in percent: they are written with few digits.
const TOLERANCE: f64 = 0.5;

/// One size, and how frequent it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockShare {
    /// Size of one operation in bytes.
    pub block_bytes: u64,
    /// Share of the operations in percent; above 0, at most 100.
    pub percent: f64,
}

/// Sizes of the operations of a load that has several, reads and writes alike, each drawn by its share independently
/// of the others. Empty where all have the same size.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Blocks(Vec<BlockShare>);

impl Blocks {
    /// Sizes with their shares in percent, sorted by size; equal sizes are one. A single size is no mix: it is empty.
    ///
    /// # Errors
    /// One line, where a size is none, shares do not make 100 %, or there are too many.
    pub fn new(shares: impl IntoIterator<Item = BlockShare>) -> Result<Self, String> {
        let mut sizes: Vec<BlockShare> = Vec::new();
        for share in shares {
            if share.block_bytes == 0 || !share.block_bytes.is_multiple_of(512) {
                return Err(format!("a block of {} B is not a multiple of 512 B", share.block_bytes));
            }
            if !(0.0..=100.0).contains(&share.percent) {
                return Err(format!("a share of {} % is not between 0 and 100", share.percent));
            }
            match sizes.iter_mut().find(|known| known.block_bytes == share.block_bytes) {
                Some(known) => known.percent += share.percent,
                None => sizes.push(share),
            }
        }
        sizes.retain(|share| share.percent > 0.0);
        let sum: f64 = sizes.iter().map(|share| share.percent).sum();
        if (sum - 100.0).abs() > TOLERANCE {
            return Err(format!("the shares of the blocks make {sum} %, not 100"));
        }
        if sizes.len() > MOST_SIZES {
            return Err(format!("{} sizes of blocks are more than {MOST_SIZES}", sizes.len()));
        }
        sizes.sort_by_key(|share| share.block_bytes);
        for share in &mut sizes {
            share.percent *= 100.0 / sum;
        }
        Ok(Self(if sizes.len() > 1 { sizes } else { Vec::new() }))
    }

    /// A single size, where that is another one than that of the rest of a load.
    ///
    /// # Errors
    /// One line, where it is no size of a block.
    pub fn one(block_bytes: u64) -> Result<Self, String> {
        Self::new([BlockShare { block_bytes, percent: 100.0 }])?;
        Ok(Self(vec![BlockShare { block_bytes, percent: 100.0 }]))
    }

    /// Reads `4KiB/60:64KiB/40`, in the form of fio's `bssplit`: each size with its share in percent. Sizes without a
    /// share have the rest in equal parts.
    ///
    /// # Errors
    /// One line with what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text, |size| size.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| error.to_string()))
    }

    /// The same with sizes as `size` reads them.
    ///
    /// # Errors
    /// One line with what is wrong.
    pub fn read(text: &str, size: impl Fn(&str) -> Result<u64, String>) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(':').take(MOST_SIZES + 1) {
            let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
            let percent = match percent.trim() {
                "" => None,
                number => {
                    let read = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
                    Some(read.ok_or_else(|| format!("{} is not a share in percent", quoted(number)))?)
                }
            };
            sizes.push((size(bytes.trim())?, percent));
        }
        let given: f64 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
        let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count();
        let rest = (100.0 - given).max(0.0) / open.max(1) as f64;
        let shares = sizes
            .into_iter()
            .map(|(block_bytes, percent)| BlockShare { block_bytes, percent: percent.unwrap_or(rest) });
        Self::new(shares)
    }

    /// Whether all operations have the same size.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sizes, small ones first.
    #[must_use]
    pub fn shares(&self) -> &[BlockShare] {
        &self.0
    }

    /// As fio's `bssplit` takes them.
    #[must_use]
    pub fn to_fio(&self) -> String {
        let shares = self.0.iter().map(|share| format!("{}/{}", share.block_bytes, share.percent));
        shares.collect::<Vec<_>>().join(":")
    }

    /// The largest of them in bytes.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.0.last().map(|share| share.block_bytes)
    }

    /// The mean size of an operation in bytes, rounded.
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        let sum: f64 = self.0.iter().map(|share| share.block_bytes as f64 * share.percent / 100.0).sum();
        (!self.is_empty()).then_some(sum.round() as u64)
    }
}

/// As [`Blocks::parse`] reads it.
impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, share) in self.0.iter().enumerate() {
            let size = exact_bytes(share.block_bytes);
            if self.0.len() == 1 {
                return f.write_str(&size);
            }
            let percent = (share.percent * 1e6).round() / 1e6;
            write!(f, "{}{size}/{percent}", if index > 0 { ":" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_as_it_is_written() {
        let blocks = Blocks::parse("64KiB/40:4KiB/60").unwrap();
        assert_eq!(blocks.to_string(), "4KiB/60:64KiB/40");
        assert_eq!(Blocks::parse(&blocks.to_string()), Ok(blocks.clone()));
        assert_eq!((blocks.largest(), blocks.mean()), (Some(65_536), Some(28_672)));
        assert_eq!(Blocks::parse("4KiB:8KiB:16KiB/50").unwrap().to_string(), "4KiB/25:8KiB/25:16KiB/50");
        assert_eq!(Blocks::parse("4KiB/30:4KiB/30:8KiB/40").unwrap().to_string(), "4KiB/60:8KiB/40");
        for text in ["512B/50:1028KiB/50", "4KiB/99.9999:1MiB/0.0001"] {
            assert_eq!(Blocks::parse(text).unwrap().to_string(), text);
        }
        let thirds = Blocks::parse("4KiB:8KiB:16KiB").unwrap();
        assert_eq!(Blocks::parse(&thirds.to_string()).unwrap().to_string(), thirds.to_string());
    }

    #[test]
    fn one_size_is_no_mix() {
        assert!(Blocks::parse("4KiB/100").unwrap().is_empty());
        assert!(Blocks::parse("4KiB").unwrap().is_empty());
        assert_eq!(Blocks::parse("4KiB/100:8KiB/0").unwrap().mean(), None);
    }

    #[test]
    fn what_is_no_mix_is_refused() {
        for (text, word) in [
            ("4KiB/60:8KiB/30", "90 %"),
            ("4KiB/60:8KiB/60", "120 %"),
            ("4KiB/x:8KiB/60", "not a share"),
            ("4KiB/-5:8KiB/105", "not a share"),
            ("1000B/50:8KiB/50", "512"),
            ("", "size"),
            ("4KiB/nan:8KiB", "not a share"),
        ] {
            let message = Blocks::parse(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
        let many: Vec<String> = (1..=65).map(|n| format!("{}B", n * 512)).collect();
        assert!(Blocks::parse(&many.join(":")).unwrap_err().contains("more than 64"));
    }
}
