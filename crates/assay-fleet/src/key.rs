//! Keys: one of the run, which its coordinator keeps, and one of each node, derived from it.

use std::fmt;

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
        let Greeting { protocol, version, run, node, nonces: [theirs, ours] } = greeting;
        let protocol = protocol.to_string();
        keyed(&self.0, &[purpose.name(), &protocol, version, run, node, theirs, ours].map(str::as_bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let greeting = Greeting { protocol: 3, version: "1.0", run: "r", node: "n1", nonces: ["ab", "c"] };
        let said = key.says(Purpose::NodeProof, &greeting);
        assert_eq!(said, key.says(Purpose::NodeProof, &greeting));
        let moved = Greeting { nonces: ["a", "bc"], ..greeting };
        assert_ne!(said, key.says(Purpose::NodeProof, &moved));
        for other in [Purpose::CoordinatorProof, Purpose::ToCoordinator, Purpose::ToNode] {
            assert_ne!(said, key.says(other, &greeting));
        }
        assert_ne!(said, RunKey([7; 32]).of_node("n2").says(Purpose::NodeProof, &greeting));
        assert_ne!(said, key.says(Purpose::NodeProof, &Greeting { version: "1.1", ..greeting }));
    }
}
