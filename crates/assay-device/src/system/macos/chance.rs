//! Chance.

use std::io;

/// Most that one call gives, in bytes (getentropy(2)).
const MOST: usize = 256;

/// Fills `bytes` by chance that nobody can foresee.
///
/// # Errors
/// The system's.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    for part in bytes.chunks_mut(MOST) {
        // SAFETY: the system writes as many bytes as `part` has.
        if unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
