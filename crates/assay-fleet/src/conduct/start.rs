//! How nodes are started: their command line, their suite, and where they find the coordinator.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::error::FleetError;
use crate::key::RunKey;
use crate::launch::{FarEnd, Launch, Launcher, NodeEnd, NodeGroup, NodePlace, Tunnel};
use crate::ledger::{Ledger, NodeEntry};
use crate::system;
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
    pub(super) fn start(
        &self,
        ledger: &Ledger,
        numbers: &[usize],
        some: &[usize],
    ) -> Result<Vec<NodeGroup>, FleetError> {
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
        let numbered =
            |group: NodeGroup| NodeGroup { places: group.places.iter().map(|at| some[*at]).collect(), ..group };
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

// How nodes reach the coordinator: where it listens, through which tunnel, and by how many open files.

/// The port at the far end of a tunnel: one for each node, because two nodes may be one host, and this machine another.
pub(crate) fn remote_port(run: &str, number: usize) -> u16 {
    // Above those that servers have, below those that clients are given (32768 on Linux).
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    let seed = run.bytes().fold(7u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let port = FIRST + seed.wrapping_add(u32::try_from(number).unwrap_or(0)) % COUNT;
    u16::try_from(port).unwrap_or(u16::MAX)
}

/// Where a node finds the coordinator, and through which tunnel; `far` is the end that a node has there that ssh reaches.
pub(super) fn joined_at(far: Option<FarEnd>, endpoint: &Endpoint) -> (String, Option<Tunnel>) {
    match (endpoint, far) {
        (Endpoint::Address(address), _) if address.ip().is_unspecified() => {
            (format!("{}:{}", assay_device::host_name(), address.port()), None)
        }
        // What listens for others is reached without a tunnel.
        (Endpoint::Address(address), _) if !address.ip().is_loopback() => (address.to_string(), None),
        (endpoint, Some(far)) => (far.rendezvous(), Some(Tunnel { far, near: endpoint.clone() })),
        (endpoint, None) => (endpoint.to_string(), None),
    }
}

/// Where to listen if nothing is said: nodes of Slurm have no tunnel. None for those that come through this machine.
pub(super) fn listens(launcher: Launcher) -> Option<SocketAddr> {
    match launcher {
        Launcher::Local | Launcher::Ssh | Launcher::Ansible => None,
        Launcher::Slurm => Some(([0, 0, 0, 0], 0).into()),
    }
}

// Open files for many nodes.

/// A connection has two, and a launcher of a node a pipe to it and one from it.
const DESCRIPTORS_PER_NODE: u64 = 4;
/// What the program itself needs, generously.
const OWN_DESCRIPTORS: u64 = 128;

/// Raises the soft limit as far as the nodes need: it is 1,024 on most systems.
pub(super) fn allow_descriptors(nodes: usize) -> Result<(), FleetError> {
    let wanted = OWN_DESCRIPTORS + DESCRIPTORS_PER_NODE * nodes as u64;
    let Err(most) = system::allow_open_files(wanted) else { return Ok(()) };
    Err(FleetError::OpenFiles { nodes, wanted, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_nodes_share_a_far_port() {
        let mut ports: Vec<u16> = (0..1000).map(|number| remote_port("0ycb7vf5h0", number)).collect();
        ports.sort_unstable();
        ports.dedup();
        assert!(ports.len() == 1000 && ports[0] >= 20_000 && ports[999] < 32_000, "{ports:?}");
    }

    #[test]
    fn a_tunnel_is_for_what_listens_here_alone() {
        let at = |address: &str| Endpoint::Address(address.parse().unwrap());
        let (here, open) = (at("127.0.0.1:5000"), at("10.0.0.1:5000"));
        let far = || Some(FarEnd::Port(20_001));
        let tunnel = Some(Tunnel { far: FarEnd::Port(20_001), near: here.clone() });
        assert_eq!(joined_at(far(), &here), ("127.0.0.1:20001".to_owned(), tunnel));
        assert_eq!(joined_at(far(), &open), ("10.0.0.1:5000".to_owned(), None));
        assert_eq!(joined_at(None, &here), ("127.0.0.1:5000".to_owned(), None));
        let (any, _) = joined_at(None, &at("0.0.0.0:5000"));
        assert!(any.ends_with(":5000") && !any.starts_with("0.0.0.0"), "{any}");
        let private = Endpoint::Socket("/tmp/x/meet".into());
        assert_eq!(joined_at(None, &private), ("/tmp/x/meet".to_owned(), None));
        let (there, tunnel) = joined_at(Some(FarEnd::Socket("/tmp/a.sock".to_owned())), &private);
        assert_eq!((there.as_str(), tunnel.unwrap().near), ("/tmp/a.sock", private));
    }

    #[cfg(not(windows))]
    #[test]
    fn more_than_the_system_gives_is_refused_in_a_line() {
        allow_descriptors(1).unwrap();
        use rustix::process::{Resource, getrlimit};
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX - 1);
        if let Ok(nodes) = usize::try_from(hard / DESCRIPTORS_PER_NODE) {
            let refused = allow_descriptors(nodes).unwrap_err();
            assert!(refused.to_string().contains("open files"), "{refused}");
        }
    }
}
