//! From records to decisions: local flash or NAS, cache, what to buy, which class. The mathematics
//! is in `assay_stats::decide`; here records become its input and its answers data.

mod buy;
mod cache;
mod cache_log;
mod cache_types;
mod class;
mod class_model;
mod class_types;
mod error;
mod evidence;
mod figure;
mod nas;
mod nas_types;
mod nas_volume;
mod price;
mod question;

pub use assay_stats::decide::{LEAST_RUNS as LEAST_REPEATS, NasVerdict, Need, Warning as CacheWarning};
pub use buy::{BuyAdvice, BuyOffer, BuyQuestion, Choice, Standing, buy};
pub use cache::cache;
pub use cache_log::{LogAdvice, LogWord};
pub use cache_types::{CacheAdvice, CacheQuestion, CacheUse, CacheWord, Header, HitSource, HitsUsed, SpeedUp, Why};
pub use class::{class, class_named};
pub use class_types::{
    ClassAdvice, ClassAnswer, ClassPart, ClassTest, Kind, ModelAnswer, ModelClasses, ModelPart, ModelWord, Obstacle,
    SpecimenClasses, Status,
};
pub use error::AdviseError;
pub use figure::{Basis, Figure};
pub use nas::nas;
pub use nas_types::{
    Even, Link, NasAdvice, NasModel, NasQuestion, NasRow, Term, Terms, Together, VolumeFigures, WhatIf,
};
pub use price::{Price, PriceError};
pub use question::Question;

#[cfg(test)]
mod oracles;
#[cfg(test)]
mod oracles_buy;
#[cfg(test)]
mod oracles_class;
#[cfg(test)]
pub(crate) mod samples;
