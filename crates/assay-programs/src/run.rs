//! Which program is run by what.

use assay_core::program::Program;

use crate::work::{Done, Trouble, Work};
use crate::{linpack, memory, primes, stream};

/// Runs one repeat of a program. The files that it makes are gone afterwards, unless it fails.
///
/// # Errors
/// [`Trouble`], where there is no figure.
pub fn run(program: &Program, work: &Work) -> Result<Done, Trouble> {
    match *program {
        Program::Primes { below, threads } => primes::run(below, threads, work),
        Program::Memory { op, block, total } => memory::run(op, block.0, total.0, work),
        Program::Linpack { size } => linpack::run(size as usize, work),
        Program::Stream { block, count } => stream::run(block.0, count, work),
        _ => Err(Trouble::LeftOut("this version has no such program".to_owned())),
    }
}
