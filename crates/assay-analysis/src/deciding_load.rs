//! Which load a question is about: the one that words name, or else the one under which most can be said. Every
//! command asks here, so that two commands decide on the same load of the same records.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_core::record::Record;
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern};

use crate::exclusion::excluded_whole;
use crate::identity::{Identity, identity};
use crate::load::Load;
use crate::load_query::LoadQuery;
use crate::reading::numbered;

/// Block size that CrystalDiskMark, the application performance classes of SD cards and `quick` have in common.
const USUAL_BLOCK: u64 = 4096;
/// Titles in an error.
const SHOWN: usize = 8;

/// No load matches the requested one, or there is no load at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The requested load; `None` where any load would do.
    pub asked: Option<String>,
    /// Why the words cannot name a load, where they cannot.
    pub why: Option<String>,
    /// A record has a load of that name, but it cannot decide.
    pub in_one_group: bool,
    /// Titles of the loads there are.
    pub known: Vec<String>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(asked) = &self.asked else {
            return f.write_str("the records hold no figures; measure first: assay run");
        };
        if self.in_one_group {
            write!(f, "the load {} is not in two of these groups", quoted(asked))?;
        } else {
            write!(f, "no load is named {}", quoted(asked))?;
        }
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        match &self.known[..] {
            [] if self.in_one_group => f.write_str(", and no other is"),
            [] => f.write_str("; the records hold no figures"),
            all if all.len() > SHOWN => {
                write!(f, "; there are: {}; and {} more", all[..SHOWN].join("; "), all.len() - SHOWN)
            }
            all => write!(f, "; there are: {}", all.join("; ")),
        }
    }
}

impl std::error::Error for LoadError {}

/// The loads that `words` name, in reading order: one by its whole title or by the name of its workload (spaces, commas
/// and case do not matter), else all that have the properties in the words, as [`LoadQuery`] reads them.
///
/// # Errors
/// None of the records has such a load.
pub fn loads_named<'a>(records: impl IntoIterator<Item = &'a Record>, words: &str) -> Result<Vec<Load>, LoadError> {
    let mut names: BTreeMap<Load, BTreeSet<String>> = BTreeMap::new();
    for (load, measurement) in records.into_iter().flat_map(numbered) {
        names.entry(load).or_default().insert(bare(&measurement.workload.name));
    }
    let wanted = bare(words);
    let of = |pick: &dyn Fn(&Load, &BTreeSet<String>) -> bool| -> Vec<Load> {
        names.iter().filter(|(load, names)| pick(load, names)).map(|(load, _)| load.clone()).collect()
    };
    let exact = of(&|load, _| bare(&load.title()) == wanted);
    let named = if exact.is_empty() { of(&|_, names| names.contains(&wanted)) } else { exact };
    if !named.is_empty() && !wanted.is_empty() {
        return Ok(named);
    }
    let ask = LoadQuery::parse(words);
    let found = ask.as_ref().map_or_else(|_| Vec::new(), |ask| of(&|load, _| ask.matches(load)));
    if found.is_empty() {
        let known = names.keys().map(Load::title).collect();
        return Err(LoadError { asked: Some(words.to_owned()), why: ask.err(), in_one_group: false, known });
    }
    Ok(found)
}

/// The load that decides among groups of records: of those that `words` name, or of all, the one under which most can
/// be said. It is chosen by its kind and by who was measured, never by figures: that would make differences out of
/// chance. `among` limits it to some loads.
///
/// # Errors
/// No record has such a load.
pub fn deciding_load(
    records: &[(usize, &Record)],
    words: Option<&str>,
    among: Option<&[Load]>,
) -> Result<Load, LoadError> {
    let named = words.map(|words| loads_named(records.iter().map(|(_, r)| *r), words)).transpose()?;
    let wanted = |load: &Load| {
        named.as_ref().is_none_or(|named| named.contains(load)) && among.is_none_or(|among| among.contains(load))
    };
    let all = Holders::of(records.iter(), wanted);
    // Records that decide nothing choose nothing, unless there are no others.
    let sound = Holders::of(records.iter().filter(|(_, r)| excluded_whole(r).is_none()), wanted);
    let holders = if sound.0.is_empty() { &all } else { &sound };
    let groups: BTreeSet<usize> = records.iter().map(|(group, _)| *group).collect();
    holders.most_telling(&all, groups.len()).ok_or_else(|| LoadError {
        asked: words.map(str::to_owned),
        why: None,
        in_one_group: named.is_some(),
        known: among.unwrap_or_default().iter().map(Load::title).collect(),
    })
}

/// Records with the number of their model, for [`deciding_load`].
#[must_use]
pub fn by_model<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<(usize, &'a Record)> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let number = |record: &'a Record| {
        let next = numbers.len();
        (*numbers.entry(identity(record).model).or_insert(next), record)
    };
    records.into_iter().map(number).collect()
}

/// The units of each group that were measured under a load, by number.
struct Holders(BTreeMap<Load, BTreeMap<usize, BTreeSet<usize>>>);

impl Holders {
    fn of<'a>(records: impl Iterator<Item = &'a (usize, &'a Record)>, wanted: impl Fn(&Load) -> bool) -> Self {
        let mut all: BTreeMap<Load, BTreeMap<usize, BTreeSet<usize>>> = BTreeMap::new();
        let mut numbers: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (group, record) in records {
            let Identity { model, unit, .. } = identity(record);
            let next = numbers.len();
            let unit = *numbers.entry((model, unit)).or_insert(next);
            for (load, _) in numbered(record).into_iter().filter(|(load, _)| wanted(load)) {
                all.entry(load).or_default().entry(*group).or_default().insert(unit);
            }
        }
        Self(all)
    }

