//! Specs: descriptions of media, and media drawn by seed.
//!
//! Three populations: [`genuine`], [`fake`] and [`failing`]. Most media announce 1 MiB to 1 GiB, one in eight up to 4
//! TiB. All parameters are such as a buyer may meet, except the address maps, which are worse on purpose.

use super::caches::{Admits, CacheSpec, Policy, PoolRule, PoolSpec};
use super::card::CardSpec;
use super::faults::{Fault, When};
use super::maps::{Map, PageAt};
use super::medium::{Medium, Timing};
use super::numbers::{Content, GIB, MIB, Rng, SECTOR, TIB, Void, human, prime_up_to};
use super::truths::{Reach, Truth, Word};

/// The description of a medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// The card.
    pub card: CardSpec,
    /// The bytes of a block.
    pub block: u32,
    /// Duration of operations.
    pub timing: Timing,
}

impl Spec {
    /// A medium without a fault or a cache, at the speed of an SSD.
    pub fn plain(sectors: u64, map: Map, seed: u64) -> Self {
        let card = CardSpec {
            sectors,
            map,
            void: Void::Zeros,
            content: Content::Random(seed),
            faults: vec![],
            cache: None,
            seed,
        };
        Self { seed, card, block: 512, timing: Timing::SSD }
    }

    /// Builds the medium.
    pub fn build(&self) -> Medium {
        Medium::new(self.card.clone(), self.block, self.timing)
    }

    /// The truth about the medium as if each fault had bitten. [`super::judge`] tests which did.
    pub fn truth(&self) -> Truth {
        self.truth_with(&self.card.faults)
    }

    /// The truth about the medium if only these faults have bitten.
    pub fn truth_with(&self, bitten: &[Fault]) -> Truth {
        let mut truth = self.card.map.truth(self.card.sectors, &self.card.void);
        let bitten: Vec<&Fault> = bitten.iter().filter(|f| !matches!(f, Fault::SlowFlush { .. })).collect();
        if bitten.is_empty() {
            return truth;
        }
        truth.right.retain(|w| *w != Word::Genuine);
        truth.reach = Reach::Evidence;
        for fault in bitten {
            let (right, arguable) = fault.accepted_words();
            truth.right.extend(right);
            truth.arguable.extend(arguable);
            truth.name = format!("{} + {}", truth.name, fault.name());
        }
        truth.right.sort_unstable();
        truth.right.dedup();
        truth
    }

    /// The announced bytes.
    pub fn bytes(&self) -> u64 {
        self.card.sectors * SECTOR
    }
}

impl std::fmt::Display for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}: {}, {:?}, blocks of {}", self.seed, human(self.bytes()), self.card.map, self.block)?;
        write!(f, ", void {:?}, content {:?}", self.card.void, self.card.content)?;
        if let Some(c) = &self.card.cache {
            let how = match (c.back, c.deaf) {
                (true, true) => "write-back, deaf",
                (true, false) => "write-back",
                _ => "write-through",
            };
            write!(
                f,
                ", cache {} {:?} {how} {:?}{}",
                human(c.bytes),
                c.policy,
                c.admits,
                if c.keeps_reads { " reads" } else { "" }
            )?;
        }
        if !self.card.faults.is_empty() {
            write!(f, ", faults {:?}", self.card.faults)?;
        }
        Ok(())
    }
}

/// Parameters common to all media: size, block, content, void, timing. Sizes are whole numbers of `unit` sectors.
struct Base {
    n: u64,
    block: u32,
    rng: Rng,
    seed: u64,
}

impl Base {
    fn new(seed: u64, population: u64) -> Self {
        let mut rng = Rng::new(seed ^ population << 56);
        let block = if rng.one_in(5) { 4096 } else { 512 };
        let n = match rng.below(16) {
            0 => rng.range(128, MIB),
            1 | 2 => rng.magnitude(GIB, 4 * TIB),
            3 | 4 => 1 << rng.range(11, 21),
            _ => rng.magnitude(MIB, GIB),
        };
        // Real cards have whole MiB or at least whole blocks of 4 KiB; partitions may have any number.
        let grain = if rng.one_in(3) && block == 512 { 1 } else { 8 };
        let n = if n > 16 * MIB && rng.one_in(2) { n / MIB * MIB } else { (n / grain * grain).max(128) };
        Self { n, block, rng, seed }
    }

