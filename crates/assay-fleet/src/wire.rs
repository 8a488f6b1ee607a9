//! Lines and frames between a node and its coordinator. The three lines in which both greet each other and show that they
//! hold the key are text; all that follows is sealed, a frame after the other. docs/decisions says how, byte by byte.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::key::{NotSealed, Seal, TAG};
use crate::transport::{Closing, Connection};

/// Longest line, and longest message in a frame, in bytes.
const MAX_LINE: usize = 4096;
/// Bytes of a record in one frame.
const CHUNK: usize = 32 << 10;
/// Largest record that is taken, in bytes: the store takes no larger one.
pub const MAX_RECORD: u64 = assay_store::LARGEST_DOCUMENT as u64;
/// A record that comes slower than this is not waited for, in bytes per second.
const SLOWEST: u64 = 10_000;
/// The header of a frame: its kind, and the length of the rest, most significant byte first.
const HEADER: usize = 3;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    /// A message.
    Message = 1,
    /// Bytes of a record.
    Record = 2,
}

impl FrameKind {
    /// The longest that such a frame holds.
    fn most(self) -> usize {
        match self {
            Self::Message => MAX_LINE,
            Self::Record => CHUNK,
        }
    }
}

/// Why a connection cannot be used.
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
    /// What came was not sealed by the other side for this place.
    #[error("what came was not sent by who holds the key")]
    Seal,
}

impl From<NotSealed> for WireError {
    fn from(_: NotSealed) -> Self {
        Self::Seal
    }
}

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    connection: Box<dyn Connection>,
    seal: Option<Seal>,
}

impl Sender {
    pub(crate) fn new(connection: Box<dyn Connection>) -> Self {
        Self { connection, seal: None }
    }

    /// From now on all is sealed.
    pub(crate) fn seal_by(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    /// Sends a message, in one write.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        let mut text = serde_json::to_string(message).map_err(|error| WireError::Malformed(error.to_string()))?;
        if text.len() >= MAX_LINE {
            return Err(WireError::Malformed(format!("a message of {} bytes", text.len())));
        }
        if self.seal.is_some() {
            return self.send_frame(FrameKind::Message, text.as_bytes());
        }
        text.push('\n');
        Ok(self.connection.write_all(text.as_bytes())?)
    }

    /// Sends bytes that a message announced.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        bytes.chunks(CHUNK).try_for_each(|chunk| self.send_frame(FrameKind::Record, chunk))
    }

    fn send_frame(&mut self, kind: FrameKind, content: &[u8]) -> Result<(), WireError> {
        let seal = self.seal.as_mut().ok_or(WireError::Seal)?;
        let header = header(kind, content.len());
        let mut sealed = content.to_vec();
        seal.close(&header, &mut sealed)?;
        Ok(self.connection.write_all(&[&header[..], &sealed].concat())?)
    }

    /// Nothing more is sent.
    pub(crate) fn ends(&self) {
        self.connection.close(Closing::Sending);
    }

    /// Ends the connection, both ways.
    pub(crate) fn close(&self) {
        self.connection.close(Closing::Both);
    }
}

/// The header of a frame with `content` bytes of content.
fn header(kind: FrameKind, content: usize) -> [u8; HEADER] {
    let [high, low] = u16::try_from(content + TAG).unwrap_or(u16::MAX).to_be_bytes();
    [kind as u8, high, low]
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    connection: Box<dyn Connection>,
    seal: Option<Seal>,
    /// Bytes received after the last line or frame.
    pending: Vec<u8>,
}

impl Receiver {
    pub(crate) fn new(connection: Box<dyn Connection>) -> Self {
        Self { connection, seal: None, pending: Vec::new() }
    }

    /// From now on all is sealed.
    pub(crate) fn seal_by(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    /// The next message; [`WireError::Timeout`] where none came within `limit`, which loses nothing.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, WireError> {
        let end = Instant::now() + limit;
        let text = if self.seal.is_some() { self.frame(FrameKind::Message, end)? } else { self.line(end)? };
        serde_json::from_slice(&text).map_err(|error| WireError::Malformed(error.to_string()))
    }

