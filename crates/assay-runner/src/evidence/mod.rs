//! Whether something beside the medium made the numbers: the host, others, the kernel's own
//! words, and the shape of the numbers themselves.

mod efficiency;
mod host;
mod host_monitor;
mod shape;

pub(crate) use efficiency::efficiency;
pub(crate) use host_monitor::{HostMonitor, keep};
pub(crate) use shape::judge_shape;
#[cfg(test)]
pub(crate) use shape::tests::measurement;
