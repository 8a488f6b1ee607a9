//! What is refused of a suite, and the error that says so.

use std::time::Duration;

use crate::units::Bytes;

/// What is wrong with a suite file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct SuiteError {
    /// File as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong and how to mend it.
    pub message: String,
}

/// A repeat of a suite that ends when enough is known is this part of one that does not, and there may be this many
/// times as many.
pub const PARTS: u32 = 3;
/// Fewer repeats tell nothing of how well a figure is known: the t quantile of two is 12.7.
pub const LEAST_REPEATS: u32 = 3;
/// More looks at an interval than three times as many would need a wider one.
pub const MOST_WITH_ENOUGH: u32 = 5;

/// Queue depths above this are refused: no block layer queues more per device by default.
pub const MAX_QUEUE_DEPTH: u32 = 1024;
/// More jobs than this are refused.
pub const MAX_JOBS: u32 = 256;
/// Shorter and longer think times are refused.
pub(super) const MIN_THINK: Duration = Duration::from_micros(1);
/// See [`MIN_THINK`].
pub const MAX_THINK: Duration = Duration::from_secs(60);
/// Larger blocks are refused.
pub const MAX_BLOCK: Bytes = Bytes(64 << 20);
