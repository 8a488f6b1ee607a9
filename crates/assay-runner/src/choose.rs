//! Which engine runs a workload, and why.

use std::ops::ControlFlow;

use assay_core::original::Original;
use assay_core::suite::Suite;
use assay_core::workload::Workload;
use assay_engine::{
    ASYNCHRONOUS, Availability, CALLS, Control, EngineKind, LiveSample, OnSampleOf, QUEUE, RepeatReport, RepeatSpec,
    RepeatTrouble, probe, run_together,
};
use assay_fio::Fio;
use assay_original::{FoundTool, ToolSubject};

use crate::error::RunError;

/// An engine of assay's own that reaches a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnEngine {
    /// The best one of this system for each workload.
    #[default]
    Auto,
    /// `pread` and `pwrite`.
    Sync,
    /// io_uring, on Linux.
    Uring,
    /// I/O completion ports, on Windows.
    Iocp,
}

impl OwnEngine {
    /// The one that was named; `None` where the choice is assay's.
    fn named(self) -> Option<EngineKind> {
        match self {
            Self::Auto => None,
            Self::Sync => Some(EngineKind::Sync),
            Self::Uring => Some(EngineKind::Uring),
            Self::Iocp => Some(EngineKind::Iocp),
        }
    }
}

/// Another program that makes repeats: in place of assay's engines, or in turns with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The program fio.
    Fio,
    /// The tool that each workload was taken from.
    Reference,
}

impl Peer {
    /// Its name on the command line and in the record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Reference => "reference",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Fio, Self::Reference].into_iter().find(|peer| peer.name() == name)
    }

    /// What runs a workload with this original.
    pub(crate) fn instrument(self, original: Option<Original>) -> Option<Instrument> {
        match self {
            Self::Fio => Some(Instrument::Tool(Original::Fio)),
            Self::Reference => original.map(Instrument::Tool),
        }
    }
}

/// What runs the workloads of a run, as the user chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// An engine of assay's own, and the program that repeats are made by too, in turns.
    Own {
        /// The engine.
        engine: OwnEngine,
        /// The program; `None` without a cross-check.
        crosscheck: Option<Peer>,
    },
    /// Another program alone.
    Peer(Peer),
    /// No I/O at all.
    Null,
}

impl Default for EngineChoice {
    fn default() -> Self {
        Self::Own { engine: OwnEngine::Auto, crosscheck: None }
    }
}

impl EngineChoice {
    /// The program of a cross-check.
    #[must_use]
    pub fn crosscheck(self) -> Option<Peer> {
        if let Self::Own { crosscheck, .. } = self { crosscheck } else { None }
    }

    /// Whether this program makes repeats, alone or in turns.
    #[must_use]
    pub fn includes(self, peer: Peer) -> bool {
        self == Self::Peer(peer) || self.crosscheck() == Some(peer)
    }

    /// The engine of assay's own that was named.
    pub(crate) fn named(self) -> Option<EngineKind> {
        match self {
            Self::Own { engine, .. } => engine.named(),
            Self::Peer(_) => None,
            Self::Null => Some(EngineKind::Null),
        }
    }
}

/// What runs a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instrument {
    /// An engine of assay's own.
    Engine(EngineKind),
    /// Another program.
    Tool(Original),
}

impl Instrument {
    /// Name for the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Engine(kind) => kind.name(),
            Self::Tool(tool) => tool.name(),
        }
    }

    /// Whether nothing reaches a medium.
    pub(crate) fn is_null(self) -> bool {
        self == Self::Engine(EngineKind::Null)
    }
}

/// What can be used here.
#[derive(Debug, Clone)]
pub(crate) struct Engines {
    choice: EngineChoice,
    /// The engine that keeps several operations in flight by itself.
    queue: Availability,
    fio: Option<Fio>,
    originals: Vec<FoundTool>,
}

impl Engines {
    /// Probes the kernel, and looks for the programs that are needed.
    pub(crate) fn new(choice: EngineChoice, suite: &Suite) -> Result<Self, RunError> {
        if let Some(kind) = choice.named()
            && let Availability::No(reason) = probe(kind)
        {
            return Err(RunError::Engine { engine: kind.name().to_owned(), reason });
        }
        let queue = probe(ASYNCHRONOUS);
        let reference = choice.includes(Peer::Reference);
        let mut originals: Vec<Original> = Vec::new();
        let named = suite.workloads.iter().filter_map(|w| w.original);
        for original in named.chain(suite.programs.iter().filter_map(|p| p.original)).filter(|_| reference) {
            if !originals.contains(&original) {
                originals.push(original);
            }
        }
        if reference && originals.is_empty() {
            return Err(RunError::NoOriginal(suite.name.clone()));
        }
        let missing = |reason| match choice {
            EngineChoice::Peer(peer) => RunError::Engine { engine: peer.name().to_owned(), reason },
            EngineChoice::Own { .. } | EngineChoice::Null => RunError::Crosscheck(reason),
        };
        let needs_fio = choice.includes(Peer::Fio) || originals.contains(&Original::Fio);
        let fio = needs_fio.then(Fio::find).transpose().map_err(missing)?;
        let found = originals.into_iter().filter(|original| *original != Original::Fio).map(FoundTool::find);
        let originals = found.collect::<Result<_, _>>().map_err(missing)?;
        Ok(Self { choice, queue, fio, originals })
    }

