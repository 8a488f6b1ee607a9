//! One run, from the request to the finished record.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Validity, Verdict, Warning};
use assay_core::medium::MediumKind;
use assay_core::outcome::{Failure, Outcome};
use assay_core::record::{Layout, Record, SCHEMA, Settings, SuiteRef, Tool};
use assay_core::sensor::{SensorCommand, SensorNote};
use assay_core::suite::Suite;
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_device::guard::{RawPermit, check_raw};
use assay_device::owned::Directory;
use assay_device::{DeviceError, ProofMeter, Sysroot, Target as Seen, available_memory, look_by_dev};
use assay_engine::{Control, DirectSupport, null_cost};

use crate::area::{Area, LEAST_AREA, room, rounded};
use crate::budget::{Budget, least_budget};
use crate::choose::{EngineWish, Engines};
use crate::emit::{Emitter, Observer, wall_clock};
use crate::error::RunError;
use crate::evidence::Witness;
use crate::layout::{Cut, write_out_watched};
use crate::measure::{Bench, measure, nanos};
use crate::memory::refuse_too_large;
use crate::pace::Pace;
use crate::patience::{AFTER_STOP, HUNG_ALREADY, NoAnswer, SLOW, SYNC, no_thread, within};
use crate::resume::Resumption;
use crate::scratch;
use crate::vitals::Vitals;
use crate::watch::{Watch, note_down};

/// A device of less holds no medium: a card reader without a card, a loop device without a file.
const LEAST_DEVICE: u64 = 4096;

/// How long the null engine runs.
const CALIBRATION: Duration = Duration::from_millis(30);

/// Whether a raw device may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawMode {
    /// It may not.
    #[default]
    Refused,
    /// It may, unless it holds data.
    Allowed,
    /// It may, and what it holds may be overwritten: the user named it twice.
    Overwrite,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Request {
    /// Directory or raw device.
    pub path: PathBuf,
    /// By which suite.
    pub suite: Suite,
    /// Identity of the record to be.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Engine asked for.
    pub engine: EngineWish,
    /// Whether a raw device may be used.
    pub raw: RawMode,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Relative half width over the repeats to measure for; the suite's repeats are then the most.
    pub confidence: Option<f64>,
    /// Whether fio runs every workload too, in turns.
    pub crosscheck: bool,
    /// Without a completion for this long, the medium hangs ([`crate::HANG_AFTER`] where nobody
    /// says otherwise).
    pub hang_after: Duration,
    /// Sensors that commands read.
    pub sensors: Vec<SensorCommand>,
    /// What was read by eye.
    pub notes: Vec<SensorNote>,
    /// The run to go on with; `suite`, `id` and `seed` are then those of its record.
    pub resume: Option<Box<Resumption>>,
}

/// A run whose request was checked against the medium; nothing was written yet.
#[derive(Debug)]
pub struct Run {
    request: Request,
    seen: Seen,
    record: Record,
    engines: Engines,
    /// Most bytes of the test area.
    area_bytes: u64,
    /// Findings that are known before the start.
    early: Vec<Finding>,
    /// Leave of the guards to write to the raw device.
    permit: Option<RawPermit>,
    /// The directory that is measured in, opened once.
    directory: Option<Directory>,
    sysroot: Sysroot,
}

