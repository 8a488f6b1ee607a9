//! The SD card or eMMC behind a disk.

use std::path::{Path, PathBuf};

use assay_core::medium::MediumKind;

use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

/// The card under a disk.
pub(crate) struct Card {
    pub(crate) dir: PathBuf,
    /// `mmc0`.
    pub(crate) host: String,
    /// `aaaa`, the relative card address.
    pub(crate) address: String,
    pub(crate) kind: MediumKind,
}

/// The directory `mmc0:aaaa` above the disk, even if the reader is on USB or PCIe.
pub(crate) fn card_of(sysroot: &Sysroot, disk: &Node) -> Option<Card> {
    let dir = disk.ancestor(sysroot, |dir| split_name(dir).is_some())?;
    let (host, address) = split_name(&dir)?;
    let kind = match files::text(&dir.join("type")).as_deref() {
        Some("SD" | "SDcombo") => MediumKind::Sd,
        Some("MMC") => MediumKind::Emmc,
        _ => MediumKind::Unknown,
    };
    Some(Card { dir, host, address, kind })
}

fn split_name(dir: &Path) -> Option<(String, String)> {
    let name = files::file_name(dir)?;
    let (host, address) = name.split_once(':')?;
    let hex = address.len() == 4 && address.bytes().all(|b| b.is_ascii_hexdigit());
    (is_numbered(host, "mmc") && hex).then(|| (host.to_owned(), address.to_owned()))
}
