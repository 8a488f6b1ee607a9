//! From records to decisions: local flash or NAS, cache, what to buy, which class. What nodes, wires, caches and
//! purchases come to is here, too; the mathematics of uncertainty is in `assay_stats::decide`.

mod buy;
mod cache;
mod cache_hits;
mod cache_judge;
mod cache_log;
mod cache_service;
mod cache_types;
mod class;
mod class_model;
mod class_types;
mod error;
mod evidence;
mod figure;
mod link;
mod nas;
mod nas_judge;
mod nas_share;
mod nas_types;
mod nas_verdict;
mod nas_volume;
mod price;
mod purchase;
mod question;

pub use assay_stats::decide::LEAST_RUNS as LEAST_REPEATS;
pub use buy::{BuyAdvice, BuyOffer, BuyQuestion, Choice, buy};
pub use cache::cache;
pub use cache_log::{LogAdvice, LogWord};
pub use cache_types::{
    CacheAdvice, CacheQuestion, CacheUse, CacheWarning, CacheWord, Header, HitSource, HitsUsed, SpeedUp, Why,
};
pub use class::{class, class_named};
pub use class_types::{
    ClassAdvice, ClassAnswer, ClassPart, ClassTest, Kind, ModelAnswer, ModelClasses, ModelPart, ModelWord, Obstacle,
    SpecimenClasses, Status,
};
pub use error::AdviseError;
pub use figure::{Basis, Figure};
pub use link::Link;
pub use nas::nas;
pub use nas_share::Even;
pub use nas_types::{NasAdvice, NasModel, NasQuestion, NasRow, Term, Terms, Together, VolumeFigures, WhatIf};
pub use nas_verdict::{NasVerdict, Need};
pub use price::{Price, PriceError};
pub use purchase::Standing;
pub use question::Question;

#[cfg(test)]
mod oracles;
#[cfg(test)]
mod oracles_buy;
#[cfg(test)]
mod oracles_class;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
