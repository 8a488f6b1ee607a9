//! The first writes. A fake may drop what is sent beyond its end, or write it over data at other addresses that were
//! never saved, and reading the written address does not show where. So the first places are written one after the
//! other. When the first one loses its data, the place where they landed is searched before anything else is written.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::super::device::Device;
use super::super::plan::CAREFUL;
use super::super::stamp::{Origin, SECTOR_LEN, SeenStamp, digest};
use super::eviction::Ring;
use super::stages::{LossKind, Search};
use super::stamped::{End, SectorRange};

/// Places that are written in rounds of 1, 2, 4 and so on.
const FIRST: usize = 63;
/// Number of places after which caches are evicted, as long as that costs little.
const DRIVEN_OUT_AFTER: usize = 3;
/// Operations that land beside their target land within this many sectors of it: 1 MiB. Others land at the other state of
/// an address line, where only the distance shows it.
const BESIDE: u64 = (1 << 20) / 512;
/// Sectors at the start that are searched for data sent just behind the end: 1 MiB.
const LANDING: u64 = (1 << 20) / 512;
/// Losing places that are written once more.
const AGAIN: usize = 4;
/// Places that are tested to confirm where the part that holds ends.
const CONFIRMED: u64 = 6;
/// Rounds of bisection: there are fewer than 2^48 sectors.
const HALVINGS: usize = 48;

/// Digests of sectors in which all bytes are the same.
static CONSTANT: LazyLock<HashSet<u64>> = LazyLock::new(|| (0..=255).map(|byte| digest(&[byte; SECTOR_LEN])).collect());

impl<D: Device> Search<'_, '_, D> {
    /// Writes the first of the samples in ever larger rounds. After each round, all places written so far are read
    /// back. Returns how many of the samples were written; the rest may be written at once. If writes are found to land
    /// elsewhere, the kind of loss is set, and nothing more may be written.
    pub(super) fn first_writes(&mut self, samples: &[SectorRange]) -> Result<usize, End> {
        let low = self.low_part();
        self.device.save(&[low])?;
        let edge = self.edge(samples)?;
        let mut places: Vec<SectorRange> = edge.into_iter().collect();
        let from_samples = FIRST.min(samples.len());
        places.extend(samples[..from_samples].iter().filter(|place| edge.is_none_or(|edge| !edge.meets(**place))));
        let (mut written, mut round, mut driven_out) = (0, 1, false);
        while written < places.len() {
            let part = &places[written..(written + round).min(places.len())];
            for place in part {
                self.device.write(*place)?;
            }
            self.device.settle()?;
            written += part.len();
            round = if edge.is_some() && written == 1 { 1 } else { round * 2 };
            let mut lost = self.silently_lost(&places[..written])?;
            if lost.is_empty() && !driven_out && written >= DRIVEN_OUT_AFTER {
                driven_out = true;
                self.write_low()?;
                lost = self.silently_lost(&places[..written])?;
                self.small_cache = !lost.is_empty();
            }
            if !lost.is_empty() {
                self.where_it_landed(&places[..written], &lost)?;
                break;
            }
        }
        // Samples that were not written are left over. Places written here that are no samples do not count.
        Ok(samples.iter().take_while(|place| self.device.was_written(place.at)).count())
    }

    /// The start of the device, which is saved whole before anything is written. Where addresses wrap around, data sent
    /// behind the end land here first.
    fn low_part(&self) -> SectorRange {
        let unit = self.device.unit();
        let sectors = (self.run.sectors / CAREFUL).max(unit) / unit * unit;
        SectorRange { at: 0, sectors: sectors.min(self.device.sectors() / unit * unit) }
    }