    fn content(&mut self) -> Content {
        let seed = self.rng.next();
        match self.rng.below(10) {
            0 => Content::Zeros,
            1 => Content::Ones,
            2 => Content::Text,
            3 => Content::Repeated { seed, unit: 1 << self.rng.range(0, 11) },
            4 => Content::Periodic { seed, period: self.rng.magnitude(8, self.n.max(9)) },
            5 | 6 => Content::Tables { seed },
            7 => Content::Mixed(seed),
            _ => Content::Random(seed),
        }
    }

    fn void(&mut self) -> Void {
        match self.rng.below(20) {
            0..6 => Void::Zeros,
            6..10 => Void::Ones,
            10..13 => Void::AddressHash(self.rng.next()),
            13..16 => Void::Foreign(self.rng.next()),
            16 | 17 => Void::LastOnBus,
            18 => Void::Mirror(self.rng.range(1, (self.n / 2).max(1))),
            _ => Void::Error,
        }
    }

    fn spec(mut self, map: Map, faults: Vec<Fault>, cache: Option<CacheSpec>) -> Spec {
        let timing = self.rng.pick(&[Timing::CARD, Timing::CARD, Timing::SSD, Timing::DISK]);
        let (content, void) = (self.content(), self.void());
        let card = CardSpec { sectors: self.n, map, void, content, faults, cache, seed: self.rng.next() };
        Spec { seed: self.seed, card, block: self.block, timing }
    }

    /// A length of whole blocks, from 1 sector to that of the medium.
    fn length(&mut self) -> u64 {
        let grain = u64::from(self.block) / SECTOR;
        let length = match self.rng.below(8) {
            // Within a block of the announced size.
            0 => self.n - grain * self.rng.range(1, 2),
            // Less than a twentieth is missing.
            1 => self.n - self.n / self.rng.range(20, 100),
            2 => self.n / 2,
            3 => 1 << self.rng.range(3, self.n.ilog2().into()),
            4 if grain == 1 => prime_up_to(self.rng.magnitude(64, self.n - 1)),
            5 => self.n / self.rng.range(2, 64) + self.rng.below(3) * grain,
            _ => self.rng.magnitude(16, self.n - 1),
        };
        (length / grain * grain).clamp(grain, self.n - grain)
    }

    /// A length of whole units, from 1 to `blocks - 1` of them where the medium has `blocks`.
    fn units(&mut self, unit: u64) -> u64 {
        let blocks = (self.n / unit).max(2);
        match self.rng.below(3) {
            0 => self.rng.range(1, blocks - 1),
            _ => self.rng.magnitude(1, blocks - 1),
        }
    }

    /// A unit of 4 KiB to 1 MiB. The medium has at least 8 units, and is cut to whole ones.
    fn unit(&mut self) -> u64 {
        let most = (self.n / 8).max(8).ilog2().min(11);
        let unit = 1 << self.rng.range(3, most.max(3).into());
        self.n = (self.n / unit).max(2) * unit;
        unit
    }

    fn power_of_two(&mut self) {
        self.n = 1 << self.n.ilog2();
    }

    fn bit(&mut self) -> u32 {
        self.rng.range(3, (self.n.ilog2() - 1).into()) as u32
    }
}

/// A cache. Half of all caches have up to 8 MiB, and a few up to 512 MiB.
pub fn cache(rng: &mut Rng) -> CacheSpec {
    let bytes = match rng.below(8) {
        0..4 => rng.magnitude(4096, 8 << 20),
        4..7 => rng.magnitude(1 << 20, 64 << 20),
        _ => rng.magnitude(64 << 20, 512 << 20),
    };
    let policy = match rng.below(10) {
        0..4 => Policy::Lru,
        4 | 5 => Policy::Fifo,
        6 => Policy::Random,
        7 => Policy::Segmented,
        8 => rng.pick(&[Policy::Mru, Policy::FirstCome]),
        _ => Policy::Timed(rng.magnitude(100_000_000, 20_000_000_000)),
    };
    let admits = match rng.below(8) {
        0 => Admits::Small(rng.pick(&[1, 8, 64])),
        1 => Admits::Large(rng.pick(&[16, 64, 256])),
        _ => Admits::All,
    };
    let back = rng.one_in(2);
    CacheSpec { policy, bytes, back, deaf: back && rng.one_in(3), admits, keeps_reads: rng.one_in(3) }
}

