//! The host: its processors, its clock, who this process is, and priorities of operations.

use assay_core::priority::Priority;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub use super::super::unix::{is_root, monotonic};

/// Whether a thread can be kept on a processor.
pub const PINS: bool = true;

/// The processors that this process may use, by their numbers. Empty where the system does not tell.
#[must_use]
pub fn processors() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Keeps this thread on one processor from now on.
pub(crate) fn pin(processor: u32) -> Result<(), String> {
    let number = processor as usize;
    let failed = |why: &dyn std::fmt::Display| format!("a thread could not be kept on processor {processor}: {why}");
    if number >= CpuSet::MAX_CPU {
        return Err(failed(&"its number is too large"));
    }
    let mut set = CpuSet::new();
    set.set(number);
    sched_setaffinity(None, &set).map_err(|error| failed(&std::io::Error::from(error)))
}

// Priorities of operations: ioprio_set(2) for those of a thread; io_uring takes them with each of its entries, too.

/// Whether operations can have a priority.
pub const PRIORITIES: bool = true;
/// `IOPRIO_WHO_PROCESS` of include/uapi/linux/ioprio.h: a thread by its number, this one where that is 0.
const WHO_PROCESS: libc::c_int = 1;

/// Gives the operations of this thread a priority from now on.
pub(crate) fn prioritise(priority: Priority) -> Result<(), String> {
    let (this, value) = (0 as libc::c_int, libc::c_int::from(priority.value()));
    // SAFETY: the call takes three numbers and touches no memory of this process.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, this, value) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::time::Duration;

    use assay_core::cpus::Cpus;
    use assay_core::workload::{Op, Pattern, Stop, Workload};

    use super::*;
    use crate::contract::EngineKind;
    use crate::control::Control;
    use crate::repeat::run_repeat;
    use crate::threads::{RepeatSpec, Trouble};

    /// The null engine with a job for each of these processors, for 100 ms.
    fn spec(cpus: Cpus) -> RepeatSpec {
        let workload = Workload {
            jobs: u32::try_from(cpus.numbers().len()).unwrap(),
            queue_depth: 4,
            cpus,
            span_bytes: 1 << 20,
            stop: Stop { ramp_ns: 0, duration_ns: 100_000_000, max_bytes: None },
            ..Workload::new("w", Op::Read, Pattern::Random, 4096)
        };
        RepeatSpec {
            workload,
            target: None,
            seed: 1,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(10),
            sample_every: Duration::from_millis(20),
            wait_for: None,
            begin_at_ns: None,
        }
    }

    /// Where the threads of this process may run, as the kernel writes it.
    fn of_all_threads() -> Vec<String> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let status = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
        let list = |text: String| {
            Some(text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
        };
        status.filter_map(list).collect()
    }

    #[test]
    fn each_job_runs_on_a_processor_of_its_own() {
        let all = processors();
        let cpus = Cpus::from_numbers(&all[..all.len().min(2)]);
        let mut seen = BTreeSet::new();
        let report = run_repeat(EngineKind::Null, &spec(cpus.clone()), &Control::default(), &mut |_| {
            seen.extend(of_all_threads());
            ControlFlow::Continue(())
        });
        assert!(report.trouble.is_none() && report.operations > 0, "{report:?}");
        for cpu in cpus.numbers() {
            assert!(seen.contains(&cpu.to_string()), "no thread on {cpu}: {seen:?}");
        }
        assert_eq!(processors(), all, "who watches is not pinned");
    }

    #[test]
    fn a_processor_that_is_not_there_is_trouble_of_the_host() {
        let missing = (0..1024).find(|cpu| !processors().contains(cpu)).unwrap();
        let spec = spec(Cpus::from_numbers(&[missing]));
        let report = run_repeat(EngineKind::Null, &spec, &Control::default(), &mut |_| ControlFlow::Continue(()));
        let Some(Trouble::Setup(words)) = report.trouble else { panic!("{report:?}") };
        assert!(words.contains(&format!("processor {missing}")), "{words}");
    }

    #[test]
    fn a_thread_is_kept_where_it_was_put_and_others_are_not() {
        let before = processors();
        let last = *before.last().unwrap();
        let seen = std::thread::spawn(move || pin(last).map(|()| processors())).join().unwrap();
        assert_eq!(seen, Ok(vec![last]));
        assert_eq!(processors(), before);
        let refused = std::thread::spawn(|| pin(1023)).join().unwrap();
        assert!(before.contains(&1023) || refused.unwrap_err().contains("processor 1023"));
        assert!(pin(8191).is_err());
    }

    /// What the kernel tells of a thread is what was asked of it.
    #[test]
    fn the_kernel_knows_the_priority_of_a_thread() {
        for text in ["best-effort/7", "idle", "best-effort"] {
            let priority = Priority::parse(text).unwrap();
            let told = std::thread::spawn(move || {
                prioritise(priority).unwrap();
                // SAFETY: as above.
                unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0 as libc::c_int) }
            });
            assert_eq!(told.join().unwrap(), libc::c_long::from(priority.value()), "{text}");
        }
    }
}
