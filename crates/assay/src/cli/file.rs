//! Arguments of all commands whose answer can go to a file.

use std::path::PathBuf;

use clap::Args;

/// Help of `-o` where there is a picture, too.
pub(super) const WITH_PICTURE: &str =
    "Write the answer to a file instead; the extension chooses .html, .md, .csv, .json, .svg or .png";

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Write the answer to a file instead; the extension chooses .html, .md, .csv or .json
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long, requires = "output")]
    pub(crate) identities: bool,
}
