//! For build scripts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lzma_rust2::{XzOptions, XzWriter};

/// Packs `content` as tightly as xz can. What it was is looked up in is no larger than it is, so that little memory is
/// needed to unpack it.
///
/// # Errors
/// Those of the packer.
pub fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(9);
    options.lzma_options.dict_size = u32::try_from(content.len()).unwrap_or(u32::MAX).next_power_of_two().max(1 << 12);
    let mut writer = XzWriter::new(Vec::new(), options)?;
    writer.write_all(content)?;
    writer.finish()
}

/// Packs files under their names into the build script's directory, and has it run again when they change.
///
/// # Errors
/// Where a file cannot be read or written.
pub fn pack_files(files: &[&str]) -> io::Result<()> {
    let to = std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    // This is what cargo listens to.
    let mut cargo = io::stdout().lock();
    writeln!(cargo, "cargo::rerun-if-changed=build.rs")?;
    for file in files.iter().map(Path::new) {
        writeln!(cargo, "cargo::rerun-if-changed={}", file.display())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        std::fs::write(to.join(format!("{name}.xz")), pack(&std::fs::read(file)?)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packed;

    fn held(content: &[u8]) -> Packed {
        Packed::new(Vec::leak(pack(content).unwrap()))
    }

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let text = "the same words again and again\n".repeat(5000);
        let packed = held(text.as_bytes());
        assert!(packed.packed_bytes() < 1000);
        assert_eq!(packed.text(), text);
        for content in [&b""[..], b"x", &[0xff; 70_000]] {
            assert_eq!(held(content).bytes(), content);
        }
        assert_eq!(held(&[0xff; 10]).text(), "", "no text");
    }

    #[test]
    fn what_is_damaged_is_nothing() {
        let mut packed = pack(&b"words ".repeat(100)).unwrap();
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        assert_eq!(Packed::new(Vec::leak(packed)).bytes(), b"");
    }
}
