//! Texts and fonts that are part of the program: packed as xz when it is built, unpacked when they are needed.

#[cfg(feature = "pack")]
mod pack;
mod packed;

#[cfg(feature = "pack")]
pub use pack::{pack, pack_files};
pub use packed::Packed;
