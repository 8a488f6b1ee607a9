//! From records to decisions: local flash or NAS, cache, what to buy, which class. What nodes, wires, caches and
//! purchases come to is here, too; the mathematics of uncertainty is in `assay_stats::decide`.

mod buy;
mod cache;
mod cache_model;
mod class;
mod evidence;
mod nas;
mod nas_share;
mod nas_volume;
mod purchase;

pub use assay_stats::decide::LEAST_RUNS as LEAST_REPEATS;
pub use buy::{BuyAdvice, BuyOffer, BuyQuestion, Choice, Question, buy};
pub use cache::{
    CacheAdvice, CacheQuestion, CacheUse, Header, HitSource, HitsUsed, LogAdvice, LogWord, SpeedUp, cache,
};
pub use cache_model::{CacheUnknown, CacheWarning, CacheWord};
pub use class::{
    ClassAdvice, ClassAnswer, ClassKind, ClassPart, ClassStatus, ClassTest, ModelAnswer, ModelClasses, ModelPart,
    ModelWord, Obstacle, SpecimenClasses, class, class_named,
};
pub use evidence::{AdviseError, EvidenceBasis, EvidenceFigure};
pub use nas::{NasAdvice, NasModel, NasQuestion, NasRow, ShareTerms, Term, WhatIf, nas};
pub use nas_share::{Even, Link, NasVerdict, Need};
pub use nas_volume::{VolumeFigures, VolumeTogether};
pub use purchase::{FrontStanding, Price, PriceError};

#[cfg(test)]
mod oracles;
#[cfg(test)]
mod oracles_buy;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
