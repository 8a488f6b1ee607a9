//! What the losses of a device are.

/// What the losses are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// There are none.
    None,
    /// Addresses start again.
    Repeats(Repeat),
    /// Addresses start again for writes alone, after `period` sectors.
    WritesRepeat {
        /// The period in sectors, which is all that holds.
        period: u64,
        /// Whether it is known to the sector.
        exact: bool,
    },
    /// Parts hold, and others do not.
    Parts,
    /// Memory is handed out until it is used up.
    Thin,
    /// Every write from some moment on was dropped.
    Stopped,
    /// Operations land elsewhere; the distance in sectors.
    Misaddressed(i64),
    /// Single sectors are wrong, here and there.
    Scattered,
    /// What was written is lost after a while.
    Decays,
    /// Writes are dropped or exchanged now and then: what lost keeps what is written again.
    Unreliable,
    /// All that was written held, and places that were only read lost their data meanwhile.
    TakesMemory {
        /// Number of places that changed.
        lost: usize,
        /// Places that were only read.
        of: usize,
    },
    /// All that was tested held, and so many places read differently than before after they were put back.
    NotPutBack(usize),
    /// Each write takes the place of the oldest data, wherever it is sent; what is kept of them, in sectors.
    Newest {
        /// So much was kept.
        least: u64,
        /// So much was not.
        most: u64,
    },
}

/// How addresses start again, in sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Addresses below have cells of their own.
    pub(crate) protected: u64,
    /// Behind them, addresses start again after so many.
    pub(crate) period: u64,
    /// So many from the start of each period hold data.
    pub(crate) real: u64,
    /// Whether all of this is to the sector.
    pub(crate) exact: bool,
    /// Whether each period leads to the cells in the same order.
    pub(crate) straight: bool,
}

impl Repeat {
    /// The first address of the cell that `sector` leads to.
    fn cell(&self, sector: u64) -> u64 {
        sector.checked_sub(self.protected).map_or(sector, |behind| self.protected + behind % self.period)
    }

    /// Whether two addresses may be one cell, where blocks are dealt out within so many sectors at most.
    pub(crate) fn may_be_one(&self, one: u64, other: u64, stripe: u64) -> bool {
        let stripe = if self.straight { 1 } else { stripe };
        self.cell(one) / stripe == self.cell(other) / stripe
    }

    /// Whether a sector that shows what was sent to another is a cell of it. What holds nothing may show anything.
    pub(crate) fn explains(&self, shown: u64, sent: u64) -> bool {
        let holds_all = self.straight && self.real == self.period;
        !holds_all || self.cell(shown) == self.cell(sent)
    }
}
