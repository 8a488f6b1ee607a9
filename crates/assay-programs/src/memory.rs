//! The memory test of sysbench, by what its manual says of it: one block is gone through from begin to end over and
//! over, a machine word at a time, until the wanted number of bytes was read or written.

use std::hint::black_box;
use std::ptr;

use assay_core::direction::Direction;

use crate::events::events;
use crate::trouble::Trouble;
use crate::work::{Done, Figure, Work};

pub(crate) fn run(op: Direction, block: u64, total: u64, work: &Work) -> Result<Done, Trouble> {
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
        return Err(Trouble::slow());
    }
    let figure = Figure::rate((done * bytes) as f64 / 1_048_576.0, timed, "MiB/s");
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
