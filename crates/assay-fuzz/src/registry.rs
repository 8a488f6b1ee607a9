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
        seeds: targets::suite::seeds,
        mutations: 200,
        run: targets::suite::run,
    },
    Target {
        name: "fleet",
        what: "lines of Ansible's callback, and files of runs on clusters",
        seeds: targets::fleet::seeds,
        mutations: 400,
        run: targets::fleet::run,
    },
    Target {
        name: "units",
        what: "sizes, durations and figures",
        seeds: targets::units::seeds,
        mutations: 400,
        run: targets::units::run,
    },
    Target {
        name: "sensor",
        what: "sensors of the command line, and their output",
        seeds: targets::sensor::seeds,
        mutations: 400,
        run: targets::sensor::run,
    },
    Target {
        name: "text",
        what: "text on its way to a terminal, a page, a table",
        seeds: targets::text::seeds,
        mutations: 300,
        run: targets::text::run,
    },
    Target {
        name: "job_file",
        what: "fio's job files",
        seeds: targets::job_file::seeds,
        mutations: 60,
        run: targets::job_file::run,
    },
    Target {
        name: "fio_output",
        what: "what fio prints",
        seeds: targets::fio_output::seeds,
        mutations: 200,
        run: targets::fio_output::run,
    },
    Target {
        name: "sheet",
        what: "sheets of names for imported files",
        seeds: targets::import::sheets,
        mutations: 400,
        run: targets::import::sheet,
    },
    Target {
        name: "import",
        what: "files with results of other tools",
        seeds: targets::import::files,
        mutations: 100,
        run: targets::import::whole,
    },
    Target {
        name: "format",
        what: "texts read by one format of results",
        seeds: targets::import::texts,
        mutations: 100,
        run: targets::import::format,
    },
    Target { name: "plan", what: "plan files", seeds: targets::plan::seeds, mutations: 60, run: targets::plan::run },
    Target {
        name: "words",
        what: "names, loads and prices of the command line",
        seeds: targets::words::seeds,
        mutations: 200,
        run: targets::words::run,
    },
    Target {
        name: "histogram",
        what: "histograms as records store them",
        seeds: targets::histogram::seeds,
        mutations: 60,
        run: targets::histogram::run,
    },
    Target {
        name: "document",
        what: "documents of records from elsewhere",
        seeds: targets::document::seeds,
        mutations: 40,
        run: targets::document::run,
    },
    Target {
        name: "report",
        what: "records in every format, and redacted",
        seeds: targets::report::seeds,
        mutations: 2,
        run: targets::report::run,
    },
    Target {
        name: "query",
        what: "what people ask the store for",
        seeds: targets::query::seeds,
        mutations: 40,
        run: targets::query::run,
    },
    Target {
        name: "signature",
        what: "marks of formats on images",
        seeds: targets::signature::seeds,
        mutations: 40,
        run: targets::signature::run,
    },
    Target {
        name: "spool",
        what: "files of the spool",
        seeds: targets::spool::seeds,
        mutations: 10,
        run: targets::spool::run,
    },
    Target {
        name: "store",
        what: "a damaged store",
        seeds: targets::store::seeds,
        mutations: 10,
        run: targets::store::run,
    },
    Target {
        name: "tree",
        what: "what the kernel says of a machine",
        seeds: targets::tree::seeds,
        mutations: 10,
        run: targets::tree::run,
    },
    Target {
        name: "klog",
        what: "the kernel's log, its records and the files that loggers write",
        seeds: targets::klog::seeds,
        mutations: 60,
        run: targets::klog::run,
    },
    Target {
        name: "descriptors",
        what: "what drivers of Windows answer about a disk",
        seeds: targets::descriptors::seeds,
        mutations: 400,
        run: targets::descriptors::run,
    },
    Target {
        name: "journal",
        what: "damaged journals of the probe, and cards written to since",
        seeds: targets::journal::seeds,
        mutations: 10,
        run: targets::journal::run,
    },
    Target {
        name: "left",
        what: "what an earlier check left on a medium",
        seeds: targets::left::seeds,
        mutations: 10,
        run: targets::left::run,
    },
];

/// The target with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
