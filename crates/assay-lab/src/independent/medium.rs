//! The medium: a device with a card in it, a clock that only operations advance, and a plan of events.
//!
//! A program sees [`Medium::bytes`], [`Medium::read`], [`Medium::write`], [`Medium::flush`] and the clock. Everything
//! else stages an attack: cards are exchanged without notice, the device is unplugged, the program is killed.

use std::time::Duration;

use super::card::{Card, CardSpec};
pub use super::faults::Error;
use super::faults::When;
use super::maps::{Op, Side};
use super::numbers::{SECTOR, hash};

/// Duration of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Bytes read per second.
    pub read: u64,
    /// Bytes written per second.
    pub write: u64,
    /// Nanoseconds of each operation.
    pub latency: u64,
    /// Nanoseconds of a FLUSH.
    pub flush: u64,
}

impl Timing {
    /// An SD card.
    pub const CARD: Self = Self { read: 20_000_000, write: 10_000_000, latency: 500_000, flush: 2_000_000 };
    /// An SSD.
    pub const SSD: Self = Self { read: 500_000_000, write: 400_000_000, latency: 60_000, flush: 500_000 };
    /// A hard disk.
    pub const DISK: Self = Self { read: 150_000_000, write: 150_000_000, latency: 8_000_000, flush: 16_000_000 };
}

/// Duration of an operation that hangs, in nanoseconds: a second longer than `--hang-after`.
const HANGS: u64 = 31_000_000_000;

/// Counters of operations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counters {
    /// Operations, FLUSH included.
    pub ops: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// FLUSHes.
    pub flushes: u64,
    /// Bytes requested by reads.
    pub bytes_read: u64,
    /// Bytes sent by writes.
    pub bytes_written: u64,
}

/// An event at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Happening {
    /// The card is exchanged for this one, without notice to the host.
    Insert(usize),
    /// The card is removed.
    Remove,
    /// The power of the medium is cut until it is plugged in again.
    PowerCut,
    /// The program is killed in the middle of the operation, which is done in part. [`Killed`] unwinds.
    Kill,
    /// Ctrl-C. The program should poll [`Medium::interrupts`].
    Interrupt,
}

/// The panic payload that kills a program. Catch it with `catch_unwind`, and drop all state of the program except its
/// journal.
#[derive(Debug)]
pub struct Killed;

/// An operation as recorded by [`Medium::trace`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traced {
    /// The number of the operation.
    pub number: u64,
    /// Reading or writing; `None` is a FLUSH.
    pub side: Option<Side>,
    /// Its offset in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
    /// How it ended.
    pub result: Result<(), Error>,
}

/// A device.
#[derive(Debug)]
pub struct Medium {
    cards: Vec<Card>,
    inserted: Option<usize>,
    block: u32,
    bytes: u64,
    clock: u64,
    timing: Timing,
    counters: Counters,
    plan: Vec<(When, Happening)>,
    interrupts: u32,
    is_dead: bool,
    attached: u64,
    trace: Option<Vec<Traced>>,
}

impl Medium {
    /// A device with a card in it. The block is 512 or 4096 bytes.
    pub fn new(card: CardSpec, block: u32, timing: Timing) -> Self {
        assert!(block == 512 || block == 4096, "blocks are of 512 or 4096 bytes");
        assert!((card.sectors * SECTOR).is_multiple_of(u64::from(block)), "a medium has whole blocks");
        Self {
            bytes: card.sectors * SECTOR,
            cards: vec![Card::new(card)],
            inserted: Some(0),
            block,
            clock: 0,
            timing,
            counters: Counters::default(),
            plan: Vec::new(),
            interrupts: 0,
            is_dead: false,
            attached: 1,
            trace: None,
        }
    }

