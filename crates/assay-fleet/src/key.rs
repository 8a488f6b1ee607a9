//! Keys: one of the run, which its coordinator keeps, and one of each node, derived from it; and the seal that a key gives.

use std::fmt;

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

/// 256 secret bits that the coordinator makes for each run and never sends.
#[derive(Clone, PartialEq, Eq)]
pub struct RunKey([u8; 32]);

/// A secret that only one node and the coordinator know. It identifies the node to the coordinator, and the coordinator
/// to the node.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeKey([u8; 32]);

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunKey(…)")
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeKey(…)")
    }
}

impl RunKey {
    /// A new one, from the kernel's random numbers.
    ///
    /// # Errors
    /// Where the kernel has none to give.
    pub fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

    /// The key of the node of this name.
    #[must_use]
    pub fn of_node(&self, node: &str) -> NodeKey {
        NodeKey(keyed(&self.0, &[b"node key", node.as_bytes()]).into())
    }
}

impl NodeKey {
    /// From 64 hexadecimal digits, with white space around them; `None` where the text is something else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text.trim()).ok().map(|hash| Self(hash.into()))
    }

    /// 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }

    /// What only a holder of the key can say for one purpose in one greeting.
    pub(crate) fn says(&self, purpose: Purpose, greeting: &Greeting<'_>) -> blake3::Hash {
        let Greeting { protocol, version, commit, run, node, nonces: [theirs, ours] } = greeting;
        let protocol = protocol.to_string();
        keyed(&self.0, &[purpose.name(), &protocol, version, commit, run, node, theirs, ours].map(str::as_bytes))
    }
}

/// The purpose of a keyed hash over a greeting. A hash for one purpose is not valid for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The coordinator shows that it has the key.
    CoordinatorProof,
    /// The node shows it.
    NodeProof,
    /// The key of what goes to the coordinator.
    ToCoordinator,
    /// The key of what goes to the node.
    ToNode,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::CoordinatorProof => "coordinator",
            Self::NodeProof => "node",
            Self::ToCoordinator => "to coordinator",
            Self::ToNode => "to node",
        }
    }
}

/// What both sides said of themselves, in the clear, before either had shown that it holds the key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Greeting<'a> {
    pub(crate) protocol: u32,
    pub(crate) version: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) run: &'a str,
    pub(crate) node: &'a str,
    /// The node's number used once, and the coordinator's.
    pub(crate) nonces: [&'a str; 2],
}

/// A keyed hash of `parts`. The length of each part is hashed too, so that their boundaries are unambiguous.
fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize()
}

/// A nonce, as text.
pub(crate) fn nonce() -> std::io::Result<String> {
    random().map(|bytes| blake3::Hash::from(bytes).to_hex().to_string())
}

fn random() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0u8; 32];
    assay_runner::random(&mut bytes)?;
    Ok(bytes)
}

// The seal of what one side sends after both have shown the key: ChaCha20-Poly1305 (RFC 8439) under a key of the
// connection and of its direction, with the number of the frame as nonce.

/// Bytes that the seal adds to a frame.
pub(crate) const TAG: usize = 16;

/// Seals or opens the frames of one direction, in their order.
pub(crate) struct Seal {
    cipher: ChaCha20Poly1305,
    /// Frames by now: none is opened in another's place.
    count: u64,
}

/// A frame is not the next that the holder of the key sent this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotSealed;

impl Seal {
    /// The seal of the direction that `purpose` names.
    pub(crate) fn new(key: &NodeKey, purpose: Purpose, greeting: &Greeting<'_>) -> Self {
        let key: [u8; 32] = key.says(purpose, greeting).into();
        Self { cipher: ChaCha20Poly1305::new(&key.into()), count: 0 }
    }

    /// Seals `frame` in place, and adds the tag. `header` is sent in the clear, and is sealed with it.
    pub(crate) fn close(&mut self, header: &[u8], frame: &mut Vec<u8>) -> Result<(), NotSealed> {
        let nonce = self.next().ok_or(NotSealed)?;
        let tag = self.cipher.encrypt_inout_detached(&nonce.into(), header, frame.as_mut_slice().into());
        frame.extend_from_slice(&tag.map_err(|_| NotSealed)?);
        Ok(())
    }

    /// Opens `frame` in place, and takes the tag off. Where it fails nothing that follows can be opened.
    pub(crate) fn open(&mut self, header: &[u8], frame: &mut Vec<u8>) -> Result<(), NotSealed> {
        let nonce = self.next().ok_or(NotSealed)?;
        let opened = frame.len().checked_sub(TAG).and_then(|length| {
            let tag: [u8; TAG] = frame.split_off(length).try_into().ok()?;
            let opened =
                self.cipher.decrypt_inout_detached(&nonce.into(), header, frame.as_mut_slice().into(), &tag.into());
            opened.ok()
        });
        if opened.is_none() {
            self.count = u64::MAX;
        }
        opened.ok_or(NotSealed)
    }

