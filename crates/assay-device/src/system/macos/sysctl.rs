//! Values of the kernel by their names (sysctl(3)).

use std::ffi::CStr;

use assay_core::text::label;

/// Longest text that is asked for, in bytes.
const LONGEST: usize = 256;

/// As many bytes of a value as it has, at most those of `room`; `None` where there is none or it is longer.
fn bytes<'a>(name: &CStr, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut length = room.len();
    // SAFETY: the name ends with a zero; the system writes at most `length` bytes to `room`, and how many they were;
    // nothing is set.
    let status = unsafe {
        libc::sysctlbyname(name.as_ptr(), room.as_mut_ptr().cast(), &raw mut length, std::ptr::null_mut(), 0)
    };
    if status == 0 { room.get(..length) } else { None }
}

/// A text.
pub(crate) fn text(name: &CStr) -> Option<String> {
    let mut room = [0; LONGEST];
    let value_bytes = bytes(name, &mut room)?;
    label(String::from_utf8_lossy(value_bytes).trim_end_matches('\0').trim(), 128)
}

/// A number of 32 or 64 bits that is not negative.
pub(super) fn number(name: &CStr) -> Option<u64> {
    let mut room = [0; size_of::<u64>()];
    let value_bytes = bytes(name, &mut room)?;
    match value_bytes.len() {
        4 => Some(u32::from_ne_bytes(value_bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(value_bytes.try_into().ok()?)),
        _ => None,
    }
}
