//! Detects what a device holds, by the marks that formats leave.

use std::io::{Read, Seek};

use super::blocks::Blocks;
use super::marks::{AT_END, IN_LAST_BLOCK, MARKS};

/// ZFS on-disk specification 1.3: uberblocks fill the second half of each 256 KiB label.
const ZFS_LABEL: u64 = 256 * 1024;
const ZFS_UBERBLOCKS: u64 = 128 * 1024;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// The first mark found on a device or image; `None` if no known mark is there or can be read. A device that ends
/// before a mark's place does not have it.
pub fn signature<R: Read + Seek>(device: &mut R) -> Option<&'static str> {
    marked(&mut Blocks::of(device))
}

pub(in crate::guard) fn marked<R: Read + Seek>(blocks: &mut Blocks<'_, R>) -> Option<&'static str> {
    let size = blocks.bytes();
    let front = MARKS.iter().find(|mark| blocks.has(mark.offset, mark.magic));
    if let Some(mark) = front {
        return Some(mark.name);
    }
    if has_zfs(blocks) {
        return Some("ZFS pool member");
    }
    let last = IN_LAST_BLOCK.iter().find(|(unit, back, mark)| {
        let start = (size / unit).checked_sub(*back).map(|number| number * unit);
        start.is_some_and(|start| blocks.has(start + mark.offset, mark.magic))
    });
    if let Some((_, _, mark)) = last {
        return Some(mark.name);
    }
    let end = AT_END.iter().find(|mark| size.checked_sub(mark.offset).is_some_and(|at| blocks.has(at, mark.magic)));
    end.map(|mark| mark.name)
}

/// A slot is 1 KiB or a larger power of two, so every 1 KiB of all four labels is tested.
fn has_zfs<R: Read + Seek>(blocks: &mut Blocks<'_, R>) -> bool {
    let end = blocks.bytes() & !(ZFS_LABEL - 1);
    let labels = [Some(0), Some(ZFS_LABEL), end.checked_sub(2 * ZFS_LABEL), end.checked_sub(ZFS_LABEL)];
    labels.into_iter().flatten().any(|label| {
        (label + ZFS_UBERBLOCKS..label + ZFS_LABEL).step_by(1024).any(|slot| {
            let magic = blocks.at(slot, 8);
            magic
                .as_deref()
                .and_then(<[u8]>::first_chunk::<8>)
                .is_some_and(|magic| u64::from_le_bytes(*magic) == ZFS_MAGIC || u64::from_be_bytes(*magic) == ZFS_MAGIC)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn image(size: usize, marks: &[(usize, &[u8])]) -> Cursor<Vec<u8>> {
        let mut bytes = vec![0u8; size];
        for (offset, magic) in marks {
            bytes[*offset..offset + magic.len()].copy_from_slice(magic);
        }
        Cursor::new(bytes)
    }

    fn found(size: usize, marks: &[(usize, &[u8])]) -> Option<&'static str> {
        signature(&mut image(size, marks))
    }

    /// Enough for the mark that is farthest from the start.
    const ROOM: usize = 5 << 20;

    #[test]
    fn every_mark_of_the_table_is_found_alone() {
        for mark in MARKS {
            let got = found(ROOM, &[(mark.offset as usize, mark.magic)]);
            assert_eq!(got, Some(mark.name), "{:?}", mark.magic);
        }
    }

    #[test]
    fn every_mark_at_the_end_is_found_alone_on_devices_of_odd_sizes() {
        for size in [1 << 20, (1 << 20) + 512 * 7, (1 << 20) + 5 * 4096] {
            for mark in AT_END {
                assert_eq!(found(size, &[(size - mark.offset as usize, mark.magic)]), Some(mark.name), "{size}");
            }
            for (unit, back, mark) in IN_LAST_BLOCK {
                let start = (size as u64 / unit - back) * unit;
                assert_eq!(found(size, &[((start + mark.offset) as usize, mark.magic)]), Some(mark.name), "{size}");
            }
        }
    }

    #[test]
    fn marks_are_where_their_formats_say() {
        let size = 64 << 20;
        let cases: [(usize, &[u8], &str); 14] = [
            (3, b"ReFS\0", "ReFS file system"),
            (3, b"-FVE-FS-", "BitLocker encryption"),
            (32, b"ORCLDISK", "Oracle ASM disk"),
            (65536, b"\x01\x16\x19\x70\0\0\0\x01", "GFS2 file system"),
            (8192, b"OCFSV2", "OCFS2 file system"),
            (8192 + 1372, b"\x54\x19\x01\x00", "UFS file system"),
            (65536 + 1372, b"\x19\x01\x54\x19", "UFS2 file system"),
            (1024 + 16, b"\x8f\x13", "Minix file system"),
            (1024, b"BD", "HFS file system"),
            (1 << 20, b"\x0d\xd0\x01\xc0", "VMFS volume"),
            (size - 4096 + 60, b"\x83\x74\x02\x6d", "DRBD device"),
            (size - 512, b"\xde\x11\xde\x11", "DDF RAID member"),
            (size - 1024, b"Intel Raid ISM Cfg Sig. 1.3.00", "Intel RAID (IMSM) member"),
            (size - 65536, b"\xfc\x4e\x2b\xa9", "md RAID member"),
        ];
        for (offset, magic, name) in cases {
            assert_eq!(found(size, &[(offset, magic)]), Some(name));
        }
    }

    #[test]
    fn an_empty_or_tiny_device_holds_nothing() {
        for size in [0, 1, 511, 512, 4096, 65536, 1 << 20] {
            assert_eq!(found(size, &[]), None, "{size}");
        }
    }

    #[test]
    fn a_file_system_is_named_before_its_boot_sector() {
        assert_eq!(found(1 << 20, &[(510, b"\x55\xaa"), (0x52, b"FAT32   ")]), Some("FAT file system"));
    }

    #[test]
    fn what_is_left_at_the_end_is_found() {
        let size = (1 << 20) + 512 * 7;
        assert_eq!(found(size, &[(size - 512, b"EFI PART")]), Some("GPT partition table (its copy at the end)"));
        assert_eq!(found(size, &[((1 << 20) - 65536, b"\xfc\x4e\x2b\xa9")]), Some("md RAID member"));
        let new = (size - 8192) & !4095;
        assert_eq!(found(size, &[(new, b"\xfc\x4e\x2b\xa9")]), Some("md RAID member"));
    }

    #[test]
    fn a_zfs_label_is_found_in_either_byte_order_and_at_the_end() {
        let le = 0x00ba_b10c_u64.to_le_bytes();
        let be = 0x00ba_b10c_u64.to_be_bytes();
        assert_eq!(found(2 << 20, &[(128 * 1024 + 4096, &le)]), Some("ZFS pool member"));
        assert_eq!(found(2 << 20, &[((2 << 20) - 128 * 1024, &be)]), Some("ZFS pool member"));
    }
}
