//! One file a format.

mod crystaldiskmark;

pub use crystaldiskmark::CrystalDiskMark;
