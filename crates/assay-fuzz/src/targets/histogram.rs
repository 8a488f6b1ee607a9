//! Histograms as records store them.

use assay_core::histogram::{Histogram, SCHEME, StoredHistogram};

use crate::claims;
use crate::draw::Draw;

/// A stored histogram of any content is read to one whose figures are numbers in order, and which is stored
/// and read as the same from then on.
pub(crate) fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    let parsed = serde_json::from_str(&claims::text(data)).ok();
    let stored: StoredHistogram = parsed.unwrap_or_else(|| StoredHistogram {
        scheme: SCHEME.to_owned(),
        sum_ns: draw.number(),
        min_ns: draw.number(),
        max_ns: draw.number(),
        counts: std::iter::from_fn(|| (!draw.is_empty()).then(|| (draw.number(), draw.number()))).take(4000).collect(),
    });
    let read = Histogram::from(&stored);
    let quantiles = [0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 1.0].map(|share| read.quantile(share));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    assert!(quantiles.iter().flatten().chain(&read.mean()).all(|ns| ns.is_finite() && *ns >= 0.0), "{quantiles:?}");
    for odd in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
        let _ = read.quantile(odd);
    }
    let again = Histogram::from(&StoredHistogram::from(&read));
    assert_eq!(Histogram::from(&StoredHistogram::from(&again)), again);
    let mut both = read.clone();
    both.merge(&again);
    assert!(both.total() >= read.total());
    let _ = (both.since(&read).quantile(0.5), read.since(&both).mean());
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let mut seeds = claims::texts(&[
        r#"{"scheme":"log2/128","sum_ns":5500,"min_ns":1000,"max_ns":2000,"counts":[[1000,3],[1992,1]]}"#,
        r#"{"scheme":"other","sum_ns":0,"min_ns":9,"max_ns":3,"counts":[]}"#,
    ]);
    seeds.extend([
        numbers(&[u64::MAX, 9, 3, u64::MAX, u64::MAX, 0, u64::MAX, 7, 3]),
        numbers(&[1, u64::MAX, 0, 5, 1]),
        numbers(&[1, 5, 5, 5, 1, 5, u64::MAX]),
        numbers(&[0, 0, 0, 1 << 40, 1 << 62, 1, 1 << 62, 3, 1 << 63]),
    ]);
    seeds
}
