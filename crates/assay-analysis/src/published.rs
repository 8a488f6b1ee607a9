//! The figures of published articles as records: a reference set that ships with the program.

use std::collections::BTreeMap;

use assay_core::draft::Draft;
use assay_core::estimate::Estimate;
use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::observation::Observation;
use assay_core::origin::PUBLISHED;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Origin, Record, SuiteRef, Tool};
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern, Workload};

/// What a query for published figures begins with: `published:`, `published:sandisk-ultra-a1`,
/// `published:sandisk-ultra-a1/3`.
pub const PREFIX: &str = "published:";

/// See `data/README.md`.
const FIGURES: &str = include_str!("../../../data/published.csv");
/// How a published figure came about, as far as is known.
const METHOD: &str = "as published, one value";

/// No published figure is named so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no published medium is named {}; there are {known}", quoted(.asked))]
pub struct PublishedError {
    /// The requested name, without the prefix.
    pub asked: String,
    /// The known names.
    pub known: String,
}

/// The records that a query after [`PREFIX`] names: all for none, a medium by its name in small
/// letters and hyphens, one unit of it after a slash.
///
/// # Errors
/// [`PublishedError`] with the names there are.
pub fn published_records(query: &str) -> Result<Vec<Record>, PublishedError> {
    let all = every();
    if query.is_empty() {
        return Ok(all);
    }
    let wanted = query.to_ascii_lowercase();
    let named: Vec<Record> = all
        .iter()
        .filter(|r| {
            let id = r.id.trim_start_matches(PREFIX);
            id == wanted || id.split('/').next() == Some(wanted.as_str())
        })
        .cloned()
        .collect();
    if named.is_empty() {
        let mut known: Vec<&str> =
            all.iter().filter_map(|r| r.id.trim_start_matches(PREFIX).split('/').next()).collect();
        known.dedup();
        return Err(PublishedError { asked: query.to_owned(), known: known.join(", ") });
    }
    Ok(named)
}

/// [`published_records`] as results about many records take them.
///
/// # Errors
/// As of the records.
pub fn published(query: &str) -> Result<Vec<Observation>, PublishedError> {
    Ok(published_records(query)?.iter().map(Observation::from).collect())
}

fn every() -> Vec<Record> {
    let mut drafts: Vec<Draft> = Vec::new();
    for line in FIGURES.lines().skip(1) {
        let Some(row) = PublishedFigure::parse(line) else { continue };
        let id = row.id();
        let index = drafts.iter().position(|draft| draft.record().id == id).unwrap_or_else(|| {
            drafts.push(row.draft(&id));
            drafts.len() - 1
        });
        drafts[index].fill().measurements.push(row.measurement());
    }
    drafts.into_iter().map(|draft| draft.close(Outcome::Completed)).collect()
}

/// A line of the file.
struct PublishedFigure<'a> {
    article: &'a str,
    medium: &'a str,
    unit: &'a str,
    host: &'a str,
    tool: &'a str,
    op: Op,
    pattern: Pattern,
    block_bytes: u64,
    queue_depth: u32,
    jobs: u32,
    bytes_per_second: f64,
    iops: Option<f64>,
    printed: &'a str,
}

