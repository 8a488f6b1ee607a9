//! Programs that write files: PostMark, inserts into a database, and a stream.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use assay_core::finding::Shortfall;
use assay_device::owned::{Access, Caching, OwnDir};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::Connection;

use crate::system::{FAILED, FULL, READ_ONLY};
use crate::tree::{DATABASE, JOURNAL, STREAM, file};
use crate::trouble::ProgramTrouble;
use crate::work::{Done, ProgramFigure, Work};

// PostMark, by what its report and its author's paper say of it (J. Katcher, "PostMark: A New File System Benchmark",
// NetApp TR-3022, 1997): some files of random size are made; each transaction makes or removes a file, and reads
// another one whole or appends to it; then all files are removed. Sizes are uniform between the bounds, an append at
// most fills a file up to the largest size, and all go through buffers of 4 KiB, 512 bytes at a time. Nothing is
// synced. The figure is transactions per second of the middle part.

/// Buffer of a file, and what is passed to it at once.
const BUFFER: usize = 4096;
const BLOCK: usize = 512;

/// Numbers of the benchmark.
pub(crate) struct Numbers {
    pub(crate) transactions: u32,
    pub(crate) files: u32,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
}

/// The files as they stand.
struct Files<'w> {
    place: &'w OwnDir,
    numbers: &'w Numbers,
    dice: Xoshiro256PlusPlus,
    /// Number in its name and size of each.
    there: Vec<(u64, u64)>,
    made: u64,
    written_bytes: u64,
    content: Vec<u8>,
}

impl Files<'_> {
    /// A number from `least` to `most`. That their odds differ by 2^-44 is of no account.
    fn draw(&mut self, least: u64, most: u64) -> u64 {
        least + self.dice.next_u64() % (most - least + 1)
    }

    fn pick(&mut self) -> usize {
        let most = self.there.len() as u64 - 1;
        self.draw(0, most) as usize
    }

    fn make(&mut self) -> Result<(), ProgramTrouble> {
        let (number, size) = (self.made, self.draw(self.numbers.smallest, self.numbers.largest));
        let made = self.place.create_file(&file(number), Caching::Cached)?;
        self.put(BufWriter::with_capacity(BUFFER, made), size)?;
        self.made += 1;
        self.there.push((number, size));
        Ok(())
    }

    fn put(&mut self, mut to: BufWriter<std::fs::File>, bytes: u64) -> Result<(), ProgramTrouble> {
        let mut left = bytes as usize;
        while left > 0 {
            let now = left.min(BLOCK);
            // Text that differs from block to block, as it is there.
            let at = left % (self.content.len() - BLOCK);
            to.write_all(&self.content[at..at + now]).map_err(ProgramTrouble::io("writing a small file"))?;
            left -= now;
        }
        to.flush().map_err(ProgramTrouble::io("writing a small file"))?;
        self.written_bytes += bytes;
        Ok(())
    }

    fn remove(&mut self) -> Result<(), ProgramTrouble> {
        let at = self.pick();
        let (number, _) = self.there.swap_remove(at);
        self.place.remove(&file(number))?;
        Ok(())
    }

    fn read(&mut self) -> Result<(), ProgramTrouble> {
        let at = self.pick();
        let (number, _) = self.there[at];
        let opened = self.place.open_file(&file(number), Access::Read, Caching::Cached)?;
        let (mut from, mut block) = (BufReader::with_capacity(BUFFER, opened), [0; BLOCK]);
        while from.read(&mut block).map_err(ProgramTrouble::io("reading a small file"))? > 0 {}
        Ok(())
    }

    fn append(&mut self) -> Result<(), ProgramTrouble> {
        let at = self.pick();
        let (number, size) = self.there[at];
        if size >= self.numbers.largest {
            return Ok(());
        }
        let more = self.draw(1, self.numbers.largest - size);
        let mut opened = self.place.open_file(&file(number), Access::ReadWrite, Caching::Cached)?;
        opened.seek(SeekFrom::End(0)).map_err(ProgramTrouble::io("writing a small file"))?;
        self.put(BufWriter::with_capacity(BUFFER, opened), more)?;
        self.there[at].1 += more;
        Ok(())
    }

    fn transaction(&mut self) -> Result<(), ProgramTrouble> {
        // Where no file is left one is made.
        if self.dice.next_u32() & 1 == 0 || self.there.len() < 2 {
            self.make()?
        } else {
            self.remove()?
        }
        if self.dice.next_u32() & 1 == 0 { self.read() } else { self.append() }
    }
}

