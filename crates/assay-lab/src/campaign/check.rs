//! The result of a check, as a campaign needs it.

use std::ops::RangeInclusive;

use assay_core::verification::FakeKind;

use crate::media::{Found, Reach};

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckResult {
    /// The verdict; `None` if the check refused such a medium.
    pub found: Option<Found>,
    /// The kind of fake, if the check names one.
    pub kind: Option<FakeKind>,
    /// The interval that the check states for the real size, in bytes.
    pub real_bytes: Option<RangeInclusive<u64>>,
    /// What the check states it would have noticed.
    pub reach: Reach,
    /// Size of the largest cache, in bytes, that the check evicts before it reads, where a loss is known.
    pub driven_out_bytes: u64,
    /// Bytes that the check says it wrote; `None` if it does not say.
    pub said_written_bytes: Option<u64>,
    /// Bytes that the check says it read; `None` if it does not say.
    pub said_read_bytes: Option<u64>,
    /// Whether the journal of the saved content still exists, so that it can be restored.
    pub journal_kept: bool,
}

impl CheckResult {
    /// A result with a verdict and nothing else.
    #[must_use]
    pub fn of(found: Found, reach: Reach) -> Self {
        Self {
            found: Some(found),
            kind: None,
            real_bytes: None,
            reach,
            driven_out_bytes: reach.cache_bytes,
            said_written_bytes: None,
            said_read_bytes: None,
            journal_kept: false,
        }
    }

    /// The result of a check that refused the medium.
    #[must_use]
    pub fn refused() -> Self {
        Self { found: None, ..Self::of(Found::Undecided, Reach::least()) }
    }
}
