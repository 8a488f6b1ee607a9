//! Writes what a survey allows, and reads everything back.

use super::contract::{Device, Fault};
use super::journal::{ByteRange, Log};
use super::restored::{RestoreStep, Restored};
use super::stamp::SECTOR_LEN;
use super::survey::{Class, Survey, SurveyError, read_place};

/// How what was put back is read back.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadBack {
    /// Times that everything is read: cells that do not last lose within a few readings.
    pub(super) readings: usize,
    /// Bytes that are written again before, to drive out caches.
    pub(super) evicting_bytes: u64,
}

/// Is told what was done, in bytes written and read back, and answers whether to stop.
type Step<'a> = dyn FnMut(RestoreStep, u64, u64) -> bool + 'a;

/// Puts back and reads back; `step` is told what was done and answers whether to stop. The
/// bytes written and the places that are not as before go into `done`.
pub(super) fn put_back<D: Device>(
    log: &Log,
    survey: &Survey,
    device: &mut D,
    done: &mut Restored,
    read_back: ReadBack,
    step: &mut Step<'_>,
) -> Result<(), SurveyError> {
    let newer: Vec<usize> = survey.with(Class::Other).collect();
    // Where nothing is newer and the device is proven to be the one, what cannot be read is what
    // the power cut left of a write.
    let heal = newer.is_empty() && survey.with(Class::Stamped).next().is_some();
    for index in (0..log.entries.len()).rev() {
        if step(RestoreStep::Writing, done.bytes, 0) {
            return Err(SurveyError::Stopped);
        }
        let (original, _) = log.original(index)?;
        let place = log.entries[index].place;
        if !write_place(device, place, &survey.classes[index], &original, heal, &mut done.bytes)? {
            done.differing.push(place.offset);
        }
    }
    let mut settled = settle(device)?;
    // Once more what was written first: a cache that still shows what was written last gives it up. No more than
    // half of all, so that this is not shown by the cache instead.
    let all: u64 = log.entries.iter().map(|entry| entry.place.length).sum();
    let mut left = read_back.evicting_bytes.min(all / 2);
    for index in (0..log.entries.len()).rev() {
        let place = log.entries[index].place;
        if place.length > left {
            break;
        }
        if step(RestoreStep::Writing, done.bytes, 0) {
            return Err(SurveyError::Stopped);
        }
        // A device that refuses it now has failed meanwhile.
        if !write_place(device, place, &survey.classes[index], &log.original(index)?.0, heal, &mut done.bytes)? {
            done.differing.push(place.offset);
        }
        left -= place.length;
    }
    settled &= settle(device)?;
    if !settled {
        each_by_itself(log, survey, device, heal, done, step)?;
    }
    read_all_back(log, survey, device, read_back.readings, done, step)?;
    still_writes(log, survey, device, done)?;
    if !device.present() {
        return Err(SurveyError::Fault(Fault::Gone));
    }
    done.newer = newer.into_iter().map(|index| log.entries[index].place.offset).collect();
    for list in [&mut done.differing, &mut done.newer] {
        list.sort_unstable();
        list.dedup();
    }
    Ok(())
}

/// A cache that errs while it is written out may have dropped any of what it held, and still show it: each place by
/// itself, so that no other is dropped with one that errs.
fn each_by_itself<D: Device>(
    log: &Log,
    survey: &Survey,
    device: &mut D,
    heal: bool,
    done: &mut Restored,
    step: &mut Step<'_>,
) -> Result<(), SurveyError> {
    for index in (0..log.entries.len()).rev() {
        if step(RestoreStep::Writing, done.bytes, 0) {
            return Err(SurveyError::Stopped);
        }
        let place = log.entries[index].place;
        let took = write_place(device, place, &survey.classes[index], &log.original(index)?.0, heal, &mut done.bytes)?;
        if !(settle(device)? && took) {
            done.differing.push(place.offset);
        }
    }
    Ok(())
}

/// Reads everything so many times, and notes the places that are not as before.
fn read_all_back<D: Device>(
    log: &Log,
    survey: &Survey,
    device: &mut D,
    readings: usize,
    done: &mut Restored,
    step: &mut Step<'_>,
) -> Result<(), SurveyError> {
    let mut back = 0;
    for index in (0..readings).flat_map(|_| 0..log.entries.len()) {
        if step(RestoreStep::ReadingBack, done.bytes, back) {
            return Err(SurveyError::Stopped);
        }
        let place = log.entries[index].place;
        let (original, _) = log.original(index)?;
        let now = read_place(device, place).map_err(SurveyError::Fault)?;
        back += place.length;
        let wanted = original.chunks_exact(SECTOR_LEN);
        let as_before =
            now.iter().zip(wanted).zip(&survey.classes[index]).all(|((now, original), class)| match class {
                Class::Other => true,
                Class::Lost => false,
                _ => now.as_deref() == Some(original),
            });
        if !as_before {
            done.differing.push(place.offset);
        }
    }
    Ok(())
}