    /// The load to decide by. The criteria in their order: a plain load, which shows what a medium can do; two groups
    /// with the load, without which nothing is compared, or at least two with records that decide nothing, which a
    /// comparison shows; two groups of two units each, without which no models can be told apart; most groups have it;
    /// random reads of 4 KiB, by which published comparisons of cards decide, and which are the main work of a root
    /// file system; other random reads. Then the number of groups that can be told apart, the number of groups that
    /// have the load, and the operations in flight. Of equal loads, the first in reading order.
    fn most_telling(&self, all: &Self, groups: usize) -> Option<Load> {
        let weight = |load: &Load, of: &BTreeMap<usize, BTreeSet<usize>>| {
            let with_several_units = of.values().filter(|units| units.len() > 1).count();
            let random_read = load.pattern() == Some(Pattern::Random) && load.op() == Op::Read && !load.synced;
            let usual = random_read && load.block_bytes == USUAL_BLOCK;
            let depth = u64::from(load.queue_depth) * u64::from(load.jobs);
            let shown = all.0.get(load).map_or(0, BTreeMap::len);
            (
                load.is_plain(),
                of.len().min(2),
                shown.min(2),
                with_several_units.min(2),
                2 * of.len() > groups,
                usual,
                random_read,
                with_several_units,
                of.len(),
                depth,
            )
        };
        self.0.iter().rev().max_by_key(|(load, of)| weight(load, of)).map(|(load, _)| load.clone())
    }
}

/// Letters and digits only, with a space between two numbers: `QD4, 44 jobs` is not `QD44, 4 jobs`.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut apart = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if apart && c.is_ascii_digit() && bare.ends_with(|last: char| last.is_ascii_digit()) {
                bare.push(' ');
            }
            bare.extend(c.to_lowercase());
        }
        apart = !c.is_alphanumeric();
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;

    fn decided(records: &[Record], words: Option<&str>) -> Result<String, String> {
        deciding_load(&by_model(records), words, None).map(|l| l.title()).map_err(|e| e.to_string())
    }

    /// At the greatest depth each of the published models has one unit, so that nothing can be said there.
    #[test]
    fn the_load_that_decides_is_one_where_models_have_several_units() {
        let records = published("").unwrap();
        let load = deciding_load(&by_model(&records), None, None).unwrap();
        let units = |model: usize| {
            let of = by_model(&records).into_iter().filter(|(m, r)| *m == model && crate::loads([*r]).contains(&load));
            of.map(|(_, r)| identity(r).unit).collect::<BTreeSet<_>>().len()
        };
        let models = by_model(&records).iter().map(|(m, _)| *m).max().unwrap();
        assert!((0..=models).filter(|m| units(*m) > 1).count() >= 2, "{}", load.title());
    }

    /// Several units of one model under a load that no other model has compare nothing.
    #[test]
    fn a_load_of_one_model_alone_does_not_decide_among_two() {
        let mut records = published("sandisk-ultra-a1").unwrap();
        let mut other = published("sandisk-extreme-a2").unwrap();
        records.iter_mut().for_each(|r| r.measurements.truncate(2));
        let shared = records[0].measurements[1].clone();
        records[1].measurements.truncate(1);
        records[2].measurements.truncate(1);
        other[0].measurements = vec![shared.clone()];
        records.append(&mut other);
        assert_eq!(decided(&records, None), Ok(Load::of(&shared.workload).title()));
    }

    #[test]
    fn a_load_of_one_group_is_not_said_to_be_unknown() {
        let records = published("sandisk-ultra-a1").unwrap();
        let all = crate::loads(&records);
        let error = |among: &[Load]| {
            deciding_load(&by_model(&records), Some(&all[0].title()), Some(among)).unwrap_err().to_string()
        };
        let title = quoted(&all[0].title());
        let rest = format!("; there are: {}", all[1].title());
        assert_eq!(error(&all[1..2]), format!("the load {title} is not in two of these groups{rest}"));
        assert_eq!(error(&[]), format!("the load {title} is not in two of these groups, and no other is"));
    }

    #[test]
    fn numbers_of_a_title_stay_apart() {
        assert_eq!(bare("Read 4KiB, QD 32"), bare("read 4 KiB QD32"));
        assert_ne!(bare("read, QD4, 44 jobs"), bare("read, QD44, 4 jobs"));
    }

    #[test]
    fn loads_are_named_by_title_by_workload_or_by_their_properties() {
        let records = published("sandisk-ultra-a1").unwrap();
        let title = crate::loads(&records)[0].title();
        assert_eq!(decided(&records, Some(&title.to_uppercase())), Ok(title.clone()));
        let name = &records[0].measurements[0].workload.name;
        assert!(decided(&records, Some(name)).is_ok(), "{name}");
        assert!(decided(&records, Some("random write")).unwrap().starts_with("random write"));
        for (words, said) in
            [("tape", "`tape` is not part of a load"), ("", "needs words"), ("sequential read 3 B", "there are: ")]
        {
            let error = decided(&records, Some(words)).unwrap_err();
            assert!(error.contains(said), "{words}: {error}");
        }
        assert!(decided(&[], None).unwrap_err().contains("measure first"));
    }
}