impl<'a> PublishedFigure<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [article, medium, unit, host, tool, op, pattern, block, depth, jobs, rate, iops, printed] = cells[..]
        else {
            return None;
        };
        Some(Self {
            article,
            medium,
            unit,
            host,
            tool,
            op: if op == "read" { Op::Read } else { Op::Write },
            pattern: if pattern == "random" { Pattern::Random } else { Pattern::Sequential },
            block_bytes: block.parse().ok()?,
            queue_depth: depth.parse().ok()?,
            jobs: jobs.parse().ok()?,
            bytes_per_second: rate.parse().ok()?,
            iops: iops.parse().ok(),
            printed,
        })
    }

    fn id(&self) -> String {
        let slug: String =
            self.medium.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let words: Vec<&str> = slug.split('-').filter(|word| !word.is_empty()).collect();
        let slug = words.join("-");
        if self.unit.is_empty() {
            format!("{PREFIX}{slug}")
        } else {
            format!("{PREFIX}{slug}/{}", self.unit.to_ascii_lowercase())
        }
    }

    fn kind(&self) -> MediumKind {
        let name = self.medium.to_ascii_lowercase();
        let says = |word: &str| name.contains(word);
        if says("iscsi") {
            MediumKind::Iscsi
        } else if says("hdd") {
            MediumKind::SataHdd
        } else if says("ssd via sata") {
            MediumKind::SataSsd
        } else if says("ssd") {
            MediumKind::UsbDisk
        } else if says("usb") {
            MediumKind::UsbStick
        } else {
            MediumKind::Sd
        }
    }

    /// What the articles say of the bus: "theoretically up to 25MB/s, but practically about 23MB/s" of the slot
    /// for microSD of a SOPINE module ("Cluster Computing: Benchmarking Local Storage", part one).
    fn bus(&self) -> Option<Bus> {
        (self.host == "SOPINE A64" && self.kind() == MediumKind::Sd).then(|| Bus {
            kind: "sd".to_owned(),
            mode: "SDR25".to_owned(),
            ceiling_bytes_per_second: Some(25e6),
            reachable_bytes_per_second: Some(23e6),
            driver: None,
            source: "the article".to_owned(),
        })
    }

    /// The record of the figures of this medium, without figures yet.
    fn draft(&self, id: &str) -> Draft {
        let mut labels = BTreeMap::from([("model".to_owned(), self.medium.to_owned())]);
        if !self.unit.is_empty() {
            labels.insert("unit".to_owned(), self.unit.to_owned());
        }
        let tool = Tool {
            name: PUBLISHED.to_owned(),
            version: String::new(),
            commit: None,
            engine: self.tool.to_owned(),
            engine_reason: "according to the article".to_owned(),
        };
        let (kind, model, bus) = (self.kind(), Some(self.medium.to_owned()), self.bus());
        let medium = Medium { kind, model, bus, ..Medium::unknown("") };
        Draft::begin(id, "", tool, SuiteRef::new(PUBLISHED, 1), medium)
            .on_host(Host { board: Some(self.host.to_owned()), ..Host::default() })
            .labelled(labels)
            .taken_from(Origin::Published { article: self.article.to_owned() })
    }

    fn measurement(&self) -> Measurement {
        let workload = Workload {
            queue_depth: self.queue_depth,
            jobs: self.jobs,
            ..Workload::new(self.tool, self.op, self.pattern, self.block_bytes)
        };
        let mut measurement = Measurement::empty(workload, self.tool);
        let method = if self.printed.is_empty() { METHOD.to_owned() } else { format!("{METHOD}: {}", self.printed) };
        let iops = self.iops.unwrap_or(self.bytes_per_second / self.block_bytes as f64);
        measurement.bytes_per_second = Some(Estimate::bare(self.bytes_per_second, 1, &method));
        measurement.iops = Some(Estimate::bare(iops, 1, &method));
        measurement
    }
}

#[cfg(test)]
mod tests {
    use assay_core::observation::ObservedOrigin;

    use super::*;

    #[test]
    fn every_line_is_a_figure() {
        let figures: usize = every().iter().map(|r| r.measurements.len()).sum();
        assert_eq!(figures, FIGURES.lines().count() - 1);
    }

    #[test]
    fn media_are_found_by_name_and_unit() {
        let cards = published("sandisk-ultra-a1").unwrap();
        assert_eq!(cards.len(), 3);
        let third = published("SanDisk-Ultra-A1/3").unwrap();
        assert_eq!(third[0].labels["unit"], "3");
        let error = published("nothing").unwrap_err();
        assert!(error.to_string().contains("sandisk-ultra-a1"), "{error}");
        assert!(!published("\u{1b}[2J").unwrap_err().to_string().contains('\u{1b}'));
        assert!(published("").unwrap().len() >= 16);
    }

    /// One's own unit 1 of a model is not the article's.
    #[test]
    fn units_of_an_article_are_its_own() {
        let published = published("sandisk-ultra-a1/1").unwrap().remove(0);
        let own = Observation { origin: ObservedOrigin::default(), ..published.clone() };
        let (theirs, mine) = (crate::identity(&published), crate::identity(&own));
        assert_eq!((theirs.model, theirs.unit.as_str()), (mine.model, "1 (published)"));
        assert_eq!(mine.unit, "1");
        assert_eq!(published.medium.reachable(), Some(23e6), "the bus that the article states");
    }

    #[test]
    fn rates_are_in_bytes() {
        let card = &published("sandisk-extreme-a2/1").unwrap()[0];
        let first = &card.measurements[0];
        assert_eq!(first.bytes_per_second.as_ref().unwrap().point, 6116.0 * 1024.0);
        assert_eq!(first.iops.as_ref().unwrap().point, 1529.0);
        assert_eq!(first.workload.jobs, 4);
    }
}
