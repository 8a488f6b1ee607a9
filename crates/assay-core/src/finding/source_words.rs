//! What an imported text lacks and contradicts, and what its tool does not tell, in words.

use std::fmt;

use super::source::{Contradiction, Detail, JobPart, Missing, Place, RowFlaw, SourceAmount, SourceQuantity, Untold};
use crate::load_title::Op;
use crate::units::{Bytes, counted, figures, grouped, latency, rate, times};

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load { settings, share_of_reads } => {
                let share = share_of_reads.then_some("share of reads");
                let all: Vec<&str> = settings.iter().map(|setting| setting.title()).chain(share).collect();
                return f.write_str(&all.join(", "));
            }
            Self::Direction { taken: None } => "whether it read or wrote",
            Self::Direction { taken: Some(op) } => {
                let taken = match op {
                    Op::Read => "reading",
                    Op::Write => "writing",
                    Op::Mixed => "a mix",
                };
                return write!(f, "whether it read or wrote; {taken} is taken");
            }
            Self::Megabyte { taken_bytes } => {
                let taken = match taken_bytes {
                    1_000_000 => "10^6".to_owned(),
                    1_048_576 => "2^20".to_owned(),
                    other => other.to_string(),
                };
                return write!(f, "whether its MB are 10^6 or 2^20 bytes; {taken} is taken");
            }
            Self::Unit { figure, taken_unit } => {
                write!(f, "the unit of {}", figure.as_deref().unwrap_or("its table"))?;
                return taken_unit.as_ref().map_or(Ok(()), |taken| write!(f, "; {taken} is taken"));
            }
            Self::Runs => "of how many runs a figure is the mean",
            Self::RateOfBytes { job, engine } => {
                return write!(f, "a rate of bytes of the job {job}: the engine {engine} moves none");
            }
            Self::Alone => "what this job reaches alone: others ran in its group",
            Self::Parts { sum, jobs } if jobs.is_empty() => {
                return write!(f, "what each of the jobs did whose sum is reported as {sum}");
            }
            Self::Parts { jobs, .. } => {
                return write!(f, "what each of the jobs did that are reported as one: {}", jobs.join(", "));
            }
            Self::Digits => "less than whole units of its rate",
            Self::BlockSize { usual_bytes, bytes_per_second } => {
                return write!(
                    f,
                    "its block size: the usual one of {}, which its command does not name, would make {}",
                    Bytes(*usual_bytes),
                    rate(*bytes_per_second)
                );
            }
            Self::Primes => "to which number it looked for primes",
            Self::Health => "its health: an emulated device answers with zeros",
            Self::Call { taken_line } => {
                return write!(
                    f,
                    "which command printed it, as other text stands between; that of line {taken_line} is taken"
                );
            }
            Self::Unknown => NEWER,
        })
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning { tool } => write!(f, "the beginning of the output of {tool}"),
            Self::End { tool } => write!(f, "the end of the output of {tool}"),
            Self::Heading { section: Some(section) } => write!(f, "the heading of {section}"),
            Self::Heading { section: None } => f.write_str("a title or heading, so whose the figures below are"),
            Self::Lines { names, tells } => {
                let tells: Vec<&str> = tells.iter().map(|detail| detail.title()).collect();
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                match names.as_slice() {
                    [] => f.write_str(&tells.join(", ")),
                    [name] => write!(f, "the line {name}: {}", tells.join(", ")),
                    names => write!(f, "the lines {}: {}", names.join(", "), tells.join(", ")),
                }
            }
            Self::Row { flaw } => f.write_str(match flaw {
                RowFlaw::CutOff => "figures of a row that ends early",
                RowFlaw::NoNumber => "a figure of a row, which is no number",
                RowFlaw::Wrapped => "figures behind the break of a wrapped row",
                RowFlaw::FewerFigures => "rows with fewer figures than others, which do not say whose they are",
                RowFlaw::Broken => "parts of the document, which cannot be read",
                RowFlaw::Unknown => NEWER,
            }),
            Self::Results { missing, of } => write!(f, "results of {missing} of {}", counted(*of as usize, "job")),
            Self::OfJob { job, part } => {
                f.write_str(match part {
                    JobPart::End => "the end of a result",
                    JobPart::Reads => "the reads",
                    JobPart::Writes => "the writes",
                    JobPart::ReadsAndWrites => "the reads and writes",
                    JobPart::AllButLines => "all but single lines of the results",
                    JobPart::AllButSum => "the results of the jobs behind a sum",
                    JobPart::Unknown => NEWER,
                })?;
                job.as_ref().map_or(Ok(()), |job| write!(f, " of the job {job}"))
            }
            Self::Figures { test } => write!(f, "the figures of {test}"),
            Self::PartsOfScore { score } => write!(f, "the figures behind the score of {score}"),
            Self::Bytes { asked_bytes, told_bytes } => write!(
                f,
                "{} of the {} bytes that the command asks for",
                count(asked_bytes.saturating_sub(*told_bytes) as f64),
                count(*asked_bytes as f64)
            ),
            Self::AfterFailure { failed } => write!(f, "what comes behind a failure of {failed}"),
            Self::Beyond { figures } => write!(f, "figures behind the first {}", count(*figures as f64)),
            Self::Unknown => f.write_str(NEWER),
        }
    }
}