    /// The first block from which on all saved content is constant, while other data lie before it: addresses without
    /// memory read like this. If writes wrap around, data sent there land at the very start.
    fn edge(&mut self, samples: &[SectorRange]) -> Result<Option<SectorRange>, End> {
        let mut all: Vec<u64> = samples.iter().map(|place| place.at).collect();
        all.sort_unstable();
        let stood = |device: &Self, at: &u64| device.device.digest_before(*at).map(|digest| CONSTANT.contains(&digest));
        let Some(last) = all.iter().rposition(|at| stood(self, at) == Some(false)) else { return Ok(None) };
        let Some(mut high) = all.get(last + 1).copied() else { return Ok(None) };
        let (mut low, unit) = (all[last], self.device.unit());
        while high - low > unit {
            let middle = self.device.place(low + (high - low) / 2, 1);
            if middle.at <= low || middle.at >= high {
                break;
            }
            self.device.save(&[middle])?;
            if stood(self, &middle.at) == Some(true) { high = middle.at } else { low = middle.at }
        }
        let edge = self.device.place(high, 1);
        Ok((edge.sectors > 0).then_some(edge))
    }

    /// Sectors of these places that lost what was written, without an error and without showing another place. An
    /// address without memory may show what crossed the bus last; it shows other data when it is read again.
    fn silently_lost(&mut self, places: &[SectorRange]) -> Result<Vec<u64>, End> {
        let mut lost = Vec::new();
        for place in places {
            let mut seen = self.device.check(*place)?;
            if seen.iter().any(|seen| matches!(seen, SeenStamp::Foreign(_))) {
                self.clear_the_bus(*place)?;
                seen = self.device.check(*place)?;
            }
            let gone = |seen: &SeenStamp| seen.is_silent_loss() && !matches!(seen, SeenStamp::Foreign(_));
            lost.extend(place.numbers().zip(&seen).filter(|(_, seen)| gone(seen)).map(|(at, _)| at));
        }
        Ok(lost)
    }

    /// Where data sent just behind the end land, if addresses wrap around.
    fn landing_part(&self) -> SectorRange {
        let (low, unit) = (self.low_part(), self.device.unit());
        SectorRange { sectors: (LANDING.min(low.sectors / 4) / unit * unit).max(unit).min(low.sectors), ..low }
    }

    /// Writes the rest of the low part, except for samples, so that a cache gives up what was written before.
    fn write_low(&mut self) -> Result<(), End> {
        let (low, mut clear) = (self.low_part(), self.samples.clone());
        clear.sort_unstable();
        let at = self.landing_part().end();
        let rest = SectorRange { at, sectors: low.end() - at };
        if rest.sectors > 0 {
            Ring::new(rest).write_elsewhere(self.device, rest.sectors / 2, rest.sectors - rest.sectors / 2, &clear)?;
        }
        self.device.settle()
    }

    /// Settles the writes, and evicts them from a small cache where one is known.
    fn settle_past_a_small_cache(&mut self) -> Result<(), End> {
        self.device.settle()?;
        if self.small_cache { self.write_low() } else { Ok(()) }
    }

    /// Searches for where the data of a losing place landed. Sets the kind of loss if that is found.
    fn where_it_landed(&mut self, written: &[SectorRange], lost: &[u64]) -> Result<(), End> {
        let Some(first) = lost.iter().min().copied() else { return Ok(()) };
        if let Some((sent, landed)) = self.landed(lost)? {
            let distance = sent.cast_signed() - landed.cast_signed();
            // Data that land in the first lap may have wrapped around.
            let laps = distance > 0 && landed < distance.unsigned_abs();
            if (distance.unsigned_abs() <= BESIDE && !laps) || self.lands_back(sent, landed)? {
                self.loss_kind = LossKind::Misaddressed(distance);
                return Ok(());
            }
        }
        // The next candidate is the end of the part that holds: data sent just behind it land in the part that was
        // saved.
        let below = written.iter().filter(|place| place.end() <= first);
        let holds = |place: &&SectorRange| {
            place.numbers().all(|at| self.device.findings.get(&at).is_some_and(|seen| *seen == SeenStamp::Holds))
        };
        // If no place was written there, bisection finds it.
        let low = below.filter(holds).map(|place| place.at).max().unwrap_or(0);
        let Some(high) = self.halve(low, first)? else { return Ok(()) };
        let Some((sent, landed)) = self.landed(&[high])? else { return Ok(()) };
        let period = sent - landed.min(sent);
        if landed < sent && period > low {
            let exact = self.writes_start_again(period)?;
            // Data that land farther than a lap away did not wrap around.
            self.loss_kind = match exact || landed < period {
                true => LossKind::WritesRepeat { period, exact },
                false => LossKind::Misaddressed(period.cast_signed()),
            };
        }
        Ok(())
    }

