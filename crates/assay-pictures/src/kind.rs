//! Which picture, and what it needs.

use assay_core::record::Record;

use crate::curves::{Curves, curves};
use crate::data::Wanted;
use crate::dots::{Dots, dots};
use crate::film::Film;
use crate::heat::{Heat, heat};
use crate::pareto::{Pareto, pareto};
use crate::ranking::{Ranking, ranking};
use crate::scene::Drawing;
use crate::sweep::{Sweep, sweep};

/// The pictures there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rates over block sizes with the ceiling of the bus.
    Curves,
    /// Each unit a row, each repeat a dot.
    Dots,
    /// Units by workloads.
    Heat,
    /// Who is where, with intervals.
    Ranking,
    /// Read against write, with the front.
    Pareto,
    /// One frame for each block size.
    Sweep,
}

/// The records do not hold what a picture needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing to draw as {name}: it needs {needs}", name = kind.name(), needs = kind.needs())]
pub struct NothingToDraw {
    /// What was asked for.
    pub kind: Kind,
}

impl Kind {
    /// Name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Curves => "curves",
            Self::Dots => "dots",
            Self::Heat => "heat",
            Self::Ranking => "ranking",
            Self::Pareto => "pareto",
            Self::Sweep => "sweep",
        }
    }

    fn needs(self) -> &'static str {
        match self {
            Self::Curves | Self::Sweep => "figures of one kind of load at two block sizes or more",
            Self::Dots | Self::Ranking => "a figure of some load",
            Self::Heat => "valid figures of two records or more under the same load",
            Self::Pareto => "figures of a read and a write, the same two of two records or more",
        }
    }

    /// What these records show best: their curves where block sizes vary, a map where several
    /// records share several loads, else units with their repeats.
    #[must_use]
    pub fn usual(records: &[Record], wanted: &Wanted) -> Self {
        if !Curves::all_of(records, wanted).is_empty() {
            Self::Curves
        } else if Heat::of(records, wanted).is_some_and(|map| map.columns.len() > 1) {
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
pub fn still(kind: Kind, records: &[Record], wanted: &Wanted) -> Result<Drawing, NothingToDraw> {
    let drawn = match kind {
        Kind::Curves => Curves::all_of(records, wanted).first().map(curves),
        Kind::Dots => Dots::of(records, wanted).as_ref().map(dots),
        Kind::Heat => Heat::of(records, wanted).as_ref().map(heat),
        Kind::Ranking => Ranking::of(records, wanted).as_ref().map(ranking),
        Kind::Pareto => Pareto::of(records, wanted).as_ref().map(pareto),
        Kind::Sweep => return film(records, wanted).map(|film| film.sheet()),
    };
    drawn.ok_or(NothingToDraw { kind })
}

/// The comparison over block sizes.
///
/// # Errors
/// [`NothingToDraw`] where no load was measured at two block sizes.
pub fn film(records: &[Record], wanted: &Wanted) -> Result<Film, NothingToDraw> {
    Sweep::of(records, wanted).as_ref().map(sweep).ok_or(NothingToDraw { kind: Kind::Sweep })
}
