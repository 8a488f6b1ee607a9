//! Which pictures there are: a file of `kind/` each, and a line in [`PictureKind::about`]. Command line and page read this list.

mod curves;
mod dots;
mod heat;
mod load_curve;
mod nodes;
mod pareto;
mod ranking;
mod spread;
mod survival;
mod sweep;
mod wear;
mod year;

use assay_core::observation::Observation;
use curves::{Curves, curves};
use dots::{Dots, dots};
use heat::{Heat, heat};
use load_curve::{Latencies, latencies};
pub use nodes::nodes;
use pareto::{Pareto, pareto};
pub use ranking::{RankRow, Ranking, ranking};
pub use spread::spread;
pub use survival::survival;
use sweep::{Sweep, sweep};
pub use wear::{WearChange, WearMap, wear_map};
pub use year::{Year, YearLevel, YearMark, YearPanel, year};

use crate::data::Wanted;
use crate::output::Film;
use crate::paint::Drawing;

/// The pictures there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// Records by workloads.
    Heat,
    /// Rates over block sizes with the ceiling of the bus.
    Curves,
    /// Each record a row, each repeat a dot.
    Dots,
    /// The places of models, with intervals.
    Ranking,
    /// Read against write, with the Pareto front.
    Pareto,
    /// Latency over the offered load.
    LoadCurve,
    /// Nodes of a run by workloads.
    Nodes,
    /// How nodes of a run are distributed.
    Spread,
    /// One frame for each block size.
    Sweep,
}

/// The properties of a kind.
struct About {
    name: &'static str,
    help: &'static str,
    needs: &'static str,
    /// Whether the page of several records shows it; a film and a ranking have places of their own there.
    on_page: bool,
    /// All that the records give, the one that most of them share first.
    draw: fn(&[Observation], &Wanted) -> Vec<Drawing>,
}

/// The records do not hold what a picture needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing to draw as {name}: it needs {needs}", name = kind.name(), needs = kind.about().needs)]
pub struct NothingToDraw {
    /// The requested kind.
    pub kind: PictureKind,
}

const SIZES: &str = "figures of one kind of load at two block sizes or more";
const FIGURE: &str = "a figure of some load";
const NODES: &str = "figures of two nodes or more of one run (label fleet)";

impl PictureKind {
    /// All of them, in the order in which a page shows them.
    pub const ALL: [Self; 9] = [
        Self::Nodes,
        Self::Spread,
        Self::Heat,
        Self::Curves,
        Self::Dots,
        Self::Ranking,
        Self::Pareto,
        Self::LoadCurve,
        Self::Sweep,
    ];

    fn about(self) -> About {
        match self {
            Self::Heat => About {
                name: "heat",
                help: "Records by workloads, as a heat map",
                needs: "valid figures of two records or more under the same load",
                on_page: true,
                draw: |records, wanted| Heat::from_records(records, wanted).iter().map(heat).collect(),
            },
            Self::Curves => About {
                name: "curves",
                help: "Rates over block sizes, with the ceiling of the bus",
                needs: SIZES,
                on_page: true,
                draw: |records, wanted| Curves::all_of(records, wanted).iter().map(curves).collect(),
            },
            Self::Dots => About {
                name: "dots",
                help: "Each record a row, each repeat a dot",
                needs: FIGURE,
                on_page: true,
                draw: |records, wanted| Dots::from_records(records, wanted).iter().map(dots).collect(),
            },
            Self::Ranking => About {
                name: "ranking",
                help: "Records in the order of one load, with intervals",
                needs: FIGURE,
                on_page: false,
                draw: |records, wanted| Ranking::from_records(records, wanted).iter().map(ranking).collect(),
            },
            Self::Pareto => About {
                name: "pareto",
                help: "Reads against writes, with the Pareto front",
                needs: "figures of a read and a write, the same two of two records or more",
                on_page: true,
                draw: |records, wanted| Pareto::from_records(records, wanted).iter().map(pareto).collect(),
            },
            Self::LoadCurve => About {
                name: "load-curve",
                help: "Latency over the offered load, with the knee",
                needs: "latencies of three loads or more of one kind in an open loop (suite load-curve)",
                on_page: true,
                draw: |records, wanted| Latencies::all_of(records, wanted).iter().map(latencies).collect(),
            },
            Self::Nodes => About {
                name: "nodes",
                help: "Nodes of a run on a cluster by workloads, odd ones marked",
                needs: NODES,
                on_page: true,
                draw: |records, wanted| nodes::run_of(records, wanted).iter().map(nodes::nodes).collect(),
            },
            Self::Spread => About {
                name: "spread",
                help: "How nodes of a run on a cluster are distributed, a dot for each",
                needs: NODES,
                on_page: true,
                draw: |records, wanted| nodes::run_of(records, wanted).iter().map(spread::spread).collect(),
            },
            Self::Sweep => About {
                name: "sweep",
                help: "A frame for each block size; a GIF is always this",
                needs: SIZES,
                on_page: false,
                draw: |records, wanted| film(records, wanted).iter().map(Film::sheet).collect(),
            },
        }
    }

    /// Name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// A description, for a list of the names.
    #[must_use]
    pub fn help(self) -> &'static str {
        self.about().help
    }

    /// Whether it shows the deciding load, so that the finding under that load is its title.
    #[must_use]
    pub fn of_what_decides(self) -> bool {
        matches!(self, Self::Dots | Self::Ranking)
    }

    /// What these records show best: their curves where block sizes vary, a map where several
    /// records share several loads, else units with their repeats.
    #[must_use]
    pub fn usual(records: &[Observation], wanted: &Wanted) -> Self {
        if !Curves::all_of(records, wanted).is_empty() {
            Self::Curves
        } else if Heat::from_records(records, wanted).is_some_and(|map| map.columns.len() > 1) {
            Self::Heat
        } else {
            Self::Dots
        }
    }
}

/// A still picture of records; of a sweep, all frames on a sheet.
///
/// # Errors
/// [`NothingToDraw`] with what the picture needs.
pub fn still(kind: PictureKind, records: &[Observation], wanted: &Wanted) -> Result<Drawing, NothingToDraw> {
    (kind.about().draw)(records, wanted).into_iter().next().ok_or(NothingToDraw { kind })
}

/// The still pictures of a page of several records, by kind.
pub fn on_page(records: &[Observation], wanted: &Wanted) -> impl Iterator<Item = (PictureKind, Vec<Drawing>)> {
    let kinds = PictureKind::ALL.into_iter().filter(|kind| kind.about().on_page);
    kinds.map(|kind| (kind, (kind.about().draw)(records, wanted)))
}

/// The comparison over block sizes.
///
/// # Errors
/// [`NothingToDraw`] where no load was measured at two block sizes.
pub fn film(records: &[Observation], wanted: &Wanted) -> Result<Film, NothingToDraw> {
    Sweep::from_records(records, wanted).as_ref().map(sweep).ok_or(NothingToDraw { kind: PictureKind::Sweep })
}
