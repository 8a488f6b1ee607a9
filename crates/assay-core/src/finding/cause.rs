//! What was found, in words.

use std::fmt;
use std::time::Duration;

use super::kind::Finding;
use crate::health::Unit;
use crate::medium::MediumKind;
use crate::units::{Bytes, figures, fixed, grouped, latency, multiple, span};

/// What was found, in pieces: words, numbers and names. Two causes of the same finding merge into one with ranges,
/// `only 2.1 to 5.3 % of the bytes`. Its `Display` is a sentence without a full stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Words(String),
    /// Lowest and highest number.
    Number {
        low: f64,
        high: f64,
        notation: Notation,
    },
    /// Stands before a number that is a bound, and falls away where that became a range.
    Bound(&'static str),
    /// What the number before it counts, in the singular.
    Noun(&'static str),
    /// Lowest and highest number of operations that were due and never begun; nothing where all were.
    NeverBegun {
        low: f64,
        high: f64,
    },
    /// Names, each once, behind these words; nothing where there is none.
    Names {
        before: &'static str,
        names: Vec<String>,
    },
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// A share from 0 to 1 as percent, without the sign.
    Percent,
    /// The same in whole percent.
    WholePercent,
    /// Bytes that moved over bytes issued: `140 % of`, and `10.1 times` where the highest is twice as much or more.
    Traffic,
    /// Three significant figures.
    Figures,
    /// A whole number.
    Count,
    /// A size with its unit.
    Size,
    /// Nanoseconds as a latency with its unit.
    Latency,
}

/// From this ratio on traffic is given as a multiple instead of percent.
const MOSTLY_OTHERS: f64 = 2.0;

/// More names than this are not listed.
const MOST_NAMES: usize = 3;

impl Cause {
    /// A cause that is only words.
    #[must_use]
    pub fn words(words: &str) -> Self {
        Self(vec![words.into()])
    }

    /// Takes over `other` where the two differ in numbers and names alone; says whether it did.
    pub fn merge(&mut self, other: &Self) -> bool {
        let alike = |(a, b): (&Piece, &Piece)| match (a, b) {
            (Piece::Number { notation, .. }, Piece::Number { notation: other, .. }) => notation == other,
            (Piece::Names { .. }, Piece::Names { .. }) | (Piece::NeverBegun { .. }, Piece::NeverBegun { .. }) => true,
            _ => a == b,
        };
        if self.0.len() != other.0.len() || !self.0.iter().zip(&other.0).all(alike) {
            return false;
        }
        for (piece, other) in self.0.iter_mut().zip(&other.0) {
            match (piece, other) {
                (Piece::Number { low, high, .. }, Piece::Number { low: other_low, high: other_high, .. })
                | (Piece::NeverBegun { low, high }, Piece::NeverBegun { low: other_low, high: other_high }) => {
                    (*low, *high) = (low.min(*other_low), high.max(*other_high));
                }
                (Piece::Names { names, .. }, Piece::Names { names: more, .. }) => {
                    let new: Vec<String> = more.iter().filter(|name| !names.contains(name)).cloned().collect();
                    names.extend(new);
                }
                _ => {}
            }
        }
        true
    }
}

impl Notation {
    /// Both ends of a range, and what stands behind them.
    fn write(self, low: f64, high: f64) -> ([String; 2], &'static str) {
        let behind = match self {
            Self::Traffic if high >= MOSTLY_OTHERS => " times",
            Self::Traffic => " % of",
            _ => "",
        };
        let multiples = behind == " times";
        let write = |value: f64| match self {
            Self::Percent => figures(value * 100.0),
            Self::Traffic if multiples => multiple(value),
            Self::Traffic | Self::WholePercent => fixed(value * 100.0, 0),
            Self::Figures => figures(value),
            Self::Count => grouped(value as i64),
            Self::Size => Bytes(value as u64).to_string(),
            Self::Latency => latency(value),
        };
        ([low, high].map(write), behind)
    }
}

impl Piece {
    fn is_range(&self) -> bool {
        match self {
            Self::Number { low, high, notation } => {
                let ([low, high], _) = notation.write(*low, *high);
                low != high
            }
            _ => false,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, piece) in self.0.iter().enumerate() {
            match piece {
                Piece::Words(words) => f.write_str(words)?,
                Piece::Bound(words) if !self.0.get(at + 1).is_some_and(Piece::is_range) => f.write_str(words)?,
                Piece::Bound(_) => {}
                Piece::Number { low, high, notation } => {
                    let ([low, high], behind) = notation.write(*low, *high);
                    f.write_str(&low)?;
                    if low != high {
                        write!(f, " to {high}")?;
                    }
                    f.write_str(behind)?;
                }
                Piece::Noun(noun) => {
                    let before = at.checked_sub(1).and_then(|before| self.0.get(before));
                    let one = matches!(before, Some(Piece::Number { high, .. }) if *high == 1.0);
                    write!(f, " {noun}{}", if one { "" } else { "s" })?;
                }
                Piece::NeverBegun { high: 0.0, .. } => {}
                Piece::NeverBegun { low: 1.0, high: 1.0 } => f.write_str(", one operation was never begun")?,
                Piece::NeverBegun { low, high } => {
                    let ([low, high], _) = Notation::Count.write(*low, *high);
                    let number = if low == high { low } else { format!("{low} to {high}") };
                    write!(f, ", {number} operations were never begun")?;
                }
                Piece::Names { names, .. } if names.is_empty() => {}
                Piece::Names { before, names } => write!(f, "{before}{}", list(names))?,
            }
        }
        Ok(())
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 2 more`.
fn list(names: &[String]) -> String {
    let shown = &names[..names.len().min(MOST_NAMES)];
    match (shown, names.len() - shown.len()) {
        (_, more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        ([init @ .., last], 0) if !init.is_empty() => format!("{} and {last}", init.join(", ")),
        (shown, 0) => shown.concat(),
    }
}

impl From<&str> for Piece {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Piece {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

fn number(value: f64, notation: Notation) -> Piece {
    Piece::Number { low: value, high: value, notation }
}

/// A share as percent with three figures.
fn percent(share: f64) -> Piece {
    number(share, Notation::Percent)
}

fn figure(value: f64) -> Piece {
    number(value, Notation::Figures)
}

fn count(value: impl Into<u64>) -> Piece {
    number(value.into() as f64, Notation::Count)
}

fn size(bytes: u64) -> Piece {
    number(bytes as f64, Notation::Size)
}

fn time(nanoseconds: f64) -> Piece {
    number(nanoseconds, Notation::Latency)
}

/// A cause of these pieces.
macro_rules! cause {
    ($($piece:expr),+ $(,)?) => { Cause(vec![$(Piece::from($piece)),+]) };
}

impl Finding {
    /// What was found, in a sentence without a full stop.
    #[must_use]
    pub fn cause(&self) -> String {
        self.pieces().to_string()
    }

    /// The same in pieces that can be merged with those of other figures.
    #[must_use]
    pub fn pieces(&self) -> Cause {
        let cause = self.medium_cause().or_else(|| self.load_cause()).or_else(|| self.repeats_cause());
        let cause = cause.or_else(|| self.run_cause()).or_else(|| self.host_cause()).or_else(|| self.source_cause());
        cause.unwrap_or_else(|| Cause::words("a finding of a newer version of assay"))
    }

    /// What answered: the medium, a cache, or something else.
    fn medium_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::CachedIo { reason } => {
                cause![format!("direct I/O is not possible here ({reason}); cached I/O was used")]
            }
            Self::CachedByRequest => cause!["the suite asks for cached I/O, so the page cache is part of the number"],
            Self::CacheNotDropped { reason } => {
                cause![format!("what was written before may have been read from memory: {reason}")]
            }
            Self::ServedFromCache { proof_ratio } => {
                cause!["served from a cache: only ", percent(*proof_ratio), " % of the bytes crossed the device"]
            }
            Self::LoopFromCache { median_ns } => cause![
                "the loop device reads its file through the page cache, and half of the direct reads took at most ",
                time(*median_ns),
                ": that is memory, not a medium"
            ],
            Self::OthersUsedDevice { proof_ratio: ratio } => {
                let moved = number(*ratio, Notation::Traffic);
                cause!["something else used the device: it moved ", moved, " the bytes issued"]
            }
            Self::NoProof { medium, reason } => cause![no_proof(medium.title(), reason.as_deref())],
            Self::ServerCache { medium: MediumKind::Virtio } => cause![
                "this disk is one of a virtual machine: its host may answer from memory, and neither direct I/O nor \
                 counters of this system show it"
            ],
            Self::ServerCache { medium } => {
                let medium = if *medium == MediumKind::Unknown { "volume" } else { medium.title() };
                cause![format!(
                    "this {medium} is on another machine: what that has in its memory is read without its medium, and \
                     neither direct I/O nor counters of this host show it"
                )]
            }
            Self::MemoryNotMedium { medium } => {
                cause![format!("this is {}: memory was measured, not a storage medium", medium.title())]
            }
            Self::NothingMounted => {
                cause!["nothing is mounted at this directory: the disk that holds the directory itself was measured"]
            }
            Self::OverlayHidesMedium => cause!["an overlay file system hides which medium is used"],
            Self::HealthWorsened { counter, before, after } => {
                let number = |value: i64| match counter.unit() {
                    Unit::Bits => format!("{value:#04x}"),
                    _ => grouped(value),
                };
                let (words, before, after) = (counter.words(), number(*before), number(*after));
                cause![format!("the medium's own counter got worse meanwhile: {words} {before} → {after}")]
            }
            Self::HealthTimedOut { source } => {
                cause![format!("the medium did not answer in time when its health was read ({})", source.title())]
            }
            Self::UnwrittenReads => cause![
                "reads of a raw device may touch blocks that were never written, which some media answer without work"
            ],
            _ => return None,
        })
    }

    /// How the load came about.
    fn load_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::LittlesLaw { ratio } => cause![
                "latency and rate contradict each other (Little's law off by ",
                percent((ratio - 1.0).abs()),
                " %)"
            ],
            Self::ShallowQueue { in_flight, asked } => {
                cause![figure(*in_flight), " operations were in flight on average instead of ", figure(*asked)]
            }
            Self::EndedByNeighbour { lasted_ns, planned_ns } => cause![
                "a repeat was ended by another workload at the same time after ",
                time(*lasted_ns as f64),
                " of ",
                time(*planned_ns as f64)
            ],
            Self::RateNotReached { asked_iops, reached_iops, unserved } => {
                let unserved = *unserved as f64;
                cause![
                    "the medium did not keep up: ",
                    figure(*asked_iops),
                    " IOPS were offered and ",
                    figure(*reached_iops),
                    " done",
                    Piece::NeverBegun { low: unserved, high: unserved },
                    "; its queue grows as long as it lasts, so the latency is at least what is shown"
                ]
            }
            Self::BegunLate { late_ns, share } => cause![
                "this computer began operations ",
                time(*late_ns),
                " late on average, ",
                percent(*share),
                " % of their latency"
            ],
            Self::DepthByThreads { threads } => {
                cause!["the queue depth was made by ", count(*threads), " threads with one operation each"]
            }
            Self::SeveralPriorities => cause!["latencies are of operations of all priorities together"],
            Self::InstrumentLimited { null_operations_per_second } => cause![
                "instrument-limited: this host issues at most ",
                figure(null_operations_per_second / 1e6),
                " million operations per second even to no device at all"
            ],
            Self::BusLimited { share } => cause![
                "bus-limited: ",
                percent(*share),
                " % of what the bus reaches, so the medium may be faster than this"
            ],
            Self::CrosscheckDiffers { peer, ratio, low, high } => cause![
                format!("{peer} disagrees: assay saw "),
                figure(*ratio),
                " times its rate (",
                figure(*low),
                " to ",
                figure(*high),
                ")"
            ],
            _ => return None,
        })
    }

    /// What repeats and seconds show, and what the budget left of them.
    fn repeats_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::FewOperations { operations } => {
                cause!["only ", count(*operations), Piece::Noun("operation"), ": the figure is a rough estimate"]
            }
            Self::Unsteady { repeats, of } => {
                cause!["erratic: ", count(*repeats), " of ", count(*of), " repeats never became steady"]
            }
            Self::NotReached { asked, reached, repeats } => {
                let mut cause = cause!["±", percent(*asked), " % was not reached: "];
                match reached {
                    Some(reached) => cause.0.extend(["±".into(), percent(*reached), " %".into()]),
                    None => cause.0.push("no interval".into()),
                }
                cause.0.extend([" over ".into(), count(*repeats), " repeats".into()]);
                cause
            }
            Self::Drift { change, over } => {
                let way = if *change < 0.0 { "fell" } else { "rose" };
                cause![
                    format!("not steady: the rate {way} by "),
                    percent(change.abs()),
                    format!(" % over the {}", over.title())
                ]
            }
            Self::TwoSpeeds { ratio, slow_share, over } => cause![
                "two speeds: ",
                percent(*slow_share),
                format!(" % of the {} ran at ", over.title()),
                percent(*ratio),
                " % of the rate of the others"
            ],
            Self::UnevenRepeats { ratio } => {
                cause!["the fastest repeat was ", figure(*ratio), " times as fast as the slowest"]
            }
            Self::FewerRepeats { planned, ran, shortfall } => {
                cause![count(*ran), " of ", count(*planned), format!(" repeats: {shortfall}")]
            }
            Self::ProgramLeftOut { program, planned, ran: 0, shortfall } => cause![
                format!("{program} was left out, "),
                count(*planned),
                format!(" repeats were planned: {shortfall}")
            ],
            Self::ProgramLeftOut { program, planned, ran, shortfall } => {
                cause![format!("{program}: "), count(*ran), " of ", count(*planned), format!(" repeats: {shortfall}")]
            }
            Self::ScaledDown { program, asked_size, used_size, by_all } => {
                let who = if *by_all { "not all nodes of the run could" } else { "this medium could not" };
                let what = program.as_ref().map(|program| format!("{program} ")).unwrap_or_default();
                let (asked, used) = asked_size.beside(*used_size);
                cause![format!("{what}ran {used} instead of {asked}, which {who} do within the budget")]
            }
            Self::SmallerSpan { asked_bytes, used_bytes, limit } => {
                cause!["test area of ", size(*used_bytes), " instead of ", size(*asked_bytes), format!(": {limit}")]
            }
            Self::SweepStopped { at_block_bytes } => {
                cause!["left out: ", size(*at_block_bytes), " blocks already reach what the bus allows"]
            }
            _ => return None,
        })
    }

    /// What happened to the run, its files and its record.
    fn run_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::JobFileDiffers { notes } => {
                cause![format!("not all of the job file is as fio runs it: {}", notes.join("; "))]
            }
            Self::AnotherRun => cause!["another run of assay is measuring the same file system"],
            Self::LeftoversRemoved { directories, bytes } => {
                cause![
                    "removed what ",
                    count(*directories),
                    Piece::Noun("killed run"),
                    " left here (",
                    size(*bytes),
                    ")"
                ]
            }
            Self::FileLeft { path, reason } => {
                cause![format!("the test file in {path} could not be removed: {reason}")]
            }
            Self::CheckUnfinished { path } => cause![format!("the check ended early; its files are in {path}")],
            Self::NotPutBack { journal, reason } => {
                cause![format!("not everything could be put back: {reason}; what is missing is in {journal}")]
            }
            Self::Resumed { rested_ns } => {
                cause![format!("the run was interrupted and resumed {} later", span(Duration::from_nanos(*rested_ns)))]
            }
            Self::SoakPaused { after_ns, rested_ns } => cause![format!(
                "the soak was interrupted after {} and resumed {} later: the medium rested and cooled down",
                span(Duration::from_nanos(*after_ns)),
                span(Duration::from_nanos(*rested_ns))
            )],
            Self::NotSaved { reason } => cause![format!("the record is not in the store: {reason}")],
            Self::SensorDropped { sensor, reason } => cause![format!("sensor {sensor} is no longer read: {reason}")],
            Self::FieldsLeftOut { fields } => {
                let (what, they) = if *fields == 1 { (" field", "it") } else { (" fields", "they") };
                cause![
                    "this copy lacks ",
                    count(*fields),
                    format!(
                        "{what} of the record: this version of assay does not know whether {they} may identify somebody"
                    )
                ]
            }
            Self::Suspended { suspended_ns } => cause![format!(
                "the process was stopped for {}; what was measured meanwhile is not counted",
                span(Duration::from_nanos(*suspended_ns))
            )],
            _ => return None,
        })
    }

    /// What an imported text is like.
    fn source_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::BestOf { runs } => {
                let mut cause = cause!["the best of "];
                cause.0.push(runs.map_or_else(|| "several".into(), count));
                cause.0.push(" runs: an upper bound, not what a run reaches on average".into());
                cause
            }
            Self::CachedByTool { tool } => {
                cause![format!("{tool} went through the page cache, which may be part of the number")]
            }
            Self::NotTold { tool, untold } => cause![format!("{tool} does not report: {untold}")],
            Self::CopyOf { record } => {
                cause![format!("a copy: its repeats equal those of record {record} to the last digit")]
            }
            Self::MarkedDoubtful { why } => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                cause![format!(
                    "marked as doubtful when it was imported{why}; it is kept as printed and not used for decisions"
                )]
            }
            Self::ToolFailed { tool, job, error, said } => {
                let of = job.as_ref().map(|job| format!(" of the job {job}")).unwrap_or_default();
                let said = said.as_ref().map(|said| format!(", {said}")).unwrap_or_default();
                cause![format!(
                    "{tool} ended with an error (error {error}{of}{said}); its figures are of what it did until then"
                )]
            }
            Self::SourceContradicts { contradiction } => {
                cause![format!("the imported text contradicts itself: {contradiction}")]
            }
            Self::SourceIncomplete { missing } => cause![format!("the imported text is not complete: {missing}")],
            _ => return None,
        })
    }

    /// What the host was like meanwhile.
    fn host_cause(&self) -> Option<Cause> {
        Some(match self {
            Self::SwapOnMedium => cause!["the host swaps on the medium under test"],
            Self::Throttled { signs } => {
                let signs: Vec<String> = signs.iter().map(ToString::to_string).collect();
                cause![format!("the processor was slowed down while it measured: {}", signs.join(", "))]
            }
            Self::UnderVoltage { sign } => cause![format!("the supply voltage was too low: {sign}")],
            Self::PastThrottling { flags } => {
                let flags: Vec<&str> = flags.iter().map(|flag| flag.title()).collect();
                cause![format!("before this run, since the host was started: {}", flags.join(", "))]
            }
            Self::LowClock { share, governor } => {
                let by = if governor.is_empty() { String::new() } else { format!(" (governor {governor})") };
                cause!["the processors ran at ", percent(*share), format!(" % of their maximum clock on average{by}")]
            }
            Self::LoadOfOthers { share, most } => {
                let used = number(*share, Notation::WholePercent);
                let names = match most.as_str() {
                    "" => Vec::new(),
                    "assay" => vec!["another assay process".to_owned()],
                    most => vec![most.to_owned()],
                };
                let most = Piece::Names { before: ", mostly ", names };
                cause!["other programs used ", Piece::Bound("up to "), used, " % of all processors", most]
            }
            Self::KernelErrors { lines, first } => {
                let mut cause = cause![format!("the kernel reported errors of the device: {first}")];
                if *lines > 1 {
                    cause.0.extend([" and ".into(), count(lines - 1), " more lines".into()]);
                }
                cause
            }
            Self::Swapped { pages } => {
                cause!["the host swapped ", count(*pages), " pages while the medium was measured"]
            }
            _ => return None,
        })
    }
}

/// Why nothing shows what crossed a device.
fn no_proof(medium: &str, reason: Option<&str>) -> String {
    let why = match reason {
        Some(reason) => format!("the counters of the block device under this {medium} cannot be read ({reason})"),
        None => format!("no block device whose counters could be read is known under this {medium}"),
    };
    format!("{why}: nothing proves that the bytes reached a medium")
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "schema")]
    use crate::finding::AreaLimit;
    use crate::finding::{Over, Size};
    #[cfg(feature = "schema")]
    use crate::health::CounterKind;

    /// One finding of each kind, by the schema of the record.
    #[cfg(feature = "schema")]
    fn one_of_each() -> Vec<Finding> {
        use serde_json::{Map, Value, json};

        /// A value of this schema; of several forms the first.
        fn value(schema: &Value, of: &Value) -> Value {
            if let Some(name) = of["$ref"].as_str() {
                return value(schema, &schema[name.trim_start_matches("#/").replace('/', ".").as_str()]);
            }
            if let Some(constant) = of.get("const") {
                return constant.clone();
            }
            if let Some(forms) = of["oneOf"].as_array() {
                return value(schema, &forms[0]);
            }
            if let Some(words) = of["enum"].as_array() {
                return words[0].clone();
            }
            // One that may be absent has the types of both.
            let kind = of["type"].as_str().or(of["type"][0].as_str());
            match kind {
                Some("string") => json!("words"),
                Some("boolean") => json!(true),
                Some("array") => json!([value(schema, &of["items"])]),
                Some("object") => {
                    let properties = of["properties"].as_object().into_iter().flatten();
                    let fields = properties.map(|(name, of)| (name.clone(), value(schema, of)));
                    Value::Object(fields.collect::<Map<String, Value>>())
                }
                _ => json!(1),
            }
        }
        let mut schema = schemars::schema_for!(Finding).to_value();
        let definitions = schema["$defs"].take();
        for (name, of) in definitions.as_object().into_iter().flatten() {
            schema[format!("$defs.{name}")] = of.clone();
        }
        let kinds = schema["oneOf"].as_array().unwrap();
        let one = |kind: &Value| serde_json::from_value(value(&schema, kind)).unwrap();
        kinds.iter().map(one).collect()
    }

    #[cfg(feature = "schema")]
    #[test]
    fn every_finding_has_words_of_its_own() {
        let mut causes: Vec<String> = one_of_each().iter().map(Finding::cause).collect();
        let all = causes.len();
        assert!(all > 40, "{all}");
        causes.sort();
        causes.dedup();
        assert_eq!(causes.len(), all, "two of a kind, or one without a cause: {causes:#?}");
    }

    /// Words of a text, without numbers, units and signs.
    #[cfg(feature = "schema")]
    fn words(text: &str) -> Vec<String> {
        let all = text.split(|c: char| !c.is_alphanumeric());
        all.filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic)).map(str::to_lowercase).collect()
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_page_of_warnings_has_their_words() {
        let page = include_str!("../../../../docs/my-result-is-suspect.md");
        let area = |limit| Finding::SmallerSpan { asked_bytes: 256 << 20, used_bytes: 27 << 20, limit };
        // The page has other forms of these, and other names in them.
        let mut all = vec![
            Finding::MemoryNotMedium { medium: MediumKind::Tmpfs },
            Finding::NoProof { medium: MediumKind::Nfs, reason: None },
            Finding::ServerCache { medium: MediumKind::Virtio },
            Finding::HealthWorsened { counter: CounterKind::MediaErrors, before: 3, after: 5 },
            Finding::LoadOfOthers { share: 0.99, most: "make".to_owned() },
            Finding::Drift { change: -0.24, over: Over::Repeats },
            Finding::CrosscheckDiffers { peer: "fio".to_owned(), ratio: 1.2, low: 1.1, high: 1.3 },
            Finding::FewOperations { operations: 35 },
            Finding::FieldsLeftOut { fields: 2 },
            area(AreaLimit::Time { bytes_per_second: 5.8e6 }),
            area(AreaLimit::FreeSpace),
            area(AreaLimit::WriteLimit),
        ];
        all.extend(one_of_each());
        let causes: Vec<Vec<String>> = all.iter().map(|finding| words(&finding.cause())).collect();
        let mut section = "";
        let mut unknown = Vec::new();
        for line in page.lines() {
            section = line.strip_prefix("## ").unwrap_or(section);
            let Some(cell) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else { continue };
            if section.is_empty() || section == "Comparisons" || ["assay says", "---"].contains(&cell) {
                continue;
            }
            for phrase in cell.trim_start_matches("**invalid** ").trim_start_matches("note: ").split("; ") {
                let said = words(phrase);
                if !causes.iter().any(|cause| said.iter().all(|word| cause.contains(word))) {
                    unknown.push(phrase);
                }
            }
        }
        assert!(unknown.is_empty(), "no finding says: {unknown:#?}");
    }

    #[test]
    fn what_proves_nothing_says_why_where_it_is_known() {
        let of = |text: &str| serde_json::from_str::<Finding>(text).unwrap();
        let old = of(r#"{"kind":"no_proof","medium":"nfs"}"#);
        assert!(old.cause().starts_with("no block device whose counters could be read is known"), "{}", old.cause());
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"kind":"no_proof","medium":"nfs"}"#);
        let new = of(r#"{"kind":"no_proof","medium":"usb_stick","reason":"not supported"}"#);
        assert!(new.cause().contains("USB stick cannot be read (not supported)"), "{}", new.cause());
    }

    #[test]
    fn traffic_of_others_is_told_in_percent_or_as_a_multiple() {
        let of = |proof_ratio| Finding::OthersUsedDevice { proof_ratio };
        assert!(of(1.401).cause().ends_with("it moved 140 % of the bytes issued"), "{}", of(1.401).cause());
        assert_eq!(
            merged(&[of(1.4), of(10.06), of(3.0)]).unwrap(),
            "something else used the device: it moved 1.40 to 10.1 times the bytes issued"
        );
        let few = |operations| Finding::FewOperations { operations };
        assert_eq!(merged(&[few(1), few(45)]).unwrap(), "only 1 to 45 operations: the figure is a rough estimate");
        assert!(of(10.06).cause().ends_with("it moved 10.1 times the bytes issued"), "{}", of(10.06).cause());
        assert!(Finding::FewOperations { operations: 1 }.cause().starts_with("only 1 operation:"));
    }

    #[test]
    fn a_load_of_this_program_is_that_of_another_process() {
        let of = |most: &str| Finding::LoadOfOthers { share: 0.5, most: most.to_owned() }.cause();
        assert!(of("assay").ends_with("mostly another assay process"), "{}", of("assay"));
        assert!(of("make").ends_with("mostly make") && of("").ends_with("of all processors"));
    }

    #[test]
    fn what_was_made_smaller_is_named_and_nothing_else() {
        let load = |block_bytes, queue_depth, jobs| Size::Load { block_bytes, queue_depth, jobs };
        let words = |asked, used| {
            let finding = Finding::ScaledDown { program: None, asked_size: asked, used_size: used, by_all: false };
            finding.cause().split(", which").next().unwrap_or_default().to_owned()
        };
        assert_eq!(words(load(4096, 32, 1), load(4096, 4, 1)), "ran QD4 instead of QD32");
        assert_eq!(words(load(1 << 20, 8, 4), load(4096, 2, 1)), "ran 4 KiB, QD2, 1 job instead of 1 MiB, QD8, 4 jobs");
    }

    fn merged(all: &[Finding]) -> Option<String> {
        let mut pieces = all.iter().map(Finding::pieces);
        let mut first = pieces.next()?;
        pieces.all(|other| first.merge(&other)).then(|| first.to_string())
    }

    #[test]
    fn causes_that_differ_in_numbers_become_one_with_ranges() {
        let cache = |proof_ratio| Finding::ServedFromCache { proof_ratio };
        assert_eq!(
            merged(&[cache(0.053), cache(0.021), cache(0.03)]).unwrap(),
            "served from a cache: only 2.10 to 5.30 % of the bytes crossed the device"
        );
        assert_eq!(merged(&[cache(0.053), cache(0.053)]).unwrap(), cache(0.053).cause());
        assert_eq!(merged(&[cache(0.1), Finding::AnotherRun]), None);
        let fell = |change| Finding::Drift { change, over: Over::Repeats };
        assert_eq!(merged(&[fell(-0.2), fell(0.2)]), None, "one fell and one rose");
    }

    #[test]
    fn a_range_is_no_bound_and_names_stand_once() {
        let load = |share, most: &str| Finding::LoadOfOthers { share, most: most.to_owned() };
        assert_eq!(
            merged(&[load(0.854, "rustc"), load(0.698, "cc1"), load(0.7, "rustc")]).unwrap(),
            "other programs used 70 to 85 % of all processors, mostly rustc and cc1"
        );
        let unnamed = merged(&[load(0.5, ""), load(0.6, "cc1"), load(0.55, "")]).unwrap();
        assert!(unnamed.ends_with("used 50 to 60 % of all processors, mostly cc1"), "{unnamed}");
        let many = merged(&["a", "b", "c", "d", "e"].map(|name| load(0.5, name))).unwrap();
        assert!(many.ends_with("used up to 50 % of all processors, mostly a, b, c and 2 more"), "{many}");
    }

    #[test]
    fn operations_that_were_never_begun_merge_with_none() {
        let behind = |unserved| Finding::RateNotReached { asked_iops: 200.0, reached_iops: 150.0, unserved };
        assert!(!behind(0).cause().contains("begun"), "{}", behind(0).cause());
        for (of, words) in [
            (&[1][..], "done, one operation was never begun; its"),
            (&[7], "done, 7 operations were never begun; its"),
            (&[1, 0, 7], "done, 0 to 7 operations were never begun; its"),
        ] {
            let all: Vec<Finding> = of.iter().map(|unserved| behind(*unserved)).collect();
            let text = merged(&all).unwrap();
            assert!(text.contains(words), "{text}");
        }
    }
}
