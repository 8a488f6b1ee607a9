//! Faults: they lie in front of a map, even of the genuine one, and change the effect of operations.
//!
//! Faults at the interface (`Faults::front`) see an operation before the cache does. Faults of the storage
//! (`Faults::write`, `Faults::read`) see each sector behind the cache. A fault counts its *bites*: how often it changed
//! something that a host could notice, which is an error, a write, or the reading of a sector that the host had written
//! before. A probe is not judged by a fault without a bite. A change of the reading of sectors that the host had not
//! written, or of a write that restores data, is a *nip*: a host that reads twice may notice it.

use super::maps::{Op, Side};
use super::numbers::{Map64, Rng, SECTOR, Sector, fill, hash, variant};
use super::truths::Word;

/// A moment in the life of a medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// From this operation on.
    Op(u64),
    /// From this number of written bytes on.
    Written(u64),
    /// From this virtual time on, in nanoseconds.
    Time(u64),
}

impl When {
    /// Whether the moment has come.
    pub fn is_over(&self, op: &Op) -> bool {
        match *self {
            Self::Op(n) => op.number >= n,
            Self::Written(bytes) => op.written >= bytes,
            Self::Time(t) => op.now >= t,
        }
    }
}

/// A fault. Lengths are in sectors, times in nanoseconds; `one_in` means that one case in this many is hit.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are named as the comment above and each variant say")]
pub enum Fault {
    /// Writes fail as on a read-only device.
    ReadOnly { from: When },
    /// All operations fail.
    Errors { from: When },
    /// Writes fail.
    WriteErrors { from: When },
    /// FLUSH fails.
    FlushErrors { from: When },
    /// Operations in a range fail.
    ErrorsIn { from: u64, to: u64, reads: bool, writes: bool },
    /// Writes that restore the owner's data fail, this many times.
    ErrorsPuttingBack { times: u64 },
    /// No operation returns until the medium is plugged in again.
    Hang { from: When },
    /// FLUSH takes this time. A genuine medium may be that slow.
    SlowFlush { nanos: u64 },
    /// The medium vanishes, and comes back after a time or when it is plugged in again.
    Vanish { at: When, back_after: Option<u64> },
    /// The last `burst` of each `every` operations fail.
    Bursts { every: u64, burst: u64 },
    /// A write reports an error although it was stored.
    FalseErrors { one_in: u64 },
    /// Sectors of a write are dropped.
    DropSome { one_in: u64 },
    /// All writes are dropped.
    Drops { from: When },
    /// A write goes to the neighbouring page.
    SwapsNeighbour { unit: u64, one_in: u64 },
    /// A write goes to a place this many sectors away.
    Misplaces { by: i64, one_in: u64 },
    /// A write also goes to a second place.
    Duplicates { by: i64, one_in: u64 },
    /// Only the first half of a write is stored.
    Torn { one_in: u64 },
    /// Only the first sectors of a longer write are stored.
    Truncates { after: u64 },
    /// A bit is stuck at one in some sectors.
    StuckBits { one_in: u64 },
    /// From a moment on some sectors are stored with a wrong bit.
    Flips { from: When, one_in: u64 },
    /// Some reads return a wrong bit, each time a different one.
    FlipsReading { one_in: u64 },
    /// Some sectors read differently each time.
    Unstable { one_in: u64 },
    /// The first read after a write is wrong, later ones are right.
    WrongFirst { one_in: u64 },
    /// Data written from an address on are lost after this many reads.
    DecaysByReading { from: u64, reads: u32 },
    /// Data written from an address on are lost after a time.
    DecaysByTime { from: u64, nanos: u64 },
    /// Every `reads` reads of a page change a bit of the next one.
    ReadDisturb { reads: u32 },
    /// Writes to the last sectors are dropped.
    LastMissing { sectors: u64 },
    /// Each `every`-th block keeps noise instead of the written data.
    BadBlocks { every: u64, unit: u64 },
    /// Some reads return the content before the last write.
    Stale { one_in: u64 },
    /// Written data are stored only at the next FLUSH; until then reads return the old content.
    StoredAtFlush,
    /// Reads from an address on return the data `by` sectors lower.
    ReadsLower { from: u64, by: u64 },
}

impl Fault {
    /// A short name for tables.
    pub fn name(&self) -> String {
        variant(self)
    }