/// Writes one place once more when all was read back: a device that refuses it stopped working meanwhile, though
/// everything stands.
fn still_writes<D: Device>(log: &Log, survey: &Survey, device: &mut D, done: &mut Restored) -> Result<(), SurveyError> {
    let ours = |index: &usize| survey.classes[*index].iter().all(|class| *class == Class::Stamped);
    let shortest = (0..log.entries.len()).filter(ours).min_by_key(|index| log.entries[*index].place.length);
    let Some(index) = shortest.filter(|_| done.differing.is_empty()) else { return Ok(()) };
    let (place, original) = (log.entries[index].place, log.original(index)?.0);
    let took = write_place(device, place, &survey.classes[index], &original, false, &mut done.bytes)?;
    if !(settle(device)? && took) {
        return Err(SurveyError::Fault(Fault::WriteErrors));
    }
    let now = read_place(device, place).map_err(SurveyError::Fault)?;
    if now.iter().zip(original.chunks_exact(SECTOR_LEN)).any(|(now, original)| now.as_deref() != Some(original)) {
        done.differing.push(place.offset);
    }
    Ok(())
}

/// Returns when the device has what was written; false where it errs instead.
fn settle<D: Device>(device: &mut D) -> Result<bool, SurveyError> {
    match device.sync() {
        Ok(()) => Ok(true),
        Err(Fault::Medium) if device.present() => Ok(false),
        Err(Fault::Medium) => Err(SurveyError::Fault(Fault::Gone)),
        Err(fault) => Err(SurveyError::Fault(fault)),
    }
}

/// Writes the blocks of a place in which the probe's stamp stands; false where one could not be
/// written.
fn write_place<D: Device>(
    device: &mut D,
    place: ByteRange,
    classes: &[Class],
    original: &[u8],
    heal: bool,
    written: &mut u64,
) -> Result<bool, SurveyError> {
    let ours = |class: &Class| *class == Class::Stamped || (heal && *class == Class::Unreadable);
    let strange = |class: &Class| !ours(class) && *class != Class::Original;
    let block = (device.block_bytes() as usize).max(SECTOR_LEN);
    let in_block = block / SECTOR_LEN;
    let wanted: Vec<usize> = classes
        .chunks(in_block)
        .enumerate()
        .filter(|(_, part)| part.iter().any(ours))
        .map(|(index, _)| index)
        .collect();
    let mut good = true;
    for run in wanted.chunk_by(|a, b| a + 1 == *b) {
        let (from, to) = (run[0] * block, ((run[run.len() - 1] + 1) * block).min(original.len()));
        let part = ByteRange { offset: place.offset + from as u64, length: (to - from) as u64 };
        let mut data = original[from..to].to_vec();
        let inside = &classes[from / SECTOR_LEN..to / SECTOR_LEN];
        if inside.iter().any(strange) {
            let now = read_place(device, part).map_err(SurveyError::Fault)?;
            let mut known = true;
            for ((now, data), class) in now.iter().zip(data.chunks_exact_mut(SECTOR_LEN)).zip(inside) {
                match now {
                    Some(now) if strange(class) => data.copy_from_slice(now),
                    None if strange(class) => known = false,
                    _ => {}
                }
            }
            if !known {
                good = false;
                continue;
            }
        }
        good &= write(device, part.offset, &data, block, written)?;
    }
    Ok(good)
}

/// Writes; where the medium errs, once more block by block. False where it errs then too.
fn write<D: Device>(
    device: &mut D,
    offset: u64,
    data: &[u8],
    block: usize,
    written: &mut u64,
) -> Result<bool, SurveyError> {
    let sorted = |device: &mut D, fault| match fault {
        Fault::Medium if device.present() => Ok(false),
        Fault::Medium => Err(SurveyError::Fault(Fault::Gone)),
        fault => Err(SurveyError::Fault(fault)),
    };
    *written += data.len() as u64;
    match device.write_at(offset, data) {
        Ok(()) => return Ok(true),
        Err(fault) => sorted(device, fault)?,
    };
    let mut good = true;
    for (part, at) in data.chunks(block).zip((offset..).step_by(block)) {
        *written += part.len() as u64;
        if let Err(fault) = device.write_at(at, part) {
            good &= sorted(device, fault)?;
        }
    }
    Ok(good)
}
