//! Events as sysbench counts and times them. Before each it looks at the clock for the end, and it reads the clock before
//! and after the event for the percentiles of the latency, which it keeps in a histogram by the logarithm: of short events
//! that is most of its figure.

use std::hint::black_box;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::trouble::Trouble;
use crate::work::Work;

/// Buckets of the histogram, and how many of them each power of e has: 0 to 2^64 ns.
const BUCKETS: usize = 1024;
const PER_POWER: f64 = 20.0;

/// Does events until there are `most` or time is up, and tells how many there were.
pub(crate) fn events(most: u64, work: &Work, mut event: impl FnMut(u64)) -> Result<u64, Trouble> {
    let (mut done, mut latencies) = (0, vec![0_u32; BUCKETS]);
    while done < most {
        // That it changes is all that counts: adding to it would cost a tenth of a short event.
        work.beat.store(done + 1, Ordering::Relaxed);
        if work.control.stopped() {
            return Err(Trouble::Stopped);
        }
        if Instant::now() >= work.deadline {
            break;
        }
        let begun = Instant::now();
        event(done);
        let logarithm = (begun.elapsed().as_nanos() as u64 as f64).ln();
        let count = &mut latencies[((logarithm * PER_POWER) as usize).min(BUCKETS - 1)];
        *count = count.wrapping_add(1);
        done += 1;
    }
    // They are not read; without this the compiler would drop them.
    black_box(latencies);
    Ok(done)
}