impl Run {
    /// Looks at the medium, checks that the request can be done there, and removes what killed
    /// runs left.
    ///
    /// # Errors
    /// [`RunError`] in one line, with the mend.
    pub fn prepare(mut request: Request) -> Result<Self, RunError> {
        let sysroot = Sysroot::real();
        // A record says where it was made, not `.`; a device keeps the name it was given.
        if let Ok(full) = std::fs::canonicalize(&request.path)
            && full.is_dir()
        {
            request.path = full;
        }
        let shown = harmless(&request.path.to_string_lossy());
        let meta = std::fs::metadata(&request.path);
        let is_device = meta.as_ref().is_ok_and(|m| m.file_type().is_block_device());
        match (&meta, request.raw) {
            (Ok(m), _) if m.is_file() => return Err(RunError::IsFile(shown)),
            (Ok(_), RawMode::Refused) if is_device => return Err(RunError::RawWithoutFlag(shown)),
            (Ok(_), RawMode::Allowed | RawMode::Overwrite) if !is_device => return Err(RunError::NotADevice(shown)),
            _ => {}
        }
        let mut seen = assay_device::look(&sysroot, &request.path)?;
        let engines = Engines::new(request.engine, request.crosscheck)?;
        let suite_writes = request.suite.writes();
        refuse_too_short(&request)?;
        refuse_too_large(&request.suite.workloads, available_memory(&sysroot))?;
        let mut early = Vec::new();
        let (mut permit, mut directory) = (None, None);

        let available = if is_device {
            let mut capacity = seen.medium.capacity_bytes.unwrap_or(0);
            if suite_writes {
                let given = permit.insert(checked(&sysroot, &request)?);
                // The device that is held, whatever the path led to when it was looked at.
                seen = look_by_dev(&sysroot, &request.path, given.held().seen());
                capacity = given.held().bytes();
            } else {
                early.push(Finding::UnwrittenReads);
            }
            if capacity < LEAST_DEVICE {
                return Err(RunError::EmptyDevice { path: shown, capacity: Bytes(capacity).to_string() });
            }
            capacity
        } else {
            writable(&request.path, &seen)?;
            let opened = directory.insert(Directory::open(&request.path)?);
            let leftovers = scratch::clean(opened);
            if leftovers.directories > 0 {
                early.push(Finding::LeftoversRemoved { directories: leftovers.directories, bytes: leftovers.bytes });
            }
            if leftovers.alive > 0 {
                early.push(Finding::AnotherRun);
            }
            room(opened)?
        };
        let asked = request.suite.span.0;
        let allowed = Budget::new(request.suite.budget, request.suite.max_write.0).area_bytes(suite_writes);
        if allowed < LEAST_AREA && request.resume.is_none() {
            return Err(RunError::WriteLimit {
                limit: request.suite.max_write.to_string(),
                needed: Bytes(LEAST_AREA * if suite_writes { 4 } else { 1 }).to_string(),
            });
        }
        let kept = request.resume.as_ref().and_then(|resumption| resumption.area_bytes());
        if let Some(resumption) = &request.resume {
            resumption.refuse_smaller(available)?;
        }
        let area_bytes = kept.unwrap_or_else(|| asked.min(rounded(available.min(allowed))));
        if area_bytes < asked {
            let reason = if available < allowed { "free space" } else { "the write limit" };
            early.push(Finding::SmallerSpan {
                asked_bytes: asked,
                used_bytes: area_bytes,
                reason: format!("{reason} allows no more"),
            });
        }
        early.extend(kind_findings(seen.medium.kind));
        if assay_device::swaps_on(&sysroot, &seen.leaves) {
            early.push(Finding::SwapOnMedium);
        }
        if seen.devices.is_empty() {
            early.push(Finding::NoProof { medium: seen.medium.kind.title().to_owned() });
        }

        let planned = if suite_writes { request.suite.max_write.0 } else { area_bytes };
        let mut host = assay_device::host(&sysroot);
        host.slot = request.labels.get("slot").cloned();
        let settings = Settings {
            budget_ns: nanos(request.suite.budget),
            max_write_bytes: request.suite.max_write.0,
            planned_write_bytes: if is_device && !suite_writes { 0 } else { planned },
            seed: request.seed,
            repeats: request.suite.repeats,
            confidence: request.confidence,
            hang_after_ns: Some(nanos(request.hang_after)),
            suite_text: request.suite.to_text(),
            raw_device: is_device,
            ..Settings::default()
        };
        if let Some(resumption) = &request.resume {
            resumption.check(&seen.medium, &request.path)?;
            let mut record = resumption.begin();
            // What is planned comes on top of what was done.
            let done = record.settings.clone();
            record.settings = Settings {
                budget_ns: done.elapsed_ns.saturating_add(settings.budget_ns),
                max_write_bytes: done.written_bytes.saturating_add(settings.max_write_bytes),
                planned_write_bytes: done.written_bytes.saturating_add(settings.planned_write_bytes),
                suite_text: done.suite_text.clone(),
                hang_after_ns: settings.hang_after_ns,
                ..done
            };
            return Ok(Self { request, seen, record, engines, area_bytes, early, permit, directory, sysroot });
        }
        let record = Record {
            schema: SCHEMA.to_owned(),
            id: request.id.clone(),
            created: wall_clock(),
            tool: Tool {
                name: "assay".to_owned(),
                version: request.version.clone(),
                engine: engines.name().to_owned(),
                engine_reason: engines.reason(),
            },
            host,
            medium: seen.medium.clone(),
            labels: request.labels.clone(),
            suite: SuiteRef { name: request.suite.name.clone(), version: request.suite.version },
            settings,
            measurements: Vec::new(),
            sensors: Vec::new(),
            crosscheck: Vec::new(),
            verification: None,
            source: None,
            outcome: Outcome::Running,
            validity: Validity { verdict: Verdict::Valid, reasons: Vec::new() },
            warnings: Vec::new(),
        };
        Ok(Self { request, seen, record, engines, area_bytes, early, permit, directory, sysroot })
    }

