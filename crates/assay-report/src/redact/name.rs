//! Short names that stand for identities.

/// What an identity is of; part of the short name, and of what is hashed, so that a host named like a
/// serial number gets a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One piece: a serial number, a CID, the name of an iSCSI target.
    Unit,
    /// A machine: its name or address.
    Host,
    /// A component of a path: a user, a label, a directory.
    Path,
    /// Anything else that is unique: UUID, WWN, MAC address.
    Id,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Host => "host",
            Self::Path => "path",
            Self::Id => "id",
        }
    }
}

/// The secret by which names are made.
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    /// `unit-3fa9c1d2`: the kind and 32 bits of the keyed BLAKE3 hash of the identity. Who has the key can
    /// test a guess, nobody else.
    pub(super) fn name(&self, kind: Kind, identity: &str) -> String {
        let word = kind.word();
        let hex = blake3::keyed_hash(&self.0, format!("{word}\0{identity}").as_bytes()).to_hex();
        format!("{word}-{}", hex.get(..8).unwrap_or_default())
    }
}
