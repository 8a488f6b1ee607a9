//! Makers by the identification register. The SD Card Association publishes no list. These are the names in the kernel
//! (drivers/mmc/core/card.h, quirks.h) and in mmc-utils (lsmmc.c); the kernel's name is used where they differ. If
//! several makers share a number, the OEM letters of their cards decide; other letters give no name.

/// Maker number, OEM letters if needed to distinguish makers, name.
const SD: &[(u32, Option<[u8; 2]>, &str)] = &[
    (0x01, None, "Panasonic"),
    (0x02, Some(*b"TM"), "Toshiba"),
    (0x03, None, "SanDisk"),
    (0x1b, Some(*b"SM"), "Samsung"),
    (0x1c, None, "Transcend"),
    (0x1d, Some(*b"AD"), "ADATA"),
    (0x1e, None, "Transcend"),
    (0x27, Some(*b"PH"), "Phison"),
    (0x28, None, "Lexar"),
    (0x31, None, "Silicon Power"),
    (0x41, None, "Kingston"),
    (0x5d, None, "Swissbit"),
    (0x74, None, "Transcend"),
    (0x76, None, "Patriot"),
    (0x9f, None, "Kingston"),
];

const EMMC: &[(u32, &str)] = &[
    (0x02, "SanDisk"),
    (0x11, "Toshiba"),
    (0x13, "Micron"),
    (0x15, "Samsung"),
    (0x37, "KingMax"),
    (0x44, "ATP"),
    (0x45, "SanDisk"),
    (0x70, "Kingston"),
    (0x90, "SK hynix"),
    (0xfe, "Micron"),
];

pub(crate) fn sd(maker: u32, oem: Option<u32>) -> Option<&'static str> {
    let letters = oem.map(|oem| [(oem >> 8) as u8, oem as u8]);
    SD.iter()
        .find(|(id, wanted, _)| *id == maker && wanted.is_none_or(|wanted| letters == Some(wanted)))
        .map(|(_, _, name)| *name)
}

pub(crate) fn emmc(maker: u32) -> Option<&'static str> {
    EMMC.iter().find(|(id, _)| *id == maker).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_numbers_need_the_oem_letters() {
        assert_eq!(sd(0x03, Some(0x5344)), Some("SanDisk"));
        assert_eq!(sd(0x1b, Some(0x534d)), Some("Samsung"));
        assert_eq!(sd(0x1b, Some(0x3030)), None);
        assert_eq!(sd(0x02, None), None);
        assert_eq!(sd(0x99, Some(0x5344)), None);
        assert_eq!(emmc(0x15), Some("Samsung"));
    }
}
