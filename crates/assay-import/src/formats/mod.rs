//! One file a format.

mod as_ssd;
mod bonnie;
mod crystaldiskmark;
mod dd;
mod fio;
mod hd_tune;
mod hdparm;
mod ioping;
mod iozone;
mod kdiskmark;
mod linpack;
mod smartctl;
mod sysbench;

pub use as_ssd::AsSsd;
pub use bonnie::Bonnie;
pub use crystaldiskmark::CrystalDiskMark;
pub use dd::Dd;
pub use fio::Fio;
pub use hd_tune::HdTune;
pub use hdparm::Hdparm;
pub use ioping::Ioping;
pub use iozone::Iozone;
pub use kdiskmark::KDiskMark;
pub use linpack::Linpack;
pub use smartctl::Smartctl;
pub use sysbench::Sysbench;
