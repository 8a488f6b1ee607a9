//! What fio prints: its JSON and its words.

use assay_fio::output;

use crate::claims;

/// Figures of any output are finite and add up; words of it are one line.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    if let Some(document) = output::document(&text) {
        for synced in [false, true] {
            let totals = output::totals(&document, "m", synced);
            assert!(totals.iops.is_finite() && totals.bytes_per_second.is_finite(), "{totals:?}");
            let h = &totals.histogram;
            let quantiles = [0.0, 0.5, 0.99, 1.0].map(|share| h.quantile(share));
            assert!(quantiles.is_sorted(), "{quantiles:?}");
            assert!(quantiles.iter().flatten().chain(&h.mean()).all(|ns| ns.is_finite() && *ns >= 0.0), "{h:?}");
        }
    }
    claims::one_line(&output::complaint(&text));
    if let Some((_, offset)) = output::io_error(&text) {
        assert!(text.contains("io_u error") && text.contains(" offset="), "{offset}");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "\0\u{b}\0\0",
        r#"note: both iodepth >= 1 and synchronous I/O engine are selected
{ "jobs": [
  {"jobname": "ramp", "error": 0, "read": {"io_bytes": 999}},
  {"jobname": "m", "error": 0, "read": {"io_bytes": 8192, "bw_bytes": 4096, "iops": 1.0, "runtime": 2000,
     "total_ios": 2, "lat_ns": {"min": 900, "max": 1100, "mean": 1000.0, "bins": {"1004": 2}}},
   "write": {"io_bytes": 0, "iops": -nan}},
  {"jobname": "m", "error": 5, "write": {"io_bytes": 4096, "bw_bytes": 2048, "iops": 0.5, "runtime": 1900, "total_ios": 1,
     "clat_ns": {"min": 5000, "max": 5000, "mean": 5000.0, "bins": {"5024": 1}}},
   "sync": {"lat_ns": {"mean": 9000, "min": 9000, "max": 9000, "bins": {"9024": 4}}}}
]} trailing"#,
        r#"{"jobs": [{"jobname": "m", "read": {"iops": 1e308, "bw_bytes": 1e308}, "write": {"iops": 1e308, "bw_bytes": 1e308}}]}"#,
        r#"{"jobs": [{"jobname": "m", "read": {"lat_ns": {"mean": 1e308, "min": 18446744073709551615, "max": 0, "bins": {"18446744073709551615": 18446744073709551615, "1": 7}}}}]}"#,
        r#"{"jobs": [{"jobname": "m", "read": {"iops": -1, "lat_ns": {"mean": -1e30, "bins": {"-1": 1, "0": 1}}}}]}"#,
        r#"{"jobs": {"jobname": "m"}}"#,
        "{ : nan : inf : -nan",
        "fio: io_u error on file /mnt/x: Input/output error: write offset=1048576, buflen=4096\nfio: pid=1\n",
        "io_u error offset=99999999999999999999999",
        "fio: \u{1b}[2J\u{202e}\u{9b}x\nnext",
        "fio: \u{200b}",
        "\0\0\0\0\0",
    ]);
    seeds.push(format!("{{\"jobs\": {}", "[".repeat(500)).into_bytes());
    seeds
}
