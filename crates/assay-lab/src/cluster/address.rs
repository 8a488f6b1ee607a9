//! Addresses, of a private range: they exist in the name spaces only.

/// The control machine.
pub(super) const CONTROL: &str = "10.77.0.1";
/// The server.
pub(super) const SERVER: &str = "10.77.0.2";
/// All of them, as ssh writes it.
pub(super) const ANY: &str = "10.77.0.*";

/// Address of the node `at`.
pub(super) fn address(at: usize) -> String {
    format!("10.77.0.{}", 11 + at)
}
