//! One file a format.

mod as_ssd;
mod crystaldiskmark;
mod dd;
mod fio;
mod hd_tune;
mod hdparm;
mod kdiskmark;

pub use as_ssd::AsSsd;
pub use crystaldiskmark::CrystalDiskMark;
pub use dd::Dd;
pub use fio::Fio;
pub use hd_tune::HdTune;
pub use hdparm::Hdparm;
pub use kdiskmark::KDiskMark;
