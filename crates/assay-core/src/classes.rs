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

/// What was measured of the quantities the classes are about; null where it was not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Sequential write in bytes per second.
    pub sequential_write: Option<f64>,
    /// Random 4 KiB read in IOPS.
    pub random_read: Option<f64>,
    /// Random 4 KiB write in IOPS.
    pub random_write: Option<f64>,
}

/// Whether the figures meet the class; `None` where one it needs is missing.
#[must_use]
pub fn met(class: &Class, figures: &Figures) -> Option<bool> {
    let sequential = figures.sequential_write.map(|v| v >= class.sequential_write);
    let needs = match class.random {
        None => vec![sequential],
        Some((read, write)) => {
            vec![sequential, figures.random_read.map(|v| v >= read), figures.random_write.map(|v| v >= write)]
        }
    };
    if needs.contains(&Some(false)) {
        Some(false)
    } else if needs.contains(&None) {
        None
    } else {
        Some(true)
    }
}

/// The highest class of each family (C, U, V, A) that the figures meet.
#[must_use]
pub fn highest_met(figures: &Figures) -> Vec<&'static str> {
    ['C', 'U', 'V', 'A']
        .iter()
        .filter_map(|family| {
            CLASSES.iter().rev().find(|c| c.name.starts_with(*family) && met(c, figures) == Some(true)).map(|c| c.name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_needs_all_of_its_figures() {
        let mut f = Figures { sequential_write: Some(31e6), random_read: Some(1600.0), random_write: Some(499.0) };
        assert_eq!(highest_met(&f), ["C10", "U3", "V30"]);
        f.random_write = Some(500.0);
        assert_eq!(highest_met(&f), ["C10", "U3", "V30", "A1"]);
        f.random_read = None;
        let a1 = CLASSES.iter().find(|c| c.name == "A1").unwrap();
        assert_eq!(met(a1, &f), None);
        f.sequential_write = Some(1e6);
        assert_eq!(met(a1, &f), Some(false));
        assert!(highest_met(&f).is_empty());
    }
}
