//! The key of a run: who does not have it neither joins nor leads.

use std::fmt;

/// 256 secret bits that the coordinator makes for each run and hands to its nodes.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// A new one, from the kernel's random numbers.
    ///
    /// # Errors
    /// Where the kernel has none to give.
    pub fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

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

    /// What only a holder of the key can say of `parts`, each of which is told apart from its neighbours by its length.
    pub(crate) fn seal(&self, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize()
    }

    /// The key of one connection.
    pub(crate) fn of_connection(&self, node: &str, nonces: [&str; 2]) -> Self {
        Self(self.seal(&[b"connection", node.as_bytes(), nonces[0].as_bytes(), nonces[1].as_bytes()]).into())
    }
}

/// A number that is used once, as text.
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
        let key = Key::new().unwrap();
        assert_eq!(Key::from_hex(&format!(" {}\n", key.to_hex())), Some(key.clone()));
        assert_ne!(Key::new().unwrap(), key);
        assert!(!format!("{key:?}").contains(&key.to_hex()[..8]));
        for bad in ["", "12", &"g".repeat(64), &"a".repeat(63), &"a".repeat(65)] {
            assert_eq!(Key::from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_seal_tells_parts_and_keys_apart() {
        let (key, other) = (Key::new().unwrap(), Key::new().unwrap());
        let seal = key.seal(&[b"ab", b"c"]);
        assert_eq!(seal, key.seal(&[b"ab", b"c"]));
        assert_ne!(seal, key.seal(&[b"a", b"bc"]));
        assert_ne!(seal, other.seal(&[b"ab", b"c"]));
        assert_ne!(key.of_connection("n1", ["a", "b"]), key.of_connection("n2", ["a", "b"]));
    }
}
