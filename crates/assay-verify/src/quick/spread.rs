//! Files that together take all free space, one place in each.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use assay_device::owned::{Caching, OwnDir};
use assay_engine::{AlignedBuffer, FileExt, fill_unique};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::probe::Spread;
use super::stamp::STAMP;
use crate::files::{DriverLayer, Pool, StopReason, failure_of, gone_error, spread_name};
use crate::sys;

const MIB: u64 = 1 << 20;
/// Places: a fake with 95 % of what it announces misses about fifty of them.
const MOST_PLACES: u64 = 1024;
/// Written between stamping and the last reading: more than the memory of a card's controller; an
/// eighth of a small medium.
pub(crate) const EVICTING_BYTES: u64 = 64 * MIB;

/// The files, open.
pub(crate) struct Files<'a> {
    pool: &'a Pool,
    driver_layer: &'a DriverLayer,
    directory: Arc<OwnDir>,
    direct: bool,
    files: Vec<(Arc<File>, u64)>,
    evicting_file: (Arc<File>, u64),
    salt: u64,
    /// Bytes from one file to the next.
    pub(crate) part_bytes: u64,
    /// Whether the file system set the space aside, so that places lie all over the medium.
    pub(crate) set_aside: bool,
    /// Bytes written.
    pub(crate) written: u64,
}

impl<'a> Files<'a> {
    /// Makes them in `directory`, over `area` bytes.
    pub(crate) fn make(
        pool: &'a Pool,
        driver_layer: &'a DriverLayer,
        directory: &Arc<OwnDir>,
        area: u64,
        direct: bool,
        salt: u64,
    ) -> Result<Self, StopReason> {
        let evicting_bytes = EVICTING_BYTES.min(area / 8) / MIB.min(area / 8).max(1) * MIB.min(area / 8).max(1);
        let places = ((area - evicting_bytes) / MIB).clamp(1, MOST_PLACES);
        let part_bytes = (area - evicting_bytes) / places / STAMP as u64 * STAMP as u64;
        let free = free(directory)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!salt);
        let evicting_file = one(pool, directory, 0, evicting_bytes, direct)?;
        let mut made = Self {
            pool,
            driver_layer,
            directory: Arc::clone(directory),
            direct,
            files: Vec::new(),
            evicting_file: (evicting_file.0, evicting_bytes),
            salt,
            part_bytes,
            set_aside: false,
            written: 0,
        };
        for number in 1..=places as usize {
            match one(pool, directory, number, part_bytes, direct) {
                Ok((file, anywhere)) => {
                    let pages = if anywhere { part_bytes / STAMP as u64 } else { 1 };
                    made.files.push((file, random.next_u64() % pages * STAMP as u64));
                }
                // What the file system needs for the files themselves is not left for more.
                Err(StopReason::Failed(error)) if failure_of(&error) == assay_core::outcome::RunFailure::OutOfSpace => {
                    break;
                }
                Err(stop_reason) => return Err(stop_reason),
            }
        }
        made.settle()?;
        made.set_aside = free.saturating_sub(self::free(directory)?) >= area / 2;
        Ok(made)
    }

    /// Byte offset of a place in the whole.
    pub(crate) fn offset(&self, place: usize) -> u64 {
        self.part_bytes * place as u64 + self.files.get(place).map_or(0, |(_, at)| *at)
    }

    fn run(&self, work: impl FnOnce() -> io::Result<()> + Send + 'static) -> Result<(), StopReason> {
        if self.pool.stopped() {
            return Err(StopReason::Stopped);
        }
        self.pool.run(work)?.map_err(|error| StopReason::Failed(gone_error(self.directory.directory(), error)))
    }
}

fn free(own: &OwnDir) -> Result<u64, StopReason> {
    Ok(own.directory().space().map_err(|error| StopReason::Failed(error.into()))?.free_bytes)
}

/// Makes one file; tells whether any part of it can be written without what is before it.
fn one(
    pool: &Pool,
    directory: &Arc<OwnDir>,
    number: usize,
    bytes: u64,
    direct: bool,
) -> Result<(Arc<File>, bool), StopReason> {
    if pool.stopped() {
        return Err(StopReason::Stopped);
    }
    let own = Arc::clone(directory);
    let made = Arc::new(Mutex::new(None));
    let result = Arc::clone(&made);
    let done = pool.run(move || {
        let caching = if direct { Caching::Direct } else { Caching::Cached };
        sys::still_there(own.directory())?;
        let file = own.create_file(&spread_name(number), caching)?;
        let anywhere = sys::reserve_place(&file, bytes)?;
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some((file, anywhere));
        Ok(())
    })?;
    done.map_err(StopReason::Failed)?;
    let made = made.lock().unwrap_or_else(PoisonError::into_inner).take();
    made.map(|(file, anywhere)| (Arc::new(file), anywhere)).ok_or(StopReason::Hung)
}

