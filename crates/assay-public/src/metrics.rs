//! Figures of the server itself, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper ends of the times of answers, in milliseconds.
const BUCKETS_MS: [u64; 10] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000];

/// Counters since the server began.
#[derive(Debug, Default)]
pub struct Metrics {
    statuses: [AtomicU64; 6],
    times: [AtomicU64; 11],
    time_us: AtomicU64,
    /// Documents that were kept.
    pub kept: AtomicU64,
    /// Documents that were judged.
    pub judged: AtomicU64,
}

impl Metrics {
    /// An answer was given.
    pub fn answered(&self, status: u16, microseconds: u64) {
        let class = usize::from(status / 100).min(self.statuses.len() - 1);
        self.statuses[class].fetch_add(1, Ordering::Relaxed);
        let bucket = BUCKETS_MS.iter().position(|most| microseconds <= most * 1000).unwrap_or(BUCKETS_MS.len());
        self.times[bucket].fetch_add(1, Ordering::Relaxed);
        self.time_us.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// All as text, with figures of this moment: name, help and value.
    #[must_use]
    pub fn text(&self, moments: &[(&str, &str, f64)], states: &[(String, i64)]) -> String {
        let mut out = String::new();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "assay_public_answers_total", "counter", "Answers by the first digit of their status.");
        for (class, counter) in self.statuses.iter().enumerate().skip(1) {
            let _ = writeln!(out, "assay_public_answers_total{{status=\"{class}xx\"}} {}", load(counter));
        }
        head(&mut out, "assay_public_answer_seconds", "histogram", "Time from a whole head to the answer.");
        let mut sum = 0;
        for (at, counter) in self.times.iter().enumerate() {
            sum += load(counter);
            let most = BUCKETS_MS.get(at).map_or("+Inf".to_owned(), |ms| (*ms as f64 / 1000.0).to_string());
            let _ = writeln!(out, "assay_public_answer_seconds_bucket{{le=\"{most}\"}} {sum}");
        }
        let seconds = load(&self.time_us) as f64 / 1e6;
        let _ = writeln!(out, "assay_public_answer_seconds_sum {seconds}\nassay_public_answer_seconds_count {sum}");
        for (name, help, counter) in [
            ("assay_public_kept_total", "Documents that were kept.", &self.kept),
            ("assay_public_judged_total", "Documents that were judged.", &self.judged),
        ] {
            head(&mut out, name, "counter", help);
            let _ = writeln!(out, "{name} {}", load(counter));
        }
        head(&mut out, "assay_public_documents", "gauge", "Documents by their state.");
        for (state, count) in states {
            let _ = writeln!(out, "assay_public_documents{{state=\"{state}\"}} {count}");
        }
        for (name, help, value) in moments {
            head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "{name} {value}");
        }
        out
    }
}
