//! The result of a comparison, as data, with its notes.

use std::fmt;

use assay_core::estimate::Estimate;
use assay_core::finding::Warning;
use assay_core::verification::Verdict;
use serde::Serialize;

use crate::deciding::Needed;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::Mark;
use crate::{Excluded, Reason};

/// A comparison of groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Confidence level of all intervals.
    pub level: f64,
    /// Ratios up to this do not matter: 0.03 is 3 %.
    pub margin: f64,
    /// The compared groups; the first is the reference.
    pub groups: Vec<GroupInfo>,
    /// Loads that at least two groups have; one is primary, the others are exploratory.
    pub loads: Vec<LoadComparison>,
    /// Figures that are left out, and why.
    pub excluded: Vec<Excluded>,
    /// Other causes of a difference, and limits of the answers.
    pub notes: Vec<Note>,
}

impl Comparison {
    /// Index of the group of an excluded record.
    #[must_use]
    pub fn group_of(&self, excluded: &Excluded) -> Option<usize> {
        self.groups.iter().position(|group| group.records.contains(&excluded.record))
    }

    /// The load that the answer is about; `None` where no load is in two groups.
    #[must_use]
    pub fn primary(&self) -> Option<&LoadComparison> {
        self.loads.iter().find(|load| load.primary)
    }

    /// Whether a comparison was made with sound figures, which are neither invalid nor from a fake medium.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let unsound = |verdict| matches!(verdict, PairVerdict::CannotTell(WhyUnknown::Invalid | WhyUnknown::Fake));
        self.primary().is_some_and(|load| load.pairs.iter().any(|pair| !unsound(pair.verdict)))
    }
}

/// A group. Text is as media and users gave it: escape it before it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupInfo {
    /// `A` for the first.
    pub letter: char,
    /// As the user named it.
    pub query: String,
    /// Its models.
    pub models: Vec<String>,
    /// Its units with a record that is not left out as a whole, each with its model; all where there is none. An empty name
    /// where records do not say it.
    pub units: Vec<(String, String)>,
    /// Ids of its records.
    pub records: Vec<String>,
}

/// A load, and the figures of the groups under it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadComparison {
    /// The load as text.
    pub title: String,
    /// The load as data.
    pub load: Load,
    /// The figure that is compared.
    pub quantity: Quantity,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Whether this load decides. All other loads are exploratory: their intervals hold one by one.
    pub primary: bool,
    /// How the intervals of ratios were made.
    pub method: Method,
    /// Whether a group's repeats ended when their interval was narrow, and the intervals of ratios are made wider
    /// for that.
    pub widened: bool,
    /// Whether the effects of slots and rounds were taken out of the figures of the groups, as the ranking does.
    pub adjusted: bool,
    /// Groups that have a figure.
    pub sides: Vec<GroupFigure>,
    /// All pairs of them, the reference first.
    pub pairs: Vec<Pair>,
}

/// The subject of the answer about a pair, which depends on what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PairQuestion {
    /// One unit in both groups: whether it changed, by more than it does from day to day.
    Runs,
    /// A unit of a model against another one.
    Units,
    /// A unit against others of its model, by how much those differ.
    UnitAgainstOthers,
    /// The same units in both groups, such as on two hosts: each is compared with itself.
    SameUnits,
    /// Several units against several others: their models, or parts of one.
    Models,
    /// Two models, with one unit measured of at least one of them: this does not represent the models.
    Specimens,
}

/// How the intervals of ratios were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Welch's intervals on logarithms, and where days or pairs of units decide Student's.
    Welch,
    /// Several groups of one basis: simultaneous, variances shared in part.
    Simultaneous,
    /// Several groups of different bases: Welch's intervals by Bonferroni's correction.
    WelchBonferroni,
}

/// The kind of the values of a group, which determines the subject of a statement about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupBasis {
    /// Repeats of one run: the statement is about this unit in this run.
    Repeats,
    /// Geometric means of the runs of one unit on one day: the statement is about this unit on that day.
    Runs,
    /// Geometric means of the days of one unit: the statement is about this unit.
    Days,
    /// Geometric means of units: the statement is about the model.
    Units,
}

/// A group under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupFigure {
    /// Index of the group.
    pub group: usize,
    /// The kind of the values.
    pub basis: GroupBasis,
    /// The geometric mean of the values.
    pub estimate: Option<Estimate>,
    /// The compared values.
    pub values: Vec<f64>,
    /// The source of the values: every point of every run.
    pub runs: Vec<SideRun>,
    /// Caveats of the figures.
    pub marks: Vec<Mark>,
}