/// A genuine medium of any size and content, with a map that is one to one. Half of them are behind a cache, and some
/// are slow.
pub fn genuine(seed: u64) -> Spec {
    let mut base = Base::new(seed, 1);
    let cache = base.rng.one_in(2).then(|| cache(&mut base.rng));
    let faults = if base.rng.one_in(10) { vec![Fault::SlowFlush { nanos: 1_500_000_000 }] } else { vec![] };
    let map = if base.rng.one_in(10) { Map::LinesExchanged { a: base.bit(), b: base.bit() } } else { Map::Genuine };
    base.spec(map, faults, cache)
}

/// Number of kinds of maps that the model draws.
pub const FAKE_MAPS: u64 = 46;

/// A fake: any map that holds less than it announces. A third of them are behind a cache, and one in ten has a fault.
pub fn fake(seed: u64) -> Spec {
    let mut base = Base::new(seed, 2);
    let which = base.rng.below(FAKE_MAPS);
    let map = fake_map(&mut base, which);
    let cache = base.rng.one_in(3).then(|| cache(&mut base.rng));
    let faults = if base.rng.one_in(10) { vec![fault(&mut base)] } else { vec![] };
    base.spec(map, faults, cache)
}

/// A fake of the `which`-th kind, without a cache or a fault.
pub fn fake_of(which: u64, seed: u64) -> Spec {
    let mut base = Base::new(seed, 3);
    let map = fake_map(&mut base, which % FAKE_MAPS);
    base.spec(map, vec![], None)
}

fn pool(base: &mut Base, rule: PoolRule, unit: u64) -> Map {
    // Most pools are small enough that a probe exhausts them.
    let units = match base.rng.one_in(4) {
        true => base.units(unit),
        false => base.units(unit).min(base.rng.magnitude(8, 8 * MIB) / unit).max(1),
    };
    // Whole blocks if the pool counts sectors.
    let grain = if unit == 1 { u64::from(base.block) / SECTOR } else { 1 };
    let units = units.next_multiple_of(grain);
    let owned = if base.rng.one_in(2) { base.rng.range(0, units / grain) * grain } else { 0 };
    Map::Pool(PoolSpec { rule, unit, units, owned })
}

fn fake_map(base: &mut Base, which: u64) -> Map {
    let grain = u64::from(base.block) / SECTOR;
    match which {
        0..3 => Map::Limbo { real: base.length() },
        3 => Map::Limbo { real: base.n - grain },
        4..7 => Map::Wrap { period: base.length() },
        7 => Map::Wrap { period: base.n - grain },
        8 => Map::Chain { period: base.n, real: base.length() },
        9 => {
            let period = base.length().max(2 * grain);
            let real = base.rng.range(1, period / grain - 1) * grain;
            Map::Chain { period, real }
        }
        10 | 11 => {
            let protected = base.length().min(base.n - 2 * grain).max(grain);
            let most = (base.n - protected) / grain - 1;
            Map::Window { protected, window: base.rng.magnitude(1, most.max(1)) * grain }
        }
        12 => {
            let unit = base.unit();
            let blocks = base.n / unit;
            let protected = base.rng.range(1, blocks / 4 + 1);
            let split = base.rng.range(protected + 1, (blocks - 1).max(protected + 1));
            let first = base.rng.range(1, split - protected);
            let second = base.rng.range(1, (blocks - split).max(1));
            Map::TwoWindows {
                protected: protected * unit,
                first: first * unit,
                split: split * unit,
                second: second * unit,
            }
        }
        13 => {
            let head = base.length() / 2;
            let tail = base.rng.magnitude(grain, (base.n - head) / 2) / grain * grain;
            Map::Ends { head: (head / grain * grain).max(grain), tail: tail.max(grain) }
        }
        14 => {
            let real = base.length();
            let from = base.rng.range(0, (base.n - real) / grain) * grain;
            Map::Middle { from, to: from + real }
        }
        15 => Map::Tail { real: base.length() },
        16 => {
            let bank = base.length().min(base.n / 2).max(grain) / grain * grain;
            let from = base.rng.range(1, ((base.n - bank) / grain - 1).max(1)) * grain;
            Map::MissingBank { from, to: (from + bank).min(base.n - grain).max(from + grain) }
        }
        17..25 => lapped(base, which),
        25..34 => blockwise(base, which),
        34..37 => {
            let page = [PageAt::First, PageAt::Last, PageAt::Spare][which as usize - 34];
            let unit = if base.n >= 16 * 2048 { base.rng.pick(&[8, 32, 2048]) } else { 8 };
            // More than one page must be missing, since the spare page would make up for one.
            let real = base.length().clamp(unit, base.n - 2 * unit);
            Map::OnePage { real: real / unit * unit, page, unit }
        }
        37 => Map::LineStuck { bit: base.bit(), high: base.rng.one_in(2) },
        38 => {
            base.power_of_two();
            let (a, b) = (base.bit(), base.bit());
            Map::LinesShorted { a, b: if a == b { 3 + (a - 2) % (base.n.ilog2() - 3) } else { b } }
        }
        39 => Map::BySize { real: base.length(), large: base.rng.pick(&[2, 8, 64]) * grain },
        40 => Map::ByParity { real: base.length() },
        _ => pooled(base, which),
    }
}

