//! The build of this program.

use assay_fleet::{Build, known_commit};

/// Version and commit of this program.
pub(crate) fn own_build() -> Build {
    Build { version: env!("CARGO_PKG_VERSION").to_owned(), commit: known_commit(env!("ASSAY_COMMIT")) }
}