    /// The record as it stands before the start.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Runs to the end, or until `control` stops it, and returns the finished record. The test
    /// file is gone when this returns.
    ///
    /// # Errors
    /// [`RunError`] where the test area cannot be made; from then on everything is an outcome.
    pub fn execute(mut self, control: &Control, observer: &mut dyn Observer) -> Result<Record, RunError> {
        let logical = self.seen.logical_block_bytes;
        let area = match &self.directory {
            Some(directory) => Area::in_directory(directory, &self.request.id, logical)?,
            None => Area::on_device(&self.request.path, logical, self.permit.as_ref())?,
        };
        self.align(area.alignment().map_or(1, u64::from))?;
        let done = self.record.settings.clone();
        let mut budget = Budget::new(self.request.suite.budget, self.request.suite.max_write.0)
            .after(done.written_bytes)
            .under(control);
        let mut emitter = Emitter::new(observer, Duration::from_nanos(done.elapsed_ns));
        emitter.emit(EventKind::Started {
            id: self.record.id.clone(),
            medium: Box::new(self.record.medium.clone()),
            suite: self.record.suite.name.clone(),
            budget_ns: self.record.settings.budget_ns,
            planned_write_bytes: self.record.settings.planned_write_bytes,
        });
        self.record.settings.direct_alignment_bytes = area.alignment();
        match &area.direct {
            DirectSupport::Yes { source, .. } => self.record.settings.direct_source = source.clone(),
            DirectSupport::No { reason } => {
                self.record.settings.direct_source = reason.clone();
                self.early.push(Finding::CachedIo { reason: reason.clone() });
            }
        }
        for finding in std::mem::take(&mut self.early) {
            self.warn(finding, &mut emitter);
        }
        emitter.checkpoint(&self.record, area.scratch_path());

        emitter.phase("calibrate");
        let null = null_cost(CALIBRATION);
        self.record.settings.null_ns_per_operation = Some(null.ns_per_operation);

        note_down(&self.request.notes, &mut self.record.sensors);
        let watch = Watch::start(&self.sysroot, &self.seen.leaves, &self.request.sensors);
        let witness = Witness::new(&self.sysroot, &self.seen);
        if let Some(finding) = witness.at_start() {
            self.warn(finding, &mut emitter);
        }
        let disks = self.seen.leaves.iter().chain(self.seen.medium.stack.iter().map(|node| &node.name));
        let vitals = Vitals::of(disks.map(String::as_str));
        let mut pace = Pace::default();
        if self.lay_out(&area, &vitals, &mut budget, &mut pace, control, &mut emitter)
            && self.look_at_reads(&area, &budget, &mut pace, &emitter)
        {
            // A killed run tells what it wrote.
            emitter.checkpoint(&self.record, area.scratch_path());
            let meter = ProofMeter::open(&self.sysroot, &self.seen.devices).ok();
            let bench = Bench {
                area: &area,
                engines: &self.engines,
                meter: meter.as_ref().filter(|m| !m.is_empty()),
                watch: &watch,
                witness: &witness,
                null: Some(null),
                control,
                seed: self.request.seed,
                span: self.record.settings.span_bytes,
                repeats: self.request.suite.repeats,
                confidence: self.request.confidence,
                crosscheck: self.request.crosscheck,
                hang_after: self.request.hang_after,
                vitals: &vitals,
                disks: &self.seen.leaves,
            };
            measure(&bench, &self.request.suite.workloads, &mut self.record, &mut budget, &mut pace, &mut emitter);
        }

        watch.collect(&mut self.record.sensors, &emitter);
        let at_end = watch.findings(&self.record.sensors, self.record.host.governor.as_deref());
        for finding in at_end.into_iter().chain(witness.at_end()) {
            self.warn(finding, &mut emitter);
        }
        emitter.phase("cleanup");
        let hung = matches!(self.record.outcome, Outcome::Failed { failure: Failure::Hung, .. });
        let limit = match (hung, control.stopped()) {
            (true, _) => HUNG_ALREADY,
            (false, true) => AFTER_STOP,
            (false, false) => self.request.hang_after * SYNC,
        };
        if let Err(reason) = area.clean_up(limit) {
            let path = harmless(&self.request.path.to_string_lossy());
            self.warn(Finding::FileLeft { path, reason }, &mut emitter);
        }
        if self.record.outcome == Outcome::Running {
            self.record.outcome = if control.stopped() {
                self.failed(Failure::Interrupted, String::new(), &budget, &emitter)
            } else {
                Outcome::Completed
            };
        }
        self.record.settings.elapsed_ns = emitter.elapsed_ns();
        self.record.validity = Validity::judge(self.record.all_warnings());
        emitter.checkpoint(&self.record, None);
        emitter.emit(EventKind::Finished {
            id: self.record.id.clone(),
            outcome: self.record.outcome.clone(),
            validity: self.record.validity.clone(),
            written_bytes: self.record.settings.written_bytes,
        });
        Ok(self.record)
    }

