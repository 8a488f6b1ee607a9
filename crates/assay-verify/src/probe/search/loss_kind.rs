//! Kinds of losses.

/// What the losses of a device are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// There are none.
    None,
    /// Addresses wrap around.
    Repeats(Repeat),
    /// Only writes wrap around, after `period` sectors.
    WritesRepeat {
        /// The period in sectors. Only this much holds.
        period: u64,
        /// Whether it is known to the sector.
        exact: bool,
    },
    /// Some parts hold, others do not.
    Parts,
    /// Memory is given to what is written first, until it is used up.
    Thin,
    /// Every write from some moment on was dropped.
    Stopped,
    /// Operations land elsewhere; the distance in sectors.
    Misaddressed(i64),
    /// Single sectors are wrong, here and there.
    Scattered,
    /// What was written is lost after a while.
    Decays,
    /// Writes are dropped or exchanged now and then. Places that lost keep what is written again.
    Unreliable,
    /// All that was written held, and places that were only read lost their data meanwhile.
    TakesMemory {
        /// Number of places that changed.
        lost: usize,
        /// Places that were only read.
        of: usize,
    },
    /// All that was tested held, but this many places read differently than before, after they were restored.
    NotPutBack(usize),
    /// Each write replaces the oldest data, wherever it is sent. The amount of new data that is kept, in sectors.
    Newest {
        /// This much was kept.
        least: u64,
        /// This much was not kept.
        most: u64,
    },
}

/// How addresses wrap around, in sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Addresses below this have cells of their own.
    pub(crate) protected: u64,
    /// Sectors behind the protected part after which addresses wrap around.
    pub(crate) period: u64,
    /// Sectors from the start of each period that hold data.
    pub(crate) real: u64,
    /// Whether all of this is exact to the sector.
    pub(crate) exact: bool,
    /// Whether each period leads to the cells in the same order.
    pub(crate) straight: bool,
}

impl Repeat {
    /// The first address of the cell that `sector` leads to.
    fn cell(&self, sector: u64) -> u64 {
        sector.checked_sub(self.protected).map_or(sector, |behind| self.protected + behind % self.period)
    }

    /// Whether two addresses may share a cell, where blocks are dealt out within at most `stripe` sectors.
    pub(crate) fn may_be_one(&self, one: u64, other: u64, stripe: u64) -> bool {
        let stripe = if self.straight { 1 } else { stripe };
        self.cell(one) / stripe == self.cell(other) / stripe
    }

    /// Whether a sector shows the data of another because both share a cell. An address without memory may show
    /// anything.
    pub(crate) fn explains(&self, shown: u64, sent: u64) -> bool {
        let holds_all = self.straight && self.real == self.period;
        !holds_all || self.cell(shown) == self.cell(sent)
    }
}
