//! What a check for genuineness found: words, a map of the medium, speed over the address.

mod drawing;
mod map;
mod section;
mod words;

pub(crate) use drawing::html;
pub(crate) use section::add;
pub(crate) use words::{Part, parts};
