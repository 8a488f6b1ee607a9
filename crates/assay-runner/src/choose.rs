//! Which engine runs a workload, and why.

use std::ops::ControlFlow;

use assay_core::workload::Workload;
use assay_engine::{
    Availability, Control, EngineKind, LiveSample, OnSampleOf, RepeatReport, RepeatSpec, probe, run_together,
};
use assay_fio::Fio;

use crate::error::RunError;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineWish {
    /// Whatever is best here.
    #[default]
    Auto,
    /// This one.
    Only(EngineKind),
    /// The program fio, which runs a loop of its own.
    Fio,
}

/// What runs a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instrument {
    /// An engine of assay's own.
    Engine(EngineKind),
    /// The program fio.
    Fio,
}

impl Instrument {
    /// Name for the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Engine(kind) => kind.name(),
            Self::Fio => "fio",
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
    wish: EngineWish,
    uring: Availability,
    fio: Option<Fio>,
}

impl Engines {
    /// Probes the kernel, and looks for fio where that is needed.
    pub(crate) fn new(wish: EngineWish, crosscheck: bool) -> Result<Self, RunError> {
        let uring = probe(EngineKind::Uring);
        if let (EngineWish::Only(EngineKind::Uring), Availability::No(reason)) = (wish, &uring) {
            return Err(RunError::Engine { engine: "uring".to_owned(), reason: reason.clone() });
        }
        let fio = match wish {
            EngineWish::Fio => {
                Some(Fio::find().map_err(|reason| RunError::Engine { engine: "fio".to_owned(), reason })?)
            }
            _ if crosscheck => Some(Fio::find().map_err(RunError::Crosscheck)?),
            _ => None,
        };
        Ok(Self { wish, uring, fio })
    }

    /// Runs one repeat of workloads at the same time, each by its instrument; a report of each.
    pub(crate) fn run(
        &self,
        work: &[(Instrument, &RepeatSpec)],
        control: &Control,
        on_sample: &mut OnSampleOf<'_>,
    ) -> Vec<RepeatReport> {
        if let [(Instrument::Fio, spec)] = work {
            return vec![self.run_fio(spec, control, &mut |sample| on_sample(0, sample))];
        }
        // No suite that fio runs has several at once: such requests are refused.
        let engine = |instrument: &Instrument| match instrument {
            Instrument::Engine(kind) => *kind,
            Instrument::Fio => EngineKind::Sync,
        };
        let workloads: Vec<_> = work.iter().map(|(instrument, spec)| (engine(instrument), *spec)).collect();
        run_together(&workloads, control, on_sample)
    }

    /// Runs one repeat by fio.
    pub(crate) fn run_fio(
        &self,
        spec: &RepeatSpec,
        control: &Control,
        on_sample: &mut dyn FnMut(&LiveSample) -> ControlFlow<()>,
    ) -> RepeatReport {
        assay_fio::run_repeat(self.fio.as_ref(), spec, control, on_sample)
    }

    /// Version of fio, where it takes part.
    pub(crate) fn fio_version(&self) -> &str {
        self.fio.as_ref().map_or("", |fio| &fio.version)
    }

    /// What runs one workload.
    pub(crate) fn for_workload(&self, workload: &Workload) -> Instrument {
        Instrument::Engine(match self.wish {
            EngineWish::Fio => return Instrument::Fio,
            EngineWish::Only(EngineKind::Null) => EngineKind::Null,
            EngineWish::Only(EngineKind::Sync) => EngineKind::Sync,
            // A sync after every write is one operation in flight by its nature.
            _ if workload.sync.each() => EngineKind::Sync,
            EngineWish::Only(EngineKind::Uring) => EngineKind::Uring,
            EngineWish::Auto if workload.queue_depth == 1 => EngineKind::Sync,
            EngineWish::Auto => match self.uring {
                Availability::Yes(_) => EngineKind::Uring,
                Availability::No(_) => EngineKind::Sync,
            },
        })
    }

    /// Name for the record.
    pub(crate) fn name(&self) -> &'static str {
        match (self.wish, &self.uring) {
            (EngineWish::Fio, _) => Instrument::Fio.name(),
            (EngineWish::Only(kind), _) => kind.name(),
            (EngineWish::Auto, Availability::Yes(_)) => "uring",
            (EngineWish::Auto, Availability::No(_)) => "sync",
        }
    }

    /// Reason for the record.
    pub(crate) fn reason(&self) -> String {
        let rule = "one in flight and synced writes through pread/pwrite";
        match (self.wish, &self.uring) {
            (EngineWish::Fio, _) => format!("asked for: {}", self.fio_version()),
            (EngineWish::Only(_), _) => "asked for".to_owned(),
            (EngineWish::Auto, Availability::Yes(has)) => {
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
                let mut reason = format!("io_uring with {}; {rule}", with.join(", "));
                for fallback in &has.fallbacks {
                    reason.push_str("; ");
                    reason.push_str(fallback);
                }
                reason
            }
            (EngineWish::Auto, Availability::No(why)) => format!("{why}; queue depth by threads"),
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::workload::Sync;
    use assay_engine::Capabilities;

    use super::*;

    #[test]
    fn several_operations_in_flight_need_io_uring_and_one_does_not() {
        let engines = |wish, uring: &Availability| Engines { wish, uring: uring.clone(), fio: None };
        let workload = |queue_depth, sync| {
            let some = crate::evidence::measurement(&[]).workload;
            Workload { queue_depth, sync, ..some }
        };
        let (works, fails) = (Availability::Yes(Capabilities::default()), Availability::No("old kernel".to_owned()));
        let auto =
            |uring, queue_depth, sync| engines(EngineWish::Auto, uring).for_workload(&workload(queue_depth, sync));
        assert_eq!(auto(&works, 1, Sync::End), Instrument::Engine(EngineKind::Sync));
        assert_eq!(auto(&works, 2, Sync::End), Instrument::Engine(EngineKind::Uring));
        assert_eq!(auto(&fails, 32, Sync::End), Instrument::Engine(EngineKind::Sync));
        assert_eq!(auto(&works, 32, Sync::Fdatasync), Instrument::Engine(EngineKind::Sync), "a sync after every write");
        let only = engines(EngineWish::Only(EngineKind::Uring), &works);
        assert_eq!(only.for_workload(&workload(1, Sync::End)), Instrument::Engine(EngineKind::Uring));
        assert_eq!(only.for_workload(&workload(1, Sync::Fsync)), Instrument::Engine(EngineKind::Sync));
    }
}
