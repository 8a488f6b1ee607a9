//! Records as an article: tables of media by loads, or by computers, in which the best are what a ranking says of that load,
//! facts of the media, and pictures with captions, in files that stand beside each other.

mod files;
mod media;
mod table;

pub use files::Caption;
pub use files::{Article, ArticleFile, Manifest, Written, WrittenFile, article};
pub use media::Finding;
