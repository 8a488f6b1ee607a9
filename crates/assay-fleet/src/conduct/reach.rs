//! How nodes reach the coordinator: where it listens, through which tunnel, and by how many open files.

use std::net::SocketAddr;

use crate::error::FleetError;
use crate::launch::{FarEnd, Launcher, Tunnel};
use crate::system;
use crate::transport::Endpoint;

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
