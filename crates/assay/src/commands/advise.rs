//! `assay advise`

use assay_analysis::advise::{self, AdviseError, CacheAdvice, CacheUse, CacheWord, LogWord, Question};
use assay_core::exit::Exit;
use assay_report as report;
use assay_store::Detail;

use crate::answer::{Target, WITHOUT_PICTURE};
use crate::cli::AdviseArgs;
use crate::failure::Failure;
use crate::queries;

impl From<AdviseError> for Failure {
    fn from(error: AdviseError) -> Self {
        Self::usage(error.to_string())
    }
}

pub(super) fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(args.file(), WITHOUT_PICTURE)?;
    let mut records = target.redacted(queries::find_all(args.queries(), Detail::Latencies)?)?;
    let mut others = target.redacted(queries::find_all(args.other_queries(), Detail::Latencies)?)?;
    target.settle(records.iter_mut().chain(&mut others));
    let (answered, no) = match args.question() {
        Question::Nas(question) => (report::advise::nas(&advise::nas(&records, &others, &question)?), false),
        Question::Cache(question) => {
            let found = advise::cache(&records, &others, &question)?;
            (report::advise::cache(&found), is_no(&found))
        }
        Question::Buy(question) => (report::advise::buy(&advise::buy(&records, &question)?), false),
        Question::Class(classes) => {
            let found = advise::class(&records, &classes)?;
            (report::advise::class(&found), found.is_no())
        }
    };
    target.deliver(&answered, args.json())?;
    Ok(if no { Exit::No } else { Exit::Good })
}

fn is_no(found: &CacheAdvice) -> bool {
    match found.use_as {
        CacheUse::L2arc => found.word == CacheWord::Harmful,
        CacheUse::Slog => found.log.as_ref().is_some_and(|log| log.word == LogWord::Refused),
    }
}
