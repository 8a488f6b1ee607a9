//! Packs the font.

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let to = std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    std::fs::write(to.join("font.ttf.xz"), assay_packed::pack(epaint_default_fonts::UBUNTU_LIGHT)?)
}