/// Maps with laps in another order or of another length.
fn lapped(base: &mut Base, which: u64) -> Map {
    let grain = u64::from(base.block) / SECTOR;
    match which {
        17 | 18 => {
            let unit = base.unit();
            let period = base.units(unit) * unit;
            Map::Rotated { period, unit, seed: base.rng.next() }
        }
        19 | 20 => {
            let unit = base.unit();
            let period = unit << base.units(unit).ilog2();
            let seed = base.rng.next();
            if which == 19 { Map::Scrambled { period, unit, seed } } else { Map::BitReversed { period, unit } }
        }
        21 => {
            let unit = base.unit();
            Map::Reversed { period: base.units(unit) * unit, unit }
        }
        22 => Map::Uneven { real: base.length(), seed: base.rng.next() },
        23 => {
            let real = base.length();
            Map::WrapOffset { real, offset: base.rng.range(1, (real / grain).max(1)) * grain % real }
        }
        _ => {
            let (head, tail) = (base.n / grain / 8 * grain, (base.n / grain / 8).min(MIB / grain) * grain);
            let head = base.rng.magnitude(grain, head.max(grain)) / grain * grain;
            let most = (base.n - head - tail) / grain - 1;
            Map::WrapEnds { head, tail, window: base.rng.magnitude(1, most.max(1)) * grain }
        }
    }
}

/// Maps that treat whole blocks alike, and maps that differ for reading and writing.
fn blockwise(base: &mut Base, which: u64) -> Map {
    match which {
        25 => {
            let unit = base.unit();
            Map::Neighbours { k: base.rng.pick(&[2, 2, 3, 4, 8]), unit }
        }
        26 => {
            let unit = base.unit();
            Map::EveryKth { k: base.rng.pick(&[2, 2, 3, 4, 10]), unit }
        }
        27 => {
            let unit = base.unit();
            let most = (base.n / unit).clamp(2, 40);
            Map::Worn { every: base.rng.range(2, most), unit }
        }
        28 => {
            let unit = base.unit();
            Map::Hashed { cells: base.units(unit), unit, seed: base.rng.next() }
        }
        29 => {
            let unit = base.unit();
            Map::Scattered { permille: base.rng.range(10, 960), unit, seed: base.rng.next() }
        }
        30 | 31 => {
            let unit = base.unit();
            let small = base.rng.range(0, (base.n / unit / 2 - 1).max(1) - 1);
            Map::Interleaved { unit, small, wraps: which == 30 }
        }
        32 => Map::WriteWrap { real: base.length() },
        _ => Map::ReadWrap { real: base.length() },
    }
}

/// Maps that allocate memory on demand.
fn pooled(base: &mut Base, which: u64) -> Map {
    match which {
        41 => {
            let unit = base.unit();
            let rule = base.rng.pick(&[PoolRule::FirstCome, PoolRule::FirstCome, PoolRule::FirstComeErrs]);
            pool(base, rule, unit)
        }
        42 => {
            let unit = base.unit();
            pool(base, PoolRule::Newest, unit)
        }
        43 => {
            let unit = base.unit();
            pool(base, PoolRule::Lru, unit)
        }
        44 => {
            let rule = base.rng.pick(&[PoolRule::Compressing, PoolRule::Deduplicating]);
            pool(base, rule, 1)
        }
        _ => {
            // It turns within one pass over the whole medium.
            let real = base.length();
            let units = base.rng.magnitude(1, ((base.n - real) / 2).clamp(1, 64 * MIB));
            Map::Pool(PoolSpec { rule: PoolRule::Turning { real }, unit: 1, units, owned: 0 })
        }
    }
}

/// A medium that fails: one fault, sometimes two, in front of a genuine map, a quarter of them behind a cache.
pub fn failing(seed: u64) -> Spec {
    let mut base = Base::new(seed, 4);
    let mut faults = vec![fault(&mut base)];
    if base.rng.one_in(8) {
        faults.push(fault(&mut base));
    }
    let cache = base.rng.one_in(4).then(|| cache(&mut base.rng));
    let map = if base.rng.one_in(30) { Map::LinesCrossed { a: base.bit(), b: base.bit() } } else { Map::Genuine };
    base.spec(map, faults, cache)
}

