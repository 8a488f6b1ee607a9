//! How often a cache behind RAM is hit, and the RAM that its headers take.

use assay_stats::decide::{Refusal, not_negative, positive};

/// Bytes of RAM per block in the cache: header of 96 and checksum of 32 (illumos issue 5408).
pub(super) const HEADER_BYTES: f64 = 128.0;
/// OpenZFS lets headers take this share of the RAM cache at most (`l2arc_meta_percent`, zfs(4)).
const LARGEST_HEADER_SHARE: f64 = 0.33;
/// Terms of a harmonic number that are summed one by one.
const EXACT_TERMS: u32 = 1000;

/// How reads fall on the working set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reuse {
    /// Each block as often as the other.
    Uniform,
    /// The block of rank r in proportion to r^-s; about 0.6 to 1.2 is common.
    Zipf(f64),
}

/// Reach of RAM and cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hits {
    /// Share of reads that RAM serves without the cache.
    pub ram_without: f64,
    /// Share of reads that it serves when it also holds the headers.
    pub ram_with: f64,
    /// Share of the misses of RAM that the cache serves.
    pub cache: f64,
    /// RAM for headers, in bytes.
    pub header_bytes: f64,
    /// Bytes of the cache that can be used: less than all of it where headers reach their limit.
    pub usable_bytes: f64,
}

/// RAM for the headers of a cache of `cache_bytes` filled with blocks of `block_bytes`.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn header_bytes(cache_bytes: f64, block_bytes: f64, per_block: f64) -> Result<f64, Refusal> {
    let blocks = positive("the size of the cache", cache_bytes)? / positive("the block size", block_bytes)?;
    Ok(blocks * positive("the size of a header", per_block)?)
}

/// Bytes of the cache whose headers RAM of `ram_bytes` may hold.
///
/// # Errors
/// Quantities that are not positive and finite.
pub(super) fn reach(ram_bytes: f64, block_bytes: f64, per_block: f64) -> Result<f64, Refusal> {
    let headers = positive("the RAM cache", ram_bytes)? * LARGEST_HEADER_SHARE;
    Ok(headers / positive("the size of a header", per_block)? * positive("the block size", block_bytes)?)
}

/// What RAM and cache serve of reads over `working_bytes`: both hold the blocks that are read most
/// often (the independent reference model; Che, Tung and Wang 2002 show how near real caches come).
///
/// # Errors
/// Quantities that are not positive and finite, a negative exponent.
pub(super) fn hits(
    reuse: Reuse,
    working_bytes: f64,
    ram_bytes: f64,
    cache_bytes: f64,
    block_bytes: f64,
    per_block: f64,
) -> Result<Hits, Refusal> {
    let working = positive("the working set", working_bytes)? / positive("the block size", block_bytes)?;
    let usable_bytes = cache_bytes.min(reach(ram_bytes, block_bytes, per_block)?);
    let header_bytes = header_bytes(positive("the size of the cache", cache_bytes)?, block_bytes, per_block)?
        .min(ram_bytes * LARGEST_HEADER_SHARE);
    let of_blocks = |bytes: f64| -> Result<f64, Refusal> {
        let blocks = (bytes / block_bytes).min(working);
        match reuse {
            Reuse::Uniform => Ok(blocks / working),
            Reuse::Zipf(s) => {
                let s = not_negative("the exponent", s)?;
                Ok((harmonic(blocks, s) / harmonic(working, s)).clamp(0.0, 1.0))
            }
        }
    };
    let ram_left = ram_bytes - header_bytes;
    let (ram_without, ram_with) = (of_blocks(ram_bytes)?, of_blocks(ram_left)?);
    let both = of_blocks(ram_left + usable_bytes)?;
    let cache = if ram_with < 1.0 { ((both - ram_with) / (1.0 - ram_with)).clamp(0.0, 1.0) } else { 0.0 };
    Ok(Hits { ram_without, ram_with, cache, header_bytes, usable_bytes })
}

