//! Other causes of a difference, each said once.

use assay_analysis::Mark;
use assay_analysis::compare::{Comparison, DoubtCause, Note};
use assay_core::finding::Cause;
use assay_core::text::clean;

use crate::caveats::listed_names;

/// A cause, and the records that it is found in.
struct Doubted<'a> {
    mark: Mark,
    cause: Cause,
    records: Vec<&'a str>,
}

/// The notes of a comparison, in the order of their first records. What is doubtful of several records for the same
/// cause is one note that names them.
pub(super) fn notes(c: &Comparison) -> Vec<String> {
    let mut doubted: Vec<Doubted<'_>> = Vec::new();
    for note in &c.notes {
        let Note::Doubtful { record, mark, causes } = note else { continue };
        for cause in causes.iter().map(words) {
            match doubted.iter_mut().find_map(|k| (k.mark == *mark && k.cause.merge(&cause)).then_some(k)) {
                Some(known) => {
                    if !known.records.contains(&record.as_str()) {
                        known.records.push(record);
                    }
                }
                None => doubted.push(Doubted { mark: *mark, cause, records: vec![record] }),
            }
        }
    }
    let mut doubted: Vec<String> = doubted.iter().map(|of| sentence(c, of)).collect();
    let mut all = Vec::new();
    for note in &c.notes {
        match note {
            Note::Doubtful { .. } => all.append(&mut doubted),
            other => all.push(other.to_string()),
        }
    }
    all
}

fn words(cause: &DoubtCause) -> Cause {
    match cause {
        DoubtCause::Finding { warning } => warning.pieces(),
        DoubtCause::Check { .. } => Cause::words(&cause.to_string()),
    }
}

/// `suspect: dd went through the page cache: A, B (10 records)`.
fn sentence(c: &Comparison, of: &Doubted<'_>) -> String {
    let word = match of.mark {
        Mark::Invalid => "invalid and cannot win",
        Mark::Fake => "not genuine and cannot win",
        _ => "suspect",
    };
    // A group is named by its letter where all its records are meant.
    let mut rest = of.records.clone();
    let mut names: Vec<String> = Vec::new();
    for group in &c.groups {
        if !group.records.is_empty() && group.records.iter().all(|id| of.records.contains(&id.as_str())) {
            rest.retain(|id| !group.records.iter().any(|own| own == id));
            names.push(match group.records.len() {
                1 => group.letter.to_string(),
                many => format!("{} (all {many} records)", group.letter),
            });
        }
    }
    let ids: Vec<String> = rest.into_iter().map(clean).collect();
    if !ids.is_empty() {
        let what = if ids.len() == 1 { "record" } else { "records" };
        names.push(format!("{what} {}", listed_names(&ids, ", ", Some("--json"))));
    }
    format!("{word}: {}: {}", of.cause, names.join(", "))
}

#[cfg(test)]
mod tests {
    use assay_analysis::compare::{Group, Request, compare};
    use assay_analysis::published;
    use assay_core::record::Record;

    use super::*;
    use assay_core::finding::Finding;

    /// Ten records with one cause were ten notes, and one record had a cause four times with other numbers.
    #[test]
    fn a_cause_is_said_once_with_the_records_behind_it() {
        let busy = |share: f64, most: &str| Finding::LoadOfOthers { share, most: most.to_owned() };
        let mut a = published("sandisk-ultra-a1").unwrap();
        let mut b = published("samsung-evo-plus-64gb").unwrap();
        for (at, record) in a.iter_mut().chain(&mut b).enumerate() {
            record.id = format!("r{at}");
            let percent = at as f64 / 100.0;
            record.measurements[0].warnings.push(busy(0.5 + percent, "rustc").into());
            record.measurements[1].warnings.push(busy(0.6 + percent, "cc").into());
        }
        a[0].warnings.push(Finding::CachedByTool { tool: "dd".to_owned() }.into());
        let of = |name: &str, records| Group { name: name.to_owned(), records };
        let groups = [of("a", a.iter().collect::<Vec<&Record>>()), of("b", b.iter().collect())];
        let said = notes(&compare(&groups, &Request::default()).unwrap());
        let suspect: Vec<&String> = said.iter().filter(|note| note.starts_with("suspect: ")).collect();
        assert_eq!(suspect.len(), 2, "{said:#?}");
        let busy = suspect.iter().find(|note| note.contains("other programs")).unwrap();
        assert!(busy.contains("50 to 64 %") && busy.ends_with(": A (all 3 records), B (all 2 records)"), "{busy}");
        assert!(suspect.iter().any(|note| note.contains("page cache") && note.ends_with(": record r0")), "{said:#?}");
        assert!(said.iter().all(|note| !note.contains("doubtful")), "{said:#?}");
    }
}
