//! Arguments of `assay import`.

use std::path::PathBuf;

use assay_import::PathPattern;
use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay import cdm.txt --label model='SanDisk Ultra A1' --label unit=3
  assay import results/ --path '{model}/{unit}/output_{run}.txt'
  fio --output-format=json job.fio | assay import -
  assay import runs.tar.gz run.json      archives, and records of assay
  assay import --dry-run old.log         what would be imported
  assay import --formats                 what is read

What a format does not tell stays unknown. Importing twice adds nothing.
Exit code 2: a file that was named holds no result; the others are imported.";

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files or directories with results of any known format, or - for standard input
    #[arg(value_name = "FILE|DIR", required_unless_present = "formats", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Label of all records, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = super::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Labels from the path of each file, like '{model}/{unit}/output_{run}.txt'
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) path: Option<PathPattern>,

    /// Do not keep the original text in the record
    #[arg(long)]
    pub(crate) no_text: bool,

    /// Only tell what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// List the formats that are read
    #[arg(long, conflicts_with_all = ["paths", "labels", "path", "no_text", "dry_run"])]
    pub(crate) formats: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn pattern(text: &str) -> Result<PathPattern, String> {
    PathPattern::parse(text).map_err(|error| error.to_string())
}