impl Detail {
    fn title(self) -> &'static str {
        match self {
            Self::Version => "its version",
            Self::Span => "the size of the test area",
            Self::Runs => "the number of runs",
            Self::Statistic => "whether a figure is a mean or the best",
            Self::Time => "how long it took",
            Self::Speed => "its speed",
            Self::Score => "its score",
            Self::Verdict => "whether it found errors",
            Self::SectorCounts => "counts of sectors",
            Self::LostFiles => "which files have lost data",
            Self::MissingFiles => "files that it did not find",
            Self::Totals => "the totals of reads and writes",
            Self::Summary => "its summary",
            Self::Check => "its own check of the result",
            Self::Completion => "whether it ended",
            Self::Options => "options of its command",
            Self::Unknown => NEWER,
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Product { product, one, other } => {
                let made = SourceAmount::new(product.quantity, one.value * other.value);
                write!(f, "{one} {} {other} make {made}, not {product}", one.quantity.joins(other.quantity))?;
                factor(f, made.value / product.value)
            }
            Self::Places { quantity, of, here, place, there, other_place } => {
                let of = of.as_ref().map(|of| format!(" ({of})")).unwrap_or_default();
                let (here, there) = (SourceAmount::new(*quantity, *here), SourceAmount::new(*quantity, *there));
                write!(f, "{here}{of} {}, but {there} {}", place.words(), other_place.words())?;
                factor(f, here.value / there.value)
            }
            Self::Command { option, command, output } => {
                write!(f, "the command has {option}={command}, the output {output}; the output counts")
            }
            Self::Fields { format, fields } => {
                write!(f, "a line of format {format} has the {fields} fields of another")
            }
            Self::DirectAndBuffered { on } => {
                let both = if *on { "on" } else { "off" };
                write!(f, "direct and buffered I/O are both {both}: the latter was taken")
            }
            Self::OtherDirection { test: Op::Write } => f.write_str("a test of writes counts reads"),
            Self::OtherDirection { .. } => f.write_str("a test of reads counts writes"),
            Self::Unknown => f.write_str(NEWER),
        }
    }
}

/// How many times the larger is the smaller.
fn factor(f: &mut fmt::Formatter<'_>, ratio: f64) -> fmt::Result {
    let ratio = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    if ratio.is_finite() && ratio > 1.0 { write!(f, " (one is {} the other)", times(ratio)) } else { Ok(()) }
}

impl fmt::Display for SourceAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.quantity {
            SourceQuantity::BytesPerSecond => f.write_str(&rate(value)),
            SourceQuantity::Iops => write!(f, "{} IOPS", figures(value)),
            SourceQuantity::Bytes => write!(f, "{} bytes", count(value)),
            SourceQuantity::SectorBytes | SourceQuantity::BlockBytes => write!(f, "{}", Bytes(value as u64)),
            SourceQuantity::Operations => write!(f, "{} operations", count(value)),
            SourceQuantity::Seconds => write!(f, "{} s", figures(value)),
            SourceQuantity::LatencyNs => write!(f, "{} each", latency(value)),
            SourceQuantity::InFlight => write!(f, "{} at once", figures(value)),
            SourceQuantity::Sectors => write!(f, "{} sectors", count(value)),
            SourceQuantity::Seeks => write!(f, "{} seeks/s", figures(value)),
            SourceQuantity::Score => f.write_str(&count(value)),
            SourceQuantity::Unknown => f.write_str(&figures(value)),
        }
    }
}

/// A whole number in full.
fn count(value: f64) -> String {
    if value.abs() < 1e15 { grouped(value.round() as i64) } else { figures(value) }
}

impl SourceQuantity {
    /// What stands between this one and another of a product.
    fn joins(self, other: Self) -> &'static str {
        match (self, other) {
            (_, Self::Seconds) => "in",
            (_, Self::BlockBytes | Self::SectorBytes | Self::LatencyNs) => "of",
            _ => "times",
        }
    }
}

impl Place {
    fn words(self) -> &'static str {
        match self {
            Self::Row => "in its row",
            Self::Sentence => "in the sentence behind it",
            Self::Table => "in the table",
            Self::Csv => "in its line of CSV",
            Self::Summary => "in the summary",
            Self::Sum => "as the sum of its parts",
            Self::Best => "as the best of its rows",
            Self::Mean => "as the mean of its rows",
            Self::Binary => "in units of 1024",
            Self::Decimal => "in units of 1000",
            Self::Processes => "by its processes",
            Self::Parent => "by their parent",
            Self::First => "in one line",
            Self::Again => "in another",
            Self::Computed => "by its figures",
            Self::Tested => "tested",
            Self::Whole => "in all",
            Self::Unknown => "at another place",
        }
    }
}

/// What this version cannot name.
const NEWER: &str = "something that a newer version of assay knows";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_figures_that_contradict_are_told_with_what_they_make() {
        let told = SourceAmount::new;
        let product = Contradiction::product(
            told(SourceQuantity::BytesPerSecond, 53.79e6),
            told(SourceQuantity::Iops, 305.0),
            told(SourceQuantity::BlockBytes, 4096.0),
        );
        assert_eq!(
            product.to_string(),
            "305 IOPS of 4 KiB make 1.25 MB/s, not 53.8 MB/s (one is 43.1 times the other)"
        );
        let places = |here, there| {
            Contradiction::places(SourceQuantity::Sectors, "lost", (Place::Summary, here), (Place::Sum, there))
                .to_string()
        };
        assert_eq!(
            places(8192.0, 4096.0),
            "8 192 sectors (lost) in the summary, but 4 096 sectors as the sum of its parts (one is 2.00 times the other)"
        );
        assert_eq!(places(8192.0, 0.0), "8 192 sectors (lost) in the summary, but 0 sectors as the sum of its parts");
    }
}
