//! The processor test of sysbench, by what its manual and users say of it: an event looks for the primes below a
//! limit, and tries to divide each number by all from 2 to its square root, in integers of 64 bits. All threads do
//! events until time is up; the figure is events per second over all of them.

use std::hint::black_box;
use std::thread;

use crate::work::{Done, Figure, Trouble, Work};

/// Primes from 3 to the number before `below`.
fn event(below: u64) -> u64 {
    (3..below).filter(|&number| is_prime(number)).count() as u64
}

/// Divides until nothing is left over.
fn is_prime(number: u64) -> bool {
    // sysbench compares with the root as it is, which costs a conversion for each division.
    let root = (number as f64).sqrt();
    let mut divisor = 2;
    while divisor as f64 <= root {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

pub(crate) fn run(below: u32, threads: u32, work: &Work) -> Result<Done, Trouble> {
    let start = work.mark();
    let events = thread::scope(|scope| {
        let begin = |_| {
            thread::Builder::new().spawn_scoped(scope, || {
                let mut events = 0_u64;
                loop {
                    match work.step() {
                        Ok(false) => {}
                        Ok(true) => return Ok(events),
                        Err(trouble) => return Err(trouble),
                    }
                    black_box(event(black_box(u64::from(below))));
                    events += 1;
                }
            })
        };
        let begun: Vec<_> = (0..threads).map(begin).collect();
        let mut events = 0;
        for thread in begun {
            let thread = thread.map_err(Trouble::io("starting a thread"))?;
            events += thread.join().unwrap_or_else(|_| Err(Trouble::slow()))?;
        }
        Ok::<_, Trouble>(events)
    })?;
    let timed = work.since(&start);
    if events == 0 {
        return Err(Trouble::slow());
    }
    let figure = Figure::rate(events as f64, timed, "events/s");
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
