//! `assay run --resume`: which run, and as what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::text::harmless;
use assay_core::units::span;
use assay_runner::Resumption;
use assay_store::{SqliteStore, Store};

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::output;

/// Directories that killed runs left on their media and that were found there, by the run.
pub(super) type Traces = BTreeMap<String, PathBuf>;

/// The run to resume, if that is asked for: the one named, else the newest that was interrupted.
pub(super) fn find(
    args: &RunArgs,
    store: Option<&SqliteStore>,
    traces: &Traces,
) -> Result<Option<Box<Resumption>>, Failure> {
    let Some(wish) = &args.resume else { return Ok(None) };
    let none =
        || Failure::usage("no run in the store was interrupted, so there is nothing to resume; leave out --resume");
    let store = store.ok_or_else(none)?;
    let id = match wish.as_str() {
        "" => {
            let cut = |outcome: &Outcome| {
                use RunFailure as F;
                matches!(outcome, Outcome::Failed { failure: F::Interrupted | F::Abandoned | F::Host, .. })
            };
            let all = store.list("all")?;
            all.into_iter().rev().find(|run| cut(&run.outcome)).ok_or_else(none)?.id
        }
        query => match store.resolve(query)?.as_slice() {
            [id] => id.clone(),
            ids => {
                return Err(Failure::usage(format!("--resume={} names {} runs; name one", harmless(query), ids.len())));
            }
        },
    };
    let resumption = Resumption::of(store.load(&id)?.record)?.with_trace(traces.get(&id).map(PathBuf::as_path));
    let record = resumption.record();
    if !args.quiet {
        output::tell_wrapped(&format!(
            "resumes run {id}: suite {}, interrupted after {}",
            harmless(&record.suite.name),
            span(Duration::from_nanos(record.settings.elapsed_ns))
        ));
    }
    Ok(Some(Box::new(resumption)))
}

/// Where: as before, unless another place is named.
pub(super) fn target(args: &RunArgs, resumption: &Resumption) -> PathBuf {
    match &resumption.record().medium.path {
        path if args.target == Path::new(".") && !path.is_empty() => PathBuf::from(path),
        _ => args.target.clone(),
    }
}