impl GroupFigure {
    /// Whether the values ended when their interval was narrow.
    pub(super) fn until_narrow(&self) -> bool {
        self.basis == GroupBasis::Repeats && self.runs.iter().any(|run| run.until_narrow)
    }

    /// Whether the side wins nothing, because no sound figure is in it.
    pub(super) fn excluded(&self) -> bool {
        self.marks.iter().any(|mark| mark.excludes())
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }
}

/// The figures of one record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideRun {
    /// Its id.
    pub record: String,
    /// Its unit: model and name.
    pub unit: (String, String),
    /// The day of its unit and the host, by one name ([`assay_stats::days`]).
    #[serde(skip)]
    pub day: Option<String>,
    /// The step in which its figure was printed, as a share of the figure; 0 for a figure that was not rounded.
    #[serde(skip)]
    pub resolution: f64,
    /// The host it was made at.
    #[serde(skip)]
    pub host: Option<String>,
    /// The kind of computer it was made with.
    #[serde(skip)]
    pub computer: Option<String>,
    /// Whether the record names neither model nor unit: it is unknown whether two such records are of one medium.
    #[serde(skip)]
    pub nameless: bool,
    /// The values of its repeats.
    pub points: Vec<f64>,
    /// Whether their number was decided by how narrow their interval was (`--confidence`).
    pub until_narrow: bool,
    /// Caveats of these values.
    pub marks: Vec<Mark>,
}

/// One group against another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Index of the group that is the reference.
    pub first: usize,
    /// Index of the other.
    pub second: usize,
    /// The subject of the answer.
    pub question: PairQuestion,
    /// The second over the first.
    pub ratio: f64,
    /// Lower end of its interval; null where there is none.
    pub low: Option<f64>,
    /// Upper end of its interval; null where there is none.
    pub high: Option<f64>,
    /// The variance of days in the interval; null where units vary by more than days do.
    pub days: Option<Days>,
    /// The two runs by themselves, where each side has one run: their repeats do not cover another day.
    pub runs: Option<RunPair>,
    /// Whether the spread between the runs of a group decided.
    pub series: SeriesUse,
    /// The interval of the ratio of the two models, where two units of different models were compared as units. One
    /// unit says little about its model; units of a model are assumed to differ by 15 %.
    pub models: Option<(f64, f64)>,
    /// Values in the first and in the second.
    pub n: (usize, usize),
    /// The verdict.
    pub verdict: PairVerdict,
    /// Whether the interval excludes equality, however small the difference is.
    pub significant: bool,
    /// Whether the better side is limited by its bus, so that it may be even better without it.
    pub at_least: bool,
    /// The number of values that would settle the answer, where it is undecided and more values would settle it.
    pub needed: Option<Needed>,
}

/// How much runs of a unit differ from day to day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Days {
    /// Deviation of logarithms of a run's mean; 0.03 is 3 %.
    pub deviation: f64,
    /// Measured degrees of freedom: for each unit, its days minus one.
    pub measured: u32,
    /// The assumed deviation, and its weight in degrees of freedom, which is 0 where enough days were measured.
    pub prior: (f64, f64),
}

/// The use of the runs of a group, where single runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SeriesUse {
    /// They are not used: the answer is about other days, or about several units.
    NotAsked,
    /// The repeats of two single runs decide. They do not show how much runs differ.
    SingleRuns,
    /// Their spread decides.
    Decides(Series),
    /// They do not decide, for this reason. The variance of days is assumed.
    Unusable {
        /// The reason.
        why: NoSeries,
    },
}

impl SeriesUse {
    /// The spread, where it decides.
    #[must_use]
    pub fn decides(self) -> Option<Series> {
        if let Self::Decides(series) = self { Some(series) } else { None }
    }
}

/// Why runs of a group do not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoSeries {
    /// Fewer than three in each group.
    Few,
    /// A run does not say its day.
    Undated,
    /// The runs are of several hosts or computers, or of one without a name.
    Hosts,
    /// The runs are of one or two days, and the other group is of another day.
    Days,
    /// The figures are equal: they are copies, not runs.
    Equal,
}

