//! A run from its beginning to its end: what it carries from step to step, and how its failures are classed.

use std::sync::Arc;
use std::time::Duration;

use assay_core::cluster::{ClusterPart, Settlement};
use assay_core::draft::Draft;
use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::suite::SuiteWorkload;
use assay_core::workload::Workload;
use assay_device::health::HealthReader;
use assay_device::{ProofMeter, TargetInfo};
use assay_engine::{Control, DirectSupport, NullCost, RepeatReport, RepeatTrouble, Target, null_cost};

use crate::area::Area;
use crate::budget::{Budget, workloads_bytes, workloads_time};
use crate::choose::Engines;
use crate::emit::{Emitter, Observer};
use crate::error::RunError;
use crate::evidence::HostMonitor;
use crate::pace::Pace;
use crate::prepare::PreparedRun;
use crate::request::RunRequest;
use crate::sensors::{Watch, note_down};
use crate::timeout::{AFTER_STOP, DeviceHealth, HUNG_ALREADY, SYNC};
use crate::together::Rendezvous;
use crate::{judge, prepare};

/// How long the null engine runs.
const CALIBRATION: Duration = Duration::from_millis(30);

/// A run under way.
pub(crate) struct Session<'o> {
    pub(crate) request: RunRequest,
    pub(crate) engines: Engines,
    pub(crate) area: Area,
    /// Most bytes of the test area.
    pub(super) area_bytes: u64,
    /// Kernel names of the disks under the area.
    pub(super) disks: Vec<String>,
    /// The device's own counters, where there is a device.
    pub(super) meter: Option<Arc<ProofMeter>>,
    pub(crate) watch: Watch,
    pub(super) host_monitor: HostMonitor,
    /// What the devices were like at the start.
    pub(super) device_health: DeviceHealth,
    /// Reads what the medium counts.
    health: HealthReader,
    /// The instrument's own cost on this host.
    pub(super) null: NullCost,
    pub(crate) control: Control,
    pub(crate) draft: Draft,
    pub(crate) budget: Budget,
    /// Budget of the whole run. Programs get what the workloads leave.
    pub(super) whole: Budget,
    pub(super) pace: Pace,
    pub(crate) emitter: Emitter<'o>,
    /// Where repeats begin together with those of other hosts.
    pub(super) rendezvous: Option<&'o mut dyn Rendezvous>,
    /// What was settled with them.
    pub(super) settled: Option<Settlement>,
}

impl<'o> Session<'o> {
    /// Makes the test area, tells the observer of the run, measures what the instrument costs here, and begins to
    /// read sensors and the kernel log.
    ///
    /// # Errors
    /// Where the test area cannot be made, or direct I/O cannot do the suite's blocks.
    pub(crate) fn begin(
        run: PreparedRun,
        control: &Control,
        observer: &'o mut dyn Observer,
        rendezvous: Option<&'o mut dyn Rendezvous>,
    ) -> Result<Self, RunError> {
        let PreparedRun { request, seen, mut draft, engines, area_bytes, findings, access, sysroot } = run;
        let area = access.area(&request, seen.logical_block_bytes)?;
        let area_bytes = aligned(&request, area_bytes, area.alignment().map_or(1, u64::from))?;
        prepare::try_out(&request, &area)?;
        let done = draft.settings();
        let budget = Budget::new(workloads_time(&request.suite), workloads_bytes(&request.suite))
            .after(done.written_bytes)
            .under(control);
        let whole = Budget::new(request.suite.budget, request.suite.max_write.0).under(control);
        let mut emitter = Emitter::new(observer, Duration::from_nanos(done.elapsed_ns));
        let mut health = HealthReader::new(&sysroot, &seen);
        // A run that is resumed keeps what was read before its first part.
        if draft.record().medium.readings.is_empty() {
            draft.fill().medium.readings = health.read();
        }
        announce(&mut draft, &area, findings, &mut emitter);

        emitter.phase("calibrate");
        let null = null_cost(CALIBRATION);
        draft.change_settings(|settings| settings.null_ns_per_operation = Some(null.ns_per_operation));
        note_down(&request.notes, &mut draft.fill().sensors);
        let mut session = Self {
            // Where there is none, that was found before.
            meter: judge::meter(&sysroot, &seen).ok().map(Arc::new),
            watch: Watch::start(&sysroot, &seen.leaves, &request.sensors),
            host_monitor: HostMonitor::new(&sysroot, &seen),
            device_health: device_health(&seen),
            health,
            disks: seen.leaves,
            pace: Pace::default(),
            control: control.clone(),
            request,
            engines,
            area,
            area_bytes,
            null,
            draft,
            budget,
            whole,
            emitter,
            rendezvous,
            settled: None,
        };
        let at_start = session.host_monitor.at_start();
        at_start.into_iter().for_each(|finding| session.warn(finding));
        Ok(session)
    }