    /// Four zeros and the number of the frame, from 0, its least byte first; none after the last.
    fn next(&mut self) -> Option<[u8; 12]> {
        let number = self.count;
        self.count = number.checked_add(1)?;
        let mut nonce = [0u8; 12];
        nonce[4..].copy_from_slice(&number.to_le_bytes());
        Some(nonce)
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RunKey;

    #[test]
    fn a_key_is_read_as_it_was_written_and_not_shown() {
        let run = RunKey::new().unwrap();
        let key = run.of_node("n1");
        assert_eq!(NodeKey::from_hex(&format!(" {}\n", key.to_hex())), Some(key.clone()));
        assert_ne!(RunKey::new().unwrap(), run);
        assert!(!format!("{key:?}{run:?}").contains(&key.to_hex()[..8]));
        for bad in ["", "12", &"g".repeat(64), &"a".repeat(63), &"a".repeat(65)] {
            assert_eq!(NodeKey::from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_node_of_each_run_has_a_key_of_its_own() {
        let (run, other) = (RunKey::new().unwrap(), RunKey::new().unwrap());
        assert_eq!(run.of_node("n1"), run.of_node("n1"));
        assert_ne!(run.of_node("n1"), run.of_node("n2"));
        assert_ne!(run.of_node("n1"), other.of_node("n1"));
    }

    /// docs/decisions says how it is computed; another program computed the expected figures.
    #[test]
    fn what_a_holder_says_tells_parts_keys_and_purposes_apart() {
        let key = RunKey([7; 32]).of_node("n1");
        let greeting = Greeting { protocol: 3, version: "1.0", commit: "", run: "r", node: "n1", nonces: ["ab", "c"] };
        let said = key.says(Purpose::NodeProof, &greeting);
        assert_eq!(said, key.says(Purpose::NodeProof, &greeting));
        let moved = Greeting { nonces: ["a", "bc"], ..greeting };
        assert_ne!(said, key.says(Purpose::NodeProof, &moved));
        for other in [Purpose::CoordinatorProof, Purpose::ToCoordinator, Purpose::ToNode] {
            assert_ne!(said, key.says(other, &greeting));
        }
        assert_ne!(said, RunKey([7; 32]).of_node("n2").says(Purpose::NodeProof, &greeting));
        assert_ne!(said, key.says(Purpose::NodeProof, &Greeting { version: "1.1", ..greeting }));
        assert_ne!(said, key.says(Purpose::NodeProof, &Greeting { commit: "abc", ..greeting }));
    }

    const GREETING: Greeting<'_> =
        Greeting { protocol: 3, version: "1.0", commit: "", run: "r", node: "n1", nonces: ["ab", "cd"] };

    fn pair() -> (Seal, Seal) {
        let key = RunKey::new().unwrap().of_node("n1");
        let seal = || Seal::new(&key, Purpose::ToNode, &GREETING);
        (seal(), seal())
    }

    fn closed(seal: &mut Seal, text: &[u8]) -> Vec<u8> {
        let mut frame = text.to_vec();
        seal.close(b"h", &mut frame).unwrap();
        frame
    }

    #[test]
    fn frames_open_in_their_order_and_hide_what_they_hold() {
        let (mut here, mut there) = pair();
        for text in [&b"first"[..], b"", b"the third"] {
            let mut frame = closed(&mut here, text);
            assert!(text.is_empty() || !frame.windows(text.len()).any(|part| part == text));
            there.open(b"h", &mut frame).unwrap();
            assert_eq!(frame, text);
        }
        assert_ne!(closed(&mut here, b"same"), closed(&mut here, b"same"));
    }

    /// Each bit of the frame, its header, a frame twice, one left out, one of the other direction.
    #[test]
    fn what_was_changed_does_not_open_and_nothing_after_it() {
        let (mut here, _) = pair();
        let good = closed(&mut here, b"text");
        let refused = |change: &dyn Fn(&mut Vec<u8>), header: &[u8]| {
            let (mut here, mut there) = pair();
            let mut frame = closed(&mut here, b"text");
            change(&mut frame);
            assert_eq!(there.open(header, &mut frame), Err(NotSealed));
            assert_eq!(there.open(b"h", &mut closed(&mut here, b"next")), Err(NotSealed), "after it");
        };
        for bit in 0..good.len() * 8 {
            refused(&|frame| frame[bit / 8] ^= 1 << (bit % 8), b"h");
        }
        for length in 0..good.len() {
            refused(&|frame| frame.truncate(length), b"h");
        }
        refused(&|frame| frame.push(0), b"h");
        refused(&|_| {}, b"g");
        let (mut here, mut there) = pair();
        let first = closed(&mut here, b"a");
        there.open(b"h", &mut first.clone()).unwrap();
        assert_eq!(there.open(b"h", &mut first.clone()), Err(NotSealed), "twice");
        let (mut here, mut there) = pair();
        let _left_out = closed(&mut here, b"a");
        assert_eq!(there.open(b"h", &mut closed(&mut here, b"b")), Err(NotSealed));
        let key = RunKey::new().unwrap().of_node("n1");
        let mut back = Seal::new(&key, Purpose::ToCoordinator, &GREETING);
        let mut frame = closed(&mut Seal::new(&key, Purpose::ToNode, &GREETING), b"a");
        assert_eq!(back.open(b"h", &mut frame), Err(NotSealed), "the other way");
    }

    #[test]
    fn no_number_is_used_twice() {
        let (mut here, _) = pair();
        here.count = u64::MAX - 1;
        here.close(b"h", &mut Vec::new()).unwrap();
        assert_eq!(here.close(b"h", &mut Vec::new()), Err(NotSealed));
    }
}
