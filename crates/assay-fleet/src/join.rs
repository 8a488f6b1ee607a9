//! How a node joins: it connects, and both sides show that they hold the key of the node.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fmt, io};

use assay_core::cluster::ClusterPart;
use assay_engine::Control;

use super::clock::NodeClock;
use super::key::Seal;
use crate::key::{Greeting, NodeKey, Purpose, nonce};
use crate::message::{Build, FromCoordinator, FromNode, PROTOCOL};
use crate::system;
use crate::transport::Connection;
use crate::wire::{Receiver, Sender, WireError};

/// How long connecting and each answer may take.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a node tries while the coordinator is busy with others.
pub(crate) const JOINING: Duration = Duration::from_secs(60);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How to join a run.
#[derive(Debug, Clone)]
pub struct Joining {
    /// `HOST:PORT` of the coordinator, or the path of a Unix socket, which begins with `/`.
    pub address: String,
    /// Identity of the run.
    pub run: String,
    /// Name of the node.
    pub node: String,
    /// Key of the node.
    pub key: NodeKey,
    /// The program.
    pub build: Build,
    /// The node's clock.
    pub clock: NodeClock,
}

/// Why a node does not take part.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The coordinator cannot be reached.
    #[error(
        "the coordinator is not reached at {address}: {reason}; assay fleet run --listen ADDRESS:PORT names another address"
    )]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// The coordinator does not want it.
    #[error("{0}")]
    Refused(String),
    /// Who answered is not the coordinator of this run.
    #[error("who answers at {0} does not have the key of this node")]
    Stranger(String),
}

/// A connection to the coordinator, which let the node in.
pub(crate) struct JoinedConnection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) part: ClusterPart,
}

/// Why an attempt failed.
enum Failed {
    /// The coordinator closed the connection before it admitted the node, because too many connections have not shown a
    /// key.
    Busy,
    Final(JoinError),
}

impl From<JoinError> for Failed {
    fn from(error: JoinError) -> Self {
        Self::Final(error)
    }
}

/// Joins, with several attempts where the coordinator is busy.
pub(crate) fn meet(joining: &Joining, control: &Control) -> Result<JoinedConnection, JoinError> {
    let begun = Instant::now();
    let mut wait = Duration::from_millis(50);
    loop {
        match try_to_meet(joining) {
            Ok(met) => return Ok(met),
            Err(Failed::Final(error)) => return Err(error),
            Err(Failed::Busy) if begun.elapsed() > JOINING || control.stopped() => {
                return Err(unreachable(joining, &"it has no word for this node, or too many others ask it"));
            }
            Err(Failed::Busy) => {}
        }
        // Nodes that were turned away together do not come together again.
        let spread = nonce().ok().and_then(|nonce| u32::from_str_radix(nonce.get(..2)?, 16).ok()).unwrap_or(128);
        std::thread::sleep(wait.mul_f64(0.5 + f64::from(spread) / 256.0));
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn unreachable(joining: &Joining, reason: &dyn fmt::Display) -> JoinError {
    JoinError::Unreachable { address: joining.address.clone(), reason: reason.to_string() }
}

fn try_to_meet(joining: &Joining) -> Result<JoinedConnection, Failed> {
    let unreachable = |reason: &dyn fmt::Display| unreachable(joining, reason);
    let stranger = || JoinError::Stranger(joining.address.clone());
    let lost = |error: WireError| match error {
        WireError::Seal | WireError::Malformed(_) => stranger(),
        error => unreachable(&error),
    };
    let connection = connect(&joining.address, ANSWER).map_err(|error| unreachable(&error))?;
    let mut sender = Sender::new(connection.again().map_err(|e| unreachable(&e))?);
    let mut receiver = Receiver::new(connection);
    let ours = nonce().map_err(|error| unreachable(&error))?;
    let hello = FromNode::Hello {
        protocol: PROTOCOL,
        version: joining.build.version.clone(),
        commit: joining.build.commit.clone().unwrap_or_default(),
        run: joining.run.clone(),
        node: joining.node.clone(),
        nonce: ours.clone(),
    };
    let first = sender.send(&hello).and_then(|()| receiver.receive(ANSWER));
    let (theirs, proof) = match first {
        Ok(FromCoordinator::Challenge { nonce, proof }) => (nonce, proof),
        Ok(FromCoordinator::Refused { reason }) => return Err(JoinError::Refused(reason).into()),
        Ok(_) => return Err(stranger().into()),
        Err(WireError::Closed | WireError::Io(_) | WireError::Timeout) => return Err(Failed::Busy),
        Err(error) => return Err(lost(error).into()),
    };
    let Joining { build: Build { version, commit }, run, node, .. } = joining;
    let commit = commit.as_deref().unwrap_or_default();
    let greeting = Greeting { protocol: PROTOCOL, version, commit, run, node, nonces: [&ours, &theirs] };
    let known = joining.key.says(Purpose::CoordinatorProof, &greeting);
    // Hashes compare in constant time.
    if !blake3::Hash::from_hex(proof).is_ok_and(|proof| proof == known) {
        return Err(stranger().into());
    }
    let proof = joining.key.says(Purpose::NodeProof, &greeting).to_hex().to_string();
    if sender.send(&FromNode::Proof { proof }).is_err() {
        return Err(Failed::Busy);
    }
    sender.seal_by(Seal::new(&joining.key, Purpose::ToCoordinator, &greeting));
    receiver.seal_by(Seal::new(&joining.key, Purpose::ToNode, &greeting));
    let answer = match receiver.receive(ANSWER) {
        Err(WireError::Closed | WireError::Io(_)) => return Err(Failed::Busy),
        answer => answer.map_err(lost)?,
    };
    match answer {
        FromCoordinator::Welcome { attempt, nodes, mode, at_a_time } => {
            let (run, node) = (joining.run.clone(), joining.node.clone());
            let part =
                ClusterPart { run, node, attempt, nodes, mode, at_a_time, clock: None, lost: None, settled: None };
            Ok(JoinedConnection { sender, receiver, part })
        }
        FromCoordinator::Refused { reason } => Err(JoinError::Refused(reason).into()),
        _ => Err(stranger().into()),
    }
}

/// Connects to `HOST:PORT`, or to the Unix socket whose path begins with `/`.
pub(crate) fn connect(address: &str, limit: Duration) -> io::Result<Box<dyn Connection>> {
    let connection = if address.starts_with('/') {
        system::connect_privately(Path::new(address))?
    } else {
        Box::new(connect_to_address(address, limit)?)
    };
    connection.write_within(limit)?;
    Ok(connection)
}

fn connect_to_address(address: &str, limit: Duration) -> io::Result<TcpStream> {
    let mut refused = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