    /// Bisects between an address that holds and one that loses, until data sent to the latter land in the low part, if
    /// addresses wrap around between them. Returns the address that loses.
    fn halve(&mut self, mut low: u64, mut high: u64) -> Result<Option<u64>, End> {
        let near = self.landing_part().sectors;
        for _ in 0..HALVINGS {
            if high - low <= near {
                return Ok(Some(high));
            }
            let middle = self.device.place(low + (high - low) / 2, 1);
            if middle.at <= low || middle.at >= high {
                return Ok(None);
            }
            self.device.save(&[middle])?;
            self.device.write(middle)?;
            self.settle_past_a_small_cache()?;
            self.clear_the_bus(middle)?;
            let seen = self.device.check(middle)?;
            match seen.first() {
                Some(SeenStamp::Holds) => low = middle.at,
                Some(seen) if seen.is_silent_loss() => high = middle.at,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Tests twice whether data sent to one of these addresses show at another one. Returns both addresses.
    fn landed(&mut self, lost: &[u64]) -> Result<Option<(u64, u64)>, End> {
        let mut candidates = self.samples.clone();
        candidates.push(self.low_part());
        let last = self.device.sectors() - self.device.unit();
        // Written once more, since later writes may have covered them.
        let again: Vec<SectorRange> = lost.iter().take(AGAIN).map(|at| self.device.place(*at, 1)).collect();
        self.device.begin_round();
        for place in &again {
            self.device.write(*place)?;
        }
        self.settle_past_a_small_cache()?;
        if let Some(at) = lost.first().copied() {
            let start = at.saturating_sub(BESIDE);
            candidates.push(self.device.place(start, (at + BESIDE).min(last) - start));
            let lines = (0..63).map(|bit| at ^ (1 << bit)).filter(|other| *other <= last);
            candidates.extend(lines.map(|other| self.device.place(other, 1)));
        }
        for place in candidates {
            self.clear_the_bus(place)?;
            let origins = self.device.origins(place)?;
            let meets = |(at, origin): (u64, &Option<Origin>)| {
                let origin = origin.filter(|origin| origin.sector != at && lost.contains(&origin.sector))?;
                Some((origin.sector, at))
            };
            let met = place.numbers().zip(&origins).find_map(meets);
            if let Some((sent, shown)) = met
                && self.lands(sent, shown)?
            {
                return Ok(Some((sent, shown)));
            }
        }
        Ok(None)
    }

    /// Whether data sent to one address land at another one, and not where they were sent to.
    fn lands(&mut self, sent: u64, shown: u64) -> Result<bool, End> {
        let place = self.device.place(sent, 1);
        self.device.save(&[place, self.device.place(shown, 1)])?;
        self.device.begin_round();
        self.device.write(place)?;
        self.settle_past_a_small_cache()?;
        self.clear_the_bus(self.device.place(shown, 1))?;
        let now = self.device.generation();
        let mine =
            |origin: Option<Origin>| origin.is_some_and(|origin| origin.sector == sent && origin.generation == now);
        let there = mine(self.device.origin_at(shown)?);
        self.clear_the_bus(place)?;
        Ok(there && !mine(self.device.origin_at(sent)?))
    }

    /// Whether data sent to either of two addresses land at the other one. A failing address line does this.
    fn lands_back(&mut self, sent: u64, landed: u64) -> Result<bool, End> {
        if !(sent ^ landed).is_power_of_two() {
            return Ok(false);
        }
        self.lands(landed, sent)
    }

    /// Moves a page of the low part over the bus before a place is read, so that the place does not show what was read
    /// last.
    fn clear_the_bus(&mut self, looked: SectorRange) -> Result<(), End> {
        let low = self.low_part();
        let page = SectorRange { sectors: low.sectors.min(8), ..low };
        let other = SectorRange { at: low.end() - page.sectors, ..page };
        self.device.origins(if page.meets(looked) { other } else { page }).map(|_| ())
    }

    /// Whether data sent to addresses from `period` on land in the first period, as far as addresses with saved content
    /// can test it.
    fn writes_start_again(&mut self, period: u64) -> Result<bool, End> {
        let (unit, low, sectors) = (self.device.unit(), self.landing_part(), self.device.sectors());
        let insides = (0..CONFIRMED).map(|part| low.sectors / CONFIRMED * part / unit * unit);
        let laps = 1..=(sectors / period).min(2);
        // A period need not be a whole number of blocks.
        let pair = |inside: u64, lap: u64| {
            let sent = (inside + lap * period).next_multiple_of(unit);
            (sent, sent - lap * period)
        };
        let mut pairs: Vec<(u64, u64)> =
            laps.flat_map(|lap| insides.clone().map(move |inside| pair(inside, lap))).collect();
        pairs.retain(|(sent, landed)| sent + unit <= sectors && *landed < period);
        let mut all = !pairs.is_empty();
        for (sent, landed) in pairs {
            all &= self.lands(sent, landed)?;
        }
        let below = self.device.place((period - unit.min(period)) / unit * unit, 1);
        self.device.save(&[below])?;
        self.device.write(below)?;
        self.device.settle()?;
        Ok(all && self.device.check(below)?.iter().all(|seen| *seen == SeenStamp::Holds))
    }

    /// Sectors that the probe overwrote before it saved them, on a device whose writes wrap after `period` sectors.
    pub(super) fn strays(&self, period: u64) -> Vec<u64> {
        let landed = self.device.written_sectors().filter(|at| *at >= period).map(|at| at % period);
        let mut strays: Vec<u64> = landed.filter(|at| self.device.digest_before(*at).is_none()).collect();
        // These were saved too late: the journal holds a stamp.
        strays.extend(self.device.foreign_stamps.iter().map(|(at, _)| *at).filter(|at| *at < period));
        strays.sort_unstable();
        strays.dedup();
        strays
    }
}

// Operations that land elsewhere. The pairs of addresses that were found distinguish them from addresses that share a
// cell.

/// Pairs that are tested.
const PAIRS: usize = 8;
/// This many pairs at one distance, over a stretch more than [`STRETCH`] times as long, are not laps. Addresses in laps
/// show the last one that was written, whichever that is.
const ALIKE: usize = 4;
/// Samples at which more pairs are looked for.
const MORE: usize = 64;
const STRETCH: u64 = 16;

impl<D: Device> Search<'_, '_, D> {
    /// The distance between where data are read and where they were written, if a pair of addresses proves it: one
    /// address shows what was sent to the other, and the other does not. Two addresses of one cell show the same, and a
    /// place that shows as another one is read there too.
    pub(super) fn misdirected_distance(&mut self) -> Result<Option<i64>, End> {
        let step = self.pairs.len().div_ceil(PAIRS).max(1);
        let mut pairs: Vec<(u64, u64)> = self.pairs.iter().copied().step_by(step).filter(|(a, b)| a != b).collect();
        // What a cache gives up for the first reading may change what the second one shows, so both orders are tested.
        for shown_first in [true, false] {
            // Without a pair there is no reason to evict a cache.
            if pairs.is_empty() {
                break;
            }
            let misdirected = self.misdirected(&pairs, shown_first)?;
            pairs = pairs
                .into_iter()
                .zip(misdirected)
                .filter_map(|(pair, misdirected)| misdirected.then_some(pair))
                .collect();
        }
        if pairs.is_empty() {
            self.more_pairs()?;
        }
        Ok(pairs.first().map(distance).or_else(|| self.distance_of_all()))
    }

    /// Searches the whole device for pairs at the one distance of the known pairs, if a cache shows most of what was
    /// written. Then only places that were never written prove anything, and they are met only in the run, or by
    /// chance.
    fn more_pairs(&mut self) -> Result<(), End> {
        let Some(apart) = self.common_distance().filter(|apart| tells(*apart)) else { return Ok(()) };
        let step = self.samples.len().div_ceil(MORE).max(1);
        let below = |place: &SectorRange| place.at.checked_sub(apart);
        let above = |place: &SectorRange| Some(place.end() - 1 + apart);
        let beside = self.samples.iter().step_by(step).flat_map(|place| [below(place), above(place)]);
        for shown in beside.flatten().collect::<Vec<u64>>() {
            if shown >= self.device.sectors() || self.device.was_written(shown) {
                continue;
            }
            if let Some(origin) = self.device.origin_at(shown)?
                && origin.sector != shown
            {
                self.pairs.push((shown, origin.sector));
            }
        }
        Ok(())
    }

    /// The distance between the two addresses of each pair, in either direction, if it is the same for all pairs.
    fn common_distance(&self) -> Option<u64> {
        let apart = distance(self.pairs.first()?).unsigned_abs();
        self.pairs.iter().all(|pair| distance(pair).unsigned_abs() == apart).then_some(apart)
    }

    /// Which of these places show what was sent to their partners, while the partners do not.
    fn misdirected(&mut self, pairs: &[(u64, u64)], shown_first: bool) -> Result<Vec<bool>, End> {
        let (shown, sent): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let mut places: Vec<SectorRange> = sent.iter().map(|at| self.device.place(*at, 1)).collect();
        places.sort_unstable();
        places.dedup();
        let mut clear: Vec<SectorRange> =
            shown.iter().map(|at| self.device.place(*at, 1)).chain(places.clone()).collect();
        clear.sort_unstable();
        self.device.begin_round();
        self.device.save(&places)?;
        for place in places.iter().rev() {
            self.device.write(*place)?;
        }
        self.eviction.evict_most(self.device, &clear)?;
        let (shown, stands) = if shown_first {
            let shown = self.origins_at(&shown)?;
            (shown, self.origins_at(&sent)?)
        } else {
            let stands = self.origins_at(&sent)?;
            (self.origins_at(&shown)?, stands)
        };
        let own = |sector: u64, bears: &Option<Origin>| bears.is_some_and(|origin| origin.sector == sector);
        let both = sent.iter().zip(shown.iter().zip(&stands));
        let bad = |sector: &u64| self.device.is_bad(*sector);
        Ok(both.map(|(sent, (shown, stands))| own(*sent, shown) && !own(*sent, stands) && !bad(sent)).collect())
    }

    /// The distance of all pairs, if it is the same for all, even in both directions, and they lie far apart. A cache
    /// that is larger than what was written against it hides where else the data are.
    fn distance_of_all(&self) -> Option<i64> {
        let first = distance(self.pairs.first()?);
        let (low, high) = (self.pairs.iter().map(|pair| pair.0).min()?, self.pairs.iter().map(|pair| pair.0).max()?);
        let apart = self.common_distance().filter(|apart| tells(*apart))?;
        (self.pairs.len() >= ALIKE && high - low > apart * STRETCH).then_some(first)
    }
}

/// Whether a distance alone may show that operations land elsewhere: they land slightly beside their target, or where
/// one address line leads.
fn tells(apart: u64) -> bool {
    (1..BESIDE).contains(&apart) || apart.is_power_of_two()
}

/// The distance from a place up to the address that its content was sent to.
fn distance((shown, sent): &(u64, u64)) -> i64 {
    sent.cast_signed() - shown.cast_signed()
}
