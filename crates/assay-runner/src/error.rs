//! Why a run could not start. What happens to a medium during a run is an outcome, not an error.

use std::path::Path;

use assay_core::exit::Exit;
use assay_device::DeviceError;
use assay_device::owned::OwnedError;

use crate::timeout::no_thread;

/// Why a run could not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The path is not there or cannot be looked at.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file where a directory was meant.
    #[error("{0} is a file; name the directory to measure in, like its parent")]
    IsFile(String),
    /// A raw device without the flag that allows it.
    #[error("{0} is a raw device and measuring it overwrites what it holds; add --raw if that is meant")]
    RawWithoutFlag(String),
    /// The flag without a raw device.
    #[error("{0} is not a block device; --raw is for devices like /dev/sdX")]
    NotADevice(String),
    /// Nothing can be written there.
    #[error(
        "{path} is read-only; remount it for writing (mount -o remount,rw {mount}), name another directory, or only read its device: assay run --raw --suite read-only {device}"
    )]
    ReadOnly {
        /// Directory that was asked for.
        path: String,
        /// Where its file system is mounted.
        mount: String,
        /// Its block device, for a shell.
        device: String,
    },
    /// The user may not write there.
    #[error("no permission to write in {0}; run as its owner, or name another directory")]
    Permission(String),
    /// Nothing is mounted where media get mounted.
    #[error("nothing is mounted at {0}; mount the medium there")]
    Unmounted(String),
    /// Too little space for any test.
    #[error("{path} has {free} free; assay needs at least {needed}: free some space, or name another directory{held}")]
    NoSpace {
        /// Directory that was asked for.
        path: String,
        /// What is free.
        free: String,
        /// What is needed.
        needed: String,
        /// What of assay takes space there, as the rest of the sentence; empty where nothing does.
        held: String,
    },
    /// The write limit is too small for any test.
    #[error("--max-write {limit} is too small: the test area alone needs {needed}")]
    WriteLimit {
        /// What was allowed.
        limit: String,
        /// What is needed.
        needed: String,
    },
    /// Too little time for a repeat of each workload.
    #[error(
        "a budget of {budget} is too short for {}, one of each workload; --budget {least} is the least",
        assay_core::units::counted(*.repeats as usize, "repeat")
    )]
    Budget {
        /// What was allowed.
        budget: String,
        /// Repeats that have to fit.
        repeats: u32,
        /// What would do.
        least: String,
    },
    /// The buffers of a workload do not fit into memory.
    #[error(
        "workload `{workload}` needs {needed} of memory for its buffers, and {available} are available; lower its jobs, queue_depth or block"
    )]
    Memory {
        /// Name of the workload.
        workload: String,
        /// What its buffers need.
        needed: String,
        /// What there is.
        available: String,
    },
    /// A reader without a medium in it.
    #[error("{path} holds {capacity}; put a medium in, or name another device")]
    EmptyDevice {
        /// Device that was asked for.
        path: String,
        /// What it announces.
        capacity: String,
    },
    /// Direct I/O cannot do such blocks.
    #[error(
        "workload `{workload}`: block = {block} B is not a multiple of {alignment} B, which direct I/O on {path} needs; use other blocks, or direct = false"
    )]
    Alignment {
        /// Name of the workload.
        workload: String,
        /// Its block in bytes.
        block: u64,
        /// What is needed, in bytes.
        alignment: u64,
        /// Where.
        path: String,
    },
    /// The engine that was asked for does not work here.
    #[error("engine {engine} does not work here: {reason}; use --engine auto")]
    Engine {
        /// Its name.
        engine: String,
        /// Why not.
        reason: String,
    },
    /// fio does not measure an open loop as assay does.
    #[error(
        "workload `{0}` has a rate: engine fio counts its latency from the submission and not from the planned time; use another engine"
    )]
    OpenLoopByFio(String),
    /// fio pauses in its own way, and is not run beside other workloads.
    #[error(
        "workload `{0}` has think time or runs at the same time as others, which is not run by engine fio; use another engine"
    )]
    TogetherByFio(String),
    /// Alignments, strides and the like are done in another way by fio.
    #[error(
        "workload `{0}` has an alignment, stride, files, syncs after several writes or the like, which engine fio does not run; use another engine"
    )]
    RefinedByFio(String),
    /// The size that was asked for is used, or nothing is measured.
    #[error("{path}: the suite uses {asked}, and {available} can be used; free some space, or give a smaller --size")]
    Size {
        /// What was asked for.
        asked: String,
        /// What there is.
        available: String,
        /// Of the request.
        path: String,
    },
    /// A share of the medium that its blocks do not fit into.
    #[error("{path}: {why}; give a larger --size")]
    Share {
        /// What is wrong.
        why: String,
        /// Of the request.
        path: String,
    },
    /// The write limit is less than the test area that has to be written.
    #[error(
        "the write limit of {limit} is less than the test area of {asked}; raise --max-write, or give a smaller --size"
    )]
    WritesOfSize {
        /// The limit.
        limit: String,
        /// The area.
        asked: String,
    },
    /// A processor that this process may not use.
    #[error("processor {cpu} is not among those that this process may use ({allowed}); name others with --cpus")]
    Cpu {
        /// Its number.
        cpu: u32,
        /// Those that it may use.
        allowed: String,
    },
    /// Originals run where the kernel puts them.
    #[error(
        "workload `{0}` is to run on some processors, and originals run where the kernel puts them; leave out --cpus"
    )]
    CpusByReference(String),
    /// Completions are polled for by io_uring alone.
    #[error(
        "workload `{0}` is to be polled for its completions, which engine uring alone does; leave out --poll, or use --engine auto without --crosscheck"
    )]
    PolledByOthers(String),
    /// Completions cannot be polled for here.
    #[error("completions cannot be polled for on {path}: {reason}; leave out --poll")]
    Poll {
        /// What was to be measured.
        path: String,
        /// Why not.
        reason: String,
    },
    /// Shares of operations have priorities in io_uring alone.
    #[error(
        "workload `{0}` has priority_shares, which needs io_uring or fio; use --engine auto or fio, or write priority"
    )]
    SharesByOthers(String),
    /// The operations of a workload cannot have the priorities that were asked for.
    #[error("workload `{workload}`: {priority} cannot be had here: {reason}; {mend}")]
    Priority {
        /// Name of the workload.
        workload: String,
        /// What was asked for.
        priority: String,
        /// Why not.
        reason: String,
        /// What helps.
        mend: &'static str,
    },
    /// No workload and no program of the suite says what it was taken from.
    #[error(
        "suite `{0}` names no original of a workload or a program (original = \"…\"); use one that does, such as pibenchmarks, iozone or crystaldiskmark8"
    )]
    NoOriginal(String),
    /// A run cannot be resumed.
    #[error("run {id} cannot be resumed: {reason}; start a new one without --resume")]
    NotResumable {
        /// Identity of its record.
        id: String,
        /// Why.
        reason: String,
    },
    /// The other instrument is not there.
    #[error("there is nothing to cross-check with: {0}; or leave out --crosscheck")]
    Crosscheck(String),
    /// Something that is not assay's has the name of what it makes, or the system refuses it.
    #[error(transparent)]
    Owned(OwnedError),
    /// The system makes no more threads.
    #[error("{}; end other programs, or raise the limits of processes and memory (ulimit -u, ulimit -v)", no_thread(.0))]
    NoThread(std::io::Error),
    /// The system refused something else.
    #[error("{path}: {source}")]
    Io {
        /// What was touched.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl RunError {
    /// The system's error about a path, sorted into what a user can mend.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        let path = path.display().to_string();
        match source.kind() {
            std::io::ErrorKind::PermissionDenied => Self::Permission(path),
            _ => Self::Io { path, source },
        }
    }

    /// The exit code it stands for.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Device(error) => match error {
                DeviceError::NotPermitted { .. }
                | DeviceError::ReadOnly { .. }
                | DeviceError::Unreadable { .. }
                | DeviceError::LoopForRoot { .. }
                | DeviceError::UnknownLoop { .. } => Exit::Environment,
                _ => Exit::Usage,
            },
            Self::IsFile(_)
            | Self::RawWithoutFlag(_)
            | Self::NotADevice(_)
            | Self::NotResumable { .. }
            | Self::WriteLimit { .. }
            | Self::Budget { .. }
            | Self::OpenLoopByFio(_)
            | Self::TogetherByFio(_)
            | Self::RefinedByFio(_)
            | Self::Share { .. }
            | Self::WritesOfSize { .. }
            | Self::Cpu { .. }
            | Self::CpusByReference(_)
            | Self::PolledByOthers(_)
            | Self::SharesByOthers(_)
            | Self::NoOriginal(_)
            | Self::Alignment { .. } => Exit::Usage,
            Self::EmptyDevice { .. }
            | Self::Memory { .. }
            | Self::ReadOnly { .. }
            | Self::Permission(_)
            | Self::Unmounted(_)
            | Self::NoSpace { .. }
            | Self::Size { .. }
            | Self::Engine { .. }
            | Self::Poll { .. }
            | Self::Priority { .. }
            | Self::Crosscheck(_)
            | Self::Owned(_)
            | Self::NoThread(_)
            | Self::Io { .. } => Exit::Environment,
        }
    }
}

impl From<OwnedError> for RunError {
    fn from(error: OwnedError) -> Self {
        match error {
            OwnedError::Io { path, source } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                Self::Permission(path)
            }
            other => Self::Owned(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn only_a_missing_permission_is_called_one() {
        let of = |kind| RunError::from(OwnedError::io(Path::new("/mnt/card"), kind));
        let refused = of(ErrorKind::PermissionDenied);
        assert_eq!(
            refused.to_string(),
            "no permission to write in /mnt/card; run as its owner, or name another directory"
        );
        assert!(matches!(refused, RunError::Permission(_)));
        assert!(matches!(of(ErrorKind::NotFound), RunError::Owned(OwnedError::Io { .. })));
    }
}
