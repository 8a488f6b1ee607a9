//! Where a target lies that most likely was meant to be a mounted medium.

use assay_core::medium::Mounted;
use assay_core::text::clean;

/// `on the root disk, as nothing is mounted at /mnt/card`; `None` where nothing is to be said.
#[must_use]
pub fn not_mounted(mounted: Mounted, target: &str) -> Option<String> {
    match mounted {
        // The directory in which a node begins, as no other was named.
        Mounted::Root if target == "." => Some("on the root disk, as no target was named".to_owned()),
        Mounted::Root => Some(format!("on the root disk, as nothing is mounted at {}", clean(target))),
        Mounted::Memory => Some(format!("in memory, as no medium is mounted at {}", clean(target))),
        Mounted::There | Mounted::Above | Mounted::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_medium_is_told() {
        let of = |mounted| not_mounted(mounted, "/mnt/card\u{1b}[2J");
        assert!(of(Mounted::Root).unwrap().starts_with("on the root disk, as nothing is mounted at /mnt/card"));
        assert!(!of(Mounted::Root).unwrap().contains('\u{1b}'));
        assert!(of(Mounted::Memory).unwrap().starts_with("in memory"));
        assert_eq!([Mounted::There, Mounted::Above, Mounted::Unknown].map(of), [None, None, None]);
        assert_eq!(not_mounted(Mounted::Root, ".").unwrap(), "on the root disk, as no target was named");
    }
}
