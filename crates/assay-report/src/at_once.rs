//! What workloads moved at the same time, and what each lost by the others.

use assay_analysis::at_once::{AtOnce, Member, at_once};
use assay_core::estimate::Estimate;
use assay_core::record::Record;
use assay_core::units::{self, Bytes, latency};

use crate::figure::{MB, in_words};

/// An interval whose ends differ by more than this factor says nothing.
const WIDEST: f64 = 100.0;

/// The groups of a record in sentences.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let sentences =
        |group: &AtOnce| together(group).into_iter().chain(group.members.iter().filter_map(member)).collect();
    at_once(record).iter().flat_map(|group| -> Vec<String> { sentences(group) }).collect()
}

/// `random read 4 KiB QD1 and sequential write 1 MiB QD1 move 31.2 MB/s (28.9–33.7) together`.
fn together(group: &AtOnce) -> Option<String> {
    let sum = group.bytes_per_second.as_ref()?;
    let titles: Vec<&str> = group.members.iter().map(|member| member.title.as_str()).collect();
    Some(format!("{} move {} together", titles.join(" and "), in_words(sum, MB, "MB/s")))
}

/// `random read 4 KiB QD1: p99 8.10 ms beside the others and 1.59 ms alone, 5.10 times (4.20–6.20); 0.310 times
/// (0.280–0.350) the IOPS alone`.
fn member(member: &Member) -> Option<String> {
    let (alone, p99) = (member.alone.as_ref()?, member.p99_ns.as_ref()?);
    let areas = alone.areas.map_or_else(String::new, |(beside, alone)| {
        format!(" (on {} of the medium, alone on {})", Bytes(beside), Bytes(alone))
    });
    Some(format!(
        "{}: p99 {} beside the others and {} alone, {}; {} the IOPS alone{areas}",
        member.title,
        latency(p99.point),
        latency(alone.p99_ns.point),
        times(&alone.p99_factor),
        times(&alone.iops_factor),
    ))
}

/// A ratio with its interval, unless so few repeats give none.
fn times(factor: &Estimate) -> String {
    match factor.low.zip(factor.high) {
        Some((low, high)) if high / low > WIDEST => {
            format!("about {} ({} repeats are too few for an interval)", units::times(factor.point), factor.n)
        }
        Some((low, high)) => format!("{} ({})", units::times(factor.point), units::multiples(low, high)),
        None => units::times(factor.point),
    }
}
