//! Evicts data that a cache of the medium shows, although no memory holds them, by writing elsewhere.
//!
//! Only the latest writes can be in such a cache. So the end of the area, as much as the largest assumed cache, is read
//! only after as much was written elsewhere. Places all over that were found good are written again, with new content,
//! which changes nothing on any kind of fake. They are read afterwards too: a medium that takes no more writes still
//! shows their old content.

use std::sync::Arc;

use rand_core::Rng;

use super::content::{Content, FILE_BYTES, PIECE};
use super::pass;
use super::pass::{StopReason, start_of};
use super::pool::{Answer, DEPTH, Part, Pool, Task};
use super::tally::{ChunkFindings, Tally, is_silent};

const MIB: u64 = 1 << 20;

/// Start of the end part, which is read last, of an area of `area` bytes. The end is at most half of a small area,
/// since as much must be written elsewhere.
pub(crate) fn boundary(area: u64, cache: u64) -> u64 {
    let tail = cache.next_multiple_of(MIB).min(area / 2 / MIB * MIB);
    area - tail
}

/// Starts of good pieces, spread over the area before `boundary`: as many as evict `cache` bytes, or all.
pub(crate) fn places(tally: &Tally, boundary: u64, cache: u64, content: &Content) -> Vec<u64> {
    let wanted = cache.div_ceil(PIECE);
    let good = good(tally, boundary);
    let pieces: u64 = good.iter().map(|(from, to)| (to - from) / PIECE).sum();
    let taken = wanted.min(pieces);
    let mut random = content.salt().generator();
    let (mut found, mut before) = (Vec::new(), 0);
    let mut ranges = good.into_iter();
    let mut range = ranges.next();
    for index in 0..taken {
        // One at random in each of `taken` equal parts.
        let (first, next) = (share(pieces, index, taken), share(pieces, index + 1, taken));
        let nth = first + random.next_u64() % (next - first).max(1);
        while let Some((from, to)) = range {
            let here = (to - from) / PIECE;
            if nth < before + here {
                found.push(from + (nth - before) * PIECE);
                break;
            }
            before += here;
            range = ranges.next();
        }
    }
    found
}

/// As many good pieces, spread over the area before `boundary`, that are not in `places`, which is sorted.
pub(crate) fn others(tally: &Tally, boundary: u64, cache: u64, places: &[u64]) -> Vec<u64> {
    let free: Vec<u64> = good(tally, boundary)
        .into_iter()
        .flat_map(|(from, to)| (from..to).step_by(PIECE as usize))
        .filter(|piece| places.binary_search(piece).is_err())
        .collect();
    let (all, taken) = (free.len() as u64, cache.div_ceil(PIECE).min(free.len() as u64));
    (0..taken).filter_map(|index| free.get(share(all, index, taken) as usize).copied()).collect()
}

/// Those of `places` where nothing bad was found, in order.
pub(crate) fn still_good(tally: &Tally, boundary: u64, places: &[u64]) -> Vec<u64> {
    let good = good(tally, boundary);
    let is_good = |place: &u64| {
        let next = good.partition_point(|(_, to)| to <= place);
        good.get(next).is_some_and(|(from, _)| from <= place)
    };
    let mut kept: Vec<u64> = places.iter().copied().filter(is_good).collect();
    kept.sort_unstable();
    kept
}

/// All pieces that are good, in order.
pub(crate) fn all_good(tally: &Tally) -> Vec<u64> {
    good(tally, u64::MAX).into_iter().flat_map(|(from, to)| (from..to).step_by(PIECE as usize)).collect()
}

/// The first pieces that are silently lost as a whole, at most `most`, in order.
pub(crate) fn all_lost(tally: &Tally, most: usize) -> Vec<u64> {
    let lost = tally.lost.runs().iter().filter(|run| run.is_whole() && is_silent(run.class));
    let pieces = lost.map(|run| (run.start.next_multiple_of(PIECE), run.end / PIECE * PIECE));
    pieces.flat_map(|(from, to)| (from..to).step_by(PIECE as usize)).take(most).collect()
}

/// Starts and ends of whole pieces that are good before `boundary`.
fn good(tally: &Tally, boundary: u64) -> Vec<(u64, u64)> {
    let mut good: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in tally.tested() {
        let mut at = start;
        let within = tally.lost.runs().iter().filter(|run| run.start < end && run.end > start);
        for (lost, behind) in within.map(|run| (run.start, run.end)).chain([(end, end)]) {
            let (from, to) = (at.next_multiple_of(PIECE), lost.min(boundary) / PIECE * PIECE);
            if from < to {
                good.push((from, to));
            }
            at = behind;
        }
    }
    good
}

/// `whole` × `part` / `parts`, without overflow.
fn share(whole: u64, part: u64, parts: u64) -> u64 {
    (u128::from(whole) * u128::from(part) / u128::from(parts.max(1))) as u64
}

/// Writes the pieces at `places` with `content`. Returns the bytes written, and starts and ends of what could not be
/// written.
///
/// # Errors
/// Why it ended early.
pub(crate) fn write(
    pool: &Pool,
    files: &[(u64, u64)],
    places: &[u64],
    content: &Arc<Content>,
) -> Result<(u64, Vec<(u64, u64)>), StopReason> {
    let (mut written, mut refused) = (0, Vec::new());
    each(pool, files, places, content, true, &mut |_, answer| {
        if let Answer::Written { bytes, result, .. } = answer {
            refused.extend(result?);
            written += bytes;
        }
        Ok(())
    })?;
    Ok((written, refused))
}

