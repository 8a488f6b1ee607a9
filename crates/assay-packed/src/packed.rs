//! What was packed, and what it was.

use std::io::Read;
use std::sync::OnceLock;

use lzma_rust2::XzReader;

/// A file that a build script packed.
#[derive(Debug)]
pub struct Packed {
    packed: &'static [u8],
    unpacked: OnceLock<Vec<u8>>,
}

impl Packed {
    /// Of what `pack` made.
    #[must_use]
    pub const fn new(packed: &'static [u8]) -> Self {
        Self { packed, unpacked: OnceLock::new() }
    }

    /// How many bytes of the program it takes.
    #[must_use]
    pub fn packed_bytes(&self) -> usize {
        self.packed.len()
    }

    /// The content; unpacked once and kept. Nothing where the program itself is damaged, since the sum is compared.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.unpacked.get_or_init(|| {
            let mut content = Vec::new();
            match XzReader::new(self.packed, false).read_to_end(&mut content) {
                Ok(_) => content,
                Err(_) => Vec::new(),
            }
        })
    }

    /// The same as a text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

/// A file that the build script packed by this name into its directory.
#[macro_export]
macro_rules! packed {
    ($name:literal) => {
        $crate::Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".xz")))
    };
}