/// How much single runs of a group differ without a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The group, by its place: the one of the two that has three runs or more, or whose runs differ more.
    pub group: usize,
    /// Deviation of the logarithm of a run's mean: 0.03 is 3 %. It is between runs of one day where both sides are of
    /// that day, else between single runs on different days.
    pub deviation: f64,
    /// Runs of the group.
    pub runs: usize,
    /// Days on which they were made.
    pub days: usize,
}

/// Two runs by the spread of their repeats alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPair {
    /// Lower end of the ratio.
    pub low: f64,
    /// Upper end of the ratio.
    pub high: f64,
    /// Whether they differ beyond the margin (true) or lie within it (false); null where neither is known.
    pub differ: Option<bool>,
}

/// The verdict on the second group against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "answer", content = "why", rename_all = "snake_case")]
pub enum PairVerdict {
    /// Different, and better: faster, or of shorter latency.
    Better,
    /// Different, and worse.
    Worse,
    /// Within the margin.
    Same,
    /// Both at the ceiling of their bus: says nothing of the media.
    BusTie,
    /// Not known.
    CannotTell(WhyUnknown),
}

/// Why it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhyUnknown {
    /// A group has one value: there is no interval.
    SingleValue,
    /// No group has any spread: copies of a value, not repeats.
    NoSpread,
    /// The interval reaches from equality to beyond the margin.
    Wide,
    /// The runs differ, or do not, and by no more than other days may change.
    Days,
    /// One unit says nothing of its model.
    OneUnit,
    /// The slower one, or the equal one, is held by its bus: its medium may be faster.
    BusHides,
    /// Each group was measured on days of its own, and such a day may change all of its units by as much.
    OwnDays,
    /// The groups were measured with computers of different kinds, and no unit with both.
    OtherComputer,
    /// Several records of a group name neither model nor unit: they may be several media, or one again and again.
    UnknownMedia,
    /// The better one, or one of two equal ones, is the best of several runs, and the other is not.
    BestOf,
    /// A figure is not what it claims to be.
    Invalid,
    /// The better one is not genuine.
    Fake,
    /// A medium failed during its run, or a run did not come to its end.
    Incomplete,
}

// Other causes of a difference, and the limits of a statement.

/// A caveat of a comparison. Text is as records give it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// Groups were measured on different hosts.
    Hosts {
        /// The hosts of each group, in order.
        of: Vec<String>,
    },
    /// Groups were in different slots.
    Slots {
        /// The slots of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different suites, or versions of one.
    Suites {
        /// The suites of each group, in order.
        of: Vec<String>,
    },
    /// Groups were measured by different programs, versions or engines.
    Tools {
        /// The programs of each group, in order.
        of: Vec<String>,
    },
    /// Writes are compared by the rate at which they were acknowledged, as some figures have no durable rate.
    Acknowledged {
        /// Titles of the loads.
        loads: Vec<String>,
    },
    /// Sources do not state every property of the loads that are compared.
    NotTold {
        /// The unstated properties of each group, in order; empty where all are stated.
        of: Vec<String>,
    },
    /// Hosts executed the same loads in different ways.
    Manners {
        /// Titles of the loads.
        loads: Vec<String>,
        /// The ways of each group, in order; empty where none is stated.
        of: Vec<String>,
    },
    /// The same unit is in two groups.
    SameUnit {
        /// The unit.
        unit: String,
    },
    /// Records of a group do not say which unit they are of, and count as one.
    UnknownUnits {
        /// Index of the group.
        group: usize,
        /// Records that do not say it.
        records: usize,
    },
    /// A group holds units of several models.
    SeveralModels {
        /// Index of the group.
        group: usize,
        /// How many.
        models: usize,
    },
    /// Records of one unit say capacities that one medium cannot have.
    SeveralMedia {
        /// The unit.
        unit: String,
        /// The smallest capacity.
        least_bytes: u64,
        /// The largest.
        most_bytes: u64,
    },
    /// Records that name no model are in no group of one.
    NoModel {
        /// Their ids.
        records: Vec<String>,
    },
    /// Groups consist of one run each. The comparison does not cover other runs, and the stated error holds for repeats
    /// that are independent of each other.
    OneRun {
        /// Their indices.
        groups: Vec<usize>,
    },
    /// A run did not end as planned.
    Unfinished {
        /// Id of the record.
        record: String,
        /// How it ended.
        how: String,
    },
    /// Figures of a record are doubtful, invalid or of a medium that is not genuine.
    Doubtful {
        /// Id of the record.
        record: String,
        /// Its severity.
        mark: Mark,
        /// Why.
        causes: Vec<DoubtCause>,
    },
    /// Some figures are published ones, whose circumstances are only partly known.
    Published {
        /// Indices of groups that hold some.
        groups: Vec<usize>,
    },
}

