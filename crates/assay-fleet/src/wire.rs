//! Lines of JSON between a node and its coordinator, each sealed by the key of the connection.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// Version of this protocol; both sides must speak the same.
pub(crate) const PROTOCOL: u32 = 1;
/// Longest line, its seal included, in bytes.
const MAX_LINE: usize = 4096;
/// Largest record that is taken, in bytes.
pub const MAX_RECORD: u64 = 256 << 20;
/// A record that comes slower than this is not waited for, in bytes per second.
const SLOWEST: u64 = 10_000;
/// Hexadecimal digits of a line's seal: 128 bits.
const SEAL: usize = 32;

/// What a node says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromNode {
    /// The first line of a connection.
    Hello {
        /// Of the protocol.
        protocol: u32,
        /// Version of the program.
        version: String,
        /// The run that it wants to take part in.
        run: String,
        /// Its name.
        node: String,
        /// A number used once.
        nonce: String,
    },
    /// That it holds the key.
    Proof {
        /// A seal over both nonces.
        seal: String,
    },
    /// Asks what the coordinator's clock reads.
    Ping {
        /// Sent, by the node's clock, in nanoseconds.
        sent: i64,
    },
    /// Ready for a repeat.
    Ready {
        /// 0 of reads, 1 of writes.
        stage: u32,
        /// Number of the repeat.
        round: u32,
        /// Number of the workload.
        workload: u32,
    },
    /// What it does, once a second at most.
    Live(Live),
    /// The record follows: so many bytes, after this line.
    Record {
        /// Length.
        bytes: u64,
        /// BLAKE3 of them, 64 hexadecimal digits.
        hash: String,
    },
}

/// What a node does at the moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The step of the run: `layout`, `wait`, or the name of a workload.
    pub doing: String,
    /// Share of the repeats that are done, 0 to 1.
    pub done: f32,
    /// Bytes per second of the last sample; null where none is measured.
    pub bytes_per_second: Option<f64>,
    /// 99th percentile of the latency of the last sample, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// The highest temperature, in degrees Celsius.
    pub celsius: Option<f64>,
}

/// What the coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromCoordinator {
    /// That it holds the key too.
    Challenge {
        /// A number used once.
        nonce: String,
        /// A seal over both nonces.
        seal: String,
    },
    /// The node takes part.
    Welcome {
        /// Which attempt of this node it is, from 1.
        attempt: u32,
        /// Nodes expected.
        nodes: u32,
        /// How they work.
        mode: String,
        /// How many measure at a time at most.
        at_a_time: u32,
    },
    /// It does not, and why.
    Refused {
        /// In words.
        reason: String,
    },
    /// The record is of another medium than the one that is to be there.
    Misplaced {
        /// In words.
        reason: String,
    },
    /// The answer to `Ping`.
    Pong {
        /// As asked.
        sent: i64,
        /// Received, by the coordinator's clock, in nanoseconds.
        received: i64,
        /// Answered, by the coordinator's clock, in nanoseconds.
        answered: i64,
    },
    /// Begin a repeat.
    Go {
        /// 0 of reads, 1 of writes.
        stage: u32,
        /// Number of the repeat.
        round: u32,
        /// Number of the workload.
        workload: u32,
        /// When, by the coordinator's clock, in nanoseconds.
        at: i64,
        /// Nodes that begin together.
        nodes: u32,
    },
    /// The record is kept.
    Kept {
        /// Its identity.
        id: String,
    },
}

/// Why a connection is of no use.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The system says.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The other side closed it.
    #[error("the other side closed the connection")]
    Closed,
    /// Nothing came in time.
    #[error("no answer in time")]
    Timeout,
    /// What came is no line of this protocol.
    #[error("what came is not a line of this protocol: {0}")]
    Malformed(String),
    /// The coordinator does not want this node any more.
    #[error("the coordinator turned this node away: {0}")]
    Refused(String),
    /// The seal of a line is wrong.
    #[error("a line came from somebody without the key of this run")]
    Seal,
}

/// Which way lines go, so that none can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineDirection {
    ToCoordinator,
    ToNode,
}

impl LineDirection {
    fn name(self) -> &'static [u8] {
        match self {
            Self::ToCoordinator => b"to coordinator",
            Self::ToNode => b"to node",
        }
    }
}

/// Counts and seals the lines of one way. Before the key of the connection is known, seals are zeros.
#[derive(Debug)]
struct Seals {
    way: LineDirection,
    key: Option<Key>,
    count: u64,
}

