//! Surveys the device itself, whatever state its file system is in.
//!
//! A fake whose addresses wrap around overwrites the tables of its own file system, which then errs or returns
//! arbitrary data. But every sector of a salted check states where it belongs. So if something was lost, the device is
//! read past its file system. Data that are found at two addresses, at the same distance wherever they are searched,
//! are in one place of the memory.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::{AlignedBuffer, FileExt};

use super::content::Content;
use super::pool::{Pool, Silence};
use crate::sys;

const MIB: u64 = 1 << 20;
/// The device is read in this many pieces of `LOOK` bytes: all of 256 MiB, and places all over a larger one.
pub(crate) const LOOKS: u64 = 4096;
pub(crate) const LOOK: u64 = 64 << 10;
/// Data that are found twice at one distance prove a wrap-around from this size on: one page of a flash translation
/// layer. A single sector may be an error of its mapping.
const LEAST_TWICE: u64 = 8 * SECTOR_BYTES;
/// A distance counts if at least this share of the data that could repeat at it does. A cache may show older data in
/// some places, and a journal of a file system holds copies at any distance.
const SHARE: f64 = 0.9;
/// Addresses wrap around after more than this; a shorter window holds less than one write.
pub(super) const LEAST_PERIOD: u64 = 64 << 10;
/// Distances that are tested, and parts that each part is compared with.
const MOST_DISTANCES: usize = 64;
const MOST_COMPARED: usize = 64;
/// Most pieces that are compared before the first place that was found twice.
const MOST_STEPS: u64 = 8192;
/// This many sectors that differ, with no equal one between, have cells of their own. A cache may make a few sectors of
/// shared cells differ.
const DIFFERS: u32 = 128;

/// A device that is read past its file system.
pub(crate) trait Readable {
    /// Why no more can be read.
    type StopReason;
    /// Its size in bytes.
    fn bytes(&self) -> u64;
    /// Reads all of `buffer` from the byte `at`; an error concerns this place.
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> Result<io::Result<()>, Self::StopReason>;
}

/// How the addresses wrap around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// Addresses wrap around from a byte address on that is at least this ...
    pub(crate) from_least: u64,
    /// ... and at most this.
    pub(crate) from_most: u64,
    /// The period in bytes.
    pub(crate) period: u64,
    /// Bytes of each period that hold data.
    pub(crate) real: u64,
    /// Whether nearly all data that are found twice are at this distance. If they are at other distances too, addresses
    /// before the start may share cells as well.
    pub(crate) alone: bool,
    /// Size of the device in bytes.
    pub(crate) device_bytes: u64,
}

/// Result of the survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// How the addresses wrap around; `None` if they were not found to.
    pub(crate) repeats: Option<Repeats>,
    /// Whether a place of the device could not be read.
    pub(crate) errs: bool,
}

impl Repeats {
    /// Whether all of a period holds data. Space left free at its end was never written.
    pub(crate) fn is_whole(&self) -> bool {
        // A 64th is left free, within these limits, and a file system has tables.
        self.period - self.real < (self.device_bytes / 64).clamp(MIB, 16 * MIB) + MIB
    }
}

/// A part of the device that holds the content of a part of the area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// Byte addresses on the device.
    start: u64,
    end: u64,
    /// Byte offset in the area.
    offset: u64,
}

impl Part {
    /// The same for all parts that lie in one piece.
    fn shift(&self) -> i128 {
        i128::from(self.start) - i128::from(self.offset)
    }
}