    /// The record as it stands.
    pub(crate) fn record(&self) -> &Record {
        self.draft.record()
    }

    /// Hands the record as it stands to the observer.
    pub(super) fn checkpoint(&mut self) {
        // A killed run tells how long it took.
        self.draft.change_settings(|settings| settings.elapsed_ns = self.emitter.elapsed_ns());
        self.emitter.checkpoint(self.draft.record(), self.area.scratch_path());
    }

    /// Adds a finding about the whole run, and tells it.
    pub(super) fn warn(&mut self, finding: Finding) {
        warn(&mut self.draft, finding, &mut self.emitter);
    }
}

/// Tells the observer what is measured by which suite, and all that is known by now.
fn announce(draft: &mut Draft, area: &Area, findings: Vec<Finding>, emitter: &mut Emitter<'_>) {
    let record = draft.record();
    emitter.emit(EventKind::Started {
        id: record.id.clone(),
        medium: Box::new(record.medium.clone()),
        suite: record.suite.name.clone(),
        budget_ns: draft.settings().budget_ns,
        planned_write_bytes: draft.settings().planned_write_bytes,
    });
    draft.change_settings(|settings| settings.direct_alignment_bytes = area.alignment());
    let (source, cached) = match &area.direct {
        DirectSupport::Yes { source, .. } => (source, None),
        DirectSupport::No { reason } => (reason, Some(Finding::CachedIo { reason: reason.clone() })),
    };
    draft.change_settings(|settings| settings.direct_source = source.clone());
    for finding in findings.into_iter().chain(cached) {
        warn(draft, finding, emitter);
    }
    emitter.checkpoint(draft.record(), area.scratch_path());
}

/// Adds a finding about the whole run to its record, and tells it.
pub(super) fn warn(draft: &mut Draft, finding: Finding, emitter: &mut Emitter<'_>) {
    let warning = draft.warn(finding).clone();
    emitter.emit(EventKind::Warning { workload: None, title: None, warning });
}

fn device_health(seen: &TargetInfo) -> DeviceHealth {
    let disks = seen.leaves.iter().chain(seen.medium.stack.iter().map(|node| &node.name));
    DeviceHealth::of(disks.map(String::as_str))
}

/// The bytes of the area as a multiple of the alignment of direct I/O; refuses blocks that are none.
pub(super) fn aligned(request: &RunRequest, area_bytes: u64, alignment: u64) -> Result<u64, RunError> {
    let odd = |w: &SuiteWorkload| {
        let shares = w.blocks.shares().iter().chain(w.refined.writes.shares());
        let sizes = shares.map(|share| share.block_bytes).chain([w.block.0]).chain(w.refined.align_bytes);
        sizes.into_iter().find(|bytes| w.direct && !bytes.is_multiple_of(alignment))
    };
    if let Some((w, block)) = request.suite.workloads.iter().find_map(|w| Some((w, odd(w)?))) {
        return Err(RunError::Alignment { workload: w.name.clone(), block, alignment, path: request.shown() });
    }
    Ok(area_bytes / alignment * alignment)
}

// One run, from its start to the finished record.

impl PreparedRun {
    /// Runs to the end, or until `control` stops it, and returns the finished record. The test
    /// file is gone when this returns. Repeats begin when `rendezvous` says so, where there is one.
    ///
    /// # Errors
    /// [`RunError`] where the test area cannot be made; from then on everything is an outcome.
    pub fn execute<'o>(
        self,
        control: &Control,
        observer: &'o mut dyn Observer,
        rendezvous: Option<&'o mut dyn Rendezvous>,
    ) -> Result<Record, RunError> {
        let mut session = Session::begin(self, control, observer, rendezvous)?;
        let whole = session.lay_out() && session.first_reads() && session.measure() && session.run_programs();
        Ok(session.finish(whole))
    }
}

// The end of a run: the test file is removed and the record closed.

