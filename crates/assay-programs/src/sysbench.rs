//! The programs of sysbench: processor and memory.
//!
//! The processor test of sysbench, by what its manual and users say of it: an event looks for the primes below a
//! limit, and tries to divide each number by all from 2 to its square root, in integers of 64 bits. All threads do
//! events until time is up; the figure is events per second over all of them.

use std::hint::black_box;
use std::sync::atomic::Ordering;
use std::time::Instant;
use std::{ptr, thread};

use assay_core::workload::Direction;

use crate::trouble::ProgramTrouble;
use crate::work::{Done, ProgramFigure, Work};

/// Primes from 3 to the number before `below`.
fn event(below: u64) -> u64 {
    (3..below).filter(|&number| is_prime(number)).count() as u64
}

/// Divides until nothing is left over.
fn is_prime(number: u64) -> bool {
    // sysbench compares with the root as it is, which costs a conversion for each division.
    let root = (number as f64).sqrt();
    // By a constant no division is needed, and compilers see that of sysbench too.
    if number.is_multiple_of(2) {
        return false;
    }
    let mut divisor = 3;
    while divisor as f64 <= root {
        if rest(number, divisor) == 0 {
            return false;
        }
        divisor += 1;
    }
    true
}

/// What a division by 3 or more leaves over, in 64 bits as in sysbench. For numbers that happen to be small the compiler
/// would take the division of 32 bits, with which an event is a tenth quicker.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn rest(number: u64, divisor: u64) -> u64 {
    debug_assert!(divisor > 2);
    let rest;
    // SAFETY: the instruction touches these three registers and the flags; it traps where the divisor is 0 or the
    // quotient has more than 64 bits, and the divisor is 3 or more and the upper half of the number 0.
    unsafe {
        std::arch::asm!(
            "div {divisor}",
            divisor = in(reg) divisor,
            inout("rax") number => _,
            inout("rdx") 0_u64 => rest,
            options(pure, nomem, nostack)
        );
    }
    rest
}

/// What a division leaves over.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn rest(number: u64, divisor: u64) -> u64 {
    number % divisor
}

pub(crate) fn run_primes(below: u32, threads: u32, work: &Work) -> Result<Done, ProgramTrouble> {
    let start = work.mark();
    let done = thread::scope(|scope| {
        let begin = |_| {
            thread::Builder::new().spawn_scoped(scope, || {
                events(u64::MAX, work, |_| {
                    black_box(event(black_box(u64::from(below))));
                })
            })
        };
        let begun: Vec<_> = (0..threads).map(begin).collect();
        let mut done = 0;
        for thread in begun {
            let thread = thread.map_err(ProgramTrouble::io("starting a thread"))?;
            done += thread.join().unwrap_or_else(|_| Err(ProgramTrouble::slow()))?;
        }
        Ok::<_, ProgramTrouble>(done)
    })?;
    let timed = work.since(&start);
    if done == 0 {
        return Err(ProgramTrouble::slow());
    }
    let figure = ProgramFigure::rate(done as f64, timed, "events/s");
    Ok(Done { figures: vec![figure], threads, ..Done::default() })
}

// The memory test of sysbench, by what its manual says of it: one block is gone through from begin to end over and
// over, a machine word at a time, until the wanted number of bytes was read or written.

pub(crate) fn run_memory(op: Direction, block: u64, total: u64, work: &Work) -> Result<Done, ProgramTrouble> {
    let words = usize::try_from(block).unwrap_or(usize::MAX) / size_of::<usize>();
    let mut block_words = vec![0_usize; words];
    let bytes = (words * size_of::<usize>()) as u64;
    // Pages that were never written would be one page of zeros.
    write(&mut block_words, 1);
    let start = work.mark();
    let done = events(total.div_ceil(bytes.max(1)), work, |number| match op {
        Direction::Read => read(&block_words),
        Direction::Write => write(&mut block_words, number as usize),
    })?;
    let timed = work.since(&start);
    if done == 0 {
        return Err(ProgramTrouble::slow());
    }
    let figure = ProgramFigure::rate((done * bytes) as f64 / 1_048_576.0, timed, "MiB/s");
    Ok(Done { figures: vec![figure], threads: 1, ..Done::default() })
}

/// Reads each word on its own: volatile, or the compiler would read many at once, or none.
fn read(words: &[usize]) {
    for word in words {
        // SAFETY: a reference is valid to be read.
        let _ = unsafe { ptr::read_volatile(word) };
    }
}

/// Writes each word on its own, and to each another number.
fn write(words: &mut [usize], first: usize) {
    // A step that is not known when this is compiled, so that each number is made of the one before, as there.
    let (mut value, step) = (first, black_box(1));
    for word in words {
        // SAFETY: an exclusive reference is valid to be written, and a number needs no drop.
        unsafe { ptr::write_volatile(word, value) };
        value = value.wrapping_add(step);
    }
}

// Events as sysbench counts and times them. Before each it looks at the clock for the end, and it reads the clock before
// and after the event for the percentiles of the latency, which it keeps in a histogram by the logarithm: of short events
// that is most of its figure.

/// Buckets of the histogram, and how many of them each power of e has: 0 to 2^64 ns.
const BUCKETS: usize = 1024;
const PER_POWER: f64 = 20.0;

/// Does events until there are `most` or time is up, and tells how many there were.
pub(crate) fn events(most: u64, work: &Work, mut event: impl FnMut(u64)) -> Result<u64, ProgramTrouble> {
    let (mut done, mut latencies) = (0, vec![0_u32; BUCKETS]);
    while done < most {
        // That it changes is all that counts: adding to it would cost a tenth of a short event.
        work.beat.store(done + 1, Ordering::Relaxed);
        if work.control.stopped() {
            return Err(ProgramTrouble::Stopped);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_finds_all_primes() {
        assert_eq!(event(4), 1, "3 alone: sysbench begins there");
        assert_eq!(event(100), 24, "25 but for 2");
        assert_eq!(event(20_000), 2261, "2262 but for 2");
    }
}
