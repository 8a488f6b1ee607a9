//! Arguments of `assay import`.

use std::path::PathBuf;

use assay_core::medium::{KINDS, MediumKind};
use assay_import::{PathPattern, doubt};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay import cdm.txt --label model='SanDisk Ultra A1' --label unit=3
  assay import results/ --path '{model}/{unit}/output_{run}.txt'
  fio --output-format=json job.fio | assay import -
  assay import results/ --sheet names.csv
                                         a row for each file: file,model,unit,…
  assay import old.txt --doubtful 'random write 4 KiB=a typing error'
  assay import runs.tar.gz run.json      archives, and records of assay
  assay import --dry-run old.log         what would be imported
  assay import --formats                 what is read

What a format does not report stays unknown. Importing twice adds nothing. On a
terminal, assay asks for the model where a file names none; scripts use --label.
Exit code 2: a named file contains no result; the others are imported.";

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files or directories with results of any known format, or - for standard input
    #[arg(value_name = "FILE|DIR", required_unless_present = "formats", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Label of the record, like model=…, unit=…, slot=… or price=12.90USD; repeat for more
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = super::values::label)]
    pub(crate) labels: Vec<(String, String)>,

    /// Labels from the path of each file, like '{model}/{unit}/output_{run}.txt'
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) path: Option<PathPattern>,

    /// Labels, host and kind from a CSV sheet with a row for each file or pattern of files
    #[arg(long, value_name = "FILE.csv", value_hint = ValueHint::FilePath)]
    pub(crate) sheet: Option<PathBuf>,

    /// Host that measured, instead of the one in the report
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,

    /// Kind of the medium, instead of the one in the report
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS).map(|name| kind(&name)))]
    pub(crate) kind: Option<MediumKind>,

    /// Mark the figures of a load as doubtful, with a reason: they are kept, but not used for decisions
    #[arg(long, value_name = "LOAD[=WHY]", value_parser = doubtful)]
    pub(crate) doubtful: Vec<(String, String)>,

    /// Do not keep the original text in the record
    #[arg(long)]
    pub(crate) no_text: bool,

    /// Show what would be done, after all checks, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// List the formats that are read
    #[arg(long, conflicts_with_all = ["paths", "labels", "path", "sheet", "host", "kind", "doubtful", "no_text", "dry_run"])]
    pub(crate) formats: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn kind(name: &str) -> MediumKind {
    name.parse().unwrap_or(MediumKind::Unknown)
}

fn doubtful(text: &str) -> Result<(String, String), String> {
    let (load, why) = doubt(text);
    if load.is_empty() { Err("name a load, like `random write 4 KiB`".to_owned()) } else { Ok((load, why)) }
}

fn pattern(text: &str) -> Result<PathPattern, String> {
    PathPattern::parse(text).map_err(|error| error.to_string())
}
