//! How long units last, where some have not failed yet: curves with intervals, causes, a comparison of two groups, and
//! what would separate them. A unit whose end was not seen counts up to its end and no further.

mod curve;
mod incidence;
mod lifetime;
mod log_rank;
mod separation;
mod weibull;

pub use curve::{Curve, EXACT_BELOW, Quantile, Step};
pub use incidence::Incidence;
pub use lifetime::{Lifetime, clopper_pearson, most_failing, units_without_failure};
pub use log_rank::{LogRank, Member, Permuted, log_rank, permuted};
pub use separation::{MOST_UNITS, Separation, separation};
pub use weibull::{WEIBULL_FROM, Weibull, weibull};