    /// Which words are right, and which are arguable, about a genuine medium that this fault has bitten.
    ///
    /// Where writing or reading loses only some operations, the documents say damaged; a program that saw the medium
    /// stop working may say failed. The documents do not classify a medium whose errors went away when operations were
    /// repeated. An owner expects to know of them, so genuine is only arguable.
    pub fn accepted_words(&self) -> (&'static [Word], &'static [Word]) {
        use Fault::*;
        use Word::{Damaged, Failed, Fake, Genuine};
        match self {
            SlowFlush { .. } => (&[Genuine], &[]),
            ReadOnly { .. }
            | Errors { .. }
            | WriteErrors { .. }
            | FlushErrors { .. }
            | Hang { .. }
            | Vanish { .. }
            | Drops { .. } => (&[Failed, Damaged], &[]),
            ErrorsIn { .. } | ErrorsPuttingBack { times: u64::MAX } => (&[Damaged, Failed], &[]),
            ErrorsPuttingBack { .. } | Bursts { .. } | FalseErrors { .. } | StoredAtFlush => {
                (&[Damaged, Failed], &[Genuine])
            }
            DropSome { .. } | Torn { .. } | Truncates { .. } | Stale { .. } | ReadsLower { .. } => {
                (&[Damaged, Failed], &[Fake])
            }
            SwapsNeighbour { .. } | Misplaces { .. } => (&[Damaged, Failed, Fake], &[]),
            Duplicates { .. } => (&[Damaged, Failed, Fake], &[Genuine]),
            StuckBits { .. } | Flips { .. } | FlipsReading { .. } | Unstable { .. } | WrongFirst { .. } => {
                (&[Damaged, Failed], &[])
            }
            ReadDisturb { .. } => (&[Damaged, Failed], &[Genuine]),
            DecaysByReading { .. } | DecaysByTime { .. } | LastMissing { .. } | BadBlocks { .. } => {
                (&[Damaged, Fake, Failed], &[])
            }
        }
    }

    /// Whether it leaves sectors with neither the written nor the earlier content.
    pub fn corrupts(&self) -> bool {
        use Fault::*;
        matches!(
            self,
            StuckBits { .. }
                | Flips { .. }
                | DecaysByReading { .. }
                | DecaysByTime { .. }
                | ReadDisturb { .. }
                | BadBlocks { .. }
                | SwapsNeighbour { .. }
                | Misplaces { .. }
                | Duplicates { .. }
        )
    }

    /// Whether plugging the medium in again ends the fault.
    fn ends_at_replug(&self) -> bool {
        matches!(self, Self::Hang { .. } | Self::Vanish { .. })
    }
}

/// The outcome of an operation at the interface.
#[derive(Debug, PartialEq)]
pub(crate) enum Front {
    /// This many sectors of the operation are done.
    Pass(u64),
    /// It fails.
    Err(Error),
    /// It is done, and reports an error.
    DoneErr(Error),
}

/// The outcome of a write of a sector to the storage.
#[derive(Debug, PartialEq)]
pub(crate) enum Stored {
    /// It goes to its address, or to the address that a fault put there instead.
    Here,
    /// It also goes to a second address.
    Also(u64),
    /// It is dropped.
    Dropped,
    /// It waits for a FLUSH.
    Waits,
}

/// The host's operations on a sector.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    at: u64,
    reads: u32,
    is_fresh: bool,
}

/// A fault, and its effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Bites {
    /// The fault.
    pub fault: Fault,
    /// How often it changed something that every host must notice.
    pub bites: u64,
    /// How often it changed something that a host notices only if it reads twice.
    pub nips: u64,
}

/// The state of the faults of a medium.
#[derive(Debug)]
pub(crate) struct Faults {
    list: Vec<Bites>,
    touched: Map64<Touch>,
    before: Map64<Box<Sector>>,
    waiting: Map64<Box<Sector>>,
    page_reads: Map64<u32>,
    /// Sectors that a write skipped and that were not accessed since, each with the index of the fault.
    unread: Map64<usize>,
    gone_since: Option<u64>,
    seed: u64,
    rng: Rng,
}

