//! What a check for genuineness found: words, a map of the medium, speed over the address.

mod section;
mod sentence;
mod words;

pub(crate) use section::{check_on_card, check_on_page};
pub use sentence::check_sentence;
pub(crate) use words::{Part, parts};
