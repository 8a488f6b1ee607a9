//! Which program is run by what.

use assay_core::program::Program;

use crate::fit::Fitted;
use crate::postmark::{self, Numbers};
use crate::trouble::Trouble;
use crate::work::{Done, Work};
use crate::{compress, inserts, linpack, memory, primes, stream, unpack};

/// Runs one repeat of a program. The files that it makes are gone afterwards, unless it fails.
///
/// # Errors
/// [`Trouble`], where there is no figure.
pub fn run(fitted: &Fitted, work: &Work) -> Result<Done, Trouble> {
    match fitted.program {
        Program::Primes { below, threads } => primes::run(below, threads, work),
        Program::Memory { op, block, total } => memory::run(op, block.0, total.0, work),
        Program::Linpack { size } => linpack::run(size as usize, work),
        Program::Stream { block, count } => stream::run(block.0, count, work),
        Program::Postmark { transactions, files, smallest, largest } => {
            postmark::run(&Numbers { transactions, files, smallest: smallest.0, largest: largest.0 }, work)
        }
        Program::Compress { copies } => compress::run(copies, fitted.tree_bytes, work),
        Program::Unpack {} => unpack::run(fitted.tree_bytes, work),
        Program::Inserts { rows } => inserts::run(rows, work),
    }
}