    fn line(&mut self, end: Instant) -> Result<Vec<u8>, WireError> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.pending.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            if self.pending.len() >= MAX_LINE {
                return Err(WireError::Malformed("a line without an end".to_owned()));
            }
            self.more_until(end)?;
        }
    }

    /// The content of the next frame, which must be of this kind.
    fn frame(&mut self, kind: FrameKind, end: Instant) -> Result<Vec<u8>, WireError> {
        let header = loop {
            match self.pending.first_chunk::<HEADER>() {
                Some(header) => break *header,
                None => self.more_until(end)?,
            }
        };
        // The header is known to be true only with the seal; until then it is bounded.
        let length = usize::from(u16::from_be_bytes([header[1], header[2]]));
        if header[0] != kind as u8 || !(TAG..=kind.most() + TAG).contains(&length) {
            return Err(WireError::Malformed(format!("a frame of kind {} with {length} bytes", header[0])));
        }
        while self.pending.len() < HEADER + length {
            self.more_until(end)?;
        }
        let mut frame: Vec<u8> = self.pending.drain(..HEADER + length).skip(HEADER).collect();
        self.seal.as_mut().ok_or(WireError::Seal)?.open(&header, &mut frame)?;
        Ok(frame)
    }

    /// Reads more until the deadline `end`, so that a slow sender cannot prolong the wait byte by byte.
    fn more_until(&mut self, end: Instant) -> Result<(), WireError> {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(WireError::Timeout) } else { self.more(left) }
    }

    fn more(&mut self, limit: Duration) -> Result<(), WireError> {
        self.connection.read_within(limit.max(Duration::from_millis(1)))?;
        let mut bytes = [0u8; MAX_LINE];
        match self.connection.read(&mut bytes) {
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
            if self.more_until(end).is_err() {
                return;
            }
        }
    }

    /// The bytes that a message announced: nothing for longer than `limit` is too long, and so is all at less than [`SLOWEST`].
    pub(crate) fn receive_bytes(&mut self, count: u64, limit: Duration) -> Result<Vec<u8>, WireError> {
        let count = count.min(MAX_RECORD);
        let end = Instant::now() + limit + Duration::from_secs(count / SLOWEST);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let chunk = self.frame(FrameKind::Record, end.min(Instant::now() + limit))?;
            if chunk.is_empty() || chunk.len() > count - bytes.len() {
                return Err(WireError::Malformed(format!("{} bytes of a record too many", chunk.len())));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::key::{Greeting, NodeKey, Purpose, RunKey};
    use crate::message::{FromCoordinator, FromNode, Live};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    const SOON: Duration = Duration::from_millis(500);
    const READY: FromNode = FromNode::Ready { stage: 0, round: 1, workload: 2 };

    fn key() -> NodeKey {
        RunKey::new().unwrap().of_node("n1")
    }

    fn seal(key: &NodeKey, purpose: Purpose) -> Seal {
        let greeting = Greeting { protocol: 3, version: "1.0", commit: "", run: "r", node: "n1", nonces: ["ab", "cd"] };
        Seal::new(key, purpose, &greeting)
    }

    /// What a sender writes.
    fn written(seal: Option<Seal>, send: impl FnOnce(&mut Sender)) -> Vec<u8> {
        let (near, mut far) = pair();
        let mut sender = Sender::new(Box::new(near));
        sender.seal = seal;
        let reading = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut far, &mut bytes).unwrap();
            bytes
        });
        send(&mut sender);
        drop(sender);
        reading.join().unwrap()
    }

    /// A receiver of these bytes, after which the connection ends.
    fn receiver(bytes: &[u8], seal: Option<Seal>) -> Receiver {
        let (mut near, far) = pair();
        near.write_all(bytes).unwrap();
        let mut receiver = Receiver::new(Box::new(far));
        receiver.seal = seal;
        receiver
    }

    #[test]
    fn messages_and_bytes_arrive_as_they_were_sent() {
        let (near, far) = pair();
        let key = key();
        let (mut sender, mut receiver) = (Sender::new(Box::new(near)), Receiver::new(Box::new(far)));
        sender.send(&READY).unwrap();
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), READY);
        sender.seal_by(seal(&key, Purpose::ToCoordinator));
        receiver.seal_by(seal(&key, Purpose::ToCoordinator));
        let long = vec![b'x'; 3 * CHUNK + 5];
        let record = FromNode::Record { bytes: long.len() as u64, hash: String::new() };
        sender.send(&record).unwrap();
        sender.send_bytes(&long).unwrap();
        sender.send(&READY).unwrap();
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), record);
        assert_eq!(receiver.receive_bytes(long.len() as u64, SOON).unwrap(), long);
        assert_eq!(receiver.receive::<FromNode>(SOON).unwrap(), READY);
        assert!(matches!(receiver.receive::<FromNode>(Duration::from_millis(20)), Err(WireError::Timeout)));
        sender.close();
        assert!(matches!(receiver.receive::<FromNode>(SOON), Err(WireError::Closed)));
    }

    /// Threat 4.4: without ssh others may see all that is sent.
    #[test]
    fn nothing_of_a_record_is_read_on_its_way() {
        let document = br#"{"hostname":"pi","serial":"0x1234","path":"/mnt/card"}"#;
        let bytes = written(Some(seal(&key(), Purpose::ToCoordinator)), |sender| {
            sender.send(&FromNode::Record { bytes: document.len() as u64, hash: "00".repeat(32) }).unwrap();
            sender.send_bytes(document).unwrap();
        });
        for word in ["hostname", "0x1234", "/mnt", "record", "says", "0000"] {
            assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
        }
        assert!(bytes.len() > document.len());
    }

    /// A connection that is closed with unread bytes is reset, and data on its way is lost.
    #[test]
    fn the_last_answer_arrives_whatever_was_sent_after_the_record() {
        let (near, far) = pair();
        let mut node = near.try_clone().unwrap();
        let mut answered = Receiver::new(Box::new(near));
        let kept = FromCoordinator::Kept { id: "id1".to_owned() };
        node.write_all(&[b'x'; 3000]).unwrap();
        let answer = kept.clone();
        let coordinator = std::thread::spawn(move || {
            let mut sender = Sender::new(Box::new(far.try_clone().unwrap()));
            sender.send(&answer).unwrap();
            sender.ends();
            Receiver::new(Box::new(far)).drain(SOON);
            sender.close();
        });
        std::thread::sleep(SOON / 5);
        node.write_all(b"more").unwrap();
        assert_eq!(answered.receive::<FromCoordinator>(SOON).unwrap(), kept);
        drop((node, answered));
        coordinator.join().unwrap();
    }

    /// Another key, a frame twice, one left out, one of the other way, one that is cut off: nothing of it is taken.
    #[test]
    fn what_is_not_sealed_for_its_place_is_refused() {
        let key = key();
        let sent = |key: &NodeKey, way: Purpose| written(Some(seal(key, way)), |sender| sender.send(&READY).unwrap());
        let two = written(Some(seal(&key, Purpose::ToCoordinator)), |sender| {
            (0..2).for_each(|_| sender.send(&READY).unwrap());
        });
        let good = sent(&key, Purpose::ToCoordinator);
        let (first, second) = two.split_at(good.len());
        let foreign = sent(&self::key(), Purpose::ToCoordinator);
        let cases: [(&str, Vec<u8>, usize); 7] = [
            ("good", good.clone(), 1),
            ("of another key", foreign, 0),
            ("of the other way", sent(&key, Purpose::ToNode), 0),
            ("twice", [&good[..], &good].concat(), 1),
            ("the second first", [second, first].concat(), 0),
            ("the first left out", second.to_vec(), 0),
            ("cut off", good[..good.len() - 1].to_vec(), 0),
        ];
        for (what, bytes, taken) in cases {
            let mut receiver = receiver(&bytes, Some(seal(&key, Purpose::ToCoordinator)));
            let results: Vec<_> = (0..3).map(|_| receiver.receive::<FromNode>(SOON)).collect();
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), taken, "{what}: {results:?}");
            let closed = results.iter().any(|r| matches!(r, Err(WireError::Closed)));
            assert!(closed || results.iter().any(|r| matches!(r, Err(WireError::Seal))), "{what}: {results:?}");
        }
        let plain = written(None, |sender| sender.send(&READY).unwrap());
        let error = receiver(&plain, Some(seal(&key, Purpose::ToCoordinator))).receive::<FromNode>(SOON);
        assert!(matches!(error, Err(WireError::Malformed(_))), "not sealed at all: {error:?}");
    }

    /// Sealed but invalid: a record that is longer than announced, frames of the wrong kind.
    #[test]
    fn bytes_come_as_they_were_announced_or_not_at_all() {
        let key = key();
        let of = |send: &dyn Fn(&mut Sender)| {
            let bytes = written(Some(seal(&key, Purpose::ToCoordinator)), |sender| send(sender));
            receiver(&bytes, Some(seal(&key, Purpose::ToCoordinator)))
        };
        let malformed = |error: &WireError| matches!(error, WireError::Malformed(_));
        let mut longer = of(&|sender| sender.send_bytes(b"123456").unwrap());
        assert!(malformed(&longer.receive_bytes(5, SOON).unwrap_err()));
        let mut shorter = of(&|sender| sender.send_bytes(b"1234").unwrap());
        assert!(matches!(shorter.receive_bytes(5, SOON), Err(WireError::Closed)));
        let mut message = of(&|sender| sender.send(&READY).unwrap());
        assert!(malformed(&message.receive_bytes(5, SOON).unwrap_err()));
        let mut bytes = of(&|sender| sender.send_bytes(b"{}").unwrap());
        assert!(malformed(&bytes.receive::<FromNode>(SOON).unwrap_err()));
        let mut empty = of(&|sender| sender.send_frame(FrameKind::Record, b"").unwrap());
        assert!(malformed(&empty.receive_bytes(5, SOON).unwrap_err()));
    }

    #[test]
    fn what_is_no_line_or_frame_is_refused_and_never_stored_without_end() {
        let long = vec![b'x'; 3 * MAX_LINE];
        for sent in [&b"\n"[..], b"hello\n", b"{}\n", b"GET / HTTP/1.1\r\n\r\n", &long] {
            let mut receiver = receiver(sent, None);
            let error = receiver.receive::<FromNode>(SOON).unwrap_err();
            assert!(matches!(error, WireError::Malformed(_)), "{sent:?}: {error}");
            assert!(receiver.pending.len() <= 2 * MAX_LINE);
        }
        for sent in [&[1u8, 0, 15][..], &[1, 255, 255], &[0, 0, 20], &[2, 0, 20], &[1, 16, 17]] {
            let mut receiver = receiver(sent, Some(seal(&key(), Purpose::ToCoordinator)));
            let error = receiver.receive::<FromNode>(SOON).unwrap_err();
            assert!(matches!(error, WireError::Malformed(_)), "{sent:?}: {error}");
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
        assert!(text.len() + HEADER + TAG <= MOST, "{}", text.len());
    }
}
