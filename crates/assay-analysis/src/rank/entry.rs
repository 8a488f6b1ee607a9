//! A record among those that are ranked.

use assay_core::record::Record;

use crate::identity::Identity;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

/// A record and whose it is.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) record: &'a Record,
    pub(super) identity: Identity,
    pub(super) wave: Option<u32>,
    /// Its day and host.
    pub(super) day: Option<String>,
}

impl Entry<'_> {
    /// Rates of a load in bytes per second.
    pub(super) fn rates(&self, load: &Load) -> Vec<f64> {
        reading(self.record, load, Quantity::BytesPerSecond).filter(|r| r.counts()).map_or_else(Vec::new, |r| r.values)
    }
}