    /// Runs one repeat of workloads at the same time, each by its instrument; a report of each. `subject` is what a
    /// tool works on that is no engine, and which runs alone.
    pub(crate) fn run(
        &self,
        work: &[(Instrument, &RepeatSpec)],
        subject: &ToolSubject,
        control: &Control,
        on_sample: &mut OnSampleOf<'_>,
    ) -> Vec<RepeatReport> {
        if let [(instrument, spec)] = work {
            return vec![self.run_one(*instrument, spec, subject, control, &mut |sample| on_sample(0, sample))];
        }
        let mut workloads = Vec::with_capacity(work.len());
        for (instrument, spec) in work {
            match instrument {
                Instrument::Engine(kind) => workloads.push((*kind, *spec)),
                Instrument::Tool(tool) => {
                    let reason = format!("{} runs no workloads at the same time", tool.name());
                    return work.iter().map(|_| failed(reason.clone())).collect();
                }
            }
        }
        run_together(&workloads, control, on_sample)
    }

    /// Runs one repeat of one workload.
    pub(crate) fn run_one(
        &self,
        instrument: Instrument,
        spec: &RepeatSpec,
        subject: &ToolSubject,
        control: &Control,
        on_sample: &mut dyn FnMut(&LiveSample) -> ControlFlow<()>,
    ) -> RepeatReport {
        match instrument {
            Instrument::Engine(kind) => {
                let reports = run_together(&[(kind, spec)], control, &mut |_, sample| on_sample(sample));
                reports.into_iter().next().unwrap_or_default()
            }
            Instrument::Tool(Original::Fio) => assay_fio::run_repeat(self.fio.as_ref(), spec, control, on_sample),
            Instrument::Tool(tool) => match self.original(tool) {
                Some(found) => assay_original::run_repeat(found, spec, subject, control, on_sample),
                None => failed(format!("{} is missing", tool.name())),
            },
        }
    }

    /// A tool as it was found.
    pub(crate) fn original(&self, tool: Original) -> Option<&FoundTool> {
        self.originals.iter().find(|found| found.tool == tool)
    }

    /// Version of a program, where it takes part.
    pub(crate) fn version(&self, instrument: Instrument) -> &str {
        match instrument {
            Instrument::Engine(_) => "",
            Instrument::Tool(Original::Fio) => self.fio.as_ref().map_or("", |fio| &fio.version),
            Instrument::Tool(tool) => self.original(tool).map_or("", |found| &found.version),
        }
    }

    /// Whether tools other than fio take part.
    pub(crate) fn has_originals(&self) -> bool {
        !self.originals.is_empty()
    }

    /// Whether each workload is run by the tool it was taken from.
    pub(crate) fn are_originals(&self) -> bool {
        self.choice == EngineChoice::Peer(Peer::Reference)
    }

    /// What runs one workload; `None` where it shall be its original and it has none.
    pub(crate) fn for_workload(&self, workload: &Workload, original: Option<Original>) -> Option<Instrument> {
        let engine = match self.choice {
            EngineChoice::Peer(peer) => return peer.instrument(original),
            EngineChoice::Null => return Some(Instrument::Engine(EngineKind::Null)),
            EngineChoice::Own { engine, .. } => engine,
        };
        Some(Instrument::Engine(match engine {
            OwnEngine::Sync => EngineKind::Sync,
            _ if workload.poll || !workload.priorities.shares.is_empty() => EngineKind::Uring,
            // A sync after every write is one operation in flight by its nature.
            _ if workload.sync.each() => EngineKind::Sync,
            OwnEngine::Uring => EngineKind::Uring,
            OwnEngine::Iocp => EngineKind::Iocp,
            OwnEngine::Auto if workload.queue_depth == 1 => EngineKind::Sync,
            OwnEngine::Auto => match self.queue {
                Availability::Yes(_) => ASYNCHRONOUS,
                Availability::No(_) => EngineKind::Sync,
            },
        }))
    }

