//! Linux: files, the host, and other processes.

pub use super::unix::{ASYNCHRONOUS, AsOpen, CALLS, FileExt, QUEUE, is_root, lead_a_group, monotonic};
pub(crate) use super::unix::{Channel, IO_ERROR, ended, interrupt, kill_all, private};
pub use rustix::process::Signal;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr::NonNull;

use assay_core::priority::Priority;
use assay_core::workload::Sync;
use rustix::fs::{Advice, AtFlags, MemfdFlags, StatxFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Pid, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What opens a file past the cache, in messages.
pub(crate) const DIRECT: &str = "O_DIRECT";
/// What else there is to say where that is refused: nothing, since [`forget`] drops what is cached.
pub(crate) const CACHED: &str = "";

/// Opens what `options` say, past the page cache where that is `direct`; no link is followed.
pub(crate) fn open(path: &Path, direct: bool, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | if direct { libc::O_DIRECT } else { 0 };
    options.custom_flags(flags).open(path)
}

/// Waits until what was written is durable, as a workload wants it.
#[inline]
pub(crate) fn sync(file: &File, how: Sync) -> io::Result<()> {
    match how {
        Sync::End => Ok(()),
        Sync::Fdatasync => rustix::fs::fdatasync(file).map_err(Into::into),
        Sync::Fsync => rustix::fs::fsync(file).map_err(Into::into),
    }
}

/// Asks the system to drop what it has cached of a file; dirty data stays, so sync first.
///
/// # Errors
/// The system's.
pub fn forget(file: &File) -> io::Result<()> {
    rustix::fs::fadvise(file.as_fd(), 0, None, Advice::DontNeed).map_err(Into::into)
}

/// What the system tells of direct I/O on a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectRequirement {
    /// It takes multiples of this many bytes, according to this source.
    Alignment(u32, &'static str),
    /// It is not possible, and this is why.
    Never(&'static str),
    Nothing,
}

/// Linux 6.1 and later answer through `statx` with `STATX_DIOALIGN`.
pub(crate) fn direct_requirement(file: impl AsFd) -> DirectRequirement {
    match rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(answer) if StatxFlags::from_bits_retain(answer.stx_mask).contains(StatxFlags::DIOALIGN) => {
            match (answer.stx_dio_offset_align, answer.stx_dio_mem_align) {
                (0, _) => DirectRequirement::Never("the file system does not do direct I/O"),
                (offset, memory) => DirectRequirement::Alignment(offset.max(memory), "statx STATX_DIOALIGN"),
            }
        }
        _ => DirectRequirement::Nothing,
    }
}

// Memory outside of the heap.

/// Populated, so that no page fault falls into the timed part. Miri knows no such flag.
const FLAGS: MapFlags = if cfg!(miri) { MapFlags::PRIVATE } else { MapFlags::PRIVATE.union(MapFlags::POPULATE) };

/// Maps `length` zeroed bytes, aligned to the page and touched; `length` is at least 1.
///
/// # Errors
/// The system's where memory is short.
pub(crate) fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, FLAGS)? };
    NonNull::new(start.cast::<u8>()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// `start` and `length` are those of one call of [`map`], nothing uses the memory any more, and this is the only call.
pub(crate) unsafe fn unmap(start: NonNull<u8>, length: usize) {
    // SAFETY: as the caller promises. An error would mean a wrong address; there is nothing to do about it here.
    let _ = unsafe { munmap(start.as_ptr().cast(), length) };
}

/// Size of a page in bytes.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

// The host: its processors, its clock, who this process is, and priorities of operations.

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

// Other processes: programs that run in place of an engine, work for this one and must not outlive it, and what they move.

/// Whether fio and other tools are run in place of an engine here.
pub const RUNS_TOOLS: bool = true;

/// A file that is nowhere.
pub(crate) fn nameless_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

// Processes that work for this one and must not outlive it.

/// Has the kernel send `signal` to the process that `command` will start as soon as this one ends, however it
/// ends; where this process ended before the kernel knew, nothing is started. `signal` and SIGINT, which asks it to end,
/// have their default effects there, also where this process was started with them ignored, as a shell without job
/// control starts what it puts into the background.
///
/// prctl(2), `PR_SET_PDEATHSIG`: the signal is sent when the *thread* ends that started the process. So that
/// thread has to wait for the process, or to live as long as this process. It is not handed down: what the
/// process starts itself has to be ended by it.
pub fn end_with_this_process(command: &mut Command, signal: Signal) {
    end_with(command, signal, getpid());
}

fn end_with(command: &mut Command, signal: Signal, parent: Pid) {
    // SAFETY: between fork and exec the closure makes four system calls, all of them async-signal-safe
    // (signal(2), prctl(2), getppid(2)). It takes numbers, allocates nothing also where it fails, and touches no
    // lock that another thread may hold.
    unsafe {
        command.pre_exec(move || {
            libc::signal(signal.as_raw(), libc::SIG_DFL);
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            set_parent_process_death_signal(Some(signal))?;
            if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        });
    }
}

// What another program moves, as the kernel counts it: `read_bytes` and `write_bytes` of `/proc/PID/io`
// (Documentation/filesystems/proc.rst), which it hands to the block layer.

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    file: String,
}

