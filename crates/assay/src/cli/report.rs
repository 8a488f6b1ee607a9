//! Arguments of `assay report`.

use std::path::PathBuf;

use assay_pictures::Kind;
use assay_report::Format;
use clap::{Args, ValueHint};

use super::values::{format, picture};

pub(super) const EXAMPLES: &str = "\
Examples:
  assay report -o card.html            the last run, as an interactive page
  assay report slot=7 -o slot7.csv     all runs in slot 7, for a spreadsheet
  assay report all -o all.md
  assay report all -o cards.svg        a picture: rates over block sizes
  assay report all -o one.png --picture dots --load 'random write 4 KiB'
  assay report published: -o sweep.gif over block sizes
  assay report last -o - --format json
  assay report last -o - --format crystaldiskmark   for a forum
  assay report all -o plots/ --format fio-json   a file for each load: fio-plot
  assay report all --article cards/    tables with best and ties, pictures
  assay report all -o assay.prom       for node_exporter's textfile collector";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[arg(default_value = "last", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// File to write, or - for standard output; the extension chooses the format. A directory takes a file for each load of
    /// --format fio-json
    #[arg(short, long, value_name = "FILE", required_unless_present = "article")]
    pub(crate) output: Option<PathBuf>,

    /// Directory for an article: tables of media by loads, or by computers, with the best and ties as rank finds them, as
    /// README.md, index.html and CSV, and pictures with captions. It is made if it is missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["output", "picture", "load", "format"])]
    pub(crate) article: Option<PathBuf>,

    /// Picture for .svg and .png; by default the one that suits the records
    #[arg(long, value_name = "PICTURE", value_parser = picture())]
    pub(crate) picture: Option<Kind>,

    /// Only loads with these words, like 'random read 4 KiB'
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<String>,

    /// Format of what is written, if the extension does not determine it
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<Format>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long)]
    pub(crate) identities: bool,

    /// Print one JSON document: what was written
    #[arg(long)]
    pub(crate) json: bool,
}
