//! The processor test of sysbench, by what its manual and users say of it: an event looks for the primes below a
//! limit, and tries to divide each number by all from 2 to its square root, in integers of 64 bits. All threads do
//! events until time is up; the figure is events per second over all of them.

use std::hint::black_box;
use std::thread;

use crate::events::events;
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};

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

pub(crate) fn run(below: u32, threads: u32, work: &Work) -> Result<Done, Trouble> {
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
            let thread = thread.map_err(Trouble::io("starting a thread"))?;
            done += thread.join().unwrap_or_else(|_| Err(Trouble::slow()))?;
        }
        Ok::<_, Trouble>(done)
    })?;
    let timed = work.since(&start);
    if done == 0 {
        return Err(Trouble::slow());
    }
    let figure = Figure::rate(done as f64, timed, "events/s");
    Ok(Done { figures: vec![figure], threads, ..Done::default() })
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
