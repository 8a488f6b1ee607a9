//! What a campaign asks of a check.

use std::ops::RangeInclusive;

use assay_core::verification::FakeKind;

use crate::media::{Found, Reach};

/// What a check came to.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckResult {
    /// What it says; `None` where it refuses to check such a medium.
    pub found: Option<Found>,
    /// The kind of fake, where it names one.
    pub kind: Option<FakeKind>,
    /// What the medium really has, in bytes, from the least to the most that the check says.
    pub real_bytes: Option<RangeInclusive<u64>>,
    /// What the check says it would have noticed.
    pub reach: Reach,
    /// Caches up to so many bytes it drives out where a loss is known.
    pub driven_out_bytes: u64,
    /// Bytes that it says it wrote and read; `None` where it does not say.
    pub said_written_bytes: Option<u64>,
    /// The same of reading.
    pub said_read_bytes: Option<u64>,
    /// Whether what was saved of the medium is still there to be put back.
    pub journal_kept: bool,
}

impl CheckResult {
    /// A bare verdict.
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

    /// It did not check.
    #[must_use]
    pub fn refused() -> Self {
        Self { found: None, ..Self::of(Found::Undecided, Reach::least()) }
    }
}