/// Reads the pieces at `places`, all of them good before, into `tally`. Returns all findings together.
///
/// # Errors
/// Why it ended early.
pub(crate) fn read(
    pool: &Pool,
    files: &[(u64, u64)],
    places: &[u64],
    content: &Arc<Content>,
    refused: &[(u64, u64)],
    tally: &mut Tally,
) -> Result<ChunkFindings, StopReason> {
    let mut all = ChunkFindings::default();
    each(pool, files, places, content, false, &mut |offset, answer| {
        if let Answer::Read { result, .. } = answer {
            let mut found = result.map_err(StopReason::Failed)?;
            found.refuse(refused);
            all.counts.merge(&found.counts);
            all.stale += found.stale;
            tally.again(offset, &found);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Writes or reads each piece, several at a time, and syncs each file that was written.
fn each(
    pool: &Pool,
    files: &[(u64, u64)],
    places: &[u64],
    content: &Arc<Content>,
    writes: bool,
    done: &mut dyn FnMut(u64, Answer) -> Result<(), StopReason>,
) -> Result<(), StopReason> {
    for &(number, bytes) in files {
        let (start, end) = (start_of(number), start_of(number) + FILE_BYTES.min(bytes));
        let mut here = places.iter().copied().filter(|place| (start..end).contains(place)).peekable();
        if here.peek().is_none() {
            continue;
        }
        let piece = pass::piece(pool, if writes { Task::Make { number, bytes } } else { Task::Open { number } })?;
        let (mut in_flight, mut ended) = (0, None);
        loop {
            while in_flight < DEPTH
                && ended.is_none()
                && let Some(offset) = here.next()
            {
                if pool.stopped() {
                    ended = Some(StopReason::Stopped);
                    break;
                }
                let bytes = PIECE.min(end - offset) as usize;
                let part = Part { piece: Arc::clone(&piece), at: offset - start, bytes, offset };
                let content = Arc::clone(content);
                pool.give(if writes { Task::Write { part, content } } else { Task::Read { part, content } });
                in_flight += 1;
            }
            if in_flight == 0 {
                break;
            }
            let answer = pool.wait(false, &mut || {})?;
            in_flight -= 1;
            let offset = match &answer {
                Answer::Written { offset, .. } | Answer::Read { offset, .. } => *offset,
                _ => start,
            };
            if let Err(stop_reason) = done(offset, answer) {
                ended = ended.or(Some(stop_reason));
            }
        }
        if let Some(stop_reason) = ended {
            return Err(stop_reason);
        }
        if writes {
            pool.run(move || piece.sync())?.map_err(StopReason::Failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_core::verification::SectorClass;

    use super::super::content::FileFormat;
    use super::*;
    use crate::probe::Salt;

    fn tally(area: u64, lost: std::ops::Range<u64>) -> Tally {
        let mut tally = Tally::new(area);
        for chunk in 0..area / MIB {
            let mut found = ChunkFindings::default();
            for sector in 0..2048 {
                let at = chunk * MIB + sector * 512;
                found.note(if lost.contains(&at) { SectorClass::Corrupted } else { SectorClass::Good }, at, None);
            }
            tally.add(chunk * MIB, &found);
        }
        tally
    }

    /// As much is written elsewhere as the end part is long, and never to lost places.
    #[test]
    fn as_much_is_written_elsewhere_as_the_cache_may_hold() {
        let content = Content::new(FileFormat::Salted, Salt::known(1));
        let (area, cache) = (64 * MIB, 8 * MIB);
        let end = boundary(area, cache);
        assert_eq!(end, 56 * MIB);
        let lost = 3 * MIB + 512..20 * MIB;
        let found = places(&tally(area, lost.clone()), end, cache, &content);
        assert_eq!(found.len() as u64 * PIECE, cache);
        assert!(found.windows(2).all(|pair| pair[0] + PIECE <= pair[1]), "each once, in order");
        assert!(found.iter().all(|place| place + PIECE <= end && (place + PIECE <= lost.start || *place >= lost.end)));
        // Spread over all good parts.
        assert!(found[0] < 3 * MIB && found[found.len() - 1] > 52 * MIB);
    }

    /// The pieces that evict the first ones are others, and good.
    #[test]
    fn others_are_written_where_nothing_was_written_again() {
        let content = Content::new(FileFormat::Salted, Salt::known(1));
        let tally = tally(64 * MIB, 3 * MIB + 512..20 * MIB);
        let first = places(&tally, 56 * MIB, 8 * MIB, &content);
        let second = others(&tally, 56 * MIB, 8 * MIB, &first);
        assert_eq!(second.len() as u64 * PIECE, 8 * MIB);
        assert!(second.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
        assert!(second.iter().all(|place| !first.contains(place)));
        assert_eq!(still_good(&tally, 56 * MIB, &second), second);
        assert_eq!(still_good(&tally, 56 * MIB, &[0, 3 * MIB, 10 * MIB, 20 * MIB, 56 * MIB]), [0, 20 * MIB]);
    }

    #[test]
    fn of_a_small_area_one_half_drives_out_the_other() {
        let content = Content::new(FileFormat::Salted, Salt::known(1));
        let end = boundary(6 * MIB, 64 * MIB);
        assert_eq!(end, 3 * MIB);
        assert_eq!(places(&tally(6 * MIB, 0..0), end, 64 * MIB, &content).len() as u64 * PIECE, 3 * MIB);
        assert!(places(&tally(6 * MIB, 0..6 * MIB), end, 64 * MIB, &content).is_empty(), "nothing good");
        assert_eq!(boundary(MIB, 64 * MIB), MIB, "too small for two halves");
    }
}
