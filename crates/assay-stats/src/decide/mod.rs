//! The statistics of decisions: posteriors of a rate, bounds and tolerance limits, the expected loss of a choice, and
//! the influence of weights. The decisions about media are in `assay_analysis`.

mod acceptability;
mod bounds;
mod composite;
mod loss;
mod posterior;
pub(crate) mod refusal;
mod tolerance;

pub use acceptability::{Acceptability, Combination, FIRST, Weights, acceptability};
pub use bounds::{Bounds, CONFIDENCE, LEAST_RUNS, bounds};
pub use composite::index;
pub use loss::{Alternative, Loss, losses};
pub use posterior::{About, Posterior, draws_together};
pub use refusal::{Refusal, a_share, not_negative, positive};
pub use tolerance::{Tolerance, tolerance, tolerance_factor};
