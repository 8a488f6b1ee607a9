//! Performance classes of SD cards and their thresholds.
//!
//! Sources: SD Association, speed classes (C, U, V: minimum sequential write) and application
//! performance classes (SD 5.1 for A1, SD 6.0 for A2: minimum random 4 KiB IOPS and 10 MB/s
//! sustained sequential write).

/// Thresholds of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// As printed on cards.
    pub name: &'static str,
    /// Least sequential write in bytes per second.
    pub sequential_write: f64,
    /// Least random 4 KiB read and write in IOPS, for application classes.
    pub random: Option<(f64, f64)>,
}

const fn speed(name: &'static str, megabytes: f64) -> Class {
    Class { name, sequential_write: megabytes * 1e6, random: None }
}

/// All classes, each family in rising order.
pub const CLASSES: [Class; 13] = [
    speed("C2", 2.0),
    speed("C4", 4.0),
    speed("C6", 6.0),
    speed("C10", 10.0),
    speed("U1", 10.0),
    speed("U3", 30.0),
    speed("V6", 6.0),
    speed("V10", 10.0),
    speed("V30", 30.0),
    speed("V60", 60.0),
    speed("V90", 90.0),
    Class { name: "A1", sequential_write: 10e6, random: Some((1500.0, 500.0)) },
    Class { name: "A2", sequential_write: 10e6, random: Some((4000.0, 2000.0)) },
];
