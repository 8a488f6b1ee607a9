//! A run before its start: the request, checked against the medium.

use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::record::{Record, Settings, SuiteRef, Tool};
use assay_core::units::nanoseconds;
use assay_device::{Sysroot, TargetInfo};
use assay_engine::wall_clock;

use crate::access::{Access, area_bytes, is_device, known_findings};
use crate::choose::Engines;
use crate::error::RunError;
use crate::refusal;
use crate::refusal::refuse_impossible;
use crate::request::RunRequest;

/// A run whose request was checked against the medium; nothing was written yet. Its `execute` is in `session/run.rs`.
#[derive(Debug)]
pub struct PreparedRun {
    pub(crate) request: RunRequest,
    pub(crate) seen: TargetInfo,
    pub(crate) draft: Draft,
    pub(crate) engines: Engines,
    /// Most bytes of the test area.
    pub(crate) area_bytes: u64,
    /// Findings that are known before the start.
    pub(crate) findings: Vec<Finding>,
    pub(crate) access: Access,
    pub(crate) sysroot: Sysroot,
}

impl PreparedRun {
    /// Looks at the medium, checks that the request can be done there, and removes what killed
    /// runs left.
    ///
    /// # Errors
    /// [`RunError`] in one line, with the remedy.
    pub fn prepare(mut request: RunRequest) -> Result<Self, RunError> {
        let sysroot = Sysroot::real();
        // A record says where it was made, not `.`; a device keeps the name it was given.
        if let Ok(full) = std::fs::canonicalize(&request.path)
            && full.is_dir()
        {
            request.path = full;
        }
        let is_device = is_device(&request)?;
        let mut seen = assay_device::look(&sysroot, &request.path)?;
        let engines = Engines::new(request.engine, &request.suite)?;
        refuse_impossible(&request, &sysroot)?;
        refusal::refuse_unpolled(&request, &seen, &sysroot)?;
        let notes = std::mem::take(&mut request.translated);
        let mut findings = Vec::from_iter((!notes.is_empty()).then_some(Finding::JobFileDiffers { notes }));
        let (access, available) = if is_device {
            Access::to_device(&request, &sysroot, &mut seen, &mut findings)?
        } else {
            Access::to_directory(&request, &seen, &mut findings)?
        };
        request.suite =
            request.suite.settled(available).map_err(|why| RunError::Share { why, path: request.shown() })?;
        let area_bytes = area_bytes(&request, available, &mut findings)?;
        findings.extend(known_findings(&sysroot, &seen));
        let settings = settings(&request, is_device, area_bytes);
        let draft = match &request.resume {
            Some(resumption) => {
                resumption.check(&seen.medium, &request.path)?;
                resumption.begin(&settings)
            }
            None => {
                let tool = Tool::assay(&request.version, engines.name(), &engines.reason());
                let tool = Tool { commit: request.commit.clone(), ..tool };
                let suite = SuiteRef::new(&request.suite.name, request.suite.version);
                Draft::begin(&request.id, &wall_clock(), tool, suite, seen.medium.clone())
                    .on_host(assay_device::host(&sysroot))
                    .labelled(request.labels.clone())
                    .with_settings(settings)
            }
        };
        Ok(Self { request, seen, draft, engines, area_bytes, findings, access, sysroot })
    }

    /// The record as it is before anything was measured.
    #[must_use]
    pub fn record(&self) -> &Record {
        self.draft.record()
    }

    /// Most bytes of the test area.
    #[must_use]
    pub fn area_bytes(&self) -> u64 {
        self.area_bytes
    }
}

/// What the request sets.
fn settings(request: &RunRequest, is_device: bool, area_bytes: u64) -> Settings {
    let suite = &request.suite;
    Settings {
        budget_ns: nanoseconds(suite.budget),
        max_write_bytes: suite.max_write.0,
        planned_write_bytes: match (suite.writes() || (suite.programs_write() && !is_device), is_device) {
            (true, _) => suite.max_write.0,
            (false, true) => 0,
            (false, false) => area_bytes,
        },
        seed: request.seed,
        repeats: suite.most_repeats(),
        confidence: request.confidence,
        enough: suite.enough,
        hang_after_ns: Some(nanoseconds(request.hang_after)),
        suite_text: suite.to_text(),
        raw_device: is_device,
        crosscheck: request.engine.crosscheck().map(|peer| peer.name().to_owned()),
        ..Settings::default()
    }
}