impl Spread for Files<'_> {
    type StopReason = StopReason;

    fn places(&self) -> usize {
        self.files.len()
    }

    fn address(&mut self, place: usize) -> Option<u64> {
        let (file, at) = &self.files[place];
        let extents = sys::extents(file, self.part_bytes)?;
        let extent = extents.iter().find(|extent| (extent.offset..extent.offset + extent.bytes).contains(at))?;
        Some(extent.address + (at - extent.offset))
    }

    fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<bool, StopReason> {
        let (file, at) = (Arc::clone(&self.files[place].0), self.files[place].1);
        let page = *page;
        self.written += STAMP as u64;
        let written = self.run(move || {
            let mut buffer = AlignedBuffer::new(STAMP)?;
            buffer.as_mut_slice().copy_from_slice(&page);
            file.write_all_at(buffer.as_slice(), at)
        });
        taken(written)
    }

    fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, StopReason> {
        let (file, at) = (Arc::clone(&self.files[place].0), self.files[place].1);
        let direct = self.direct;
        let read = Arc::new(Mutex::new([0; STAMP]));
        let result = Arc::clone(&read);
        self.pool.note_read(STAMP as u64);
        let done = self.run(move || {
            if !direct {
                sys::forget(&file, 0, None)?;
            }
            let mut buffer = AlignedBuffer::new(STAMP)?;
            // Shorter, where a place was never written: the rest is zeros.
            let _ = file.read_at(buffer.as_mut_slice(), at)?;
            result.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(buffer.as_slice());
            Ok(())
        });
        if local(&done) {
            return Ok(false);
        }
        done?;
        *page = *read.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(true)
    }

    fn settle(&mut self) -> Result<bool, StopReason> {
        let file = Arc::clone(&self.evicting_file.0);
        let others: Vec<Arc<File>> = self.files.iter().map(|(file, _)| Arc::clone(file)).collect();
        let below = self.driver_layer.settle().map_err(StopReason::Failed)?;
        let done = self.run(move || {
            sys::settle(&file, others.iter().map(Arc::as_ref))?;
            below.map_or(Ok(()), |settle| settle())
        });
        taken(done)
    }

    fn evict_cache(&mut self) -> Result<bool, StopReason> {
        let mut taken = true;
        let (file, bytes) = (Arc::clone(&self.evicting_file.0), self.evicting_file.1 / MIB * MIB);
        for at in (0..bytes).step_by(MIB as usize) {
            let (file, salt) = (Arc::clone(&file), self.salt);
            let written = self.run(move || {
                let mut buffer = AlignedBuffer::new(MIB as usize)?;
                fill_unique(buffer.as_mut_slice(), salt, u64::MAX - at);
                file.write_all_at(buffer.as_slice(), at)
            });
            taken &= self::taken(written)?;
            self.written += MIB;
        }
        Ok(taken)
    }

    fn evicting_file_stands(&mut self) -> Result<bool, StopReason> {
        let (file, bytes) = (Arc::clone(&self.evicting_file.0), self.evicting_file.1 / MIB * MIB);
        for at in (0..bytes).step_by(MIB as usize) {
            let (file, salt, direct) = (Arc::clone(&file), self.salt, self.direct);
            let stands = Arc::new(AtomicBool::new(false));
            let result = Arc::clone(&stands);
            self.pool.note_read(MIB);
            let read = self.run(move || {
                if !direct {
                    sys::forget(&file, 0, None)?;
                }
                let mut now = AlignedBuffer::new(MIB as usize)?;
                // Shorter, where it was never written.
                let length = file.read_at(now.as_mut_slice(), at)?;
                let mut wanted = vec![0; MIB as usize];
                fill_unique(&mut wanted, salt, u64::MAX - at);
                result.store(now.as_slice()[..length] == wanted, Ordering::Relaxed);
                Ok(())
            });
            if !taken(read)? || !stands.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether the medium did it; `false` where it errs in one place.
fn taken(result: Result<(), StopReason>) -> Result<bool, StopReason> {
    if local(&result) { Ok(false) } else { result.map(|()| true) }
}

/// Whether an error concerns one place, and not the whole medium.
fn local(result: &Result<(), StopReason>) -> bool {
    matches!(result, Err(StopReason::Failed(error)) if failure_of(error) == assay_core::outcome::RunFailure::IoError)
}
