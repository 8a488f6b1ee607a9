//! Maps a part of the medium with errors piece by piece, instead of ending the check.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assay_core::outcome::RunFailure;
use assay_engine::Control;

use super::place::failure_of;

/// Factor between the sizes of pieces at each step: 1 MiB, 64 KiB, 4 KiB, and finally 512 bytes.
const STEP: usize = 16;
/// Drives retry a bad sector for seconds. What could not be read of a chunk within this time after its first error is
/// lost.
const RETRY_LIMIT: Duration = Duration::from_secs(10);

/// Whether the error concerns only this place.
fn local(error: &io::Error) -> bool {
    failure_of(error) == RunFailure::IoError
}

/// Runs `work` on `bytes` from 0. Where it fails, it runs on ever smaller pieces, down to `grain`, and pieces that
/// still fail are passed to `lost`. Every attempt increments `beat`.
///
/// # Errors
/// The first error that concerns the whole medium.
pub(crate) fn by_pieces(
    bytes: usize,
    grain: usize,
    beat: &AtomicU64,
    control: &Control,
    work: &mut dyn FnMut(usize, usize) -> io::Result<()>,
    lost: &mut dyn FnMut(usize, usize),
) -> io::Result<()> {
    let mut since = None;
    pieces(0, bytes, grain.max(1), &mut |from, length| {
        let result = work(from, length);
        beat.fetch_add(1, Ordering::Relaxed);
        match result {
            Ok(()) => Ok(Tried::Done),
            Err(error) if !local(&error) => Err(error),
            Err(_) => {
                // Time in which this process was stopped does not count for the medium.
                let since = since.get_or_insert_with(|| control.now());
                if length > grain && control.elapsed(since) <= RETRY_LIMIT {
                    return Ok(Tried::Divide);
                }
                lost(from, length);
                Ok(Tried::Done)
            }
        }
    })
}

enum Tried {
    Done,
    Divide,
}

fn pieces(
    from: usize,
    bytes: usize,
    grain: usize,
    work: &mut dyn FnMut(usize, usize) -> io::Result<Tried>,
) -> io::Result<()> {
    if matches!(work(from, bytes)?, Tried::Done) {
        return Ok(());
    }
    let step = (bytes / STEP).next_multiple_of(grain).max(grain);
    let mut at = 0;
    while at < bytes {
        let length = step.min(bytes - at);
        pieces(from + at, length, grain, work)?;
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bad: std::ops::Range<usize>, errno: i32) -> (io::Result<()>, Vec<(usize, usize)>, u64) {
        let (beat, mut lost) = (AtomicU64::new(0), Vec::new());
        let mut work = |from: usize, length: usize| {
            if from < bad.end && from + length > bad.start {
                return Err(io::Error::from_raw_os_error(errno));
            }
            Ok(())
        };
        let result = by_pieces(1 << 20, 512, &beat, &Control::default(), &mut work, &mut |from, length| {
            lost.push((from, length))
        });
        (result, lost, beat.into_inner())
    }

    #[test]
    fn only_the_bad_sectors_are_lost() {
        let (result, lost, tries) = run(70_000..70_001, 5);
        assert!(result.is_ok());
        assert_eq!(lost, [(70_000 / 512 * 512, 512)]);
        assert!(tries < 60, "{tries}");
    }

    #[test]
    fn an_error_of_the_whole_medium_ends_it() {
        // EROFS; ERROR_WRITE_PROTECT.
        let number = if cfg!(windows) { 19 } else { 30 };
        let (result, lost, tries) = run(0..1 << 20, number);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(number));
        assert!(lost.is_empty() && tries == 1);
    }
}
