//! Arguments of the commands that handle records: export, import, list, show, label and rm.

use std::path::PathBuf;

use assay_core::medium::{KINDS, MediumKind};
use assay_import::{PathPattern, doubt};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use super::{FileArgs, values};

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  assay export --store /mnt/stick/records     all records, without identities
  assay export --store backup --identities    all of them, as they are
  assay export --store cards model='SanDisk Ultra A1'
  assay import /mnt/stick/records             on the other machine

Formats for other programs: assay report --format.";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Directory for a new store; it must be empty, or not be there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) store: PathBuf,

    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other,
          help = stored_query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Keep serial numbers, host names, addresses and paths instead of short names for them
    #[arg(long)]
    pub(crate) identities: bool,

    /// Print one JSON document: what was written
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of `assay import`.

pub(crate) const IMPORT_EXAMPLES: &str = "\
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

    /// Check everything, show what would be done, write nothing
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

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  assay list
  assay list model='SanDisk Ultra A1'
  assay list slot=7 --json
  assay list results/ --aggregate trimmed
                                        as articles print several runs
  assay list -o records.html            a table to look at or to send";
pub(super) const SHOW_EXAMPLES: &str = "\
Examples:
  assay show last
  assay show last~1
  assay show last~1 last    one card after the other
  assay show 5f3 --json     any unique beginning of an id
  assay show --percentiles 50,99,99.99    of the latency, with intervals";
pub(super) const LABEL_EXAMPLES: &str = "\
Examples:
  assay label last unit=7 price=9.90EUR
  assay label 'model=SD32G slot=3' rack=2      all records of the query
  assay label 5f3k2abcde model='SanDisk Ultra A1'
  assay label last comment=                    without a value it is removed";

pub(super) const RM_EXAMPLES: &str = "\
Examples:
  assay rm 5f3k2abcde
  assay rm 5f3";

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(default_value = "all", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// One figure over all runs of a medium, as articles print it; not used for decisions
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) aggregate: Option<AggregateArg>,

    #[command(flatten)]
    pub(crate) file: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AggregateArg {
    /// Mean of the runs
    Mean,
    /// Mean without the best and the worst run, for each figure
    Trimmed,
    /// Best of the runs
    Best,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[arg(default_value = "last", value_name = "QUERY", value_hint = ValueHint::Other, help = query_help!("Which records"))]
    pub(crate) queries: Vec<String>,

    /// Percentiles of the latency instead, like 50,99,99.99
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = values::percentile)]
    pub(crate) percentiles: Vec<f64>,

    /// Print one JSON document: the record as it is stored, or an array of several
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    #[arg(value_name = "QUERY", value_hint = ValueHint::Other, help = stored_query_help!("Which records"))]
    pub(crate) query: String,

    /// Labels; KEY= without a value removes the label
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = values::label_or_none)]
    pub(crate) labels: Vec<(String, Option<String>)>,

    /// Check everything, show what would be done, write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print one JSON document: the records of the query, and those that changed
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    #[arg(required = true, value_name = "QUERY", value_hint = ValueHint::Other,
          help = stored_query_help!("Which records (all is refused)"))]
    pub(crate) queries: Vec<String>,

    /// Check everything, show what would be done, write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
