//! One file a format.

mod crystaldiskmark;
mod fio;

pub use crystaldiskmark::CrystalDiskMark;
pub use fio::Fio;
