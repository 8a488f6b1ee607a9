//! Records as an article: tables of media by loads, or by computers, in which the best are what a ranking says of that load,
//! facts of the media, and pictures with captions, in files that stand beside each other.

mod caption;
mod cells;
mod columns;
mod computers;
mod document;
mod facts;
mod files;
mod findings;
mod media;
mod pictures;
mod scope;
mod table;
mod tidy;
mod written;

pub use caption::Caption;
pub use files::{Article, ArticleFile, MARK, article};
pub use findings::Finding;
pub use written::{Written, WrittenFile};
