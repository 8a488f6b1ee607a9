//! What is written: a page that nothing but this check at this place could have written.

use assay_core::verification::SectorClass;
use assay_engine::fill_unique;

/// Size of a stamp in bytes: the page of most file systems and flash translation layers.
pub(crate) const STAMP: usize = 4096;

/// Fills a page for `place`; `salt` is random, so that no controller can know it and nothing that
/// an earlier check left is taken for it.
pub(crate) fn stamp(page: &mut [u8], salt: u64, place: u64) {
    fill_unique(page, salt, place);
    if let Some(head) = page.first_chunk_mut::<16>() {
        head[..8].copy_from_slice(&salt.to_le_bytes());
        head[8..].copy_from_slice(&place.to_le_bytes());
    }
}

/// What became of the page of `place`, and whose it is where it is another's.
pub(crate) fn classify(page: &[u8], salt: u64, place: u64) -> (SectorClass, Option<u64>) {
    let mut expected = [0; STAMP];
    stamp(&mut expected, salt, place);
    if page == expected {
        return (SectorClass::Good, None);
    }
    let mut other = [0; 8];
    other.copy_from_slice(&page[8..16]);
    let other = u64::from_le_bytes(other);
    stamp(&mut expected, salt, other);
    if page == expected { (SectorClass::Overwritten, Some(other)) } else { (SectorClass::Corrupted, None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_its_place_and_its_check() {
        let mut page = [0; STAMP];
        stamp(&mut page, 5, 70);
        assert_eq!(classify(&page, 5, 70), (SectorClass::Good, None));
        assert_eq!(classify(&page, 5, 71), (SectorClass::Overwritten, Some(70)));
        assert_eq!(classify(&page, 6, 70), (SectorClass::Corrupted, None), "of an earlier check");
        page[4000] ^= 1;
        assert_eq!(classify(&page, 5, 70), (SectorClass::Corrupted, None));
    }
}