impl Seals {
    fn next(&mut self, text: &[u8]) -> String {
        let Some(key) = &self.key else { return "0".repeat(SEAL) };
        self.count += 1;
        key.seal(&[self.way.name(), &self.count.to_le_bytes(), text]).to_hex()[..SEAL].to_owned()
    }
}

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    stream: TcpStream,
    seals: Seals,
}

impl Sender {
    pub(crate) fn new(stream: TcpStream, way: LineDirection) -> Self {
        Self { stream, seals: Seals { way, key: None, count: 0 } }
    }

    /// From now on lines are sealed.
    pub(crate) fn seal_by(&mut self, key: Key) {
        self.seals.key = Some(key);
    }

    /// Sends a line, in one write.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        let text = serde_json::to_string(message).map_err(|error| WireError::Malformed(error.to_string()))?;
        let line = format!("{} {text}\n", self.seals.next(text.as_bytes()));
        if line.len() > MAX_LINE {
            return Err(WireError::Malformed(format!("a line of {} bytes", line.len())));
        }
        Ok(self.stream.write_all(line.as_bytes())?)
    }

    /// Sends bytes that a line announced.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Nothing more is sent.
    pub(crate) fn ends(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Ends the connection, both ways.
    pub(crate) fn close(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    stream: TcpStream,
    seals: Seals,
    /// What came beyond the last line.
    pending: Vec<u8>,
}

impl Receiver {
    pub(crate) fn new(stream: TcpStream, way: LineDirection) -> Self {
        Self { stream, seals: Seals { way, key: None, count: 0 }, pending: Vec::new() }
    }

    /// From now on lines are sealed.
    pub(crate) fn seal_by(&mut self, key: Key) {
        self.seals.key = Some(key);
    }

    /// The next line; [`WireError::Timeout`] where none came within `limit`, which loses nothing.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, WireError> {
        let line = self.line(limit)?;
        let malformed = |what: &str| WireError::Malformed(what.to_owned());
        let (seal, text) = line.split_at_checked(SEAL).ok_or_else(|| malformed("a short line"))?;
        let text = text.strip_prefix(b" ").ok_or_else(|| malformed("a line without a seal"))?;
        // Hashes compare in constant time.
        let same = |a: &str, b: &[u8]| blake3::hash(a.as_bytes()) == blake3::hash(b);
        if !same(&self.seals.next(text), seal) {
            return Err(WireError::Seal);
        }
        serde_json::from_slice(text).map_err(|error| WireError::Malformed(error.to_string()))
    }

    fn line(&mut self, limit: Duration) -> Result<Vec<u8>, WireError> {
        let end = Instant::now() + limit;
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.pending.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            if self.pending.len() >= MAX_LINE {
                return Err(WireError::Malformed("a line without an end".to_owned()));
            }
            // Who sends a byte now and then keeps nobody waiting for longer.
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(WireError::Timeout);
            }
            self.more(left)?;
        }
    }

    fn more(&mut self, limit: Duration) -> Result<(), WireError> {
        self.stream.set_read_timeout(Some(limit.max(Duration::from_millis(1))))?;
        let mut bytes = [0u8; MAX_LINE];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(WireError::Closed),
            Ok(count) => {
                self.pending.extend_from_slice(&bytes[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(WireError::Timeout)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what still comes, and forgets it, until the other side ends the connection or `limit` is over.
    pub(crate) fn drain(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        loop {
            self.pending.clear();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.more(left).is_err() {
                return;
            }
        }
    }

    /// So many bytes after a line that announced them; none for longer than `limit` is too long, and so are all together at
    /// less than [`SLOWEST`].
    pub(crate) fn receive_bytes(&mut self, count: u64, limit: Duration) -> Result<Vec<u8>, WireError> {
        let count = count.min(MAX_RECORD);
        let end = Instant::now() + limit + Duration::from_secs(count / SLOWEST);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        while self.pending.len() < count {
            if Instant::now() > end {
                return Err(WireError::Timeout);
            }
            self.more(limit)?;
        }
        let rest = self.pending.split_off(count);
        Ok(std::mem::replace(&mut self.pending, rest))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    const SOON: Duration = Duration::from_millis(500);

    #[test]
    fn lines_and_bytes_arrive_as_they_were_sent() {
        let (near, far) = pair();
        let key = Key::new().unwrap();
        let (mut sender, mut receiver) =
            (Sender::new(near, LineDirection::ToCoordinator), Receiver::new(far, LineDirection::ToCoordinator));
        let ready = FromNode::Ready { stage: 0, round: 1, workload: 2 };
        sender.send(&ready).unwrap();
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), ready);
        sender.seal_by(key.clone());
        receiver.seal_by(key);
        let record = FromNode::Record { bytes: 5, hash: String::new() };
        sender.send(&record).unwrap();
        sender.send_bytes(b"hello").unwrap();
        sender.send(&ready).unwrap();
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), record);
        assert_eq!(receiver.receive_bytes(5, SOON).unwrap(), b"hello");
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), ready);
        assert!(matches!(receiver.receive::<FromNode>(Duration::from_millis(20)), Err(WireError::Timeout)));
        sender.close();
        assert!(matches!(receiver.receive::<FromNode>(SOON), Err(WireError::Closed)));
    }

    /// A connection that is closed with bytes unread is reset, and what was on its way with it.
    #[test]
    fn the_last_answer_arrives_whatever_was_sent_after_the_record() {
        let (near, far) = pair();
        let (mut node, mut answered) = (near.try_clone().unwrap(), Receiver::new(near, LineDirection::ToNode));
        let kept = FromCoordinator::Kept { id: "id1".to_owned() };
        node.write_all(&[b'x'; 3000]).unwrap();
        let answer = kept.clone();
        let coordinator = std::thread::spawn(move || {
            let mut sender = Sender::new(far.try_clone().unwrap(), LineDirection::ToNode);
            sender.send(&answer).unwrap();
            sender.ends();
            Receiver::new(far, LineDirection::ToCoordinator).drain(SOON);
            sender.close();
        });
        std::thread::sleep(SOON / 5);
        node.write_all(b"more").unwrap();
        assert_eq!(answered.receive::<FromCoordinator>(SOON).unwrap(), kept);
        drop((node, answered));
        coordinator.join().unwrap();
    }

    /// Another key, a line twice, a line of the other way: nothing of it is taken.
    #[test]
    fn what_is_not_sealed_for_its_place_is_refused() {
        let key = Key::new().unwrap();
        let ready = FromNode::Ready { stage: 0, round: 0, workload: 0 };
        let text = serde_json::to_string(&ready).unwrap();
        let line = |key: &Key, way: LineDirection, count: u64| {
            let mut seals = Seals { way, key: Some(key.clone()), count };
            format!("{} {text}\n", seals.next(text.as_bytes()))
        };
        let good = line(&key, LineDirection::ToCoordinator, 0);
        let foreign = line(&Key::new().unwrap(), LineDirection::ToCoordinator, 0);
        let echoed = line(&key, LineDirection::ToNode, 0);
        let twice = format!("{good}{good}");
        for (sent, taken) in [(&good, 1), (&foreign, 0), (&echoed, 0), (&twice, 1)] {
            let (mut near, far) = pair();
            near.write_all(sent.as_bytes()).unwrap();
            drop(near);
            let mut receiver = Receiver::new(far, LineDirection::ToCoordinator);
            receiver.seal_by(key.clone());
            let results: Vec<_> = (0..2).map(|_| receiver.receive::<FromNode>(SOON)).collect();
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), taken, "{sent}");
            assert_eq!(results.iter().any(|r| matches!(r, Err(WireError::Seal))), taken == 0 || sent == &twice);
        }
    }

    #[test]
    fn what_is_no_line_is_refused_and_never_stored_without_end() {
        let long = "x".repeat(3 * MAX_LINE);
        for sent in ["\n", "hello\n", "00000000000000000000000000000000 {}\n", "GET / HTTP/1.1\r\n\r\n", &long] {
            let (mut near, far) = pair();
            near.write_all(sent.as_bytes()).unwrap();
            let mut receiver = Receiver::new(far, LineDirection::ToCoordinator);
            let error = receiver.receive::<FromNode>(SOON).unwrap_err();
            assert!(matches!(error, WireError::Malformed(_) | WireError::Seal), "{sent}: {error}");
            assert!(receiver.pending.len() <= 2 * MAX_LINE);
        }
    }

    /// The longest that a name, a step and its figures can be: a node is to send little while it measures.
    #[test]
    fn a_live_line_fits_into_its_limit() {
        const MOST: usize = 512;
        let live = Live {
            doing: "w".repeat(64),
            done: 0.123_456_79,
            bytes_per_second: Some(123_456_789_012.345_67),
            p99_ns: Some(12_345_678_901.234_5),
            celsius: Some(-12.345_678_901_234),
        };
        let text = serde_json::to_string(&FromNode::Live(live)).unwrap();
        assert!(text.len() + SEAL + 2 <= MOST, "{}", text.len());
    }
}
