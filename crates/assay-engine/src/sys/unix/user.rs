//! Who this process is.

/// Whether the user is root, who may lock memory and use raw devices.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