/// Number of kinds of faults that [`failing_of`] knows.
pub const FAULTS: u64 = 31;

/// A medium with only the `which`-th fault.
pub fn failing_of(which: u64, seed: u64) -> Spec {
    let mut base = Base::new(seed, 5);
    let fault = fault_of(&mut base, which % FAULTS);
    base.spec(Map::Genuine, vec![fault], None)
}

fn fault(base: &mut Base) -> Fault {
    let which = base.rng.below(FAULTS);
    fault_of(base, which)
}

fn fault_of(base: &mut Base, which: u64) -> Fault {
    let n = base.n;
    let grain = u64::from(base.block) / SECTOR;
    let rng = &mut base.rng;
    let when = |rng: &mut Rng| match rng.below(3) {
        0 => When::Op(rng.magnitude(1, 20_000)),
        1 => When::Written(rng.magnitude(4096, 64 << 20)),
        _ => When::Time(rng.magnitude(1_000_000, 60_000_000_000)),
    };
    let from = if rng.one_in(2) { 0 } else { rng.below(n) };
    let one_in = rng.magnitude(2, 3000);
    let by = (rng.magnitude(1, (n / 2 / grain).max(1)) * grain) as i64 * rng.pick(&[1, -1]);
    let near = grain as i64 * rng.pick(&[1, -1, 8, -8]);
    let unit = 1 << rng.range(grain.ilog2().into(), 11);
    match which {
        0 => Fault::ReadOnly { from: when(rng) },
        1 => Fault::Errors { from: when(rng) },
        2 => Fault::WriteErrors { from: when(rng) },
        3 => Fault::FlushErrors { from: when(rng) },
        4 => {
            let from = rng.below(n);
            let which = rng.below(3);
            let to = (from + rng.magnitude(1, n)).min(n);
            Fault::ErrorsIn { from, to, reads: which != 0, writes: which != 1 }
        }
        5 => Fault::ErrorsPuttingBack { times: rng.pick(&[1, 3, u64::MAX]) },
        6 => Fault::Hang { from: when(rng) },
        7 => Fault::SlowFlush { nanos: 2_000_000_000 },
        8 => Fault::Vanish { at: when(rng), back_after: rng.pick(&[None, Some(1_000_000), Some(5_000_000_000)]) },
        9 => {
            let every = rng.magnitude(50, 5000);
            Fault::Bursts { every, burst: rng.range(1, 5) }
        }
        10 => Fault::FalseErrors { one_in },
        11 => Fault::DropSome { one_in },
        12 => Fault::Drops { from: when(rng) },
        13 => Fault::SwapsNeighbour { unit, one_in: rng.magnitude(1, 100) },
        14 => Fault::Misplaces { by: near, one_in: rng.magnitude(1, 100) },
        15 => Fault::Misplaces { by, one_in: rng.magnitude(1, 100) },
        16 => Fault::Duplicates { by, one_in: rng.magnitude(1, 100) },
        17 => Fault::Torn { one_in: rng.magnitude(1, 100) },
        18 => Fault::Truncates { after: grain << rng.range(0, 5) },
        19 => Fault::StuckBits { one_in },
        20 => Fault::Flips { from: when(rng), one_in },
        21 => Fault::FlipsReading { one_in },
        22 => Fault::Unstable { one_in },
        23 => Fault::WrongFirst { one_in },
        24 => Fault::DecaysByReading { from, reads: rng.range(1, 6) as u32 },
        25 => Fault::DecaysByTime { from, nanos: rng.magnitude(10_000_000, 10_000_000_000) },
        26 => Fault::ReadDisturb { reads: rng.range(2, 6) as u32 },
        27 => Fault::LastMissing { sectors: rng.pick(&[1, 1, 8, 128]) * grain },
        28 => {
            let unit = rng.pick(&[1, 8, 128, 2048]).max(grain);
            Fault::BadBlocks { every: rng.range(2, (n / unit).clamp(2, 60)), unit }
        }
        29 => Fault::Stale { one_in },
        _ => match rng.below(2) {
            0 => Fault::StoredAtFlush,
            _ => {
                Fault::ReadsLower { from: rng.range(1, n - 1) / grain * grain, by: rng.pick(&[1, 1, 8, 2048]) * grain }
            }
        },
    }
}
