//! The list of targets.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::targets;

/// One target.
pub struct Target {
    /// Name, as in `make fuzz TARGET=name`.
    pub name: &'static str,
    /// What is fed.
    pub what: &'static str,
    /// Inputs to begin with: good ones, broken ones, and every finding.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// How many mutations of all seeds together the replay runs; fewer where one takes long.
    pub mutations: usize,
    pub(crate) run: fn(&[u8]),
}

/// Processor time that no input may take.
const LONGEST: Duration = Duration::from_secs(1);

impl Target {
    /// Runs the target on one input.
    ///
    /// # Panics
    /// Where a claim does not hold, or the input takes longer than a second of processor time.
    pub fn check(&self, data: &[u8]) {
        let before = used();
        (self.run)(data);
        let took = used().saturating_sub(before);
        assert!(took < LONGEST, "{}: an input of {} bytes takes {took:?}", self.name, data.len());
    }
}

/// Processor time of this thread: load of other programs does not count.
fn used() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "suite",
        what: "suite files",
        seeds: targets::typed::suite_seeds,
        mutations: 200,
        run: targets::typed::suite,
    },
    Target {
        name: "fleet",
        what: "lines of Ansible's callback, and files of runs on clusters",
        seeds: targets::foreign::fleet_seeds,
        mutations: 400,
        run: targets::foreign::fleet,
    },
    Target {
        name: "lives",
        what: "sheets of units, documents of endurance tests, files of mfst",
        seeds: targets::foreign::lives_seeds,
        mutations: 200,
        run: targets::foreign::lives,
    },
    Target {
        name: "endurance",
        what: "logs of endurance tests",
        seeds: targets::endurance::log_seeds,
        mutations: 300,
        run: targets::endurance::log,
    },
    Target {
        name: "powercut",
        what: "ledgers of tests of power cuts",
        seeds: targets::endurance::ledger_seeds,
        mutations: 300,
        run: targets::endurance::ledger,
    },
    Target {
        name: "units",
        what: "sizes, durations and figures",
        seeds: targets::typed::units_seeds,
        mutations: 400,
        run: targets::typed::units,
    },
    Target {
        name: "sensor",
        what: "sensors of the command line, and their output",
        seeds: targets::machine::sensor_seeds,
        mutations: 400,
        run: targets::machine::sensor,
    },
    Target {
        name: "text",
        what: "text on its way to a terminal, a page, a table",
        seeds: targets::typed::text_seeds,
        mutations: 300,
        run: targets::typed::text,
    },
    Target {
        name: "job_file",
        what: "fio's job files",
        seeds: targets::foreign::job_file_seeds,
        mutations: 60,
        run: targets::foreign::fio_job_file,
    },
    Target {
        name: "fio_output",
        what: "what fio prints",
        seeds: targets::foreign::fio_output_seeds,
        mutations: 200,
        run: targets::foreign::fio_output,
    },
    Target {
        name: "sheet",
        what: "sheets of names for imported files",
        seeds: targets::foreign::sheets,
        mutations: 400,
        run: targets::foreign::sheet,
    },
    Target {
        name: "import",
        what: "files with results of other tools",
        seeds: targets::foreign::files,
        mutations: 100,
        run: targets::foreign::whole,
    },
    Target {
        name: "format",
        what: "texts read by one format of results",
        seeds: targets::foreign::texts,
        mutations: 100,
        run: targets::foreign::format,
    },
    Target {
        name: "plan",
        what: "plan files",
        seeds: targets::state::plan_seeds,
        mutations: 60,
        run: targets::state::plan,
    },
    Target {
        name: "words",
        what: "names, loads and prices of the command line",
        seeds: targets::typed::words_seeds,
        mutations: 200,
        run: targets::typed::words,
    },
    Target {
        name: "histogram",
        what: "histograms as records store them",
        seeds: targets::record::histogram_seeds,
        mutations: 60,
        run: targets::record::histogram,
    },
    Target {
        name: "document",
        what: "documents of records from elsewhere",
        seeds: targets::record::document_seeds,
        mutations: 40,
        run: targets::record::document,
    },
    Target {
        name: "report",
        what: "records in every format, and redacted",
        seeds: targets::record::report_seeds,
        mutations: 2,
        run: targets::record::report,
    },
    Target {
        name: "query",
        what: "what people ask the store for",
        seeds: targets::record::query_seeds,
        mutations: 40,
        run: targets::record::query,
    },
    Target {
        name: "signature",
        what: "marks of formats on images",
        seeds: targets::machine::signature_seeds,
        mutations: 40,
        run: targets::machine::signatures,
    },
    Target {
        name: "spool",
        what: "files of the spool",
        seeds: targets::record::spool_seeds,
        mutations: 10,
        run: targets::record::spool,
    },
    Target {
        name: "store",
        what: "a damaged store",
        seeds: targets::record::store_seeds,
        mutations: 10,
        run: targets::record::store,
    },
    Target {
        name: "health_emmc",
        what: "registers of eMMC",
        seeds: targets::health::ext_csd_seeds,
        mutations: 2000,
        run: targets::health::ext_csd,
    },
    Target {
        name: "health_card",
        what: "answers of SD cards to CMD56",
        seeds: targets::health::card_seeds,
        mutations: 2000,
        run: targets::health::card,
    },
    Target {
        name: "health_nvme",
        what: "logs of NVMe drives",
        seeds: targets::health::nvme_seeds,
        mutations: 2000,
        run: targets::health::nvme,
    },
    Target {
        name: "health_ata",
        what: "SMART and statistics of ATA disks",
        seeds: targets::health::ata_seeds,
        mutations: 2000,
        run: targets::health::ata,
    },
    Target {
        name: "tree",
        what: "what the kernel says of a machine",
        seeds: targets::machine::tree_seeds,
        mutations: 10,
        run: targets::machine::tree,
    },
    Target {
        name: "klog",
        what: "the kernel's log, its records and the files that loggers write",
        seeds: targets::machine::klog_seeds,
        mutations: 60,
        run: targets::machine::klog,
    },
    Target {
        name: "descriptors",
        what: "what drivers of Windows answer about a disk",
        seeds: targets::machine::descriptors_seeds,
        mutations: 400,
        run: targets::machine::descriptors,
    },
    Target {
        name: "journal",
        what: "damaged journals of the probe, and cards written to since",
        seeds: targets::state::journal_seeds,
        mutations: 10,
        run: targets::state::journal,
    },
    Target {
        name: "left",
        what: "what an earlier check left on a medium",
        seeds: targets::state::left_seeds,
        mutations: 10,
        run: targets::state::leftovers,
    },
];

/// The target with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