impl Session<'_> {
    /// Removes the test file, closes the record and gives it back. A run that was `whole` before it was stopped is
    /// complete.
    pub(crate) fn finish(mut self, whole: bool) -> Record {
        self.watch.collect(&mut self.draft.fill().sensors, &self.emitter);
        let record = self.record();
        let sensors = self.watch.findings(&record.sensors, record.host.governor.as_deref());
        for finding in sensors.into_iter().chain(self.host_monitor.at_end()) {
            self.warn(finding);
        }
        self.read_health();
        self.emitter.phase("cleanup");
        let part = self.rendezvous.as_deref_mut().and_then(|rendezvous| rendezvous.part(whole));
        let settled = self.settled.take();
        self.draft.fill().cluster = part.map(|part| Box::new(ClusterPart { settled, ..part }));
        let limit = self.clean_up_limit();
        let Self { request, area, control, mut draft, budget, mut emitter, .. } = self;
        if let Err(reason) = area.clean_up(limit) {
            warn(&mut draft, Finding::FileLeft { path: request.shown(), reason }, &mut emitter);
        }
        let outcome = if control.stopped() && !whole {
            has_failed(RunFailure::Interrupted, String::new(), None, &budget, &emitter)
        } else {
            Outcome::Completed
        };
        draft.change_settings(|settings| settings.elapsed_ns = emitter.elapsed_ns());
        let record = draft.close(outcome);
        emitter.checkpoint(&record, None);
        emitter.emit(EventKind::Finished {
            id: record.id.clone(),
            outcome: record.outcome.clone(),
            validity: record.validity.clone(),
            written_bytes: record.settings().map_or(0, |settings| settings.written_bytes),
        });
        record
    }

    /// What the medium counts after the run. One that hung or is gone would not answer.
    fn read_health(&mut self) {
        let is_lost = |outcome: &Outcome| {
            matches!(outcome, Outcome::Failed { failure: RunFailure::Hung | RunFailure::Disappeared, .. })
        };
        if !is_lost(&self.record().outcome) {
            let later = self.health.read();
            self.draft.fill().medium.readings.finish(later);
        }
        for finding in Finding::of_health(&self.record().medium.readings) {
            self.warn(finding);
        }
    }

    /// How long removing the test file may take.
    fn clean_up_limit(&self) -> Duration {
        match &self.record().outcome {
            Outcome::Failed { failure: RunFailure::Hung, .. } => HUNG_ALREADY,
            _ if self.control.stopped() => AFTER_STOP,
            _ => self.request.hang_after * SYNC,
        }
    }
}

// How a repeat or the run ended.

/// The failure with when and after how many bytes it came.
fn has_failed(
    failure: RunFailure,
    detail: String,
    workload: Option<&str>,
    budget: &Budget,
    emitter: &Emitter<'_>,
) -> Outcome {
    Outcome::Failed {
        failure,
        detail,
        workload: workload.map(str::to_owned),
        elapsed_ns: emitter.elapsed_ns(),
        written_bytes: budget.written(),
    }
}

impl Session<'_> {
    /// The run ends with this failure, outside of a workload.
    pub(super) fn fail(&mut self, failure: RunFailure, detail: String) {
        let outcome = self.failed(failure, detail, None);
        self.draft.end(outcome);
    }

    pub(super) fn failed(&self, failure: RunFailure, detail: String, workload: Option<&str>) -> Outcome {
        has_failed(failure, detail, workload, &self.budget, &self.emitter)
    }

    /// How a repeat on `target` ended, by what the engine reports, whether it was stopped, and what the kernel knows of
    /// the devices.
    pub(super) fn outcome_of(
        &self,
        (report, stopped): (&RepeatReport, bool),
        workload: &Workload,
        target: &Arc<Target>,
    ) -> Outcome {
        let examined = |failure, write, words: String| match self.device_health.examine(failure, write, target) {
            (failure, Some(why)) => (failure, format!("{words}; {why}")),
            (failure, None) => (failure, words),
        };
        let system = |errno: i32| std::io::Error::from_raw_os_error(errno);
        let op = |write| if write { "write" } else { "read" };
        let (failure, detail) = match &report.trouble {
            None if stopped => (RunFailure::Interrupted, String::new()),
            None => return Outcome::Completed,
            Some(RepeatTrouble::Io { write, offset, errno: 0 }) => {
                let words = format!("{} at offset {offset} moved fewer bytes than asked", op(*write));
                examined(RunFailure::IoError, *write, words)
            }
            Some(RepeatTrouble::Io { write, offset, errno }) => {
                let words = format!("{} at offset {offset}: {}", op(*write), system(*errno));
                examined(RunFailure::from_errno(*errno), *write, words)
            }
            Some(RepeatTrouble::Sync { errno }) => {
                examined(RunFailure::from_errno(*errno), true, format!("sync: {}", system(*errno)))
            }
            Some(RepeatTrouble::Hung { after }) => {
                (RunFailure::Hung, format!("nothing completed for {}", assay_core::units::span(*after)))
            }
            Some(RepeatTrouble::Setup(message)) => (RunFailure::Host, message.clone()),
            Some(RepeatTrouble::Peer(message)) => (RunFailure::Other, message.clone()),
        };
        self.failed(failure, detail, Some(&workload.name))
    }
}
