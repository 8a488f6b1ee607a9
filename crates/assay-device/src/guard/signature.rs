//! What a device holds, by the marks that formats leave.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// A mark at a place from the start.
struct Mark {
    name: &'static str,
    offset: u64,
    magic: &'static [u8],
}

const fn mark(name: &'static str, offset: u64, magic: &'static [u8]) -> Mark {
    Mark { name, offset, magic }
}

/// The order matters: what a partition table or boot sector may contain comes before it.
const MARKS: &[Mark] = &[
    // LUKS1 on-disk format 1.2.3, 2.2; LUKS2 on-disk format, 2.1: second header at 16 KiB or later.
    mark("LUKS encryption", 0, b"LUKS\xba\xbe"),
    mark("LUKS encryption", 0x4000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x8000, b"SKUL\xba\xbe"),
    // LVM2 lib/format_text/layout.h and label.h: the label is in one of the first four sectors.
    mark("LVM physical volume", 0, b"LABELONE"),
    mark("LVM physical volume", 512, b"LABELONE"),
    mark("LVM physical volume", 1024, b"LABELONE"),
    mark("LVM physical volume", 1536, b"LABELONE"),
    // md(4); kernel include/uapi/linux/raid/md_p.h, MD_SB_MAGIC 0xa92b4efc, versions 1.1 and 1.2.
    mark("md RAID member", 0, b"\xfc\x4e\x2b\xa9"),
    mark("md RAID member", 4096, b"\xfc\x4e\x2b\xa9"),
    // kernel include/uapi/linux/bcache.h and bcachefs_format.h: superblock at sector 8.
    mark("bcache", 0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    mark("bcachefs file system", 0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    // Ceph src/os/bluestore/BlueStore.cc.
    mark("Ceph BlueStore", 0, b"bluestore block device\n"),
    // kernel Documentation/filesystems/ext4/super.rst, s_magic at 0x38 of the superblock at 1024.
    mark("ext2/ext3/ext4 file system", 0x438, b"\x53\xef"),
    // kernel fs/xfs/libxfs/xfs_format.h, XFS_SB_MAGIC.
    mark("XFS file system", 0, b"XFSB"),
    // kernel include/uapi/linux/btrfs_tree.h, BTRFS_MAGIC in the superblock at 64 KiB.
    mark("btrfs file system", 0x1_0040, b"_BHRfS_M"),
    // kernel include/linux/f2fs_fs.h and uapi/linux/magic.h, F2FS_SUPER_MAGIC 0xF2F52010.
    mark("F2FS file system", 0x400, b"\x10\x20\xf5\xf2"),
    // exFAT file system specification 3.1.2; NTFS boot sector, the OEM name.
    mark("exFAT file system", 3, b"EXFAT   "),
    mark("NTFS file system", 3, b"NTFS    "),
    // Microsoft FAT specification 1.03, BS_FilSysType of FAT32 and of FAT12/FAT16.
    mark("FAT file system", 0x52, b"FAT32   "),
    mark("FAT file system", 0x36, b"FAT16   "),
    mark("FAT file system", 0x36, b"FAT12   "),
    mark("FAT file system", 0x36, b"FAT     "),
    // kernel include/linux/swap.h: the last ten bytes of the first page, of 4 to 64 KiB.
    mark("swap space", 4086, b"SWAPSPACE2"),
    mark("swap space", 4086, b"SWAP-SPACE"),
    mark("swap space", 8182, b"SWAPSPACE2"),
    mark("swap space", 16374, b"SWAPSPACE2"),
    mark("swap space", 32758, b"SWAPSPACE2"),
    mark("swap space", 65526, b"SWAPSPACE2"),
    // kernel/power/swap.c, HIBERNATE_SIG: a sleeping system.
    mark("hibernated system", 4086, b"S1SUSPEND"),
    // ECMA-119 8.1 and ECMA-167 2/9.1: volume descriptors from sector 16 of 2048 bytes on.
    mark("ISO 9660 file system", 0x8001, b"CD001"),
    mark("UDF file system", 0x8001, b"BEA01"),
    // kernel uapi/linux/magic.h, SQUASHFS_MAGIC; EROFS_SUPER_MAGIC_V1 at 1024.
    mark("SquashFS file system", 0, b"hsqs"),
    mark("SquashFS file system", 0, b"sqsh"),
    mark("EROFS file system", 1024, b"\xe2\xe1\xf5\xe0"),
    // kernel uapi/linux/magic.h, REISER2FS and JFS (fs/jfs/jfs_superblock.h), NILFS_SUPER_MAGIC.
    mark("ReiserFS file system", 0x1_0034, b"ReIsEr"),
    mark("JFS file system", 0x8000, b"JFS1"),
    mark("NILFS2 file system", 0x406, b"\x34\x34"),
    // Apple TN1150, volume header at 1024; Apple File System Reference, nx_magic at 32.
    mark("HFS+ file system", 0x400, b"H+\x00\x04"),
    mark("HFS+ file system", 0x400, b"HX\x00\x05"),
    mark("APFS container", 32, b"NXSB"),
    // kernel drivers/mtd/ubi/ubi-media.h; fs/ubifs/ubifs-media.h.
    mark("UBI volume", 0, b"UBI#"),
    mark("UBIFS file system", 0, b"\x31\x18\x10\x06"),
    // UEFI specification 5.3.2: the second logical block, of 512 or 4096 bytes.
    mark("GPT partition table", 512, b"EFI PART"),
    mark("GPT partition table", 4096, b"EFI PART"),
    // UEFI specification 5.2.1.
    mark("MBR partition table or boot sector", 510, b"\x55\xaa"),
];

/// ZFS on-disk specification 1.3: uberblocks fill the second half of each 256 KiB label.
const ZFS_LABEL: u64 = 256 * 1024;
const ZFS_UBERBLOCKS: u64 = 128 * 1024;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// The first mark found on a device or image, or `None` where none of the known ones is there.
/// A device shorter than a mark's place does not have it.
///
/// # Errors
/// Where reading fails.
pub fn signature<R: Read + Seek>(device: &mut R) -> io::Result<Option<&'static str>> {
    for mark in MARKS {
        if has(device, mark.offset, mark.magic)? {
            return Ok(Some(mark.name));
        }
    }
    let size = device.seek(SeekFrom::End(0))?;
    if has_zfs(device, size)? {
        return Ok(Some("ZFS pool member"));
    }
    at_end(device, size)
}

/// Marks that stand at the end, left when only the beginning was wiped.
fn at_end<R: Read + Seek>(device: &mut R, size: u64) -> io::Result<Option<&'static str>> {
    // kernel uapi/linux/raid/md_p.h: 0.90 in the last whole 64 KiB block but one, 1.0 at least
    // 8 KiB and less than 12 KiB before the end.
    let reserved = 64 * 1024;
    let old = (size & !(reserved - 1)).checked_sub(reserved);
    let new = size.checked_sub(8 * 1024).map(|offset| offset & !(4 * 1024 - 1));
    let both: [&[u8]; 2] = [b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"];
    for offset in [old, new].into_iter().flatten() {
        for magic in both {
            if has(device, offset, magic)? {
                return Ok(Some("md RAID member"));
            }
        }
    }
    for block in [512, 4096] {
        if let Some(offset) = size.checked_sub(block)
            && has(device, offset, b"EFI PART")?
        {
            return Ok(Some("GPT partition table (its copy at the end)"));
        }
    }
    Ok(None)
}

/// A slot is 1 KiB or a larger power of two, so every 1 KiB is looked at, in all four labels.
fn has_zfs<R: Read + Seek>(device: &mut R, size: u64) -> io::Result<bool> {
    let end = size & !(ZFS_LABEL - 1);
    let labels = [Some(0), Some(ZFS_LABEL), end.checked_sub(2 * ZFS_LABEL), end.checked_sub(ZFS_LABEL)];
    for label in labels.into_iter().flatten() {
        let ring = read_at(device, label + ZFS_UBERBLOCKS, 128 * 1024)?;
        let found = ring
            .chunks(1024)
            .filter_map(|slot| slot.first_chunk::<8>())
            .any(|magic| u64::from_le_bytes(*magic) == ZFS_MAGIC || u64::from_be_bytes(*magic) == ZFS_MAGIC);
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has<R: Read + Seek>(device: &mut R, offset: u64, magic: &[u8]) -> io::Result<bool> {
    Ok(read_at(device, offset, magic.len())? == magic)
}

/// Up to `length` bytes, fewer at the end of the device.
fn read_at<R: Read + Seek>(device: &mut R, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    match device.seek(SeekFrom::Start(offset)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::with_capacity(length);
    device.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
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
        signature(&mut image(size, marks)).unwrap()
    }

    #[test]
    fn every_mark_of_the_table_is_found_alone() {
        for mark in MARKS {
            let got = found(1 << 20, &[(mark.offset as usize, mark.magic)]);
            assert_eq!(got, Some(mark.name), "{:?}", mark.magic);
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