/// Why the figures of a record are doubtful.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DoubtCause {
    /// A finding of the record.
    Finding {
        /// The finding.
        warning: Box<Warning>,
    },
    /// The verdict of a check of the medium.
    Check {
        /// The verdict.
        verdict: Verdict,
    },
}

impl fmt::Display for DoubtCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding { warning } => f.write_str(&warning.cause()),
            Self::Check { verdict } => Reason::NotGenuine { verdict: *verdict }.fmt(f),
        }
    }
}

fn letters(groups: &[usize]) -> String {
    let names: Vec<String> = groups.iter().map(|at| letter(*at).to_string()).collect();
    names.join(", ")
}

/// `A` for the first group.
pub(super) fn letter(at: usize) -> char {
    u8::try_from(at).ok().and_then(|at| b'A'.checked_add(at)).map_or('?', char::from)
}

/// What each group has; groups with the same share a part: `A, C node1; B node2`.
fn each(of: &[String]) -> String {
    let mut parts: Vec<(Vec<usize>, &str)> = Vec::new();
    for (at, text) in of.iter().enumerate() {
        match parts.iter_mut().find(|(_, known)| known == text) {
            Some((groups, _)) => groups.push(at),
            None if text.is_empty() => {}
            None => parts.push((vec![at], text)),
        }
    }
    let all: Vec<String> = parts.iter().map(|(groups, text)| format!("{} {text}", letters(groups))).collect();
    all.join("; ")
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts { of } => {
                write!(f, "different hosts: {}", each(of))
            }
            Self::Slots { of } => {
                write!(f, "different slots: {}", each(of))
            }
            Self::Suites { of } => {
                write!(f, "different suites; only the loads they share are compared: {}", each(of))
            }
            Self::Tools { of } => {
                write!(f, "different programs or engines: {}", each(of))
            }
            Self::Acknowledged { loads } => {
                write!(f, "judged by the acknowledged rate, as some records have no durable rate: {}", loads.join("; "))
            }
            Self::NotTold { of } => {
                write!(f, "not recorded for the loads compared, and possibly different: {}", each(of))
            }
            Self::Manners { loads, of } => {
                write!(f, "run with different settings, which may change figures: {}: {}", loads.join("; "), each(of))
            }
            Self::SameUnit { unit } => {
                write!(f, "{unit} is in two groups: its runs are compared there")
            }
            Self::UnknownUnits { group, records } => {
                write!(f, "{records} records of {} name no unit and count as one; label them unit=…", letter(*group))
            }
            Self::SeveralModels { group, models } => {
                write!(f, "{} contains {models} models; --by model separates them", letter(*group))
            }
            Self::SeveralMedia { unit, least_bytes, most_bytes } => write!(
                f,
                "records of {unit} are of media of {} to {}, so not of one unit: correct their labels (assay label), or remove \
                 them (assay rm)",
                assay_core::units::capacity(*least_bytes),
                assay_core::units::capacity(*most_bytes)
            ),
            Self::NoModel { records } => {
                let one = records.len() == 1;
                let of = if one { "names no model and is" } else { "name no model and are" };
                write!(f, "{} {of} left out: assay label ID model=…", records.join(", "))
            }
            Self::OneRun { groups } => {
                let each = if groups.len() > 1 { " each" } else { "" };
                write!(
                    f,
                    "{}: one run{each}; another run or unit may differ by more than the interval, which assumes \
                     independent repeats",
                    letters(groups)
                )
            }
            Self::Unfinished { record, how } => write!(f, "run {record} {how}"),
            Self::Doubtful { record, mark, causes } => {
                let word = match mark {
                    Mark::Invalid => "is invalid and cannot win a comparison",
                    Mark::Fake => "is from a medium that is not genuine and cannot win a comparison",
                    _ => "is doubtful",
                };
                // Two findings may say the same in words.
                let mut all: Vec<String> = Vec::new();
                for cause in causes.iter().map(ToString::to_string) {
                    if !all.contains(&cause) {
                        all.push(cause);
                    }
                }
                write!(f, "{record} {word}: {}", all.join("; "))
            }
            Self::Published { groups } => {
                write!(f, "{}: published figures, one value per unit and load", letters(groups))
            }
        }
    }
}