    /// Name for the record.
    pub(crate) fn name(&self) -> &'static str {
        match (self.choice, self.choice.named(), &self.queue) {
            (EngineChoice::Peer(peer), ..) => peer.name(),
            (_, Some(kind), _) => kind.name(),
            (_, None, Availability::Yes(_)) => ASYNCHRONOUS.name(),
            (_, None, Availability::No(_)) => EngineKind::Sync.name(),
        }
    }

    /// Reason for the record.
    pub(crate) fn reason(&self) -> String {
        let rule = format!("one in flight and synced writes through {CALLS}");
        match (self.choice, self.choice.named(), &self.queue) {
            (EngineChoice::Peer(Peer::Fio), ..) => {
                format!("asked for: {}", self.version(Instrument::Tool(Original::Fio)))
            }
            (EngineChoice::Peer(Peer::Reference), ..) => {
                let fio = self.fio.iter().map(|fio| fio.version.clone());
                let others = self.originals.iter().map(|found| format!("{} {}", found.tool.name(), found.version));
                format!("asked for: {}", fio.chain(others).collect::<Vec<_>>().join(", "))
            }
            (_, Some(_), _) => "asked for".to_owned(),
            (_, None, Availability::Yes(has)) => {
                let mut with = Vec::new();
                if has.registered_files {
                    with.push("registered file");
                }
                if has.fixed_buffers {
                    with.push("fixed buffers");
                }
                if has.single_issuer {
                    with.push("single issuer");
                }
                if has.deferred_task_work {
                    with.push("deferred task work");
                }
                let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
                let mut reason = format!("{QUEUE}{with}; {rule}");
                for fallback in &has.fallbacks {
                    reason.push_str("; ");
                    reason.push_str(fallback);
                }
                reason
            }
            (_, None, Availability::No(why)) => format!("{why}; queue depth by threads"),
        }
    }
}

/// The report of a repeat that could not begin.
fn failed(reason: String) -> RepeatReport {
    RepeatReport { trouble: Some(RepeatTrouble::Setup(reason)), ..RepeatReport::default() }
}

#[cfg(test)]
mod tests {
    use assay_core::workload::Sync;
    use assay_engine::Capabilities;

    use super::*;

    #[test]
    fn several_operations_in_flight_need_an_engine_for_that_and_one_does_not() {
        let engines = |engine, queue: &Availability| Engines {
            choice: EngineChoice::Own { engine, crosscheck: None },
            queue: queue.clone(),
            fio: None,
            originals: Vec::new(),
        };
        let workload = |queue_depth, sync| {
            let some = crate::evidence::measurement(&[]).workload;
            Workload { queue_depth, sync, ..(*some).clone() }
        };
        let (works, fails) = (Availability::Yes(Capabilities::default()), Availability::No("old kernel".to_owned()));
        let auto = |queue, queue_depth, sync| {
            engines(OwnEngine::Auto, queue).for_workload(&workload(queue_depth, sync), None).unwrap()
        };
        assert_eq!(auto(&works, 1, Sync::End), Instrument::Engine(EngineKind::Sync));
        assert_eq!(auto(&works, 2, Sync::End), Instrument::Engine(ASYNCHRONOUS));
        assert_eq!(auto(&fails, 32, Sync::End), Instrument::Engine(EngineKind::Sync));
        assert_eq!(auto(&works, 32, Sync::Fdatasync), Instrument::Engine(EngineKind::Sync), "a sync after every write");
        let polled = Workload { poll: true, ..workload(1, Sync::End) };
        let auto_polled = engines(OwnEngine::Auto, &works).for_workload(&polled, None).unwrap();
        assert_eq!(auto_polled, Instrument::Engine(EngineKind::Uring), "pread does not poll");
        let shares = assay_core::priority::Priorities::parse_shares("20 % idle").unwrap();
        let priorities = assay_core::priority::Priorities { job: None, shares };
        let some_first = Workload { priorities, ..workload(1, Sync::End) };
        let some_first = engines(OwnEngine::Auto, &works).for_workload(&some_first, None).unwrap();
        assert_eq!(some_first, Instrument::Engine(EngineKind::Uring), "pread has the priority of its thread");
        let only = engines(OwnEngine::Uring, &works);
        assert_eq!(only.for_workload(&workload(1, Sync::End), None).unwrap(), Instrument::Engine(EngineKind::Uring));
        assert_eq!(only.for_workload(&workload(1, Sync::Fsync), None).unwrap(), Instrument::Engine(EngineKind::Sync));
    }

    #[test]
    fn a_workload_without_original_has_nothing_to_run_it_as_reference() {
        let engines = Engines {
            choice: EngineChoice::Peer(Peer::Reference),
            queue: Availability::No(String::new()),
            fio: None,
            originals: Vec::new(),
        };
        let workload = crate::evidence::measurement(&[]).workload;
        assert_eq!(engines.for_workload(&workload, None), None);
        assert_eq!(engines.for_workload(&workload, Some(Original::Fio)), Some(Instrument::Tool(Original::Fio)));
        let hdparm = Some(Instrument::Tool(Original::Hdparm));
        assert_eq!(engines.for_workload(&workload, Some(Original::Hdparm)), hdparm);
        assert_eq!(Peer::Fio.instrument(None), Some(Instrument::Tool(Original::Fio)));
        assert_eq!(Peer::Reference.instrument(None), None);
        assert_eq!(Peer::Reference.instrument(Some(Original::Hdparm)), hdparm);
    }
}