    /// Checks that direct I/O can do the suite's blocks, and makes the area a multiple of its
    /// alignment.
    fn align(&mut self, alignment: u64) -> Result<(), RunError> {
        let mut workloads = self.request.suite.workloads.iter();
        if let Some(w) = workloads.find(|w| w.direct && !w.block.0.is_multiple_of(alignment)) {
            return Err(RunError::Alignment {
                workload: w.name.clone(),
                block: w.block.0,
                alignment,
                path: harmless(&self.request.path.to_string_lossy()),
            });
        }
        self.area_bytes = self.area_bytes / alignment * alignment;
        Ok(())
    }

    /// Writes the test area out; false where the run ends with that.
    fn lay_out(
        &mut self,
        area: &Area,
        vitals: &Vitals,
        budget: &mut Budget,
        pace: &mut Pace,
        control: &Control,
        emitter: &mut Emitter<'_>,
    ) -> bool {
        if self.record.settings.raw_device && !self.request.suite.writes() {
            self.record.settings.span_bytes = self.area_bytes;
            return true;
        }
        if self.request.suite.only_soaks() && area.target.direct() {
            // The first write of a soak is the medium's first.
            area.reserve(self.area_bytes, self.request.hang_after * SYNC);
            self.record.settings.span_bytes = self.area_bytes;
            return true;
        }
        emitter.phase("layout");
        area.reserve(self.area_bytes, self.request.hang_after * SYNC);
        let total = self.area_bytes;
        let (seed, hang_after) = (self.request.seed, self.request.hang_after);
        let mut tell = |done, rate| {
            emitter.emit(EventKind::Progress { done_bytes: done, total_bytes: total, bytes_per_second: rate });
        };
        // What was measured before was measured on an area of this size, however long it takes to write it again.
        let kept = self.request.resume.as_ref().and_then(|resumption| resumption.area_bytes());
        let limit = if kept.is_some() { Duration::MAX } else { budget.layout_time() };
        let out = write_out_watched(&area.target, total, seed, limit, hang_after, control, &mut tell);
        let out = match out {
            Ok(out) => out,
            Err(error) => {
                let words = format!("writing the test area: {error}");
                self.record.outcome = self.failed(Failure::Host, words, budget, emitter);
                return false;
            }
        };
        budget.wrote(out.bytes);
        self.record.settings.written_bytes += out.bytes;
        let span = if out.bytes == total { total } else { rounded(out.bytes) };
        if !matches!(out.cut, Some(Cut::Failed { .. } | Cut::Stopped)) {
            area.trim(span, hang_after * SYNC);
        }
        self.record.settings.span_bytes = kept.unwrap_or(span);
        self.record.settings.layout =
            Some(Layout { bytes: out.bytes, elapsed_ns: u64::try_from(out.elapsed.as_nanos()).unwrap_or(u64::MAX) });
        pace.note_layout(out.bytes_per_second);
        let reason = match out.cut {
            None => None,
            Some(Cut::Stopped) => return false,
            Some(Cut::Failed { failure, detail }) => {
                let (failure, why) = vitals.examine(failure, true, &area.target);
                let detail = why.map_or(detail.clone(), |why| format!("{detail}; {why}"));
                self.record.outcome = self.failed(failure, detail, budget, emitter);
                return false;
            }
            Some(Cut::Time) => {
                Some(format!("writing at {} there was no time for more", assay_core::units::rate(out.bytes_per_second)))
            }
            Some(Cut::Space) => Some("the file system was full".to_owned()),
        };
        if let Some(reason) = reason {
            if span == 0 || kept.is_some() {
                let failure = if reason.contains("full") { Failure::OutOfSpace } else { Failure::Hung };
                self.record.outcome = self.failed(failure, reason, budget, emitter);
                return false;
            }
            let asked_bytes = self.request.suite.span.0;
            self.record.warnings.retain(|w| !matches!(w.finding, Finding::SmallerSpan { .. }));
            self.warn(Finding::SmallerSpan { asked_bytes, used_bytes: span, reason }, emitter);
        }
        true
    }

