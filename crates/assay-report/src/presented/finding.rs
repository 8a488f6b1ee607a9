//! What several records come to, in a sentence: the answer of the ranking or of the comparison, so that no page and no
//! picture says more than they do.

use assay_analysis::Load;
use assay_analysis::compare::{By, Request, compare, split};
use assay_analysis::rank::{RankOptions, rank};
use assay_core::record::Record;
use assay_core::text::capitalised;
use assay_pictures::{Decided, Kind, Wanted, still};

use crate::{compare, rank};

/// A finding and its parts.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The finding.
    pub(crate) sentence: String,
    /// The load that it is about; `None` where no load is.
    load: Option<Load>,
}

impl Found {
    /// For pictures whose title is the finding.
    pub(crate) fn titled(self) -> Option<Decided> {
        Some(Decided { load: self.load?, title: Some(self.sentence.trim_end_matches('.').to_owned()) })
    }

    /// For pictures that stand beside the finding.
    pub(crate) fn beside(&self) -> Option<Decided> {
        Some(Decided { load: self.load.clone()?, title: None })
    }
}

/// The finding on these records, under the load that `words` name or else the deciding one: which model is better where
/// models can be ranked, how two records differ, else a description of the records.
pub(crate) fn of(records: &[Record], words: Option<&str>) -> Found {
    let all: Vec<&Record> = records.iter().collect();
    let primary = words.map(str::to_owned);
    if let Ok(report) = rank(&all, &RankOptions { primary: primary.clone(), ..RankOptions::default() })
        && report.primary.refusal.is_none()
        && report.primary.models.len() > 1
    {
        let sentence = format!("{}: {}", capitalised(&report.primary.title), rank::answer(&report));
        return Found { sentence, load: Some(report.primary.load) };
    }
    if let [_, _] = records
        && let Ok(found) = compare(&split(&[records.to_vec()], By::Record), &Request { primary, ..Request::default() })
    {
        return Found { sentence: compare::finding(&found), load: found.primary().map(|load| load.load.clone()) };
    }
    let drawn = Wanted::named(records, words).ok().and_then(|wanted| still(Kind::Dots, records, &wanted).ok());
    let sentence = drawn.map_or_else(|| format!("{} records", records.len()), |drawing| drawing.title().to_owned());
    Found { sentence, load: None }
}
