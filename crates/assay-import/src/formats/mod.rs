//! One file a format.

mod as_ssd;
mod bonnie;
mod crystaldiskmark;
mod dd;
mod f3;
mod fio;
mod h2testw;
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
pub use f3::F3;
pub use fio::Fio;
pub use h2testw::H2testw;
pub use hd_tune::HdTune;
pub use hdparm::Hdparm;
pub use ioping::Ioping;
pub use iozone::Iozone;
pub use kdiskmark::KDiskMark;
pub use linpack::Linpack;
pub use smartctl::Smartctl;
pub use sysbench::Sysbench;
