//! From estimates to decisions, each with its probability and the numbers behind it.

mod acceptability;
mod bounds;
mod buy;
mod cache;
mod cache_verdict;
mod composite;
mod hits;
mod nas;
mod posterior;
pub(crate) mod refusal;
mod tolerance;

pub use acceptability::{Acceptability, Combination, FIRST, Weights, acceptability};
pub use bounds::{Bounds, CONFIDENCE, LEAST_RUNS, bounds};
pub use buy::{Candidate, ENOUGH, Fleet, Offer, Purchase, Standing, purchase};
pub use cache::{LOW_FEED, LogDevice, Ram, Service, feed, fill_seconds, log_device};
pub use cache_verdict::{Cache, CacheVerdict, CacheWord, Warning, judge};
pub use composite::index;
pub use hits::{HEADER_BYTES, Hits, Reuse, header_bytes, hits, reach};
pub use nas::{
    BreakEven, ETHERNET, Limit, Local, Measured, Nas, NasDecision, NasVerdict, Need, Share, Wire, break_even, decide,
    share,
};
pub use posterior::{About, Posterior};
pub use refusal::{Refusal, a_share, not_negative, positive};
pub use tolerance::{Tolerance, tolerance, tolerance_factor};
