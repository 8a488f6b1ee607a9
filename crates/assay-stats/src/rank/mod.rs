//! From repeats on many units to statements about models: components of variance, a ranking with
//! ties, odd units, bus ceilings, failures, and what a campaign can tell apart before it starts.
//!
//! Everything is on logarithms, where effects are ratios: a 5 % unit stays 5 % at every block size,
//! and the order of operations per second is the reverse of that of seconds per operation.
//! The unit, not the repeat, is what a statement about a model rests on.

mod aggregate;
mod apart;
mod bootstrap;
mod ceiling;
mod checks;
mod degrees;
mod dnf;
mod entry;
mod fit;
mod layers;
mod moderate;
mod notice;
mod observation;
mod outlier;
mod pairwise;
mod precision;
mod ranking;
mod resolution;
mod shared;
mod sweep;
mod table;
mod verdict;

pub use aggregate::{Aggregate, Groups, Rule, aggregate};
pub use ceiling::{Ceiling, compressed, measured_ceiling};
pub use checks::{OrderEffect, OutstandingSlot, SlotCheck, slot_check};
pub(crate) use degrees::pair_degrees;
pub use dnf::{Class, Ending, Share, jeffreys};
pub use entry::{Entrant, Options, Refusal, Sense};
pub use fit::{Components, Fit, ModelFit, Shares, UnitFit, fit};
pub use layers::Medal;
pub use moderate::{PRIOR_DEGREES, Spread, moderated, pooled};
pub use notice::{FitError, Notice};
pub use observation::{Invalid, Observation};
pub use outlier::{Disagreement, ODD_ALPHA, OddUnit, Oddities, odd_units, units_to_name};
pub use pairwise::{Answer, Comparison, Doubt, compare, compare_all};
pub use precision::{Precision, precisions};
pub use ranking::{Ranked, Ranking, rank, rank_sharing, tests};
pub use resolution::{CampaignSize, smallest_ratio, studentized_range};
pub use shared::Shared;
pub use verdict::{Better, Pair};