    /// The announced bytes at the time of the last plug-in: an exchange in the middle does not change them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of a block. Operations must be of whole blocks.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// The virtual time since the beginning.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock)
    }

    /// Lets time pass.
    pub fn wait(&mut self, time: Duration) {
        self.clock += time.as_nanos() as u64;
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How often Ctrl-C was pressed.
    pub fn interrupts(&self) -> u32 {
        self.interrupts
    }

    /// How often the device was plugged in. A host can see that, but not an exchange of the card in a reader.
    pub fn attached(&self) -> u64 {
        self.attached
    }

    /// Whether a medium is present and answers.
    pub fn present(&self) -> bool {
        !self.is_dead && self.inserted.is_some_and(|c| !self.cards[c].is_gone(self.clock))
    }

    /// Reads whole blocks. If it fails, the buffer may be filled in part.
    pub fn read(&mut self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let op = self.begin(out.len() as u64);
        self.counters.reads += 1;
        self.counters.bytes_read += out.len() as u64;
        if self.happens(&op) {
            std::panic::resume_unwind(Box::new(Killed));
        }
        self.check(offset, out.len() as u64)?;
        self.clock += self.timing.latency + nanos(out.len() as u64, self.timing.read);
        let result = self.card_or_gone()?.read(offset / SECTOR, out, &op);
        self.end(&op, Some(Side::Read), offset, result)
    }

    /// Writes whole blocks. If it fails, they may be written in part.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut op = self.begin(data.len() as u64);
        let is_killed = self.happens(&op);
        self.counters.writes += 1;
        self.counters.bytes_written += data.len() as u64;
        self.check(offset, data.len() as u64)?;
        self.clock += self.timing.latency + nanos(data.len() as u64, self.timing.write);
        if is_killed {
            op.sectors = hash(op.number, offset) % (op.sectors + 1);
            if let Ok(card) = self.card_or_gone()
                && op.sectors > 0
            {
                let part = &data[..(op.sectors * SECTOR) as usize];
                _ = card.write(offset / SECTOR, part, &op);
            }
            std::panic::resume_unwind(Box::new(Killed));
        }
        let result = self.card_or_gone()?.write(offset / SECTOR, data, &op);
        self.end(&op, Some(Side::Write), offset, result)
    }

    /// Asks the medium to store its cached data.
    pub fn flush(&mut self) -> Result<(), Error> {
        let op = self.begin(0);
        self.counters.flushes += 1;
        if self.happens(&op) {
            std::panic::resume_unwind(Box::new(Killed));
        }
        self.clock += self.timing.flush;
        let card = self.card_or_gone()?;
        let (more, result) = (card.flush_nanos(), card.flush(&op));
        self.clock += more;
        self.end(&op, None, 0, result)
    }

    /// Records all operations from now on that the card answers.
    pub fn start_trace(&mut self) {
        self.trace = Some(Vec::new());
    }

    /// The operations since [`Self::start_trace`].
    pub fn trace(&self) -> &[Traced] {
        self.trace.as_deref().unwrap_or_default()
    }

    fn begin(&mut self, bytes: u64) -> Op {
        self.counters.ops += 1;
        Op { number: self.counters.ops, sectors: bytes / SECTOR, now: self.clock, written: self.counters.bytes_written }
    }

    fn end(&mut self, op: &Op, side: Option<Side>, offset: u64, result: Result<(), Error>) -> Result<(), Error> {
        if let Some(trace) = &mut self.trace {
            trace.push(Traced { number: op.number, side, offset, len: op.sectors * SECTOR, result });
        }
        if result == Err(Error::Hung) {
            self.clock += HANGS;
        }
        result
    }

    fn check(&self, offset: u64, len: u64) -> Result<(), Error> {
        let block = u64::from(self.block);
        let whole = offset.is_multiple_of(block) && len.is_multiple_of(block) && len > 0;
        if whole && offset.checked_add(len).is_some_and(|end| end <= self.bytes) { Ok(()) } else { Err(Error::Bounds) }
    }

    fn card_or_gone(&mut self) -> Result<&mut Card, Error> {
        match self.inserted {
            Some(card) if !self.is_dead => Ok(&mut self.cards[card]),
            _ => Err(Error::Gone),
        }
    }

    /// Runs the planned events for this operation; returns true if the program is killed.
    fn happens(&mut self, op: &Op) -> bool {
        if self.plan.is_empty() {
            return false;
        }
        let due: Vec<Happening> = self.plan.iter().filter(|(when, _)| when.is_over(op)).map(|(_, h)| *h).collect();
        self.plan.retain(|(when, _)| !when.is_over(op));
        let mut is_killed = false;
        for happening in due {
            match happening {
                Happening::Insert(card) => self.exchange(Some(card)),
                Happening::Remove => self.exchange(None),
                Happening::PowerCut => {
                    self.power_cut();
                    self.is_dead = true;
                }
                Happening::Kill => is_killed = true,
                Happening::Interrupt => self.interrupts += 1,
            }
        }
        is_killed
    }

    /// Plans an event. If the moment has passed, it happens at the next operation.
    pub fn plan(&mut self, when: When, what: Happening) {
        self.plan.push((when, what));
    }

    /// Drops events that have not happened yet, and the count of Ctrl-C.
    pub fn forget_plan(&mut self) {
        self.plan.clear();
        self.interrupts = 0;
    }

    /// Adds a card that is not inserted, and returns its number. The first card has number 0.
    pub fn add_card(&mut self, card: CardSpec) -> usize {
        self.cards.push(Card::new(card));
        self.cards.len() - 1
    }

    /// A card.
    pub fn card(&self, card: usize) -> &Card {
        &self.cards[card]
    }

    /// A card.
    pub fn card_mut(&mut self, card: usize) -> &mut Card {
        &mut self.cards[card]
    }

    /// The card that is inserted.
    pub fn inserted(&self) -> Option<usize> {
        self.inserted
    }

    /// Exchanges the card; the removed card loses its power. The size that the host knows stays.
    pub fn exchange(&mut self, card: Option<usize>) {
        if card != self.inserted {
            self.power_cut();
            self.inserted = card;
            if let Some(card) = card {
                self.cards[card].replug();
            }
        }
    }

    /// Cuts the power of the card and restores it at once: its caches lose their lines.
    pub fn power_cut(&mut self) {
        if let Some(card) = self.inserted {
            self.cards[card].power_cut();
        }
    }

    /// Plugs the device in again with a card: the power is cut, a hung card answers again, and the host reads the size.
    pub fn replug(&mut self, card: usize) {
        self.power_cut();
        self.is_dead = false;
        self.attached += 1;
        self.inserted = Some(card);
        self.cards[card].replug();
        self.bytes = self.cards[card].sectors() * SECTOR;
    }
}

fn nanos(bytes: u64, per_second: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(per_second.max(1))) as u64
}