    /// Reads here and there, to know how fast that is; false where nothing is answered.
    fn look_at_reads(&mut self, area: &Area, budget: &Budget, pace: &mut Pace, emitter: &Emitter<'_>) -> bool {
        let limit = self.request.hang_after * SLOW;
        let (target, span, seed) = (Arc::clone(&area.target), self.record.settings.span_bytes, self.request.seed);
        let mut looking = pace.clone();
        let looked = within(limit, move || {
            looking.look_at_reads(&target, span, seed);
            looking
        });
        let (failure, words) = match looked {
            Ok(known) => {
                *pace = known;
                return true;
            }
            Err(NoAnswer::Late) => {
                let words = format!("a first read was not answered for {}", assay_core::units::span(limit));
                (Failure::Hung, words)
            }
            Err(NoAnswer::NoThread(error)) => (Failure::Host, no_thread(&error)),
        };
        self.record.outcome = self.failed(failure, words, budget, emitter);
        false
    }

    fn warn(&mut self, finding: Finding, emitter: &mut Emitter<'_>) {
        let warning = Warning::from(finding);
        emitter.emit(EventKind::Warning { workload: None, warning: warning.clone() });
        self.record.warnings.push(warning);
    }

    fn failed(&self, failure: Failure, detail: String, budget: &Budget, emitter: &Emitter<'_>) -> Outcome {
        Outcome::Failed {
            failure,
            detail,
            workload: None,
            elapsed_ns: emitter.elapsed_ns(),
            written_bytes: budget.written(),
        }
    }
}

/// The permit to write to the raw device of the request. What it holds is read for that, so that
/// the medium may hang.
fn checked(sysroot: &Sysroot, request: &Request) -> Result<RawPermit, RunError> {
    let named = (request.raw == RawMode::Overwrite).then(|| request.path.to_string_lossy().into_owned());
    let (its_sysroot, path) = (sysroot.clone(), request.path.clone());
    let limit = request.hang_after * SLOW;
    match within(limit, move || check_raw(&its_sysroot, &path, named.as_deref())) {
        Ok(permit) => Ok(permit?),
        Err(NoAnswer::Late) => {
            let words = format!("nothing was answered for {}", assay_core::units::span(limit));
            let path = harmless(&request.path.to_string_lossy());
            Err(DeviceError::Unreadable { path, source: std::io::Error::other(words) }.into())
        }
        Err(NoAnswer::NoThread(error)) => Err(RunError::NoThread(error)),
    }
}

/// Refuses a budget in which some workloads would have no repeat. What is left of an interrupted run's is not refused.
fn refuse_too_short(request: &Request) -> Result<(), RunError> {
    let sides = if request.crosscheck { 2 } else { 1 };
    let repeats = sides * u32::try_from(request.suite.workloads.len()).unwrap_or(u32::MAX / 2);
    let least = least_budget(repeats);
    if request.resume.is_some() || request.suite.budget >= least {
        return Ok(());
    }
    let budget = assay_core::units::span(request.suite.budget);
    Err(RunError::Budget { budget, repeats, least: format!("{}s", least.as_secs()) })
}

/// Checks that a directory can be written in, before anything else is tried.
fn writable(path: &Path, seen: &Seen) -> Result<(), RunError> {
    let shown = harmless(&path.to_string_lossy());
    let read_only = seen.read_only
        || rustix::fs::statvfs(path).is_ok_and(|s| s.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY));
    if read_only {
        let mount = seen.medium.mount_point.clone().unwrap_or_else(|| shown.clone());
        return Err(RunError::ReadOnly { path: shown, mount: harmless(&mount) });
    }
    match rustix::fs::access(path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(error) => Err(RunError::io(path, error.into())),
    }
}

/// What the kind of medium alone says about the numbers.
fn kind_findings(kind: MediumKind) -> Option<Finding> {
    match kind {
        MediumKind::Overlay => Some(Finding::OverlayHidesMedium),
        kind if kind.is_memory() => Some(Finding::MemoryNotMedium { medium: kind.title().to_owned() }),
        _ => None,
    }
}
