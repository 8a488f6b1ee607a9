//! Searches for any loss.

use rand_core::Rng;

use super::super::contract::Device;
use super::super::settings::{LEAST_VERIFIED, MET, READINGS, TEETH, shifts};
use super::super::stamp::Seen;
use super::eviction::without;
use super::loss_kind::LossKind;
use super::scatter::{power_of_two_places, stratified_places, without_repetition};
use super::stages::Search;
use super::stamped::{End, SectorRange};

/// Length in sectors of the comb that meets a window of addresses behind a protected part: 64 MiB.
const NEAR: u64 = (64 << 20) / 512;
/// Each single read is shifted by a random distance of at most the step divided by this.
const SHIFTED: u64 = 8;

impl<D: Device> Search<'_, '_, D> {
    /// Whether anything was lost.
    pub(crate) fn discover(&mut self) -> Result<bool, End> {
        self.device.begin_round();
        let small = power_of_two_places(self.device);
        let wide = stratified_places(self.device, &small, self.run);
        self.samples = without_repetition([small, wide].concat());
        let samples = self.samples.clone();
        // Before anything else, as it may drive what is saved out of a cache that spares the cells.
        let witnesses = self.witnesses(&samples)?;
        self.device.expected = (samples.len() + self.verified(&samples).len()) as u64;
        self.device.save(&samples)?;
        self.same_medium(&witnesses)?;
        let written = self.first_writes(&samples)?;
        if self.loss_kind != LossKind::None {
            return Ok(true);
        }
        for place in &samples[written..] {
            self.device.write(*place)?;
        }
        self.device.settle()?;
        if self.all_back()? {
            return Ok(true);
        }
        let lost = self.write_run_between(&samples)?;
        if lost || self.all_back()? {
            return Ok(true);
        }
        self.push_through(&samples)?;
        Ok(self.comb()? || self.read_on(&samples)? || self.lost_untouched(&witnesses)? || self.erred_elsewhere())
    }

    /// Writes most of the run once more. To take this, a cache that holds back the latest writes must give up the end
    /// of the run. The cache is no larger than the run, so it then holds nothing of the part that is written again. At
    /// least [`MET`] of the run has therefore reached the memory when the run is searched for elsewhere.
    fn push_through(&mut self, samples: &[SectorRange]) -> Result<(), End> {
        self.device.begin_round();
        let (share, of) = MET;
        let end = self.run.at + self.run.sectors / of * share;
        for stretch in self.clear_run(samples).into_iter().filter(|stretch| stretch.at < end) {
            self.device.write(stretch)?;
        }
        self.device.settle()
    }

    /// Reads back the run, all of it if it is short, and the samples again after each part of it. What is read in
    /// between evicts the samples from a cache that is filled by reading and spares the cells.
    fn read_on(&mut self, samples: &[SectorRange]) -> Result<bool, End> {
        let verified = self.verified(samples);
        let each = verified.len().div_ceil(READINGS - 2).max(1);
        let mut parts = verified.chunks(each);
        let mut lost = false;
        for _ in 2..READINGS {
            for place in parts.next().unwrap_or_default() {
                lost |= self.is_lost(*place)?;
            }
            if lost {
                continue;
            }
            let mut worn = false;
            for place in samples {
                let page = SectorRange { sectors: place.sectors.min(8), ..*place };
                worn |= self.is_lost(page)?;
            }
            if worn {
                self.loss_kind = LossKind::Decays;
                return Ok(true);
            }
        }
        Ok(lost)
    }

    fn is_lost(&mut self, place: SectorRange) -> Result<bool, End> {
        Ok(self.device.check(place)?.iter().any(|seen| *seen != Seen::Holds))
    }

    /// Reads all samples back. Returns whether any was lost, or shows the data of another place.
    pub(super) fn all_back(&mut self) -> Result<bool, End> {
        let mut lost = !self.device.foreign_stamps.is_empty();
        for place in self.samples.clone() {
            lost |= self.is_lost(place)?;
        }
        Ok(lost)
    }

    /// Writes a run between the samples, and tests on the way whether one of them is already lost.
    fn write_run_between(&mut self, samples: &[SectorRange]) -> Result<bool, End> {
        self.device.begin_round();
        let clear = self.clear_run(samples);
        let watched: Vec<SectorRange> =
            samples.iter().take(12).chain(samples.iter().skip(samples.len() / 2).take(4)).copied().collect();
        let (mut written, mut next) = (0, (1 << 20) / 512);
        for stretch in clear {
            self.device.save(&[stretch])?;
            self.device.write(stretch)?;
            written += stretch.sectors;
            self.run_sectors = written;
            if written >= next {
                next = written * 2;
                self.device.settle()?;
                let mut lost = false;
                for place in &watched {
                    lost |= self.is_lost(*place)?;
                }
                if lost {
                    return self.all_back();
                }
            }
        }
        self.device.settle()?;
        Ok(false)
    }

    /// The run without the samples in it, in parts of at most 1 MiB.
    fn clear_run(&self, samples: &[SectorRange]) -> Vec<SectorRange> {
        let mut clear = samples.to_vec();
        clear.sort_unstable();
        let rows = without(self.run, &clear);
        rows.into_iter()
            .flat_map(|row| {
                let large = (1 << 20) / 512;
                (row.at..row.end())
                    .step_by(large as usize)
                    .map(move |at| SectorRange { at, sectors: large.min(row.end() - at) })
            })
            .collect()
    }

    /// The parts of the run that are read back: all of a short one, else [`LEAST_VERIFIED`] all over it.
    fn verified(&self, samples: &[SectorRange]) -> Vec<SectorRange> {
        let (mut passed, mut taken) = (0, 0);
        let is_due = |part: &SectorRange| {
            passed += part.sectors;
            let due = taken * self.run.sectors < passed * LEAST_VERIFIED;
            taken += if due { part.sectors } else { 0 };
            due
        };
        self.clear_run(samples).into_iter().filter(is_due).collect()
    }

    /// Single reads below the run, at distances shorter than the run. One of them meets the run wherever addresses wrap
    /// around, even if caches hold the rest of it back.
    fn comb(&mut self) -> Result<bool, End> {
        let (share, of) = MET;
        let step = (self.run.sectors / of * share).max(self.device.unit());
        let mut teeth: Vec<u64> = Vec::new();
        let below = self.run.at;
        let all = below / step;
        let near = (NEAR / step + 1).min(all);
        // The lower half contains an image of the run, whatever the period is.
        let from = if all <= TEETH { 1 } else { all / 2 };
        teeth.extend((1..=near).chain(from.max(near + 1)..=all).map(|index| below - index * step));
        // On interleaved chips only every other unit shows the run, so each tooth is read at several random places.
        let shifts = shifts(teeth.len() as u64);
        let all = teeth.into_iter().flat_map(|at| (0..shifts).map(move |_| at));
        for at in all {
            let at = at + self.device.random.next_u64() % (step / SHIFTED).max(1);
            if self.device.was_written(at) {
                continue;
            }
            if let Some(origin) = self.device.origin_at(at)?
                && origin.sector != at
            {
                self.pairs.push((at, origin.sector));
                return Ok(true);
            }
        }
        Ok(false)
    }
}
