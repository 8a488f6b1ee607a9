//! The loads that a picture may show, and the load of a picture of a single one.

use assay_analysis::{Load, LoadError, by_model, deciding_load, loads, loads_named};
use assay_core::record::Record;

/// The loads that pictures may show, and the finding under the deciding one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `None` for all.
    loads: Option<Vec<Load>>,
    decided: Option<Decided>,
}

/// The load that something was found under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The load.
    pub load: Load,
    /// The finding, which is the title of pictures of this load; `None` where it stands beside them.
    pub title: Option<String>,
}

impl Wanted {
    /// The loads of these records that words name, as every command reads them; `None` for all loads.
    ///
    /// # Errors
    /// The records have no such load.
    pub fn named(records: &[Record], words: Option<&str>) -> Result<Self, LoadError> {
        Ok(Self { loads: words.map(|words| loads_named(records, words)).transpose()?, decided: None })
    }

    /// The same with a finding: pictures of one load show that one.
    #[must_use]
    pub fn decided(self, decided: Option<Decided>) -> Self {
        Self { decided, ..self }
    }

    /// Whether a load may be shown.
    pub(crate) fn holds(&self, load: &Load) -> bool {
        self.loads.as_ref().is_none_or(|wanted| wanted.contains(load))
    }

    /// Loads of these records that may be shown, in the order people read them.
    pub(crate) fn of(&self, records: &[Record]) -> Vec<Load> {
        loads(records).into_iter().filter(|load| self.holds(load)).collect()
    }

    /// The load of a picture of a single load, with its title if there is a finding; without a finding, the deciding
    /// load of these records.
    pub(crate) fn one(&self, records: &[Record]) -> Option<Decided> {
        let decides = || deciding_load(&by_model(records), None, self.loads.as_deref()).ok();
        self.decided.clone().or_else(|| Some(Decided { load: decides()?, title: None }))
    }
}
