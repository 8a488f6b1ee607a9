//! A repeat of a program: by assay, by the tool that it was taken from, or by both in turns.

use std::sync::Arc;
use std::time::Duration;

use assay_core::original::Original;
use assay_core::program::{Program, SuiteProgram};
use assay_core::units::MIB;
use assay_device::owned::OwnDir;
use assay_engine as engine;
use assay_original::{ProgramReport, Subject, run_program};
use assay_programs::{Done, Figure, Fitted, Timed, Trouble};

use super::begin::Session;
use super::programs::Made;
use crate::choose::{EngineWish, Instrument, Peer};
use crate::crosscheck::{self, Order};
use crate::proof;

impl Session<'_> {
    /// The tool that runs a program too, in turns.
    pub(super) fn program_peer(&self, asked: &SuiteProgram) -> Option<Original> {
        asked.original.filter(|_| self.request.crosscheck == Some(Peer::Reference))
    }

    /// Makes one repeat, by all that shall make it. Where the process is stopped meanwhile it counts for nothing.
    pub(super) fn program_sides(
        &mut self,
        asked: &SuiteProgram,
        fitted: &Fitted,
        files: Option<Arc<OwnDir>>,
        time: Duration,
        round: u32,
    ) -> Result<Made, Trouble> {
        if self.request.engine == EngineWish::Reference {
            drop(files);
            let tool =
                asked.original.ok_or_else(|| Trouble::LeftOut("the suite names no original for it".to_owned()))?;
            return self.by_original(tool, fitted, time, round);
        }
        let Some(tool) = self.program_peer(asked) else {
            let done = self.made(fitted, files, time, u64::from(round))?;
            self.count(&done);
            return Ok((done, None));
        };
        let (suspended, first) = (self.control.suspended(), crosscheck::peer_first(round));
        let mut files = files;
        let mut theirs = None;
        if first {
            drop(files.take());
            theirs = Some(self.original(tool, fitted, time, round));
            files = self.files(&fitted.program).map_err(Trouble::LeftOut)?;
        }
        let done = self.made(fitted, files, time, u64::from(round))?;
        self.count(&done);
        if !first {
            theirs = Some(self.original(tool, fitted, time, round));
        }
        let (ours, theirs) = (done.figures.first().map(|figure| figure.value), theirs.and_then(Result::transpose));
        if let (Some(ours), Some(theirs), true) = (ours, theirs, self.control.suspended() == suspended) {
            let version = self.engines.version(Instrument::Original(tool)).to_owned();
            let order = if first { Order::PeerFirst } else { Order::PeerLast };
            let (peer, operations) = ((tool.name(), version.as_str()), operations(&fitted.program));
            crosscheck::add_program(self.draft.fill(), &asked.name, peer, order, operations, (ours, theirs));
        }
        Ok((done, None))
    }

    /// One repeat by a tool in place of the program.
    fn by_original(&mut self, tool: Original, fitted: &Fitted, time: Duration, round: u32) -> Result<Made, Trouble> {
        let before = proof::read(self.meter.as_deref());
        let report = self.original(tool, fitted, time, round).map_err(|trouble| match trouble {
            // What the host lacks is no fault of the medium.
            engine::Trouble::Setup(words) => Trouble::LeftOut(words),
            other => Trouble::Io { what: "its original", error: std::io::Error::other(crosscheck::words(&other)) },
        })?;
        let report = report.ok_or(Trouble::Stopped)?;
        let crossed = before.zip(proof::read(self.meter.as_deref())).map(|(before, after)| after - before);
        let timed = Timed { elapsed: report.elapsed, processor: None, crossed };
        let figure = Figure { of: "", value: report.value, unit: unit(&fitted.program), timed };
        // What it wrote is counted.
        Ok((Done { figures: vec![figure], threads: 1, ..Done::default() }, Some(report.run)))
    }

    /// One repeat by a tool, whose files are gone afterwards; nothing where the end was asked for.
    fn original(
        &mut self,
        tool: Original,
        fitted: &Fitted,
        time: Duration,
        round: u32,
    ) -> Result<Option<ProgramReport>, engine::Trouble> {
        let missing = || engine::Trouble::Setup(format!("{} is missing", tool.name()));
        let found = self.engines.original(tool).cloned().ok_or_else(missing)?;
        if let Some(trouble) = self.area.prepare_for(Instrument::Original(tool)) {
            return Err(trouble);
        }
        let subject = self.area.subject(&self.area.target, Subject { time, ..Subject::default() });
        let rounds = (self.request.seed ^ u64::from(round), self.request.hang_after);
        let report = run_program(&found, &fitted.program, &subject, rounds, &self.control);
        self.area.remove_original();
        let written = report.as_ref().ok().and_then(|report| Some(report.as_ref()?.written_bytes)).unwrap_or(0);
        self.whole.wrote(written);
        self.draft.fill().settings.written_bytes += written;
        report
    }
}

/// Operations for each unit of a program's figure.
fn operations(program: &Program) -> f64 {
    match program {
        Program::Memory { block, .. } => MIB as f64 / block.0 as f64,
        Program::Stream { block, .. } => 1e6 / block.0 as f64,
        _ => 1.0,
    }
}

/// Unit of the figure of a program that has an original.
fn unit(program: &Program) -> &'static str {
    match program {
        Program::Primes { .. } => "events/s",
        Program::Memory { .. } => "MiB/s",
        Program::Postmark { .. } => "transactions/s",
        _ => "MB/s",
    }
}
