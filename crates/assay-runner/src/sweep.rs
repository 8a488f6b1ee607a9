//! When a sweep over block sizes has shown all of the medium that the bus lets through.

use assay_core::record::Measurement;
use assay_core::suite::SuiteWorkload;

/// Fewest block sizes of the same kind that make a sweep.
const LEAST_SWEEP: usize = 3;

/// The block in bytes by which the sweep that this workload is part of reached what the bus allows,
/// where the workload's block is larger: it would show the bus again and nothing of the medium.
/// `measurements` stand in the order of the workloads.
pub(crate) fn bus_reached(workloads: &[SuiteWorkload], index: usize, measurements: &[Measurement]) -> Option<u64> {
    let asked = &workloads[index];
    let kind = |w: &SuiteWorkload| {
        let how = (w.queue_depth, w.jobs, w.sync, w.direct, w.rate.clone(), w.distribution.clone());
        let manner = (w.group.clone(), w.cpus.clone(), w.poll);
        let beside = (w.blocks.clone(), w.think, manner, w.refined.clone(), w.priorities.clone());
        (w.op, w.pattern, w.read_percent, how, beside)
    };
    let sweep = || workloads.iter().zip(measurements).filter(|(w, _)| kind(w) == kind(asked));
    if sweep().count() < LEAST_SWEEP {
        return None;
    }
    let reached = |(w, m): &(&SuiteWorkload, &Measurement)| m.bus_limited && w.block < asked.block;
    sweep().filter(reached).map(|(w, _)| w.block.0).min()
}

#[cfg(test)]
mod tests {
    use assay_core::suite::Suite;
    use assay_core::workload::Workload;

    use super::*;

    fn sweep(blocks: &[&str]) -> (Vec<SuiteWorkload>, Vec<Measurement>) {
        let mut text =
            "name = \"s\"\nversion = 1\npurpose = \"p\"\nbudget = \"9s\"\nmax_write = \"1GiB\"\nrepeats = 1\n\
                        span = \"64MiB\"\n"
                .to_owned();
        for block in blocks {
            text += &format!(
                "[[workload]]\nname = \"r{block}\"\nop = \"read\"\npattern = \"random\"\nblock = \"{block}\"\n"
            );
        }
        let workloads = Suite::parse(&text, "t").unwrap().workloads;
        let empty = |w: &SuiteWorkload| Workload::new(&w.name, w.op, w.pattern, w.block.0);
        let measurements = workloads.iter().map(|w| Measurement::empty(empty(w), "sync")).collect();
        (workloads, measurements)
    }

    #[test]
    fn only_larger_blocks_of_a_sweep_are_left_out() {
        let (workloads, mut measurements) = sweep(&["4KiB", "64KiB", "16KiB", "256KiB"]);
        assert!((0..4).all(|i| bus_reached(&workloads, i, &measurements).is_none()));
        measurements[1].bus_limited = true;
        let left: Vec<_> = (0..4).map(|i| bus_reached(&workloads, i, &measurements)).collect();
        assert_eq!(left, [None, None, None, Some(65536)]);
        measurements[2].bus_limited = true;
        assert_eq!(bus_reached(&workloads, 3, &measurements), Some(16384), "the smallest that reached it");
        let mut others = workloads.clone();
        others[3].queue_depth = 32;
        assert_eq!(bus_reached(&others, 3, &measurements), None, "another kind of load");
    }

    #[test]
    fn two_sizes_are_no_sweep() {
        let (workloads, mut measurements) = sweep(&["4KiB", "1MiB"]);
        measurements[0].bus_limited = true;
        assert_eq!(bus_reached(&workloads, 1, &measurements), None);
    }
}
