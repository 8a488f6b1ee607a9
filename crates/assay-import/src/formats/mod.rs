//! One file a format.

mod crystaldiskmark;
mod dd;
mod fio;
mod hdparm;

pub use crystaldiskmark::CrystalDiskMark;
pub use dd::Dd;
pub use fio::Fio;
pub use hdparm::Hdparm;
