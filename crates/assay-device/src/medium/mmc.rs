//! SD cards and eMMC (kernel Documentation/driver-api/mmc/mmc-dev-attrs.rst).

use assay_core::medium::{Medium, MediumKind};

use super::facts::{clean, note, of_kind};
use super::mmc_card::Card;
use super::{mmc_bus, mmc_vendors, ssr};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, card: &Card) -> Medium {
    let read = |name: &str| files::text(&card.dir.join(name));
    let hex = |name: &str| u32::from_str_radix(read(name)?.trim_start_matches("0x"), 16).ok();
    let mut facts = of_kind(card.kind);
    facts.model = read("name").and_then(|text| clean(&text));
    let (maker, oem) = (hex("manfid"), hex("oemid"));
    facts.vendor = match card.kind {
        MediumKind::Sd => maker.and_then(|id| mmc_vendors::sd(id, oem)),
        _ => maker.and_then(mmc_vendors::emmc),
    }
    .map(str::to_owned);
    // The whole CID identifies a unit; the serial number in it repeats between makers.
    let cid = read("cid").filter(|cid| cid.bytes().all(|b| b.is_ascii_hexdigit()) && cid.bytes().any(|b| b != b'0'));
    facts.unit = cid.or_else(|| read("serial")).and_then(|text| clean(&text));
    if card.kind == MediumKind::Sd {
        facts.claimed_classes = read("ssr").map(|text| ssr::classes(&text)).unwrap_or_default();
    }
    note(&mut facts, "manufactured", read("date"));
    note(&mut facts, "firmware", read("fwrev"));
    note(&mut facts, "manfid", read("manfid"));
    note(&mut facts, "oemid", read("oemid"));
    // JESD84-B51 7.4: life time A (SLC) and B (MLC) in tenths used, and the reserve of blocks.
    note(&mut facts, "life_time", read("life_time"));
    note(&mut facts, "pre_eol_info", read("pre_eol_info"));
    if let Some(value) = read("cmdq_en").and_then(|text| clean(&text)) {
        facts.queue.insert("cmdq_en".to_owned(), value);
    }
    facts.bus = Some(mmc_bus::bus(sysroot, card));
    facts
}