impl Faults {
    pub(crate) fn new(list: &[Fault], seed: u64) -> Self {
        Self {
            list: list.iter().map(|f| Bites { fault: f.clone(), bites: 0, nips: 0 }).collect(),
            touched: Map64::default(),
            before: Map64::default(),
            waiting: Map64::default(),
            page_reads: Map64::default(),
            unread: Map64::default(),
            gone_since: None,
            seed,
            rng: Rng::new(seed ^ 0xfa17),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The faults, and how often each has bitten.
    pub(crate) fn bites(&self) -> &[Bites] {
        &self.list
    }

    pub(crate) fn has_touched(&self, at: u64) -> bool {
        self.touched.contains_key(&at)
    }

    /// The write that `at` missed would not have changed it.
    pub(crate) fn left_as_it_was(&mut self, at: u64) {
        self.unread.remove(&at);
    }

    /// Ends all faults, as if the reader had caused them. Data that wait for a FLUSH are lost.
    pub(crate) fn heal(&mut self) {
        self.list.clear();
        self.unread.clear();
        self.waiting.clear();
        self.gone_since = None;
    }

    /// Handles a replug of the medium.
    pub(crate) fn replug(&mut self) {
        let all = self.list.len();
        self.list.retain(|b| !(b.fault.ends_at_replug() && b.bites > 0));
        if self.list.len() < all {
            self.unread.clear();
        }
        self.waiting.clear();
        self.gone_since = None;
    }

    /// Whether the medium has vanished.
    pub(crate) fn is_gone(&self, now: u64) -> bool {
        let Some(since) = self.gone_since else { return false };
        !self.list.iter().any(|b| matches!(b.fault, Fault::Vanish { back_after: Some(t), .. } if since + t <= now))
    }

    /// Handles an operation at the interface. `puts_back` tells whether it writes the owner's data over other content.
    pub(crate) fn front(&mut self, side: Option<Side>, at: u64, op: &Op, puts_back: &mut dyn FnMut() -> bool) -> Front {
        let is_write = side == Some(Side::Write);
        let mut pass = op.sectors;
        let mut late = None;
        let is_gone = self.is_gone(op.now);
        for (index, Bites { fault, bites, nips }) in self.list.iter_mut().enumerate() {
            let one_in = |n: u64, salt: u64| hash(self.seed ^ salt, op.number).is_multiple_of(n.max(1));
            let error = match *fault {
                Fault::ReadOnly { from } if is_write && from.is_over(op) => Some(Error::ReadOnly),
                Fault::Errors { from } if from.is_over(op) => Some(Error::Medium),
                Fault::WriteErrors { from } if is_write && from.is_over(op) => Some(Error::Medium),
                Fault::FlushErrors { from } if side.is_none() && from.is_over(op) => Some(Error::Medium),
                Fault::ErrorsIn { from, to, reads, writes } => {
                    let hit =
                        side.is_some() && at < to && at + op.sectors > from && if is_write { writes } else { reads };
                    if hit && is_write {
                        // The sectors before the range are stored.
                        pass = pass.min(from.saturating_sub(at));
                        late = Some(Error::Medium);
                        *bites += 1;
                    }
                    (hit && !is_write).then_some(Error::Medium)
                }
                Fault::ErrorsPuttingBack { times } if is_write && *bites < times && puts_back() => Some(Error::Medium),
                Fault::Hang { from } if from.is_over(op) => Some(Error::Hung),
                Fault::Vanish { at, .. } if self.gone_since.is_none() && at.is_over(op) => {
                    self.gone_since = Some(op.now);
                    Some(Error::Gone)
                }
                Fault::Vanish { .. } if is_gone => Some(Error::Gone),
                Fault::Bursts { every, burst } if op.number % every >= every - burst => Some(Error::Medium),
                Fault::FalseErrors { one_in: n } if is_write && one_in(n, 1) => {
                    late = Some(Error::Medium);
                    *bites += 1;
                    None
                }
                Fault::Torn { one_in: n } if is_write && op.sectors > 1 && one_in(n, 2) => {
                    pass = pass.min(op.sectors / 2);
                    // It shows if the sector is read before it is written again.
                    *nips += 1;
                    if !puts_back() {
                        self.unread.extend((at + pass..at + op.sectors).map(|left| (left, index)));
                    }
                    None
                }
                Fault::Truncates { after } if is_write && op.sectors > after => {
                    pass = pass.min(after);
                    // It shows if the sector is read before it is written again.
                    *nips += 1;
                    if !puts_back() {
                        self.unread.extend((at + pass..at + op.sectors).map(|left| (left, index)));
                    }
                    None
                }
                _ => None,
            };
            if let Some(error) = error {
                *bites += 1;
                return Front::Err(error);
            }
        }
        late.map_or(Front::Pass(pass), |e| if pass < op.sectors { Front::Err(e) } else { Front::DoneErr(e) })
    }

    /// How long a FLUSH takes beyond the stated time.
    pub(crate) fn flush_nanos(&self) -> u64 {
        self.list.iter().map(|b| if let Fault::SlowFlush { nanos } = b.fault { nanos } else { 0 }).sum()
    }

    /// Returns the data that waited for a FLUSH.
    pub(crate) fn flushed(&mut self) -> Vec<(u64, Box<Sector>)> {
        let mut all: Vec<_> = self.waiting.drain().collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }

    /// Stores a sector; `stands` reads the present content of an address. A fault while the owner's data are restored
    /// is a nip, since the write can be repeated: whether the data are restored in the end is judged anyway.
    pub(crate) fn write(
        &mut self,
        n: u64,
        at: &mut u64,
        data: &mut Sector,
        op: &Op,
        puts_back: bool,
        stands: &dyn Fn(u64, &mut Sector),
    ) -> Stored {
        let address = *at;
        self.unread.remove(&address);
        let mut result = Stored::Here;
        let moved = |by: i64| address.checked_add_signed(by).filter(|a| *a < n);
        for Bites { fault, bites, nips } in &mut self.list {
            let seed = self.seed;
            let one_in = |n: u64, x: u64, salt: u64| hash(seed ^ salt, x).is_multiple_of(n.max(1));
            let hit = match *fault {
                Fault::DropSome { one_in: n } if self.rng.one_in(n) => {
                    result = Stored::Dropped;
                    true
                }
                Fault::Drops { from } if from.is_over(op) => {
                    result = Stored::Dropped;
                    true
                }
                Fault::LastMissing { sectors } if address >= n - sectors.min(n) => {
                    result = Stored::Dropped;
                    true
                }
                Fault::SwapsNeighbour { unit, one_in: n_in } if one_in(n_in, op.number ^ (address / unit) << 20, 3) => {
                    *at = if address ^ unit < n { address ^ unit } else { address };
                    *at != address
                }
                Fault::Misplaces { by, one_in: n_in } if one_in(n_in, op.number, 4) => {
                    match moved(by) {
                        Some(a) => *at = a,
                        None => result = Stored::Dropped,
                    }
                    true
                }
                Fault::Duplicates { by, one_in: n_in } if one_in(n_in, op.number, 5) => {
                    moved(by).inspect(|a| result = Stored::Also(*a)).is_some()
                }
                Fault::StuckBits { one_in: n_in } if one_in(n_in, address, 6) => {
                    let bit = hash(seed ^ 7, address);
                    let byte = &mut data[(bit % SECTOR) as usize];
                    let mask = 1 << ((bit >> 32) % 8);
                    let was = *byte;
                    *byte |= mask;
                    was != *byte
                }
                Fault::Flips { from, one_in: n_in } if from.is_over(op) && self.rng.one_in(n_in) => {
                    flip(data, self.rng.next());
                    true
                }
                Fault::BadBlocks { every, unit } if address / unit % every == every - 1 => {
                    fill(hash(seed ^ 8, address), data);
                    true
                }
                Fault::StoredAtFlush => {
                    result = Stored::Waits;
                    false
                }
                Fault::Stale { .. } => {
                    let mut old = Box::new([0; SECTOR as usize]);
                    stands(address, &mut old);
                    self.before.insert(address, old);
                    false
                }
                _ => false,
            };
            *(if puts_back { nips } else { bites }) += u64::from(hit);
        }
        self.touched.insert(address, Touch { at: op.now, reads: 0, is_fresh: true });
        if result == Stored::Waits {
            self.waiting.insert(address, Box::new(*data));
        }
        result
    }

    /// The address from which a sector is read.
    pub(crate) fn source(&mut self, at: u64) -> u64 {
        let touched = self.touched.contains_key(&at);
        for Bites { fault, bites, nips } in &mut self.list {
            if let Fault::ReadsLower { from, by } = *fault
                && at >= from
                && at >= by
            {
                *bites += u64::from(touched);
                *nips += 1;
                return at - by;
            }
        }
        at
    }

    /// Changes the data of a sector that was read. Returns the effects on the memory.
    pub(crate) fn read(&mut self, at: u64, data: &mut Sector, op: &Op) -> AfterRead {
        let mut after = AfterRead::default();
        if let Some(torn) = self.unread.remove(&at).and_then(|index| self.list.get_mut(index)) {
            torn.bites += 1;
        }
        let mut touch = self.touched.get_mut(&at);
        if let Some(t) = &mut touch {
            t.reads += 1;
        }
        let state = touch.as_deref().copied();
        for Bites { fault, bites, nips } in &mut self.list {
            let seed = self.seed;
            let hit = match *fault {
                Fault::FlipsReading { one_in } if self.rng.one_in(one_in) => {
                    flip(data, self.rng.next());
                    true
                }
                Fault::Unstable { one_in } if hash(seed ^ 9, at).is_multiple_of(one_in.max(1)) => {
                    flip(data, self.rng.next());
                    flip(data, self.rng.next());
                    true
                }
                Fault::WrongFirst { one_in }
                    if state.is_some_and(|t| t.is_fresh) && hash(seed ^ 10, at).is_multiple_of(one_in.max(1)) =>
                {
                    fill(self.rng.next(), data);
                    true
                }
                Fault::DecaysByReading { from, reads } if at >= from && state.is_some_and(|t| t.reads > reads) => {
                    fill(hash(seed ^ 11, at), data);
                    after.store = true;
                    true
                }
                Fault::DecaysByTime { from, nanos } if at >= from && state.is_some_and(|t| t.at + nanos <= op.now) => {
                    fill(hash(seed ^ 11, at), data);
                    after.store = true;
                    true
                }
                Fault::Stale { one_in } if state.is_some() && self.rng.one_in(one_in) => {
                    self.before.get(&at).is_some_and(|old| {
                        let differs = old.as_slice() != data;
                        data.copy_from_slice(&**old);
                        differs
                    })
                }
                Fault::StoredAtFlush => self.waiting.contains_key(&at),
                Fault::ReadDisturb { reads } => {
                    let count = self.page_reads.entry(at / 8).or_insert(0);
                    *count += 1;
                    let disturbs = count.is_multiple_of(reads.max(1) * 8);
                    if disturbs {
                        after.disturbs = Some(at + 8);
                        *nips += 1;
                    }
                    disturbs && self.touched.contains_key(&(at + 8))
                }
                _ => false,
            };
            if hit {
                if state.is_some() || matches!(fault, Fault::ReadDisturb { .. }) {
                    *bites += 1;
                } else {
                    *nips += 1;
                    after.misread = true;
                }
            }
        }
        if let Some(t) = self.touched.get_mut(&at) {
            t.is_fresh = false;
        }
        after
    }
}

/// The effects of a read on the memory.
#[derive(Debug, Default)]
pub(crate) struct AfterRead {
    /// The data that the host got are stored in the memory.
    pub(crate) store: bool,
    /// A bit flips at this address.
    pub(crate) disturbs: Option<u64>,
    /// The host got other data than the owner's content, from a sector that it never wrote.
    pub(crate) misread: bool,
}

/// Flips a bit.
pub(crate) fn flip(data: &mut Sector, random: u64) {
    data[(random % SECTOR) as usize] ^= 1 << ((random >> 32) % 8);
}

// How operations of a medium fail.

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The medium reports an error at this place (EIO).
    Medium,
    /// There is no medium (ENODEV, ENXIO).
    Gone,
    /// It is read-only (EROFS, EPERM).
    ReadOnly,
    /// The medium did not answer within the timeout of a host.
    Hung,
    /// The operation is beyond the end, or not of whole blocks: a bug of the program.
    Bounds,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Medium => "input/output error",
            Self::Gone => "no such device",
            Self::ReadOnly => "read-only",
            Self::Hung => "no answer",
            Self::Bounds => "beyond the end, or not whole blocks",
        })
    }
}

impl std::error::Error for Error {}
