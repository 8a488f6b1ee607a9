//! Whether the buffers of a suite fit into memory, which is asked before anything is written: they
//! are touched before the timed part begins, and a host without memory ends programs at will.

use assay_core::suite::{SuiteWorkload, leaders, members};
use assay_core::units::Bytes;
use assay_engine::buffer_bytes;

use crate::error::RunError;

/// Refuses workloads whose buffers need more than `available` bytes; `None` where that is unknown.
pub(crate) fn refuse_too_large(workloads: &[SuiteWorkload], available: Option<u64>) -> Result<(), RunError> {
    let Some(available) = available else { return Ok(()) };
    for leader in leaders(workloads) {
        let group = &workloads[members(workloads, leader)];
        let slots = |w: &SuiteWorkload| u64::from(w.jobs.max(1)).saturating_mul(u64::from(w.queue_depth.max(1)));
        let buffers = |w: &SuiteWorkload| buffer_bytes(slots(w), w.largest());
        let needed = group.iter().map(buffers).fold(0, u64::saturating_add);
        if needed > available {
            return Err(RunError::Memory {
                workload: workloads[leader].name.clone(),
                needed: Bytes(needed).to_string(),
                available: Bytes(available).to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_core::suite::Suite;

    use super::*;

    #[test]
    fn buffers_of_all_jobs_count_and_only_what_does_not_fit_is_refused() {
        let text = "name = \"many\"\nversion = 1\npurpose = \"A test\"\nbudget = \"1s\"\nmax_write = \"1MiB\"\nrepeats = 1\n\
                    span = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\nblock = \"64KiB\"\n\
                    queue_depth = 1024\njobs = 256\nduration = \"1s\"\n";
        let workloads = Suite::parse(text, "test").unwrap().workloads;
        let needed = 16 << 30;
        assert!(refuse_too_large(&workloads, Some(needed)).is_ok());
        assert!(refuse_too_large(&workloads, None).is_ok());
        let error = refuse_too_large(&workloads, Some(needed - 1)).unwrap_err().to_string();
        assert!(error.contains("`w` needs 16 GiB") && error.contains("queue_depth"), "{error}");
        let mut both = [workloads[0].clone(), workloads[0].clone()];
        both.iter_mut().for_each(|w| w.group = Some("g".to_owned()));
        let error = refuse_too_large(&both, Some(2 * needed - 1)).unwrap_err().to_string();
        assert!(error.contains("needs 32 GiB"), "at the same time: {error}");
    }
}