/// Searches `device` for data that are at two addresses.
///
/// # Errors
/// Where no more can be read.
pub(crate) fn see<R: Readable>(device: &mut R, content: &Content) -> Result<Seen, R::StopReason> {
    let (parts, errs) = look(device, content)?;
    let distances = distances(&parts);
    for &(distance, _, first) in &distances {
        if is_period(&parts, distance, first) && is_seen(device, &parts, distance, first)? {
            let (from_least, from_most) = beginning(device, first, distance)?;
            let real = held(&parts, from_most, distance);
            let twice = |multiple: bool| -> u64 {
                let of_kind = distances.iter().filter(|(other, ..)| other.is_multiple_of(distance) == multiple);
                of_kind.map(|(_, bytes, _)| *bytes).sum()
            };
            let alone = twice(false) as f64 <= (1.0 - SHARE) * twice(true) as f64;
            let device_bytes = device.bytes();
            let repeats = Some(Repeats { from_least, from_most, period: distance, real, alone, device_bytes });
            return Ok(Seen { repeats, errs });
        }
    }
    Ok(Seen { repeats: None, errs })
}

/// The content of the area that was found, in the order of addresses, and whether a place could not be read. Content
/// between two sampled places that belong together is assumed to be there too.
fn look<R: Readable>(device: &mut R, content: &Content) -> Result<(Vec<Part>, bool), R::StopReason> {
    let (mut parts, mut errs): (Vec<Part>, bool) = (Vec::new(), false);
    let mut buffer = vec![0; LOOK as usize];
    let looks = device.bytes() / LOOK;
    let every = looks.div_ceil(LOOKS).max(1);
    for at in (0..looks).step_by(every as usize).map(|index| index * LOOK) {
        if device.read(at, &mut buffer)?.is_err() {
            errs = true;
            continue;
        }
        for (start, sector) in (at..).step_by(SECTOR_BYTES as usize).zip(buffer.chunks(SECTOR_BYTES as usize)) {
            let Some(offset) = content.belongs(sector) else { continue };
            let part = Part { start, end: start + SECTOR_BYTES, offset };
            match parts.last_mut() {
                Some(last) if last.shift() == part.shift() && start - last.end <= (every - 1) * LOOK => {
                    last.end = part.end;
                }
                _ => parts.push(part),
            }
        }
    }
    Ok((parts, errs))
}

/// Distances at which the same data are found, in ascending order, with the number of such bytes and their lowest
/// address.
fn distances(parts: &[Part]) -> Vec<(u64, u64, u64)> {
    let mut by_offset = parts.to_vec();
    by_offset.sort_unstable_by_key(|part| part.offset);
    let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (index, one) in by_offset.iter().enumerate() {
        let end = one.offset + one.end - one.start;
        let others = by_offset[index + 1..].iter().take_while(|other| other.offset < end).take(MOST_COMPARED);
        for other in others {
            let twice = end.min(other.offset + other.end - other.start) - other.offset;
            let distance = one.shift().abs_diff(other.shift());
            let lowest = (i128::from(other.offset) + one.shift().min(other.shift())).max(0) as u64;
            let Ok(distance) = u64::try_from(distance) else { continue };
            let (bytes, first) = found.entry(distance).or_insert((0, u64::MAX));
            (*bytes, *first) = (*bytes + twice, lowest.min(*first));
        }
    }
    found.retain(|distance, (bytes, _)| *distance >= LEAST_PERIOD && *bytes >= LEAST_TWICE);
    found.into_iter().map(|(distance, (bytes, first))| (distance, bytes, first)).take(MOST_DISTANCES).collect()
}

/// Whether nearly all data behind `first` plus `distance` are also found `distance` earlier.
fn is_period(parts: &[Part], distance: u64, first: u64) -> bool {
    let mut by_shift: HashMap<i128, Vec<&Part>> = HashMap::new();
    parts.iter().for_each(|part| by_shift.entry(part.shift()).or_default().push(part));
    let (mut all, mut twice) = (0, 0);
    for part in parts {
        let start = part.start.max(first + distance);
        if start >= part.end {
            continue;
        }
        all += part.end - start;
        let (from, to) = (start - distance, part.end - distance);
        let earlier = by_shift.get(&(part.shift() - i128::from(distance)));
        let overlap = |other: &&Part| other.end.min(to).saturating_sub(other.start.max(from));
        twice += earlier.map_or(0, |parts| parts.iter().map(overlap).sum());
    }
    all > 0 && twice as f64 >= SHARE * all as f64
}

