//! A file to be imported.

/// A file, or a member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path as it was given; of a member of an archive, the path in it behind that of the archive.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file by its name and content.
    #[must_use]
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), bytes: bytes.into() }
    }
}
