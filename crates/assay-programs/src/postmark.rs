//! PostMark, by what its report and its author's paper say of it (J. Katcher, "PostMark: A New File System Benchmark",
//! NetApp TR-3022, 1997): some files of random size are made; each transaction makes or removes a file, and reads
//! another one whole or appends to it; then all files are removed. Sizes are uniform between the bounds, an append at
//! most fills a file up to the largest size, and all go through buffers of 4 KiB, 512 bytes at a time. Nothing is
//! synced. The figure is transactions per second of the middle part.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use assay_device::owned::{Access, Caching, OwnDir};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::names::file;
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};

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

    fn make(&mut self) -> Result<(), Trouble> {
        let (number, size) = (self.made, self.draw(self.numbers.smallest, self.numbers.largest));
        let made = self.place.create_file(&file(number), Caching::Cached)?;
        self.put(BufWriter::with_capacity(BUFFER, made), size)?;
        self.made += 1;
        self.there.push((number, size));
        Ok(())
    }

    fn put(&mut self, mut to: BufWriter<std::fs::File>, bytes: u64) -> Result<(), Trouble> {
        let mut left = bytes as usize;
        while left > 0 {
            let now = left.min(BLOCK);
            // Text that differs from block to block, as it is there.
            let at = left % (self.content.len() - BLOCK);
            to.write_all(&self.content[at..at + now]).map_err(Trouble::io("writing a small file"))?;
            left -= now;
        }
        to.flush().map_err(Trouble::io("writing a small file"))?;
        self.written_bytes += bytes;
        Ok(())
    }

    fn remove(&mut self) -> Result<(), Trouble> {
        let at = self.pick();
        let (number, _) = self.there.swap_remove(at);
        self.place.remove(&file(number))?;
        Ok(())
    }

    fn read(&mut self) -> Result<(), Trouble> {
        let at = self.pick();
        let (number, _) = self.there[at];
        let opened = self.place.open_file(&file(number), Access::Read, Caching::Cached)?;
        let (mut from, mut block) = (BufReader::with_capacity(BUFFER, opened), [0; BLOCK]);
        while from.read(&mut block).map_err(Trouble::io("reading a small file"))? > 0 {}
        Ok(())
    }

    fn append(&mut self) -> Result<(), Trouble> {
        let at = self.pick();
        let (number, size) = self.there[at];
        if size >= self.numbers.largest {
            return Ok(());
        }
        let more = self.draw(1, self.numbers.largest - size);
        let mut opened = self.place.open_file(&file(number), Access::ReadWrite, Caching::Cached)?;
        opened.seek(SeekFrom::End(0)).map_err(Trouble::io("writing a small file"))?;
        self.put(BufWriter::with_capacity(BUFFER, opened), more)?;
        self.there[at].1 += more;
        Ok(())
    }

    fn transaction(&mut self) -> Result<(), Trouble> {
        // Where no file is left one is made.
        if self.dice.next_u32() & 1 == 0 || self.there.len() < 2 {
            self.make()?
        } else {
            self.remove()?
        }
        if self.dice.next_u32() & 1 == 0 { self.read() } else { self.append() }
    }
}

pub(crate) fn run(numbers: &Numbers, work: &Work) -> Result<Done, Trouble> {
    let place = work.place()?;
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(work.seed);
    let mut content = vec![0; 64 << 10];
    dice.fill_bytes(&mut content);
    content.iter_mut().for_each(|byte| *byte = b' ' + *byte % 95);
    let mut files = Files { place, numbers, dice, there: Vec::new(), made: 0, written_bytes: 0, content };
    for _ in 0..numbers.files {
        if work.step()? {
            return Err(Trouble::slow());
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
        return Err(Trouble::slow());
    }
    let figure = Figure::rate(f64::from(transactions), timed, "transactions/s");
    let written_bytes = files.written_bytes;
    Ok(Done { figures: vec![figure], threads: 1, written_bytes, ..Done::default() })
}