impl Meter {
    pub(crate) fn of_process(process: u32) -> Self {
        Self { file: format!("/proc/{process}/io") }
    }

    /// Bytes handed to the block layer so far, read and written; `None` once the process is gone.
    pub(crate) fn read(&self) -> Option<u64> {
        sum(&std::fs::read_to_string(&self.file).ok()?)
    }
}

fn sum(text: &str) -> Option<u64> {
    let value = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok())
    };
    Some(value("read_bytes")?.saturating_add(value("write_bytes")?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::time::Duration;

    use assay_core::cpus::Cpus;
    use assay_core::workload::{Op, Pattern, Stop, Workload};

    use super::*;
    use crate::clock::Control;
    use crate::contract::EngineKind;
    use crate::repeat::run_repeat;
    use crate::repeat_tests::write;
    use crate::target::{DirectSupport, Target, direct_support_of};
    use crate::threads::{RepeatSpec, RepeatTrouble};

    /// Where the kernel tells of direct I/O (since Linux 6.1), that answer alone counts.
    #[test]
    fn what_the_kernel_tells_of_direct_io_is_believed() {
        let file = tempfile::tempfile().unwrap();
        let answer = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).unwrap();
        if !StatxFlags::from_bits_retain(answer.stx_mask).contains(StatxFlags::DIOALIGN) {
            eprintln!("SKIP: what_the_kernel_tells_of_direct_io_is_believed: the kernel tells nothing here");
            return;
        }
        match direct_support_of(&file, Some(1), || file.try_clone()).0 {
            DirectSupport::Yes { alignment, source } => {
                assert_eq!(
                    (alignment, source.as_str()),
                    (answer.stx_dio_offset_align.max(answer.stx_dio_mem_align), "statx STATX_DIOALIGN")
                );
                assert!(answer.stx_dio_offset_align > 0);
            }
            DirectSupport::No { .. } => assert_eq!(answer.stx_dio_offset_align, 0),
        }
    }

    /// /dev/null takes writes, and answers EINVAL where it is to be synced.
    #[test]
    fn a_sync_is_asked_of_the_kernel() {
        let null = Arc::new(Target::existing(Path::new("/dev/null"), false, true).unwrap());
        assert_eq!(null.sync().unwrap_err().raw_os_error(), Some(libc::EINVAL));
        for sync in [Sync::Fdatasync, Sync::Fsync] {
            let trouble = RepeatTrouble::Io { write: true, offset: 0, errno: libc::EINVAL };
            assert_eq!(write(&null, 4, sync).trouble, Some(trouble), "{sync:?}");
        }
        let report = write(&null, 4, Sync::End);
        assert_eq!(report.trouble, Some(RepeatTrouble::Sync { errno: libc::EINVAL }));
        assert_eq!(report.durable_bytes_per_second, None);
    }

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
        let Some(RepeatTrouble::Setup(words)) = report.trouble else { panic!("{report:?}") };
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

#[cfg(test)]
mod processes_tests {
    use std::ops::ControlFlow;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use assay_core::units::nanoseconds;
    use assay_core::workload::{Op, Pattern, Workload};
    use rustix::process::kill_process;

    use super::*;
    use crate::clock::Control;
    use crate::peer::{GRACE, watch};
    use crate::threads::{RepeatSpec, RepeatTrouble};

    /// Threat 25: a process whose parent ended between fork and prctl(2) would never get the signal.
    #[test]
    fn nothing_is_started_for_a_parent_that_is_gone() {
        let mut command = Command::new("true");
        end_with(&mut command, Signal::KILL, Pid::INIT);
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::ESRCH));
        let mut command = Command::new("true");
        end_with_this_process(&mut command, Signal::KILL);
        assert!(command.status().unwrap().success());
    }

    /// `assay run … &` in a script: what it interrupted did not end, and was killed ten seconds later.
    #[test]
    fn it_can_be_interrupted_though_its_parent_ignores_interrupts() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        // SAFETY: signal(2) is async-signal-safe, and the closure does nothing else.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                Ok(())
            });
        }
        end_with_this_process(&mut command, Signal::KILL);
        let mut child = command.spawn().unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        let ended = loop {
            match child.try_wait().unwrap() {
                None if Instant::now() < limit => std::thread::sleep(Duration::from_millis(5)),
                ended => break ended,
            }
        };
        child.kill().unwrap();
        assert_eq!(ended.and_then(|status| status.signal()), Some(libc::SIGINT));
    }

    #[test]
    fn it_ends_when_the_thread_ends_that_started_it() {
        let child = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            end_with_this_process(command.arg("1000"), Signal::KILL);
            command.spawn().unwrap()
        });
        let mut child = child.join().unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn what_went_to_the_block_layer_is_counted_and_nothing_else() {
        assert_eq!(
            sum("rchar: 7\nwchar: 9\nread_bytes: 1000\nwrite_bytes: 4096\ncancelled_write_bytes: 3\n"),
            Some(5096)
        );
        assert_eq!(sum("rchar: 7\n"), None);
        assert_eq!(Meter::of_process(u32::MAX).read(), None);
        assert!(Meter::of_process(std::process::id()).read().is_some());
    }

    fn spec() -> RepeatSpec {
        RepeatSpec {
            workload: Workload::new("w", Op::Read, Pattern::Random, 4096),
            target: None,
            seed: 1,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(30),
            sample_every: Duration::from_millis(20),
            wait_for: None,
            begin_at_ns: None,
        }
    }

    /// A shell that starts another process and waits for it; that one tells its number. Started as all that is watched.
    fn family() -> (Child, Pid) {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
        lead_a_group(&mut command);
        end_with_this_process(&mut command, Signal::KILL);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        (child, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
    }

    /// A zombie counts as gone, too.
    fn is_gone(process: Pid) -> bool {
        let start = Instant::now();
        let alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while alive() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        !alive()
    }

    #[test]
    fn what_takes_too_long_is_killed_with_all_that_it_started() {
        let (mut child, grandchild) = family();
        let watched = watch(&mut child, &spec(), Duration::from_millis(100), &Control::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(matches!(watched.trouble, Some(RepeatTrouble::Hung { .. })) && !watched.success);
        assert!(is_gone(grandchild));
    }

    #[test]
    fn a_stop_interrupts_the_whole_group() {
        let (mut child, grandchild) = family();
        let control = Control::default();
        control.stop();
        let watched =
            watch(&mut child, &spec(), Duration::from_secs(100), &control, &mut |_| ControlFlow::Continue(()));
        assert_eq!((&watched.trouble, watched.success), (&None, true), "it ended by itself, with success");
        assert!(watched.elapsed_ns < nanoseconds(GRACE), "{watched:?}");
        assert!(is_gone(grandchild), "though a shell lets it ignore the interrupt");
    }

    #[test]
    fn how_a_program_ends_is_told() {
        for (program, success) in [("true", true), ("false", false)] {
            let mut command = Command::new(program);
            lead_a_group(&mut command);
            let mut child = command.spawn().unwrap();
            let watched = watch(&mut child, &spec(), Duration::from_secs(100), &Control::default(), &mut |_| {
                ControlFlow::Continue(())
            });
            assert_eq!((watched.success, watched.trouble), (success, None));
        }
    }
}