/// Whether both addresses hold the same in places that are read now, and are not only assumed to.
fn is_seen<R: Readable>(device: &mut R, parts: &[Part], distance: u64, first: u64) -> Result<bool, R::StopReason> {
    const PLACES: u64 = 16;
    // A part may begin before that.
    let clipped = |part: &Part| Some((part.start.max(first + distance), part.end)).filter(|(start, end)| start < end);
    let bytes: u64 = parts.iter().filter_map(clipped).map(|(start, end)| end - start).sum();
    let (mut same, mut other, mut before) = (0, 0, 0);
    let mut places = (0..PLACES).map(|place| bytes / PLACES * place).peekable();
    for (start, end) in parts.iter().filter_map(clipped) {
        while let Some(place) = places.next_if(|place| *place < before + end - start) {
            let at = (start + place - before) / SECTOR_BYTES * SECTOR_BYTES;
            match compared(device, at - distance, distance, SECTOR_BYTES)?.map(|found| found[0]) {
                Some(Pair::Same) => same += 1,
                Some(Pair::Differs) => other += 1,
                Some(Pair::SaysNothing) | None => {}
            }
        }
        before += end - start;
    }
    Ok(same > 3 * other)
}

/// Comparison of two sectors of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    /// Both hold the same.
    Same,
    /// Each holds something else.
    Differs,
    /// Both hold one repeated byte, as where nothing was ever written.
    SaysNothing,
}

/// Compares the sectors from `at` on with those `distance` behind them; `None` if they cannot be read.
fn compared<R: Readable>(
    device: &mut R,
    at: u64,
    distance: u64,
    bytes: u64,
) -> Result<Option<Vec<Pair>>, R::StopReason> {
    let (mut low, mut high) = (vec![0; bytes as usize], vec![0; bytes as usize]);
    if device.read(at, &mut low)?.is_err() || device.read(at + distance, &mut high)?.is_err() {
        return Ok(None);
    }
    let pair = |(low, high): (&[u8], &[u8])| match low == high {
        false => Pair::Differs,
        true if low.iter().all(|byte| *byte == low[0]) => Pair::SaysNothing,
        true => Pair::Same,
    };
    Ok(Some(low.chunks(SECTOR_BYTES as usize).zip(high.chunks(SECTOR_BYTES as usize)).map(pair).collect()))
}

/// The lowest and the highest address where the wrap-around may begin. It holds at `first`; before that, space that the
/// file system keeps for itself can show more.
fn beginning<R: Readable>(device: &mut R, first: u64, distance: u64) -> Result<(u64, u64), R::StopReason> {
    let (mut at, mut most, mut least, mut differ) = (first, first, 0, 0);
    for _ in 0..MOST_STEPS {
        let bytes = LOOK.min(at);
        let Some(pairs) = compared(device, at - bytes, distance, bytes)?.filter(|pairs| !pairs.is_empty()) else {
            break;
        };
        for pair in pairs.into_iter().rev() {
            at -= SECTOR_BYTES;
            match pair {
                Pair::Same => (most, differ) = (at, 0),
                Pair::SaysNothing => {}
                Pair::Differs => {
                    if differ == 0 {
                        least = at + SECTOR_BYTES;
                    }
                    differ += 1;
                }
            }
            if differ >= DIFFERS {
                return Ok((least, most));
            }
        }
    }
    Ok((0, most))
}

/// How much of each period holds data: up to the last place with data in any of them.
fn held(parts: &[Part], from: u64, period: u64) -> u64 {
    let mut real = 0;
    for part in parts.iter().filter(|part| part.end > from) {
        let (start, end) = (part.start.max(from) - from, part.end - from);
        // A part that crosses the end of a period holds all of it.
        real = real.max(if start / period == (end - 1) / period { (end - 1) % period + 1 } else { period });
    }
    real
}

