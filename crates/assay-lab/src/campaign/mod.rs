//! Campaigns: any check against many media whose truth is known, on all processors.
//!
//! A check is a function from a medium and a seed to a [`CheckResult`]; a [`Campaign`] runs it over
//! the seeds of a population ([`crate::media::population`]) and gives a [`Report`]: a confusion
//! matrix, how exact sizes are, whether the owner's data survived, traffic and time, and the seed of
//! every wrong answer.
//!
//! ```no_run
//! use assay_lab::campaign::{Campaign, CheckResult};
//! use assay_lab::media::{FoundVerdict, ModelMedium, Reach, population};
//!
//! fn check(medium: &mut ModelMedium, seed: u64) -> CheckResult {
//!     // Writes, reads, concludes, and restores.
//!     CheckResult::from_verdict(FoundVerdict::Undecided, Reach::least())
//! }
//!
//! let report = Campaign::from_media(population::any, 300).run(check);
//! println!("{report}");
//! assert_eq!(report.wrong().count(), 0);
//! ```
//!
//! The environment variable `ASSAY_CAMPAIGN_SEEDS` sets the seeds: `2000` takes the first 2000,
//! `1234..1235` judges one medium again and shows it.

mod case;
mod run;

pub use case::{Case, CheckResult, Group, Judgement, Size, outline};
pub use run::{Campaign, Report};
