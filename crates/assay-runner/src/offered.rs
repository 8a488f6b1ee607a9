//! The rate of an open loop.

use std::time::Duration;

use assay_core::arrivals::{Arrivals, MOST_IOPS, Rate};
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::suite::SuiteWorkload;

/// The rate is a share of what another workload reached, which has no repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unknown;

/// When operations are to begin: as in the repeats before, and in the first as the suite asks for it. An error where
/// that is a share of what another workload reached, which has no repeat.
pub(crate) fn offered(
    workload: &SuiteWorkload,
    measurements: &[Measurement],
    index: usize,
) -> Result<Option<Arrivals>, Unknown> {
    let Some(rate) = &workload.rate else { return Ok(None) };
    let own = measurements.get(index).filter(|m| !m.repeats.is_empty());
    if let Some(before) = own.and_then(|m| m.workload.arrivals) {
        return Ok(Some(before));
    }
    let iops = match (rate.iops(workload.mean_block()), rate) {
        (Some(iops), _) => iops,
        (None, Rate::Share { percent, of }) => {
            let other = measurements.iter().find(|m| m.workload.name == *of);
            let first = other.and_then(|m| m.repeats.iter().find(|r| r.outcome == Outcome::Completed && r.iops > 0.0));
            percent / 100.0 * first.ok_or(Unknown)?.iops
        }
        (None, _) => return Err(Unknown),
    };
    let iops = iops.min(MOST_IOPS);
    Ok(Some(Arrivals { iops, process: workload.process }))
}

/// The time in which no operation of an open loop may be due, which is no hang: ten intervals are exceeded by one in
/// 22,000 of a Poisson process.
pub(crate) fn between(arrivals: Option<Arrivals>) -> Duration {
    arrivals.map_or(Duration::ZERO, |a| Duration::from_secs_f64((10.0 / a.iops).clamp(0.0, 86_400.0)))
}

#[cfg(test)]
mod tests {
    use assay_core::arrivals::Process;
    use assay_core::workload::{Op, Pattern};

    use super::*;
    use crate::evidence::measurement;
    use crate::samples::asked;

    #[test]
    fn a_share_is_one_of_the_first_repeat_and_stays() {
        let mut full = measurement(&[&[1000.0], &[3000.0]]);
        full.workload.name = "full".to_owned();
        let mut own = measurement(&[]);
        let rate = Rate::Share { percent: 25.0, of: "full".to_owned() };
        let workload = SuiteWorkload { rate: Some(rate), ..asked(Op::Read, Pattern::Random, 4096, 1) };
        let first = offered(&workload, &[full.clone(), own.clone()], 1).unwrap();
        assert_eq!(first, Some(Arrivals { iops: 250.0, process: Process::Poisson }));
        own.workload.arrivals = Some(Arrivals { iops: 200.0, process: Process::Poisson });
        assert_eq!(offered(&workload, &[full.clone(), own.clone()], 1).unwrap().map(|a| a.iops), Some(250.0));
        own.repeats.clone_from(&full.repeats);
        assert_eq!(offered(&workload, &[full, own], 1).unwrap().map(|a| a.iops), Some(200.0), "as before");
        assert_eq!(offered(&workload, &[measurement(&[])], 1), Err(Unknown));
    }

    #[test]
    fn bytes_are_operations_of_the_block_that_runs() {
        let rate = Some(Rate::BytesPerSecond(8192.0));
        let workload = SuiteWorkload { rate, ..asked(Op::Read, Pattern::Random, 4096, 1) };
        let arrivals = offered(&workload, &[], 0).unwrap();
        assert_eq!(arrivals.map(|a| a.iops), Some(2.0));
        assert_eq!((between(arrivals), between(None)), (Duration::from_secs(5), Duration::ZERO));
    }
}