// The block device under a file system, read past the file system. It is never written.

/// Direct reads are of whole blocks of at most this size.
const BLOCK: u64 = 4096;

/// The device, opened before anything is written: a destroyed file system can no longer say on which device it lies.
pub(crate) struct Raw {
    file: Arc<File>,
    bytes: u64,
}

/// The device, read by threads that may be abandoned.
pub(crate) struct Read<'a> {
    raw: &'a Raw,
    pool: &'a Pool,
}

impl Raw {
    /// The device under the directory; `None` if it is no block device, or may not be read.
    pub(crate) fn under(directory: &Path) -> Option<Self> {
        let mut file = sys::device_under(directory)?;
        let bytes = file.seek(SeekFrom::End(0)).ok()?;
        Some(Self { file: Arc::new(file), bytes })
    }

    pub(crate) fn by<'a>(&'a self, pool: &'a Pool) -> Read<'a> {
        Read { raw: self, pool }
    }
}

impl Readable for Read<'_> {
    type StopReason = Silence;

    fn bytes(&self) -> u64 {
        self.raw.bytes
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> Result<io::Result<()>, Silence> {
        let (start, length) = (at / BLOCK * BLOCK, buffer.len() as u64);
        let end = (at + length).next_multiple_of(BLOCK).min(self.raw.bytes);
        self.pool.note_read(end - start);
        let (file, (sender, receiver)) = (Arc::clone(&self.raw.file), std::sync::mpsc::channel());
        let done = self.pool.run(move || {
            let mut whole = AlignedBuffer::new((end - start) as usize)?;
            file.read_exact_at(whole.as_mut_slice(), start)?;
            let _ = sender.send(whole);
            Ok(())
        })?;
        Ok(done.and_then(|()| {
            let whole = receiver.try_recv().map_err(io::Error::other)?;
            let from = (at - start) as usize;
            let read = whole.as_slice().get(from..from + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer.copy_from_slice(read);
            Ok(())
        }))
    }
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use std::convert::Infallible;

    use assay_lab::Backing;
    use assay_lab::media::{Layout, MediumSpec, SharedMedium};

    use super::super::content::FileFormat;
    use super::super::size::{Size, size_of_repeats};
    use super::*;
    use crate::probe::Salt;

    impl Readable for SharedMedium {
        type StopReason = Infallible;

        fn bytes(&self) -> u64 {
            Backing::bytes(self)
        }

        fn read(&mut self, at: u64, buffer: &mut [u8]) -> Result<io::Result<()>, Infallible> {
            Ok(Backing::read(self, at, buffer))
        }
    }

    fn content() -> Content {
        Content::new(FileFormat::Salted, Salt::known(5))
    }

    /// Writes the bytes from `offset` of the area to the address `at`.
    fn put(medium: &mut SharedMedium, at: u64, offset: u64, bytes: u64) {
        for step in (0..bytes).step_by(MIB as usize) {
            let mut data = vec![0; MIB.min(bytes - step) as usize];
            content().fill(&mut data, offset + step);
            medium.write(at + step, &data).unwrap();
        }
    }

    /// A medium that was filled behind 1 MiB of tables, except for the last MiB.
    fn filled(bytes: u64, layout: Layout) -> SharedMedium {
        let mut medium = SharedMedium::new(MediumSpec::laid_out(bytes, layout).build().unwrap());
        put(&mut medium, MIB, 0, bytes - 2 * MIB);
        medium
    }

    fn found(medium: &mut SharedMedium) -> Option<(bool, Size)> {
        let Ok(found) = see(medium, &content());
        assert!(!found.errs);
        found.repeats.map(|found| (found.is_whole(), size_of_repeats(found, 0)))
    }

    #[test]
    fn the_period_is_found_to_the_sector_and_so_is_what_lies_before_it() {
        for (bytes, layout, expected) in [
            (48 * MIB, Layout::wraparound(32 * MIB + 512), (true, Size::Exact(32 * MIB + 512))),
            (48 * MIB, Layout::wraparound(7 * MIB), (true, Size::Exact(7 * MIB))),
            (48 * MIB, Layout::window(20 * MIB + 1024, 4 * MIB), (true, Size::Exact(24 * MIB + 1024))),
            (48 * MIB, Layout::window(20 * MIB, 64 << 10), (true, Size::Exact(20 * MIB + (64 << 10)))),
            (48 * MIB, Layout::chain(24 * MIB, 10 * MIB), (false, Size::Within(10 * MIB, 24 * MIB))),
            // Only a part of it is sampled.
            (600 * MIB, Layout::wraparound(400 * MIB + 512), (true, Size::Exact(400 * MIB + 512))),
        ] {
            assert_eq!(found(&mut filled(bytes, layout.clone())), Some(expected), "{bytes} {layout:?}");
        }
    }

    #[test]
    fn where_nothing_stands_twice_nothing_starts_again() {
        for layout in [Layout::whole(48 * MIB), Layout::first(20 * MIB), Layout::both_ends(48 * MIB, 40 * MIB)] {
            assert_eq!(found(&mut filled(48 * MIB, layout.clone())), None, "{layout:?}");
        }
        // A file in two pieces, the second before the first.
        let mut medium = SharedMedium::new(MediumSpec::genuine(48 * MIB).build().unwrap());
        put(&mut medium, MIB, 24 * MIB, 20 * MIB);
        put(&mut medium, 22 * MIB, 0, 24 * MIB);
        assert_eq!(found(&mut medium), None);
    }

    /// Each lap begins at another place of the memory. From some address on all data repeat at one distance, and before
    /// it at others. The size was reported as exact, and more than twice the real size.
    #[test]
    fn laps_that_begin_elsewhere_give_no_exact_size() {
        let mut medium = SharedMedium::new(MediumSpec::genuine(130 * MIB).build().unwrap());
        // The content of a memory of 50 MiB that was filled up to the last lap.
        let offset = |at: u64| (at % 50 + at / 50 * 19) % 50;
        let last: std::collections::HashMap<u64, u64> = (1..129).map(|at| (offset(at), at)).collect();
        (1..129).for_each(|at| put(&mut medium, at * MIB, last[&offset(at)] * MIB, MIB));
        let Ok(found) = see(&mut medium, &content());
        let found = found.repeats.unwrap();
        assert!(!found.alone);
        match size_of_repeats(found, 48 * MIB) {
            Size::Within(low, high) => assert!(low <= 50 * MIB && 50 * MIB <= high, "{low} to {high}"),
            other => panic!("{other:?}"),
        }
    }

    /// A file system that also keeps data in its journal holds some of them twice.
    #[test]
    fn copies_in_a_journal_are_no_period() {
        let mut medium = filled(48 * MIB, Layout::whole(48 * MIB));
        for copy in 0..40 {
            put(&mut medium, 4 * MIB + copy * 66_048, 20 * MIB + copy * (600 << 10), 64 << 10);
        }
        assert_eq!(found(&mut medium), None);
        // All copies at one distance.
        let mut medium = filled(48 * MIB, Layout::whole(48 * MIB));
        put(&mut medium, 4 * MIB, 29 * MIB, 4 * MIB);
        assert_eq!(found(&mut medium), None);
        // Most of the data behind them, but not nearly all: 14 of 17 MiB.
        let mut medium = filled(48 * MIB, Layout::whole(48 * MIB));
        medium.write(29 * MIB, &[0x55; MIB as usize]).unwrap();
        put(&mut medium, 4 * MIB, 29 * MIB, 14 * MIB);
        assert_eq!(found(&mut medium), None);
    }
}
