//! `assay advise`

use assay_analysis::advise::{self, AdviseError, CacheAdvice, CacheUse, CacheWord, LogWord, Question};
use assay_core::exit::Exit;
use assay_report::advice;

use crate::cli::AdviseArgs;
use crate::failure::Failure;
use crate::{output, state};

impl From<AdviseError> for Failure {
    fn from(error: AdviseError) -> Self {
        Self::usage(error.to_string())
    }
}

pub(super) fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    let records = state::find_all(args.queries())?;
    let others = state::find_all(args.other_queries())?;
    let style = output::stdout_style();
    let (told, no) = match args.question() {
        Question::Nas(question) => (advice::nas(&advise::nas(&records, &others, &question)?, &style), false),
        Question::Cache(question) => {
            let found = advise::cache(&records, &others, &question)?;
            (advice::cache(&found, &style), is_no(&found))
        }
        Question::Buy(question) => (advice::buy(&advise::buy(&records, &question)?, &style), false),
        Question::Class(classes) => {
            let found = advise::class(&records, &classes)?;
            (advice::class(&found, &style), found.is_no())
        }
    };
    if args.json() { output::print_json(&told.json) } else { output::print(&told.text) }?;
    Ok(if no { Exit::No } else { Exit::Good })
}

fn is_no(found: &CacheAdvice) -> bool {
    match found.use_as {
        CacheUse::L2arc => found.word == CacheWord::Harmful,
        CacheUse::Slog => found.log.as_ref().is_some_and(|log| log.word == LogWord::Refused),
    }
}
