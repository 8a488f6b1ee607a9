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
pub use cache_model::{CacheWarning, CacheWord, Why};
pub use class::{
    ClassAdvice, ClassAnswer, ClassPart, ClassTest, Kind, ModelAnswer, ModelClasses, ModelPart, ModelWord, Obstacle,
    SpecimenClasses, Status, class, class_named,
};
pub use evidence::{AdviseError, Basis, Figure};
pub use nas::{NasAdvice, NasModel, NasQuestion, NasRow, Term, Terms, WhatIf, nas};
pub use nas_share::{Even, Link, NasVerdict, Need};
pub use nas_volume::{Together, VolumeFigures};
pub use purchase::{Price, PriceError, Standing};

#[cfg(test)]
mod oracles;
#[cfg(test)]
mod oracles_buy;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