pub(crate) fn postmark(numbers: &Numbers, work: &Work) -> Result<Done, ProgramTrouble> {
    let place = work.place()?;
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(work.seed);
    let mut content = vec![0; 64 << 10];
    dice.fill_bytes(&mut content);
    content.iter_mut().for_each(|byte| *byte = b' ' + *byte % 95);
    let mut files = Files { place, numbers, dice, there: Vec::new(), made: 0, written_bytes: 0, content };
    for _ in 0..numbers.files {
        if work.step()? {
            return Err(ProgramTrouble::slow());
        }
        files.make()?;
    }
    let (start, mut transactions) = (work.mark(), 0_u32);
    while transactions < numbers.transactions && !work.step()? {
        files.transaction()?;
        transactions += 1;
    }
    let timed = work.since(&start);
    while !files.there.is_empty() {
        // Removing what was made takes as long as it takes.
        work.step()?;
        files.remove()?;
    }
    if transactions == 0 {
        return Err(ProgramTrouble::slow());
    }
    let figure = ProgramFigure::rate(f64::from(transactions), timed, "transactions/s");
    let written_bytes = files.written_bytes;
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}

// Inserts into an SQLite database, each in a transaction of its own: by default a rollback journal is written, synced,
// the database is written, synced, and the journal is removed (<https://www.sqlite.org/atomiccommit.html>). It is
// SQLite itself that does so, the one that keeps the records.
//
// SQLite opens its files by path. They lie in a directory that only the user may write to, and whose path is looked at
// again before it is used.

/// What a row holds beside its number: as long as the lines of the script that the Phoronix Test Suite feeds to SQLite are
/// not known to be, so a size of assay's own.
const TEXT: &str = "The quick brown fox jumps over the lazy dog, and a row has about a hundred bytes with that.";
/// Pages of 4 KiB that a commit writes: two of the journal, two of the database and the journal's header.
pub(crate) const BYTES_PER_ROW: u64 = 5 * 4096;

pub(crate) fn inserts(rows: u32, work: &Work) -> Result<Done, ProgramTrouble> {
    let place = work.place()?;
    drop(place.create_file(DATABASE, Caching::Cached)?);
    if !place.is_in_place() {
        return Err(ProgramTrouble::LeftOut(Shortfall::DirectoryReplaced));
    }
    let failed = |what: &'static str| move |error: rusqlite::Error| trouble(what, &error);
    let database = Connection::open(place.path().join(DATABASE)).map_err(failed("opening a database"))?;
    database
        .execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; \
             CREATE TABLE rows (number INTEGER, text TEXT)",
        )
        .map_err(failed("making a table"))?;
    let mut insert = database.prepare("INSERT INTO rows VALUES (?1, ?2)").map_err(failed("preparing an insert"))?;
    let (start, mut done) = (work.mark(), 0_u32);
    while done < rows && !work.step()? {
        insert.execute((done, TEXT)).map_err(failed("inserting a row"))?;
        done += 1;
    }
    let timed = work.since(&start);
    drop(insert);
    let closed = database.close().map_err(|(_, error)| trouble("closing a database", &error));
    for name in [DATABASE, JOURNAL] {
        place.remove(name)?;
    }
    closed?;
    if done == 0 {
        return Err(ProgramTrouble::slow());
    }
    let figure = ProgramFigure::rate(f64::from(done), timed, "inserts/s");
    let written_bytes = u64::from(done) * BYTES_PER_ROW;
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}

/// What failed, as the system's error where SQLite tells of one.
fn trouble(what: &'static str, error: &rusqlite::Error) -> ProgramTrouble {
    use rusqlite::ErrorCode;
    use std::io::Error;
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::from_raw_os_error(FULL),
        Some(ErrorCode::ReadOnly) => Error::from_raw_os_error(READ_ONLY),
        Some(ErrorCode::SystemIoFailure) => Error::from_raw_os_error(FAILED),
        _ => Error::other(error.to_string()),
    };
    ProgramTrouble::Io { what, error: kind }
}

// What `dd if=/dev/zero of=FILE bs=… count=… conv=fsync` does: zeros are written through the page cache, one block a
// call, and the time ends with the sync (coreutils manual, `dd invocation`).

pub(crate) fn stream(block: u64, count: u32, work: &Work) -> Result<Done, ProgramTrouble> {
    let place = work.place()?;
    let zeros = vec![0_u8; usize::try_from(block).unwrap_or(usize::MAX)];
    let start = work.mark();
    let mut file = place.create_file(STREAM, Caching::Cached)?;
    let mut blocks = 0_u32;
    while blocks < count && !work.step()? {
        file.write_all(&zeros).map_err(ProgramTrouble::io("writing a stream"))?;
        blocks += 1;
    }
    file.sync_all().map_err(ProgramTrouble::io("syncing a stream"))?;
    let timed = work.since(&start);
    drop(file);
    place.remove(STREAM)?;
    if blocks == 0 {
        return Err(ProgramTrouble::slow());
    }
    let written_bytes = u64::from(blocks) * block;
    let figure = ProgramFigure::rate(written_bytes as f64 / 1e6, timed, "MB/s");
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}
