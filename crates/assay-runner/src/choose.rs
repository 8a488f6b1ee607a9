//! Which engine runs a workload, and why.

use assay_core::workload::Workload;
use assay_engine::{Availability, EngineKind, probe};

use crate::error::RunError;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineWish {
    /// Whatever is best here.
    #[default]
    Auto,
    /// This one.
    Only(EngineKind),
}

/// What can be used here.
#[derive(Debug, Clone)]
pub(crate) struct Engines {
    wish: EngineWish,
    uring: Availability,
}

impl Engines {
    /// Probes the kernel.
    pub(crate) fn new(wish: EngineWish) -> Result<Self, RunError> {
        let uring = probe(EngineKind::Uring);
        if let (EngineWish::Only(EngineKind::Uring), Availability::No(reason)) = (wish, &uring) {
            return Err(RunError::Engine { engine: "uring".to_owned(), reason: reason.clone() });
        }
        Ok(Self { wish, uring })
    }

    /// The engine for one workload.
    pub(crate) fn for_workload(&self, workload: &Workload) -> EngineKind {
        match self.wish {
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
        }
    }

    /// Name for the record.
    pub(crate) fn name(&self) -> &'static str {
        match (self.wish, &self.uring) {
            (EngineWish::Only(kind), _) => kind.name(),
            (EngineWish::Auto, Availability::Yes(_)) => "uring",
            (EngineWish::Auto, Availability::No(_)) => "sync",
        }
    }

    /// Reason for the record.
    pub(crate) fn reason(&self) -> String {
        let rule = "one in flight and synced writes through pread/pwrite";
        match (self.wish, &self.uring) {
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
