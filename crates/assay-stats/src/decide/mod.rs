//! The statistics of decisions: posteriors of a rate, bounds and tolerance limits, the expected loss of a choice, and
//! the influence of weights. The decisions about media are in `assay_analysis`.

mod acceptability;
mod bounds;
mod posterior;
pub(crate) mod refusal;

pub use acceptability::{Acceptability, Combination, FIRST, Weights, acceptability, index};
pub use bounds::{Bounds, CONFIDENCE, LEAST_RUNS, Tolerance, bounds, tolerance, tolerance_factor};
pub use posterior::{About, Alternative, Loss, Posterior, draws_together, losses};
pub use refusal::{Refusal, a_share, not_negative, positive};
