//! What mends what was found.

use super::kind::Finding;

impl Finding {
    /// What mends it; empty where nothing does.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::CachedIo { .. } => "measure a directory on a file system with direct I/O (ext4, xfs, f2fs, btrfs)",
            Self::CacheNotDropped { .. } => {
                "measure with direct I/O on a file system that has it, or a span several times the size of memory"
            }
            Self::CachedByRequest => "set direct = true in the suite",
            Self::ServedFromCache { .. } => "use direct I/O, or a span several times the size of memory",
            Self::OthersUsedDevice { .. } => "stop what else uses the medium and run again",
            Self::NoProof { .. } => {
                "compare with what the disk itself counts (SMART), or with the counters of the machine that holds it"
            }
            Self::ServerCache { .. } => "to read from its medium, use a span larger than the memory of that machine",
            Self::MemoryNotMedium { .. } | Self::OverlayHidesMedium => {
                "name a directory on the medium: assay run /mnt/card"
            }
            Self::LittlesLaw { .. } => "run again; if it stays, report it as a bug with the record",
            Self::RateNotReached { .. } => "offer less, or read it as a rate that the medium cannot sustain",
            Self::EndedByNeighbour { .. } => "let it write more (--max-write), or take fewer repeats",
            Self::BegunLate { .. } => "stop other programs, or offer less",
            Self::ShallowQueue { .. } => "use more jobs, or read the figure as one at the depth shown",
            Self::DepthByThreads { .. } => {
                "allow io_uring (sysctl kernel.io_uring_disabled=0, container seccomp profile)"
            }
            Self::SeveralPriorities => {
                "to see them apart, run a workload of each priority at the same time (priority, group)"
            }
            Self::InstrumentLimited { .. } => "use more jobs, or read the figure as a lower bound",
            Self::BusLimited { .. } => "use a faster slot or reader to see what the medium itself can do",
            Self::SmallerSpan { reason, .. } if reason.contains("all nodes") => {
                "free some space on the node that has least, or raise --budget"
            }
            Self::SmallerSpan { reason, .. } if reason.contains("write limit") => "raise --max-write",
            Self::SmallerSpan { reason, .. } if reason.contains("time") => "raise --budget",
            Self::SmallerSpan { .. } => "free some space",
            Self::ScaledDown { .. } => "raise --budget",
            Self::FewOperations { .. } | Self::FewerRepeats { .. } | Self::ProgramLeftOut { .. } => {
                "raise --budget or --max-write"
            }
            Self::Unsteady { .. } => "run the suite soak to see what happens over time",
            Self::NotReached { .. } => "raise --budget and --max-write, or ask for less",
            Self::AnotherRun => "run one after the other",
            Self::UnwrittenReads => "measure a directory, or write the device full first",
            Self::SwapOnMedium => "swapoff the medium during the run",
            Self::FileLeft { .. } => "the next run in this directory removes it",
            Self::CheckUnfinished { .. } => "resume it: assay verify --resume; a new check removes them",
            Self::NotPutBack { .. } => "plug the device in again, then: assay verify --restore JOURNAL DEVICE",
            Self::SoakPaused { .. } => "let the medium cool down and run the soak again without a pause",
            Self::NotSaved { .. } => "point ASSAY_DATA at a writable directory with a sound store",
            Self::Throttled { .. } => "cool the host (heat sink, fan, pause before the run) and run again",
            Self::UnderVoltage { .. } => "use a stronger power supply and a shorter, thicker cable",
            Self::PastThrottling { .. } => "check power supply and cooling",
            Self::LowClock { .. } => "for latencies at full clock: cpupower frequency-set -g performance",
            Self::LoadOfOthers { .. } => "stop the other programs and run again",
            Self::KernelErrors { .. } => "check plug, cable and power, then whether the medium is dying (dmesg)",
            Self::Swapped { .. } => "free memory, or swapoff during the run",
            Self::Drift { .. } => "measure for longer (--budget), or cold and warm separately",
            Self::TwoSpeeds { .. } | Self::UnevenRepeats { .. } => {
                "raise --repeats and look at the samples in the report"
            }
            Self::SensorDropped { .. } => {
                "run the command by hand: it must print a number and succeed; if no thread could be started, end other programs"
            }
            Self::CrosscheckDiffers { .. } => "measure with more --repeats; if it stays, report it with the record",
            Self::FieldsLeftOut { .. } => {
                "write the report with the version that made the record, or with --identities"
            }
            Self::BestOf { .. } => "compare it with other figures that are the best of as many runs",
            Self::CachedByTool { .. } => "run the tool with direct I/O, or assay in its place",
            Self::SourceContradicts { .. } | Self::SourceIncomplete { .. } | Self::MarkedDoubtful { .. } => {
                "look at the original text"
            }
            Self::LeftoversRemoved { .. }
            | Self::NotTold { .. }
            | Self::Resumed { .. }
            | Self::Suspended { .. }
            | Self::SweepStopped { .. }
            | Self::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_test_area_is_mended_by_what_made_it_small() {
        for (reason, remedy) in [
            ("free space allows no more", "free some space"),
            ("the file system was full", "free some space"),
            ("the write limit allows no more", "raise --max-write"),
            ("all nodes of the run use the same area", "free some space on the node that has least, or raise --budget"),
            ("writing at 1.2 MB/s there was no time for more", "raise --budget"),
        ] {
            let finding = Finding::SmallerSpan { asked_bytes: 2, used_bytes: 1, reason: reason.to_owned() };
            assert_eq!(finding.remedy(), remedy, "{reason}");
        }
    }
}
