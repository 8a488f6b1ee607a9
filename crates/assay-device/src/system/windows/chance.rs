//! Random data, and the name of the host.

use std::io;

use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::System::SystemInformation::{ComputerNamePhysicalDnsHostname, GetComputerNameExW};

/// Fills `bytes` with unpredictable random data.
///
/// # Errors
/// The system's.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the system writes `length` bytes to a buffer of that size; with this flag it takes no handle.
    let status =
        unsafe { BCryptGenRandom(std::ptr::null_mut(), bytes.as_mut_ptr(), length, BCRYPT_USE_SYSTEM_PREFERRED_RNG) };
    if status >= 0 { Ok(()) } else { Err(io::Error::other("the system gives no random numbers")) }
}

/// Name of this host according to the system; empty if it has none.
#[must_use]
pub fn host_name() -> String {
    let mut room = [0u16; 256];
    let mut length = room.len() as u32;
    // SAFETY: `room` has `length` elements, and the system writes no more of them.
    let done = unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, room.as_mut_ptr(), &raw mut length) };
    let units = room.get(..length as usize).filter(|_| done != 0).unwrap_or_default();
    String::from_utf16_lossy(units)
}
