//! Places that are only read. If they change, writes to other addresses took their memory.

use rand_core::Rng;

use super::super::contract::{Device, Fault};
use super::super::settings::{ASKED_AGAIN, WITNESSES};
use super::loss_kind::LossKind;
use super::stages::Search;
use super::stamped::{End, Glance, SectorRange};

/// An error may take seconds: no further places are read after this many.
const ERRORS: usize = 3;
/// Most places with errors that become samples.
const ERRED: usize = 64;
/// Before the first write, at most this part of the places, as a divisor, may show other content.
const FEW: usize = 4;
/// Wear changes at most this part of the bits of a sector, as a divisor.
const WORN: u32 = 16;

/// Content of one of these places before anything was written.
pub(super) struct Witness {
    at: u64,
    content: Vec<u8>,
}

impl<D: Device> Search<'_, '_, D> {
    /// Reads one place in each part of the device. Nothing is written to it before it is read again.
    pub(super) fn witnesses(&mut self, samples: &[SectorRange]) -> Result<Vec<Witness>, End> {
        let width = self.device.sectors() / WITNESSES;
        let (mut all, mut errors) = (Vec::new(), 0);
        for part in 0..WITNESSES {
            let at = part * width + self.device.random.next_u64() % width.max(1);
            let block = self.device.place(at, 1);
            if block.sectors == 0 || block.meets(self.run) || samples.iter().any(|sample| block.meets(*sample)) {
                continue;
            }
            match self.device.glance(block)? {
                Some(seen) => all.push(Witness { at: block.at, content: seen.content }),
                None => errors += 1,
            }
            if errors >= ERRORS {
                break;
            }
        }
        Ok(all)
    }

    /// Whether the medium is still the one that these places belong to, before anything is written: another card may
    /// have been there while places were saved. A place without memory shows what crossed the bus, which is known
    /// content.
    ///
    /// # Errors
    /// [`Fault::Exchanged`] if most of these places show content that was not read anywhere.
    pub(super) fn same_medium(&mut self, witnesses: &[Witness]) -> Result<(), End> {
        let step = witnesses.len().div_ceil(ASKED_AGAIN as usize).max(1);
        let (mut changed, mut asked) = (0, 0);
        for witness in witnesses.iter().step_by(step) {
            let seen = self.glance_again(witness)?;
            (asked, changed) = (asked + 1, changed + usize::from(seen.is_some_and(|seen| !seen.is_known)));
        }
        if changed * FEW > asked { Err(End::Fault(Fault::Exchanged)) } else { Ok(()) }
    }

    /// Whether any of these places lost its data, although nothing was sent there and everything sent elsewhere still
    /// holds. Each is read twice, as single readings may be wrong. The samples are read in between: on another medium
    /// they carry no stamps.
    pub(super) fn lost_untouched(&mut self, witnesses: &[Witness]) -> Result<bool, End> {
        let mut lost = 0;
        let mut changed: Vec<(&Witness, Vec<u8>)> = Vec::new();
        for witness in witnesses {
            if let Some(seen) = self.glance_again(witness)? {
                changed.push((witness, seen.content));
            }
        }
        if changed.is_empty() {
            return Ok(false);
        }
        if self.all_back()? {
            return Ok(true);
        }
        for (witness, content) in changed {
            lost += usize::from(self.glance_again(witness)?.is_some_and(|again| again.content == content));
        }
        if lost == 0 || self.all_back()? {
            return Ok(lost > 0);
        }
        self.loss_kind = LossKind::TakesMemory { lost, of: witnesses.len() };
        Ok(true)
    }

    /// Whether the medium erred outside the samples, while all samples hold. Some of the places that erred become samples.
    pub(super) fn erred_elsewhere(&mut self) -> bool {
        let bad: Vec<SectorRange> = self.device.bad_sectors().map(|at| self.device.place(at, 1)).collect();
        let step = bad.len().div_ceil(ERRED).max(1);
        for place in bad.iter().step_by(step) {
            if self.samples.iter().all(|sample| !sample.meets(*place)) {
                self.samples.push(*place);
            }
        }
        !bad.is_empty()
    }

    /// Content of a place, if it differs from before. A few wrong bits are wear, not other data.
    fn glance_again(&mut self, witness: &Witness) -> Result<Option<Glance>, End> {
        let block = self.device.place(witness.at, 1);
        if self.device.was_written(witness.at) {
            return Ok(None);
        }
        let Some(seen) = self.device.glance(block)? else { return Ok(None) };
        let differing: u32 =
            witness.content.iter().zip(&seen.content).map(|(one, other)| (one ^ other).count_ones()).sum();
        Ok((differing > seen.content.len() as u32 * 8 / WORN).then_some(seen))
    }
}
