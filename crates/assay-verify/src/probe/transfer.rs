//! Reads from a file past the page cache into memory of any alignment.

use std::fs::File;

use assay_engine::{AlignedBuffer, FileExt};

use super::contract::Fault;

/// Bytes of one transfer, and of the aligned buffer for it.
pub(super) const TRANSFER: usize = 1 << 20;

/// Fills `buffer` from `offset`, through `aligned`, which direct I/O needs.
pub(super) fn read_at(file: &File, aligned: &mut AlignedBuffer, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
    for (part, at) in buffer.chunks_mut(TRANSFER).zip((offset..).step_by(TRANSFER)) {
        let aligned = &mut aligned.as_mut_slice()[..part.len()];
        file.read_exact_at(aligned, at).map_err(|error| Fault::from_io(&error))?;
        part.copy_from_slice(aligned);
    }
    Ok(())
}
