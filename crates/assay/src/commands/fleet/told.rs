//! What nodes are told: their command line, and where they find the coordinator.

use std::net::SocketAddr;

use assay_core::text::harmless;
use assay_fleet::{Entry, Launcher, Ledger};
use clap::Parser;

use crate::cli::Cli;
use crate::failure::Failure;

/// The port at the far end of a tunnel: one for each node, because two nodes may be one host, and this machine another.
pub(super) fn far_port(run: &str, number: usize) -> u16 {
    // Above those that servers have, below those that clients are given (32768 on Linux).
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    let seed = run.bytes().fold(7u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let port = FIRST + seed.wrapping_add(u32::try_from(number).unwrap_or(0)) % COUNT;
    u16::try_from(port).unwrap_or(u16::MAX)
}

/// Where a node finds the coordinator.
pub(super) fn joined_at(launcher: Launcher, far: u16, address: SocketAddr) -> String {
    // What listens for others is reached without a tunnel.
    let tunnel = launcher == Launcher::Ssh && address.ip().is_loopback();
    if tunnel { format!("127.0.0.1:{far}") } else { address.to_string() }
}

/// Finds what is wrong with the arguments before anything is started.
pub(super) fn check_arguments(arguments: &[String]) -> Result<(), Failure> {
    let parsed = Cli::try_parse_from(std::iter::once("assay").chain(arguments.iter().map(String::as_str)));
    parsed.map(drop).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(harmless(&format!("what assay run is told on the nodes: {line}")))
    })
}

/// What `assay run` is told on a node. What the user says comes before, so that it cannot take a node elsewhere.
pub(super) fn arguments(ledger: &Ledger, entry: &Entry, address: &str) -> Vec<String> {
    let mut arguments = vec!["run".to_owned(), "--quiet".to_owned()];
    arguments.extend(ledger.arguments.iter().cloned());
    let own =
        ["--label", &format!("fleet={}", ledger.run), "--label", &format!("node={}", entry.name)].map(str::to_owned);
    arguments.extend(own);
    let join = ["--rendezvous", address, "--node", &entry.name, "--fleet-run", &ledger.run, "--", &entry.target];
    arguments.extend(join.map(str::to_owned));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_nodes_share_a_far_port() {
        let mut ports: Vec<u16> = (0..1000).map(|number| far_port("0ycb7vf5h0", number)).collect();
        ports.sort_unstable();
        ports.dedup();
        assert!(ports.len() == 1000 && ports[0] >= 20_000 && ports[999] < 32_000, "{ports:?}");
    }

    #[test]
    fn a_tunnel_is_for_what_listens_here_alone() {
        let here: SocketAddr = "127.0.0.1:5000".parse().unwrap();
        let open: SocketAddr = "10.0.0.1:5000".parse().unwrap();
        assert_eq!(joined_at(Launcher::Ssh, 20_001, here), "127.0.0.1:20001");
        assert_eq!(joined_at(Launcher::Ssh, 20_001, open), "10.0.0.1:5000");
        assert_eq!(joined_at(Launcher::Local, 20_001, here), "127.0.0.1:5000");
    }
}
