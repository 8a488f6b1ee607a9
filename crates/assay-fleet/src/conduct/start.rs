//! How nodes are started: their command line, their suite, and where they find the coordinator.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::reach::{joined_at, remote_port};
use crate::error::FleetError;
use crate::key::RunKey;
use crate::launch::{FarEnd, Group, Launch, Launcher, NodeEnd, NodePlace};
use crate::ledger::{Ledger, NodeEntry};
use crate::transport::Endpoint;

/// Arguments of `assay run` on all nodes. Those of a single node follow.
#[must_use]
pub fn node_arguments(ledger: &Ledger) -> Vec<String> {
    let mut arguments = vec!["run".to_owned(), "--quiet".to_owned()];
    arguments.extend(ledger.arguments.iter().cloned());
    if let Some(rotation) = &ledger.rotation {
        let (plan, round) = (format!("plan={}", rotation.plan), format!("round={}", rotation.round));
        arguments.extend(["--label", &plan, "--label", &round].map(str::to_owned));
    }
    arguments.extend(["--label", &format!("fleet={}", ledger.run), "--fleet-run", &ledger.run].map(str::to_owned));
    arguments
}

/// The suite of a turn of a plan, as nodes get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuiteHandover {
    /// It is named by the other arguments.
    Named,
    /// It is a file of this machine.
    File(PathBuf),
    /// Its text is handed over.
    Text(String),
}

impl SuiteHandover {
    /// The arguments that name it.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Self::Named => Vec::new(),
            Self::File(path) => vec!["--suite".to_owned(), path.to_string_lossy().into_owned()],
            Self::Text(_) => ["--suite", "-"].map(str::to_owned).to_vec(),
        }
    }

    /// What it reads.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Named | Self::File(_) => None,
        }
    }
}

/// How nodes are started, also once more.
pub(super) struct Start {
    pub(super) launcher: Launcher,
    pub(super) key: RunKey,
    pub(super) endpoint: Endpoint,
    pub(super) suite: SuiteHandover,
    /// Nodes whose tunnel ends in a port there.
    pub(super) by_port: BTreeSet<usize>,
}

impl Start {
    /// Starts `some` of the nodes; groups have their numbers.
    pub(super) fn start(&self, ledger: &Ledger, numbers: &[usize], some: &[usize]) -> Result<Vec<Group>, FleetError> {
        let places: Result<Vec<NodePlace>, FleetError> =
            some.iter().map(|number| self.place(ledger, numbers, *number)).collect();
        let launch = Launch {
            run: &ledger.run,
            program: &ledger.program,
            arguments: [node_arguments(ledger), self.suite.words()].concat(),
            suite: self.suite.text(),
            key: &self.key,
            places: places?,
            inventory: ledger.inventory.as_ref(),
        };
        let groups = self.launcher.start(&launch).into_iter();
        let numbered = |group: Group| Group { places: group.places.iter().map(|at| some[*at]).collect(), ..group };
        Ok(groups.map(numbered).collect())
    }

    /// Where a node is, and where it finds the coordinator.
    fn place(&self, ledger: &Ledger, numbers: &[usize], number: usize) -> Result<NodePlace, FleetError> {
        let NodeEntry { name, target, cell, .. } = &ledger.nodes[numbers[number]];
        let port = || FarEnd::Port(remote_port(&ledger.run, number));
        let far = match &ledger.inventory {
            // A task may run as another user than the one who logs in, or through a connection that was there before.
            Some(inventory) => inventory.routes.get(name).is_some_and(|route| route.ssh).then(port),
            None if self.launcher != Launcher::Ssh => None,
            None if self.by_port.contains(&number) => Some(port()),
            None => Some(FarEnd::socket().map_err(FleetError::NoRandom)?),
        };
        let (rendezvous, tunnel) = joined_at(far, &self.endpoint);
        Ok(NodePlace { node: name.clone(), target: target.clone(), rendezvous, tunnel, cell: cell.clone() })
    }

    /// What a node came to that could not be started.
    pub(super) fn failed(&self, error: &std::io::Error, program: &str) -> NodeEnd {
        let words = match self.launcher {
            Launcher::Local => format!("{program}: {error}"),
            Launcher::Ssh => format!("ssh: {error}"),
            Launcher::Slurm | Launcher::Ansible => error.to_string(),
        };
        // What a shell would say of a program that it does not find.
        let code = (error.kind() == std::io::ErrorKind::NotFound).then_some(127);
        NodeEnd { words, code, reached: self.launcher == Launcher::Local }
    }
}
