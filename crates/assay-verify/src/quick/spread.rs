//! Files that together take all free space: a stamp in each, and two runs of pages at the ends of the space.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::outcome::RunFailure;
use assay_core::verification::{SECTOR_BYTES, SectorClass};
use assay_device::owned::{Caching, OwnDir};
use assay_engine::{AlignedBuffer, FileExt};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::pages;
use super::pages::{End, Known, Page, Runs, STAMP, Space, classify, owner, stamp};
use super::probe::{AGAIN, Ran, Spread};
use crate::files::{DriverLayer, Pool, Raw, Readable, StopReason, failure_of, gone_error, spread_name};
use crate::sys;
use crate::sys::Extent;

const MIB: u64 = 1 << 20;
/// Most places. A fake with 95 % of what it announces loses about fifty of them.
const MOST_PLACES: u64 = 1024;
/// Bytes written between stamping and the last reading: more than the memory of a card's controller, but only an eighth
/// of a small medium.
const EVICTING_BYTES: u64 = 64 * MIB;
/// Pages that are written or read at once in a run.
const AT_ONCE: usize = 256;

/// Most bytes that a check of `area` bytes of free space writes: a stamp in each place, some once more, and the runs.
#[must_use]
pub fn most_written(area: u64) -> u64 {
    (places_of(area) + AGAIN as u64) * STAMP as u64 + run_bytes_of(area)
}

/// Places of an area.
fn places_of(area: u64) -> u64 {
    (area / MIB).clamp(1, MOST_PLACES)
}

/// Most bytes of both runs over an area.
fn run_bytes_of(area: u64) -> u64 {
    EVICTING_BYTES.min(area / 8)
}

/// The files, open.
pub(crate) struct Files<'a> {
    pool: &'a Pool,
    driver_layer: &'a DriverLayer,
    directory: Arc<OwnDir>,
    direct: bool,
    /// Each file with the byte offset of its stamp.
    files: Vec<(Arc<File>, u64)>,
    /// Where each file lies on the device; `None` unless all are known.
    extents: Option<Vec<Vec<Extent>>>,
    runs: Runs,
    raw: Option<&'a Raw>,
    salt: u64,
    /// Bytes of the device that were read at either end.
    looked: u64,
    /// Distance between the starts of two files, in bytes.
    pub(crate) part_bytes: u64,
    /// Whether the file system set the space aside, so that places are spread over the medium.
    pub(crate) set_aside: bool,
    /// Bytes written.
    pub(crate) written: u64,
}

/// Where and how the files are created.
pub(crate) struct Ground<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) driver_layer: &'a DriverLayer,
    pub(crate) directory: &'a Arc<OwnDir>,
    /// The device under them, if it may be read.
    pub(crate) raw: Option<&'a Raw>,
    pub(crate) direct: bool,
}

