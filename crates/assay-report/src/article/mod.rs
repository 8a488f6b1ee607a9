//! Records as an article: tables of media by loads, or by computers, in which the best are what a ranking says of that load,
//! facts of the media, and pictures with captions, in files that stand beside each other.

mod caption;
mod cells;
mod columns;
mod document;
mod facts;
mod files;
mod findings;
mod manifest;
mod media;
mod pictures;
mod scope;
mod table;
mod tidy;

pub use caption::Caption;
pub use files::{Article, ArticleFile, Written, WrittenFile, article};
pub use findings::Finding;
pub use manifest::Manifest;
