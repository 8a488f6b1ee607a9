//! What can be asked.

use super::buy::BuyQuestion;
use super::cache_types::CacheQuestion;
use super::nas_types::NasQuestion;

/// A question with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A medium in each node, or a share of one volume?
    Nas(NasQuestion),
    /// Good as cache?
    Cache(CacheQuestion),
    /// Which one to buy?
    Buy(BuyQuestion),
    /// Which of these classes are met? None: all.
    Class(Vec<&'static str>),
}