impl<'a> Files<'a> {
    /// Creates the files over `area` bytes.
    pub(crate) fn make(ground: &Ground<'a>, area: u64, salt: u64) -> Result<Self, StopReason> {
        let Ground { pool, driver_layer, directory, raw, direct } = *ground;
        let places = places_of(area);
        let part_bytes = area / places / STAMP as u64 * STAMP as u64;
        let free = free(directory)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!salt);
        let mut made = Self {
            pool,
            driver_layer,
            directory: Arc::clone(directory),
            direct,
            files: Vec::new(),
            extents: None,
            runs: Runs::default(),
            raw,
            salt,
            looked: 0,
            part_bytes,
            set_aside: false,
            written: 0,
        };
        let mut anywhere = Vec::new();
        for number in 0..places as usize {
            match one(pool, directory, number, part_bytes, direct) {
                Ok((file, free_order)) => {
                    let pages = if free_order { part_bytes / STAMP as u64 } else { 1 };
                    made.files.push((file, random.next_u64() % pages.max(1) * STAMP as u64));
                    anywhere.push(free_order);
                }
                // The space that the file system needs for the files themselves leaves no room for more.
                Err(StopReason::Failed(error))
                    if failure_of(&error) == RunFailure::OutOfSpace && !made.files.is_empty() =>
                {
                    break;
                }
                Err(stop_reason) => return Err(stop_reason),
            }
        }
        made.settle()?;
        made.set_aside = free.saturating_sub(self::free(directory)?) >= area / 2;
        made.extents = made.extents()?;
        made.keep_stamps_whole();
        let spaces = made.files.iter().zip(&anywhere).enumerate().map(|(file, ((_, stamp), anywhere))| Space {
            bytes: part_bytes,
            stamp: *stamp,
            anywhere: *anywhere,
            extents: made.extents.as_ref().map(|all| all[file].as_slice()),
        });
        made.runs = Runs::over(&spaces.collect::<Vec<_>>(), run_bytes_of(area));
        Ok(made)
    }

    /// Byte offset of a place in the whole area.
    pub(crate) fn offset(&self, place: usize) -> u64 {
        self.part_bytes * place as u64 + self.files.get(place).map_or(0, |(_, at)| *at)
    }

    /// Byte offset of the page with this name in the whole area; `None` if there is no such page.
    pub(crate) fn offset_of(&self, name: u64) -> Option<u64> {
        let (file, at) = self.page_of(name)?;
        Some(self.part_bytes * file as u64 + at)
    }

    /// The file of the page with this name, and the byte offset in the file.
    fn page_of(&self, name: u64) -> Option<(usize, u64)> {
        match Runs::number(name) {
            Some(number) => self.runs.pages().get(number).map(|page| (page.file, page.offset)),
            None => usize::try_from(name).ok().and_then(|place| Some((place, self.files.get(place)?.1))),
        }
    }

    /// Bytes of both runs.
    pub(crate) fn run_bytes(&self) -> u64 {
        self.runs.bytes()
    }

    /// The known addresses, if the file system reports them.
    pub(crate) fn known(&self) -> Option<Known> {
        let parts = self.runs.pages().iter().map(|page| self.address_of(page.file, page.offset));
        Some(Known::new(self.addresses()?, &parts.collect::<Option<Vec<u64>>>()?).and_looked(self.looked))
    }

    /// Address of each stamp on the device.
    fn addresses(&self) -> Option<Vec<u64>> {
        (0..self.files.len()).map(|place| self.place_address(place)).collect()
    }

    /// Whether new data written to `place` are found at the byte address `at` of the device; `None` if they cannot be
    /// written.
    fn lands_at(&mut self, raw: &Raw, place: usize, at: u64) -> Result<Option<bool>, StopReason> {
        let (mut page, mut there) = ([0; STAMP], [0; STAMP]);
        stamp(&mut page, !self.salt, place as u64);
        if !self.write(place, &page)? || !self.settle()? {
            return Ok(None);
        }
        let lands = raw.by(self.pool).read(at, &mut there)?.is_ok()
            && there.chunks(SECTOR_BYTES as usize).any(|sector| owner(sector, !self.salt).is_some());
        stamp(&mut page, self.salt, place as u64);
        self.write(place, &page)?;
        self.settle()?;
        Ok(Some(lands))
    }

    /// Where each file lies; `None` if that is unknown for one of them.
    fn extents(&self) -> Result<Option<Vec<Vec<Extent>>>, StopReason> {
        let files: Vec<Arc<File>> = self.files.iter().map(|(file, _)| Arc::clone(file)).collect();
        let (sender, receiver) = std::sync::mpsc::channel();
        let bytes = self.part_bytes;
        self.run(move || {
            let all: Option<Vec<_>> = files.iter().map(|file| sys::extents(file, bytes)).collect();
            let _ = sender.send(all);
            Ok(())
        })?;
        Ok(receiver.try_recv().ok().flatten())
    }

    /// Address of the page at `offset` of a file; `None` if it lies in two pieces.
    fn address_of(&self, file: usize, offset: u64) -> Option<u64> {
        let extents = self.extents.as_ref()?.get(file)?;
        let holds = |extent: &&Extent| extent.offset <= offset && offset + STAMP as u64 <= extent.offset + extent.bytes;
        extents.iter().find(holds).map(|extent| extent.address + (offset - extent.offset))
    }

    /// Moves stamps that would be split into two pieces on the device to the next page that is not split.
    fn keep_stamps_whole(&mut self) {
        if self.extents.is_none() {
            return;
        }
        let pages = self.part_bytes / STAMP as u64;
        for file in 0..self.files.len() {
            let first = self.files[file].1 / STAMP as u64;
            let mut whole = (0..pages).map(|step| (first + step) % pages * STAMP as u64);
            if let Some(at) = whole.find(|at| self.address_of(file, *at).is_some()) {
                self.files[file].1 = at;
            }
        }
    }

    fn place_address(&self, place: usize) -> Option<u64> {
        self.address_of(place, self.files.get(place)?.1)
    }

    fn run(&self, work: impl FnOnce() -> io::Result<()> + Send + 'static) -> Result<(), StopReason> {
        if self.pool.stopped() {
            return Err(StopReason::Stopped);
        }
        self.pool.run(work)?.map_err(|error| StopReason::Failed(gone_error(self.directory.directory(), error)))
    }

    /// Writes `pages` at the byte `at` of a file; `false` if the medium errs.
    fn put(&mut self, file: usize, at: u64, pages: Vec<u8>) -> Result<bool, StopReason> {
        let file = Arc::clone(&self.files[file].0);
        self.written += pages.len() as u64;
        let written = self.run(move || {
            let mut buffer = AlignedBuffer::new(pages.len())?;
            buffer.as_mut_slice().copy_from_slice(&pages);
            file.write_all_at(buffer.as_slice(), at)
        });
        taken(written)
    }

    /// Reads `bytes` from the byte `at` of a file; `None` if they cannot be read. If the file system errs, the device
    /// is read past it: a fake with destroyed tables still has its data.
    fn get(&self, file: usize, at: u64, bytes: usize) -> Result<Option<Vec<u8>>, StopReason> {
        let (handle, direct) = (Arc::clone(&self.files[file].0), self.direct);
        let read = Arc::new(Mutex::new(vec![0; bytes]));
        let result = Arc::clone(&read);
        self.pool.note_read(bytes as u64);
        let done = self.run(move || {
            if !direct {
                sys::forget(&handle, 0, None)?;
            }
            let mut buffer = AlignedBuffer::new(bytes)?;
            // Shorter if a place was never written: the rest is zeros.
            let _ = handle.read_at(buffer.as_mut_slice(), at)?;
            result.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(buffer.as_slice());
            Ok(())
        });
        if let Err(StopReason::Failed(_)) = &done
            && let Some(found) = self.get_raw(file, at, bytes)?
        {
            return Ok(Some(found));
        }
        if !taken(done)? {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut *read.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    fn get_raw(&self, file: usize, at: u64, bytes: usize) -> Result<Option<Vec<u8>>, StopReason> {
        let Some(raw) = self.raw else { return Ok(None) };
        let mut found = vec![0; bytes];
        for (page, part) in found.chunks_mut(STAMP).enumerate() {
            let Some(address) = self.address_of(file, at + (page * STAMP) as u64) else { return Ok(None) };
            if raw.by(self.pool).read(address, part)?.is_err() {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// The pages of a run, grouped by contiguous pieces of a file, with the number of the first page.
    fn pieces(&self, end: Option<End>) -> Vec<(usize, Vec<Page>)> {
        let range = end.map_or(0..self.runs.pages().len(), |end| self.runs.range(end));
        let (mut pieces, mut number) = (Vec::new(), range.start);
        let follows = |one: &Page, next: &Page| one.file == next.file && one.offset + STAMP as u64 == next.offset;
        for piece in self.runs.pages()[range].chunk_by(follows).flat_map(|piece| piece.chunks(AT_ONCE)) {
            pieces.push((number, piece.to_vec()));
            number += piece.len();
        }
        pieces
    }
}

fn free(own: &OwnDir) -> Result<u64, StopReason> {
    Ok(own.directory().space().map_err(|error| StopReason::Failed(error.into()))?.free_bytes)
}

/// Creates one file. Also returns whether any part of it can be written before the parts in front of it.
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
        self.place_address(place)
    }

    fn write(&mut self, place: usize, page: &[u8; STAMP]) -> Result<bool, StopReason> {
        let at = self.files[place].1;
        self.put(place, at, page.to_vec())
    }

    fn read(&mut self, place: usize, page: &mut [u8; STAMP]) -> Result<bool, StopReason> {
        let Some(found) = self.get(place, self.files[place].1, STAMP)? else { return Ok(false) };
        page.copy_from_slice(&found);
        Ok(true)
    }

    fn settle(&mut self) -> Result<bool, StopReason> {
        let mut files = self.files.iter().map(|(file, _)| Arc::clone(file));
        let Some(first) = files.next() else { return Ok(true) };
        let others: Vec<Arc<File>> = files.collect();
        let below = self.driver_layer.settle().map_err(StopReason::Failed)?;
        let done = self.run(move || {
            sys::settle(&first, others.iter().map(Arc::as_ref))?;
            below.map_or(Ok(()), |settle| settle())
        });
        taken(done)
    }

    fn write_run(&mut self, end: End) -> Result<bool, StopReason> {
        let mut taken = true;
        for (number, piece) in self.pieces(Some(end)) {
            let mut pages = vec![0; piece.len() * STAMP];
            for (nth, page) in pages.chunks_mut(STAMP).enumerate() {
                stamp(page, self.salt, Runs::name(number + nth));
            }
            taken &= self.put(piece[0].file, piece[0].offset, pages)?;
        }
        Ok(taken)
    }

    fn read_run(&mut self) -> Result<Ran, StopReason> {
        let mut ran = Ran::default();
        for (number, piece) in self.pieces(None) {
            let Some(found) = self.get(piece[0].file, piece[0].offset, piece.len() * STAMP)? else {
                ran.lost += piece.len();
                continue;
            };
            for (nth, page) in found.chunks(STAMP).enumerate() {
                match classify(page, self.salt, Runs::name(number + nth)) {
                    (SectorClass::Good, _) => {}
                    (_, owner) => {
                        ran.lost += 1;
                        ran.owner = ran.owner.or(owner);
                    }
                }
            }
        }
        Ok(ran)
    }

    fn stands_twice(&mut self) -> Result<bool, StopReason> {
        let (Some(raw), Some(addresses)) = (self.raw, self.addresses()) else { return Ok(false) };
        let (looked, found) = pages::look(raw, self.pool, &addresses, self.salt)?;
        self.looked = looked;
        let Some(&(place, at)) = found.first() else { return Ok(false) };
        Ok(match self.lands_at(raw, place, at) {
            Ok(Some(lands)) => lands,
            // A file system that takes no writes any more has made no copies either.
            Ok(None) | Err(StopReason::Failed(_)) => pages::are_of_one_period(&addresses, &found),
            Err(stop_reason) => return Err(stop_reason),
        })
    }

    fn owner_stands(&mut self, owner: u64) -> Result<bool, StopReason> {
        let Some((file, at)) = self.page_of(owner) else { return Ok(false) };
        let found = self.get(file, at, STAMP)?;
        Ok(found.is_some_and(|page| classify(&page, self.salt, owner).0 == SectorClass::Good))
    }
}

/// Whether the medium took it; `false` if it errs in one place.
fn taken(result: Result<(), StopReason>) -> Result<bool, StopReason> {
    if local(&result) { Ok(false) } else { result.map(|()| true) }
}

/// Whether an error concerns one place and not the whole medium.
fn local(result: &Result<(), StopReason>) -> bool {
    matches!(result, Err(StopReason::Failed(error)) if failure_of(error) == RunFailure::IoError)
}
