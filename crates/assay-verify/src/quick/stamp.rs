//! The content of stamps: pages whose sectors only this check could have written, each for one place.

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use assay_engine::fill_unique;

/// Size of a stamp in bytes: the page of most file systems and flash translation layers.
pub(crate) const STAMP: usize = 4096;
const SECTOR: usize = SECTOR_BYTES as usize;

/// Fills a page for `place`. `salt` is random, so that no controller can know it, and data of an earlier check are not
/// mistaken for it. Each sector states its owner, since addresses may wrap around within a page.
pub(crate) fn stamp(page: &mut [u8], salt: u64, place: u64) {
    fill_unique(page, salt, place);
    for (nth, sector) in page.chunks_mut(SECTOR).enumerate() {
        for (word, value) in sector.chunks_exact_mut(8).zip([salt, place, nth as u64]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// Class of the page of `place`, and the owner if any of it belongs to another place.
pub(crate) fn classify(page: &[u8], salt: u64, place: u64) -> (SectorClass, Option<u64>) {
    let mut expected = [0; STAMP];
    stamp(&mut expected, salt, place);
    if page == expected {
        return (SectorClass::Good, None);
    }
    let owners = page.chunks(SECTOR).filter_map(|sector| owner(sector, salt));
    match owners.map(|(owner, _)| owner).find(|owner| *owner != place) {
        Some(other) => (SectorClass::Overwritten, Some(other)),
        None => (SectorClass::Corrupted, None),
    }
}

/// Owner of a sector, and its index in the page; `None` if it is not of this check.
pub(crate) fn owner(sector: &[u8], salt: u64) -> Option<(u64, usize)> {
    let word = |nth: usize| Some(u64::from_le_bytes(*sector.get(nth * 8..)?.first_chunk()?));
    let (place, nth) = (word(1)?, usize::try_from(word(2)?).ok()?);
    if word(0)? != salt || nth >= STAMP / SECTOR {
        return None;
    }
    let mut expected = [0; STAMP];
    stamp(&mut expected, salt, place);
    (expected[nth * SECTOR..][..SECTOR] == *sector).then_some((place, nth))
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

    /// If addresses wrap around after an odd number of sectors, one page is overwritten by parts of two.
    #[test]
    fn a_part_of_another_page_is_told_too() {
        let (mut page, mut other) = ([0; STAMP], [0; STAMP]);
        stamp(&mut page, 5, 70);
        stamp(&mut other, 5, 71);
        page[3 * SECTOR..].copy_from_slice(&other[..5 * SECTOR]);
        assert_eq!(classify(&page, 5, 70), (SectorClass::Overwritten, Some(71)));
        assert_eq!(owner(&page[3 * SECTOR..4 * SECTOR], 5), Some((71, 0)));
        assert_eq!(owner(&[0; SECTOR], 5), None);
    }
}
