//! What a check for genuineness found: words, a map of the medium, speed over the address.

mod sentence;
mod words;

pub use sentence::check_sentence;
pub(crate) use words::{Part, check_on_card, check_on_page, parts};
