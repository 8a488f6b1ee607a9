//! Whether this process may do everything.

/// Whether the user is root.
#[cfg(not(windows))]
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// There is no such user.
#[cfg(windows)]
pub(crate) fn is_root() -> bool {
    false
}
