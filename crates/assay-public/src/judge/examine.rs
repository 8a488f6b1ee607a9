//! What a record says against itself.

use assay_core::record::Record;

use super::{figures, physics, times};
use crate::states::Reason;

/// What a record says against itself. An honest record says nothing, however odd its medium: a figure that it marks as
/// doubtful is no contradiction, as rankings leave it out anyway.
#[must_use]
pub fn examine(record: &Record) -> Vec<Reason> {
    let mut reasons = figures::check(record);
    reasons.extend(times::check(record));
    reasons.extend(physics::check(record));
    reasons
}
