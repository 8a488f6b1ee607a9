//! Addresses from a private range: they exist only in the namespaces.

/// The control machine.
pub(super) const CONTROL: &str = "10.77.0.1";
/// The server.
pub(super) const SERVER: &str = "10.77.0.2";
/// All addresses, as a pattern of ssh.
pub(super) const ANY: &str = "10.77.0.*";

/// Address of the node with the index `at`.
pub(super) fn address(at: usize) -> String {
    format!("10.77.0.{}", 11 + at)
}
