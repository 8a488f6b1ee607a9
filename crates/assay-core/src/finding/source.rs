//! What an imported text lacks, what of it contradicts itself, and what its tool does not tell.
//!
//! These are values; `source_words.rs` makes their sentences. Names are kept as the text spells them.

use serde::{Deserialize, Serialize};

use crate::load_title::Op;
use crate::workload::Unknown;

/// What a tool does not tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum Untold {
    /// Settings of the load.
    Load {
        /// Which.
        settings: Vec<Unknown>,
        /// Whether the share of reads of a mix is among them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        share_of_reads: bool,
    },
    /// Whether it read or wrote.
    Direction {
        /// What is taken for it; absent where nothing is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken: Option<Op>,
    },
    /// Whether its MB are 10^6 or 2^20 bytes.
    Megabyte {
        /// What is taken for it, in bytes.
        taken_bytes: u64,
    },
    /// The unit of a figure.
    Unit {
        /// The figure, as the text calls it; absent where the whole table lacks its unit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        figure: Option<String>,
        /// What is taken for it; absent where nothing is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_unit: Option<String>,
    },
    /// The number of runs that a mean is made of.
    Runs,
    /// A rate of bytes, as its engine moves none.
    RateOfBytes {
        /// The job.
        job: String,
        /// Its engine.
        engine: String,
    },
    /// What a job reaches alone: others ran at the same time.
    Alone,
    /// The parts of a sum: the text prints several jobs together.
    Parts {
        /// What the sum is called.
        sum: String,
        /// The jobs, as far as they are named, the first few of many.
        jobs: Vec<String>,
    },
    /// The digits of a rate behind whole units.
    Digits,
    /// The size of a block: the usual one is not it.
    BlockSize {
        /// The usual one.
        usual_bytes: u64,
        /// What it would make of the operations, which no medium reaches.
        bytes_per_second: f64,
    },
    /// To which number it looked for primes.
    Primes,
    /// The health of a medium: an emulated device answers with zeros.
    Health,
    /// Which of the commands above printed it, as other text stands between.
    Call {
        /// The line of the command whose load is taken.
        taken_line: u32,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What a text lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Missing {
    /// The beginning of what a tool prints.
    Beginning {
        /// The tool.
        tool: String,
    },
    /// The end of what a tool prints.
    End {
        /// The tool.
        tool: String,
    },
    /// The title or heading above figures, so that it is not certain what they are of.
    Heading {
        /// The section, as its heading would be; absent where it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        section: Option<String>,
    },
    /// Lines, and what they tell.
    Lines {
        /// What they begin with, where it is fixed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
        /// What is not known without them.
        tells: Vec<Detail>,
    },
    /// Figures of a row.
    Row {
        /// What is wrong with it.
        flaw: RowFlaw,
    },
    /// Results of some of the jobs.
    Results {
        /// How many.
        missing: u32,
        /// Of how many.
        of: u32,
    },
    /// Some of what a job did.
    OfJob {
        /// The job; absent where the text does not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<String>,
        /// What of it.
        part: JobPart,
    },
    /// The figures of a test that is named.
    Figures {
        /// The test, as the text calls it.
        test: String,
    },
    /// The figures behind a score.
    PartsOfScore {
        /// The score, as the text calls it.
        score: String,
    },
    /// Bytes that its command asks for.
    Bytes {
        /// How many it asks for.
        asked_bytes: u64,
        /// How many were moved.
        told_bytes: u64,
    },
    /// What comes behind a failure.
    AfterFailure {
        /// What failed.
        failed: String,
    },
    /// Figures beyond the most that are read.
    Beyond {
        /// The most.
        figures: u64,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What lines of a text tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The version of the tool.
    Version,
    /// The size of the test area.
    Span,
    /// The number of runs.
    Runs,
    /// Whether a figure is a mean or the best.
    Statistic,
    /// How long it took.
    Time,
    /// How fast it was.
    Speed,
    /// Its score.
    Score,
    /// Whether it found errors.
    Verdict,
    /// Counts of sectors.
    SectorCounts,
    /// Files that have lost data.
    LostFiles,
    /// Files that were not found.
    MissingFiles,
    /// Its sums of reads and of writes.
    Totals,
    /// Its summary.
    Summary,
    /// Its own check of its result.
    Check,
    /// That it ended.
    Completion,
    /// Options of its command.
    Options,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What is wrong with a row of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowFlaw {
    /// It ends early.
    CutOff,
    /// A figure is no number.
    NoNumber,
    /// It was wrapped, and what stood behind the break cannot be told.
    Wrapped,
    /// It has fewer figures than others, which do not say whose they are.
    FewerFigures,
    /// A part of a document cannot be read.
    Broken,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What of a job is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobPart {
    /// The end of its result.
    End,
    /// Its reads, beside which it wrote.
    Reads,
    /// Its writes, beside which it read.
    Writes,
    /// Its reads and its writes.
    ReadsAndWrites,
    /// All but single lines of its results.
    AllButLines,
    /// All but the sum of it and of others.
    AllButSum,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// What of a text contradicts itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "between", rename_all = "snake_case")]
pub enum Contradiction {
    /// A figure, and the two whose product it should be.
    Product {
        /// What it should be.
        product: SourceAmount,
        /// One of the two.
        one: SourceAmount,
        /// The other.
        other: SourceAmount,
    },
    /// The same quantity at two places of the text.
    Places {
        /// Which.
        quantity: SourceQuantity,
        /// Of what, as the text calls it; absent where nothing else is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
        /// What one says.
        here: f64,
        /// Which it is.
        place: Place,
        /// What the other says.
        there: f64,
        /// Which it is.
        other_place: Place,
    },
    /// An option of the command, and what the tool says of itself.
    Command {
        /// The option.
        option: String,
        /// Its value in the command.
        command: String,
        /// What the tool says, which counts.
        output: String,
    },
    /// The version of a format, and the fields of a line of it.
    Fields {
        /// The version.
        format: String,
        /// How many fields the line has.
        fields: u64,
    },
    /// Direct and buffered I/O, which exclude each other.
    DirectAndBuffered {
        /// Whether both are on, or both off.
        on: bool,
    },
    /// A test of one direction, and figures of the other.
    OtherDirection {
        /// The direction of the test.
        test: Op,
    },
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// A figure of a text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SourceAmount"))]
pub struct SourceAmount {
    /// Of what it is.
    pub quantity: SourceQuantity,
    /// Its value, in the unit of the quantity.
    pub value: f64,
}

/// A quantity of a text, with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceQuantity {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    Iops,
    /// Bytes that were moved.
    Bytes,
    /// Operations that were done.
    Operations,
    /// How long it took.
    Seconds,
    /// Bytes of an operation.
    BlockBytes,
    /// Mean latency in nanoseconds.
    LatencyNs,
    /// Operations at the same time.
    InFlight,
    /// Sectors of 512 bytes.
    Sectors,
    /// Bytes that sectors hold.
    SectorBytes,
    /// Seeks per second.
    Seeks,
    /// A score.
    Score,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

/// A place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A row of figures.
    Row,
    /// The sentence behind it.
    Sentence,
    /// The table.
    Table,
    /// The line of comma-separated values.
    Csv,
    /// The summary, or a total.
    Summary,
    /// The sum of its parts.
    Sum,
    /// The best of its rows.
    Best,
    /// The mean of its rows.
    Mean,
    /// In units of 1024.
    Binary,
    /// In units of 1000.
    Decimal,
    /// The processes that ran.
    Processes,
    /// Their parent.
    Parent,
    /// The first line of it.
    First,
    /// A later line of it.
    Again,
    /// What the figures make.
    Computed,
    /// What was tested.
    Tested,
    /// All that there is.
    Whole,
    /// Something that this version has no name for.
    #[serde(other)]
    Unknown,
}

impl Missing {
    /// Lines that begin with these names, where they are fixed, and what they tell.
    #[must_use]
    pub fn lines(names: &[&str], tells: &[Detail]) -> Self {
        Self::Lines { names: names.iter().map(|name| (*name).to_owned()).collect(), tells: tells.to_vec() }
    }
}

impl Contradiction {
    /// A figure, and the two whose product it should be.
    #[must_use]
    pub fn product(product: SourceAmount, one: SourceAmount, other: SourceAmount) -> Self {
        Self::Product { product, one, other }
    }

    /// The same quantity at two places of a text.
    #[must_use]
    pub fn places(quantity: SourceQuantity, of: &str, here: (Place, f64), there: (Place, f64)) -> Self {
        let (place, other_place) = (here.0, there.0);
        let (here, there) = (finite(here.1), finite(there.1));
        let of = Some(of.to_owned()).filter(|of| !of.is_empty());
        Self::Places { quantity, of, here, place, there, other_place }
    }
}

impl SourceAmount {
    /// A figure.
    #[must_use]
    pub fn new(quantity: SourceQuantity, value: f64) -> Self {
        Self { quantity, value: finite(value) }
    }
}

/// Documents hold no other numbers.
fn finite(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_a_document_is_none_of_a_contradiction() {
        let of = |value| Contradiction::places(SourceQuantity::Iops, "", (Place::Row, value), (Place::Sentence, 1.0));
        for value in [f64::INFINITY, f64::NAN, f64::MAX, 0.0] {
            let text = serde_json::to_string(&of(value)).unwrap();
            assert_eq!(serde_json::from_str::<Contradiction>(&text).unwrap(), of(value), "{text}");
        }
    }

    #[test]
    fn what_a_newer_version_knows_is_read() {
        assert_eq!(serde_json::from_str::<Missing>(r#"{"what":"soul"}"#).unwrap(), Missing::Unknown);
        assert_eq!(serde_json::from_str::<Untold>(r#"{"about":"it","x":1}"#).unwrap(), Untold::Unknown);
        assert_eq!(serde_json::from_str::<Contradiction>(r#"{"between":"us"}"#).unwrap(), Contradiction::Unknown);
    }
}
