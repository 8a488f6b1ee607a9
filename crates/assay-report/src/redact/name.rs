//! Short names that replace identities.

/// The kind of an identity. It is part of the short name and of the hashed text, so that a host and a serial number
/// with equal text get different names.
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

/// The secret key of the short names.
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    /// `unit-3fa9c1d2`: the kind and 32 bits of the keyed BLAKE3 hash of the identity. Only with the key can a guess be
    /// tested.
    pub(super) fn name(&self, kind: Kind, identity: &str) -> String {
        let word = kind.word();
        let hex = blake3::keyed_hash(&self.0, format!("{word}\0{identity}").as_bytes()).to_hex();
        format!("{word}-{}", hex.get(..8).unwrap_or_default())
    }
}
