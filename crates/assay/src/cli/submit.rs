//! Arguments of `assay login` and `assay submit`.

use std::path::PathBuf;

use assay_submit::Site;
use clap::{Args, ValueHint};

pub(crate) const LOGIN_EXAMPLES: &str = "\
Examples:
  assay login https://results.example.org       asks for the token
  assay login https://results.example.org --token-file token
  assay login https://results.example.org --forget

You get the token from those who run the site. Only the token is sent, and only
to that site.";
pub(crate) const SUBMIT_EXAMPLES: &str = "\
Examples:
  assay submit last --dry-run | less    the documents that would be sent
  assay submit last                     send it to the site of the last login
  assay submit 'model=EVO suite=quick'
  assay submit                          send what waits, and show what was sent
  assay submit last --withdraw          take it back

Exit code 1: the site refuses a record. Exit code 4: a record waits in the
outbox, because the site cannot be reached; assay submit sends it again.";

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Address of the public instance, like https://results.example.org
    #[arg(value_name = "SITE", value_parser = Site::parse)]
    pub(crate) site: Site,

    /// File with a token of the account; by default it is asked for, or read from standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,

    /// PEM file of the authority that signed the site's certificate, instead of the public ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ca: Option<PathBuf>,

    /// Forget the account at this site; records there stay
    #[arg(long, conflicts_with_all = ["token_file", "ca"])]
    pub(crate) forget: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    #[arg(value_name = "QUERY", value_hint = ValueHint::Other,
          help = stored_query_help!("Which records; without a query, send what waits in the outbox and show what was sent. A query is"))]
    pub(crate) queries: Vec<String>,

    /// Public instance; by default the one of the last login
    #[arg(long, value_name = "SITE", value_parser = Site::parse)]
    pub(crate) site: Option<Site>,

    /// Check everything, show what would be done, write nothing
    #[arg(long, requires = "queries", conflicts_with_all = ["withdraw", "unlisted", "json"])]
    pub(crate) dry_run: bool,

    /// Keep the records out of rankings, lists and data files; only their own addresses show them
    #[arg(long, requires = "queries", conflicts_with = "withdraw")]
    pub(crate) unlisted: bool,

    /// Take the records back
    #[arg(long, requires = "queries")]
    pub(crate) withdraw: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
