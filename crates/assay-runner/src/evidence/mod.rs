//! Whether something beside the medium made the numbers: the host, others, the kernel's own
//! words, and the shape of the numbers themselves.

mod efficiency;
mod host;
mod shape;
mod witness;

pub(crate) use efficiency::efficiency;
pub(crate) use shape::judge_shape;
#[cfg(test)]
pub(crate) use shape::tests::measurement;
pub(crate) use witness::{Witness, keep};
