//! What a cache of the medium shows though nothing holds it: driven out, and the end read again.
//!
//! Only what was written last can be in such a cache. So the end of the area is read again after
//! other data were written: those that were found good, with the same content, which changes
//! nothing on any kind of fake.

use super::format::FILE_BYTES;
use super::pass::{self, Halt, start_of};
use super::pool::Pool;
use super::progress::Progress;
use super::tally::Tally;
use super::verdict::CACHED_BYTES;

/// At most this part of the area is taken as its end: on a small one, something good has to lie
/// before it.
const END: u64 = 6;

/// Corrupted sectors, 1 MiB of them, below which nothing is missing: that is wear.
const LEAST_MISSING: u64 = 2048;

/// Drives out caches after all of `files` was written and read into `tally`, and reads the end
/// again; gives the bytes written. Where nothing is missing, or nothing good lies before the
/// end to be written, it does nothing.
///
/// # Errors
/// Why it ended early; what was found of the end is then incomplete.
pub(crate) fn crowd_out(
    pool: &Pool,
    files: &[(u64, u64)],
    tally: &mut Tally,
    tell: &mut dyn FnMut(Progress),
) -> Result<u64, Halt> {
    let end = pass::extent(files);
    let boundary = tally.cell_start(end - CACHED_BYTES.min(end / END));
    let mut written = 0;
    if tally.counts.corrupted < LEAST_MISSING {
        return Ok(written);
    }
    for (start, cell_end) in tally.good_cells().take_while(|(start, _)| *start < boundary) {
        let number = start / FILE_BYTES + 1;
        let upto = cell_end.min(start + CACHED_BYTES - written).min(start_of(number) + FILE_BYTES).min(boundary);
        let part = [(number, upto - start_of(number))];
        let ended = pass::write(pool, &part, start, false, &mut |_| {}, &mut |_, _| None);
        written += ended.pass.bytes;
        match ended.halt {
            // A file system that never writes in place has no room for this.
            Some(Halt::Full) => return Ok(written),
            Some(halt) => return Err(halt),
            None => {}
        }
        if written >= CACHED_BYTES {
            break;
        }
    }
    if written == 0 {
        return Ok(written);
    }
    tally.forget_from(boundary);
    match pass::read(pool, files, boundary, false, tally, tell, &mut |_, _, _| None).halt {
        Some(halt) => Err(halt),
        None => Ok(written),
    }
}
