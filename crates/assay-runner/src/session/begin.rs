//! The beginning of a run, and what it carries from step to step.

use std::sync::Arc;
use std::time::Duration;

use assay_core::cluster::Settlement;
use assay_core::draft::Draft;
use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_core::suite::SuiteWorkload;
use assay_device::{ProofMeter, TargetInfo};
use assay_engine::{Control, DirectSupport, NullCost, null_cost};

use crate::area::Area;
use crate::budget::{Budget, workloads_bytes, workloads_time};
use crate::choose::Engines;
use crate::emit::{Emitter, Observer};
use crate::error::RunError;
use crate::evidence::HostMonitor;
use crate::health::DeviceHealth;
use crate::pace::Pace;
use crate::prepare::Run;
use crate::request::Request;
use crate::together::Rendezvous;
use crate::watch::{Watch, note_down};
use crate::{manner, proof};

/// How long the null engine runs.
const CALIBRATION: Duration = Duration::from_millis(30);

/// A run under way.
pub(crate) struct Session<'o> {
    pub(crate) request: Request,
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
    pub(super) health: DeviceHealth,
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
        run: Run,
        control: &Control,
        observer: &'o mut dyn Observer,
        rendezvous: Option<&'o mut dyn Rendezvous>,
    ) -> Result<Self, RunError> {
        let Run { request, seen, mut draft, engines, area_bytes, findings, access, sysroot } = run;
        let area = access.area(&request, seen.logical_block_bytes)?;
        let area_bytes = aligned(&request, area_bytes, area.alignment().map_or(1, u64::from))?;
        manner::try_out(&request, &area)?;
        let done = &draft.record().settings;
        let budget = Budget::new(workloads_time(&request.suite), workloads_bytes(&request.suite))
            .after(done.written_bytes)
            .under(control);
        let whole = Budget::new(request.suite.budget, request.suite.max_write.0).under(control);
        let mut emitter = Emitter::new(observer, Duration::from_nanos(done.elapsed_ns));
        announce(&mut draft, &area, findings, &mut emitter);

        emitter.phase("calibrate");
        let null = null_cost(CALIBRATION);
        draft.fill().settings.null_ns_per_operation = Some(null.ns_per_operation);
        note_down(&request.notes, &mut draft.fill().sensors);
        let mut session = Self {
            // Where there is none, that was found before.
            meter: proof::meter(&sysroot, &seen).ok().map(Arc::new),
            watch: Watch::start(&sysroot, &seen.leaves, &request.sensors),
            host_monitor: HostMonitor::new(&sysroot, &seen),
            health: health(&seen),
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
        self.emitter.checkpoint(self.draft.record(), self.area.scratch_path());
    }

    /// Adds a finding about the whole run, and tells it.
    pub(super) fn warn(&mut self, finding: Finding) {
        warn(&mut self.draft, finding, &mut self.emitter);
    }
}

/// Tells the observer what is measured by which suite, and all that is known by now.
fn announce(draft: &mut Draft, area: &Area, findings: Vec<Finding>, emitter: &mut Emitter<'_>) {
    let record = draft.fill();
    emitter.emit(EventKind::Started {
        id: record.id.clone(),
        medium: Box::new(record.medium.clone()),
        suite: record.suite.name.clone(),
        budget_ns: record.settings.budget_ns,
        planned_write_bytes: record.settings.planned_write_bytes,
    });
    record.settings.direct_alignment_bytes = area.alignment();
    let (source, cached) = match &area.direct {
        DirectSupport::Yes { source, .. } => (source, None),
        DirectSupport::No { reason } => (reason, Some(Finding::CachedIo { reason: reason.clone() })),
    };
    record.settings.direct_source = source.clone();
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

fn health(seen: &TargetInfo) -> DeviceHealth {
    let disks = seen.leaves.iter().chain(seen.medium.stack.iter().map(|node| &node.name));
    DeviceHealth::of(disks.map(String::as_str))
}

/// The bytes of the area as a multiple of the alignment of direct I/O; refuses blocks that are none.
pub(super) fn aligned(request: &Request, area_bytes: u64, alignment: u64) -> Result<u64, RunError> {
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