/// Generalised harmonic number, continued between whole numbers: a direct sum, then the
/// Euler-Maclaurin formula with the first correction, whose error is below s / 12e6 after 1000
/// terms.
fn harmonic(n: f64, s: f64) -> f64 {
    let start = f64::from(EXACT_TERMS);
    let term = |k: f64| k.powf(-s);
    let whole = n.min(start).floor();
    let direct: f64 = (1..=whole as u32).map(|k| term(f64::from(k))).sum();
    if n <= start {
        return direct + (n - whole) * term(whole + 1.0);
    }
    let integral =
        if (s - 1.0).abs() < 1e-9 { (n / start).ln() } else { (n.powf(1.0 - s) - start.powf(1.0 - s)) / (1.0 - s) };
    let slopes = s * (start.powf(-s - 1.0) - n.powf(-s - 1.0)) / 12.0;
    direct + integral + (term(n) - term(start)) / 2.0 + slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers_equal_the_sums() {
        for s in [0.0, 0.6, 1.0, 1.3] {
            let direct: f64 = (1..=5000).map(|k| f64::from(k).powf(-s)).sum();
            assert!((harmonic(5000.0, s) / direct - 1.0).abs() < 1e-9, "{s}");
        }
        assert!((harmonic(3.0, 1.0) - 11.0 / 6.0).abs() < 1e-12);
        assert!((harmonic(2.5, 1.0) - (1.5 + 0.5 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn headers_by_hand() {
        let mb = |bytes: f64| (bytes / 1e6).round();
        assert_eq!(mb(header_bytes(15e9, 4096.0, HEADER_BYTES).unwrap()), 469.0);
        assert_eq!(mb(header_bytes(15e9, 4096.0, 240.0).unwrap()), 879.0);
        assert!((header_bytes(15e9, 131_072.0, HEADER_BYTES).unwrap() / 1e6 - 14.6).abs() < 0.06);
    }

    #[test]
    fn a_uniform_working_set_is_held_in_proportion() {
        // 20 GB read evenly, 4 GB of RAM, 8 GB of cache in blocks of 128 KiB: headers take 7.8 MB.
        let h = hits(Reuse::Uniform, 20e9, 4e9, 8e9, 131_072.0, HEADER_BYTES).unwrap();
        assert!((h.ram_without - 0.2).abs() < 1e-12);
        assert!((h.header_bytes - 7.8125e6).abs() < 1.0, "{h:?}");
        let left = 4e9 - 7.8125e6;
        assert!((h.cache - 8e9 / (20e9 - left)).abs() < 1e-9, "{h:?}");
        let all = hits(Reuse::Uniform, 5e9, 4e9, 8e9, 131_072.0, HEADER_BYTES).unwrap();
        assert_eq!(all.cache, 1.0);
    }

    #[test]
    fn headers_end_the_reach_of_a_small_ram() {
        // A third of 100 MB holds headers of 33e6 / 128 blocks of 4 KiB: 1.056 GB of 15.
        let h = hits(Reuse::Zipf(0.9), 50e9, 100e6, 15e9, 4096.0, HEADER_BYTES).unwrap();
        assert!((h.usable_bytes / 1.056e9 - 1.0).abs() < 1e-9, "{h:?}");
        assert!((h.header_bytes - 33e6).abs() < 1.0);
        assert!(h.ram_with < h.ram_without && h.cache > 0.0);
    }

    #[test]
    fn a_steeper_zipf_leaves_less_to_the_cache_and_zero_is_uniform() {
        let of = |reuse| hits(reuse, 40e9, 2e9, 15e9, 8192.0, HEADER_BYTES).unwrap();
        let flat = of(Reuse::Uniform);
        let zero = of(Reuse::Zipf(0.0));
        assert!((flat.cache - zero.cache).abs() < 1e-6 && (flat.ram_with - zero.ram_with).abs() < 1e-6);
        assert!(of(Reuse::Zipf(1.2)).ram_with > of(Reuse::Zipf(0.6)).ram_with);
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [0.0, -1.0, f64::NAN] {
            assert!(hits(Reuse::Uniform, bad, 1e9, 1e9, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, bad, 1e9, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, 1e9, bad, 4096.0, 128.0).is_err());
            assert!(hits(Reuse::Uniform, 1e9, 1e9, 1e9, bad, 128.0).is_err());
        }
        assert!(hits(Reuse::Zipf(-0.5), 1e9, 1e8, 1e9, 4096.0, 128.0).is_err());
    }
}
