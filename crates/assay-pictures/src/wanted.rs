//! Which loads a picture may show, and which of them one of a single load is of.

use assay_analysis::{Load, LoadError, by_model, deciding_load, loads, loads_named};
use assay_core::record::Record;

/// The loads that pictures may show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `None` for all.
    loads: Option<Vec<Load>>,
}

impl Wanted {
    /// The loads of these records that words name, as every command reads them; `None` for all loads.
    ///
    /// # Errors
    /// The records have no such load.
    pub fn named(records: &[Record], words: Option<&str>) -> Result<Self, LoadError> {
        Ok(Self { loads: words.map(|words| loads_named(records, words)).transpose()? })
    }

    /// Whether a load may be shown.
    pub(crate) fn holds(&self, load: &Load) -> bool {
        self.loads.as_ref().is_none_or(|wanted| wanted.contains(load))
    }

    /// Loads of these records that may be shown, in the order people read them.
    pub(crate) fn of(&self, records: &[Record]) -> Vec<Load> {
        loads(records).into_iter().filter(|load| self.holds(load)).collect()
    }

    /// The load that a picture of one is of: the one that decides among these records.
    pub(crate) fn one(&self, records: &[Record]) -> Option<Load> {
        deciding_load(&by_model(records), None, self.loads.as_deref()).ok()
    }
}
