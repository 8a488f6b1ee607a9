//! The statistics of decisions: posteriors of a rate, bounds and tolerance limits, the expected loss of a choice, and
//! the influence of weights. The decisions about media are in `assay_analysis`.

pub(crate) mod bounds;
mod posterior;

pub use bounds::{
    Bounds, CONFIDENCE, InputRefusal, LEAST_RUNS, Tolerance, a_share, bounds, not_negative, positive, tolerance,
    tolerance_factor,
};
pub use posterior::{
    About, Acceptability, Alternative, ChoiceLoss, Combination, FIRST, Posterior, Weights, acceptability,
    draws_together, index, losses,
};
