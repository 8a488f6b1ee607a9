//! Detects what a device holds, by the marks that formats leave.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// ZFS on-disk specification 1.3: uberblocks fill the second half of each 256 KiB label.
const ZFS_LABEL: u64 = 256 * 1024;
const ZFS_UBERBLOCKS: u64 = 128 * 1024;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// The first mark found on a device or image; `None` if no known mark is there or can be read. A device that ends
/// before a mark's place does not have it.
pub fn signature<R: Read + Seek>(device: &mut R) -> Option<&'static str> {
    marked(&mut Blocks::on_device(device))
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

// Marks that formats leave on a device: name, place, bytes and source. Plain dm-crypt leaves none (dm-crypt.rst).

/// A mark at a place.
pub(super) struct Mark {
    /// Name for people.
    pub(super) name: &'static str,
    /// Byte offset from the start, or back from the end.
    pub(super) offset: u64,
    /// The bytes of the mark.
    pub(super) magic: &'static [u8],
}

const fn mark(name: &'static str, offset: u64, magic: &'static [u8]) -> Mark {
    Mark { name, offset, magic }
}

/// The order matters: formats that contain a partition table or boot sector come before it.
pub(super) const MARKS: &[Mark] = &[
    // LUKS1 on-disk format 1.2.3, 2.2; LUKS2 on-disk format, 2.1: the second header stands at 16 KiB to 4 MiB.
    mark("LUKS encryption", 0, b"LUKS\xba\xbe"),
    mark("LUKS encryption", 0x4000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x8000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x1_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x2_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x4_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x8_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x10_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x20_0000, b"SKUL\xba\xbe"),
    mark("LUKS encryption", 0x40_0000, b"SKUL\xba\xbe"),
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
    // Microsoft ReFS boot sector: the name behind a jump of three zeros (libfsrefs, "Volume header").
    mark("ReFS file system", 0, b"\0\0\0ReFS\0"),
    // BitLocker: the OEM name of the boot sector (libbde, "BitLocker Drive Encryption format", 4.1).
    mark("BitLocker encryption", 3, b"-FVE-FS-"),
    // BitLocker To Go: its GUID in an else ordinary FAT32 boot sector (the same, 4.3).
    mark("BitLocker encryption", 424, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"),
    // Oracle ASM: the provision string of a disk header, as ASMLib's label (oracleasm, oratypes.h).
    mark("Oracle ASM disk", 32, b"ORCLDISK"),
    // VMFS: the volume's header at 1 MiB, the file system's at 2 MiB (vmfs-tools, vmfs_volume.h, vmfs_fs.h).
    mark("VMFS volume", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    mark("VMFS file system", 0x20_0000, b"\x5e\xf1\xab\x2f"),
    // kernel uapi/linux/gfs2_ondisk.h: GFS2_MAGIC and GFS2_METATYPE_SB at sector 128.
    mark("GFS2 file system", 0x1_0000, b"\x01\x16\x19\x70\0\0\0\x01"),
    // kernel fs/ocfs2/ocfs2_fs.h: OCFS2_SUPER_BLOCK_SIGNATURE in block 2, of 512 to 4096 bytes.
    mark("OCFS2 file system", 0x400, b"OCFSV2"),
    mark("OCFS2 file system", 0x800, b"OCFSV2"),
    mark("OCFS2 file system", 0x1000, b"OCFSV2"),
    mark("OCFS2 file system", 0x2000, b"OCFSV2"),
    // kernel fs/ufs/ufs_fs.h: UFS_MAGIC and UFS2_MAGIC at 1372 of the superblock, which stands at 0, 8, 64
    // or 256 KiB (UFS_SBLOCK of the BSDs), in the byte order of its machine.
    mark("UFS file system", 1372, b"\x54\x19\x01\x00"),
    mark("UFS file system", 1372, b"\x00\x01\x19\x54"),
    mark("UFS file system", 0x2000 + 1372, b"\x54\x19\x01\x00"),
    mark("UFS file system", 0x2000 + 1372, b"\x00\x01\x19\x54"),
    mark("UFS2 file system", 0x2000 + 1372, b"\x19\x01\x54\x19"),
    mark("UFS2 file system", 0x2000 + 1372, b"\x19\x54\x01\x19"),
    mark("UFS2 file system", 0x1_0000 + 1372, b"\x19\x01\x54\x19"),
    mark("UFS2 file system", 0x1_0000 + 1372, b"\x19\x54\x01\x19"),
    mark("UFS2 file system", 0x4_0000 + 1372, b"\x19\x01\x54\x19"),
    mark("UFS2 file system", 0x4_0000 + 1372, b"\x19\x54\x01\x19"),
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
    // Inside Macintosh: Files, 2-60: drSigWord of the master directory block at 1024.
    mark("HFS file system", 0x400, b"BD"),
    mark("APFS container", 32, b"NXSB"),
    // kernel drivers/mtd/ubi/ubi-media.h; fs/ubifs/ubifs-media.h.
    mark("UBI volume", 0, b"UBI#"),
    mark("UBIFS file system", 0, b"\x31\x18\x10\x06"),
    // UEFI specification 5.3.2: the second logical block, of 512 or 4096 bytes.
    mark("GPT partition table", 512, b"EFI PART"),
    mark("GPT partition table", 4096, b"EFI PART"),
    // UEFI specification 5.2.1.
    mark("MBR partition table or boot sector", 510, b"\x55\xaa"),
    // kernel uapi/linux/magic.h, MINIX_SUPER_MAGIC to MINIX3_SUPER_MAGIC at 16 (versions 1 and 2) and 24
    // (version 3) of the superblock at 1024, in the byte order of its machine.
    mark("Minix file system", 0x410, b"\x7f\x13"),
    mark("Minix file system", 0x410, b"\x13\x7f"),
    mark("Minix file system", 0x410, b"\x8f\x13"),
    mark("Minix file system", 0x410, b"\x13\x8f"),
    mark("Minix file system", 0x410, b"\x68\x24"),
    mark("Minix file system", 0x410, b"\x24\x68"),
    mark("Minix file system", 0x410, b"\x78\x24"),
    mark("Minix file system", 0x410, b"\x24\x78"),
    mark("Minix file system", 0x418, b"\x5a\x4d"),
    mark("Minix file system", 0x418, b"\x4d\x5a"),
];

/// Marks at the end, which remain if only the beginning was wiped. Offsets count back from the end.
pub(super) const AT_END: &[Mark] = &[
    // UEFI specification 5.3.2: the last logical block.
    mark("GPT partition table (its copy at the end)", 512, b"EFI PART"),
    mark("GPT partition table (its copy at the end)", 4096, b"EFI PART"),
    // SNIA Common RAID Disk Data Format 2.0, 4.2.1: the anchor header in the last block; some firmware puts
    // it 256 sectors before, and some writes it in little endian.
    mark("DDF RAID member", 512, b"\xde\x11\xde\x11"),
    mark("DDF RAID member", 512, b"\x11\xde\x11\xde"),
    mark("DDF RAID member", 257 * 512, b"\xde\x11\xde\x11"),
    mark("DDF RAID member", 257 * 512, b"\x11\xde\x11\xde"),
    // Intel IMSM: MPB_SIGNATURE in the last block but one (mdadm super-intel.c).
    mark("Intel RAID (IMSM) member", 2 * 512, b"Intel Raid ISM Cfg Sig. "),
    mark("Intel RAID (IMSM) member", 2 * 4096, b"Intel Raid ISM Cfg Sig. "),
];

/// Marks in the last whole block of some size: `(size of the blocks, blocks back from the last whole one,
/// offset in it)`.
pub(super) const IN_LAST_BLOCK: &[(u64, u64, Mark)] = &[
    // kernel uapi/linux/raid/md_p.h, MD_NEW_SIZE_SECTORS: 0.90 in the last whole 64 KiB, in the byte order of
    // its machine; 1.0 at least 8 KiB and less than 12 KiB before the end.
    (64 << 10, 1, mark("md RAID member", 0, b"\xfc\x4e\x2b\xa9")),
    (64 << 10, 1, mark("md RAID member", 0, b"\xa9\x2b\x4e\xfc")),
    (4 << 10, 2, mark("md RAID member", 0, b"\xfc\x4e\x2b\xa9")),
    // DRBD drbd_meta_data.h: internal metadata in the last whole 4 KiB, the magic at 60, of versions 8, 8.4
    // (unclean) and 9.
    (4 << 10, 1, mark("DRBD device", 60, b"\x83\x74\x02\x6b")),
    (4 << 10, 1, mark("DRBD device", 60, b"\x83\x74\x02\x6c")),
    (4 << 10, 1, mark("DRBD device", 60, b"\x83\x74\x02\x6d")),
];

// Reads single blocks of a device that may not be readable everywhere.

/// Bytes read at once: the largest logical block of disks.
pub(in crate::guard) const BLOCK: u64 = 4096;
/// A failing medium may take a minute for each unreadable place. After this many failures no more are tried.
const MOST_FAILED: u32 = 4;

/// Blocks of a device; each is read only once.
pub(in crate::guard) struct Blocks<'a, R> {
    device: &'a mut R,
    bytes: u64,
    known: BTreeMap<u64, Option<Vec<u8>>>,
    failed: u32,
    first_failed: Option<u64>,
}

impl<'a, R: Read + Seek> Blocks<'a, R> {
    pub(in crate::guard) fn on_device(device: &'a mut R) -> Self {
        let (bytes, first_failed) = match device.seek(SeekFrom::End(0)) {
            Ok(bytes) => (bytes, None),
            Err(_) => (0, Some(0)),
        };
        Self { device, bytes, known: BTreeMap::new(), failed: 0, first_failed }
    }

    pub(in crate::guard) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Byte offset of the first block that could not be read.
    pub(in crate::guard) fn first_failed(&self) -> Option<u64> {
        self.first_failed
    }

    /// A block by its number, shorter at the end of the device; `None` if it cannot be read.
    pub(in crate::guard) fn block(&mut self, number: u64) -> Option<&[u8]> {
        if !self.known.contains_key(&number) {
            let tried = self.failed < MOST_FAILED;
            let content = if tried { self.read(number) } else { None };
            if tried && content.is_none() {
                self.failed += 1;
                let offset = number.saturating_mul(BLOCK);
                self.first_failed = Some(self.first_failed.map_or(offset, |first| first.min(offset)));
            }
            self.known.insert(number, content);
        }
        self.known.get(&number)?.as_deref()
    }

    fn read(&mut self, number: u64) -> Option<Vec<u8>> {
        let offset = number.checked_mul(BLOCK)?;
        let length = usize::try_from(self.bytes.saturating_sub(offset).min(BLOCK)).ok()?;
        let mut content = vec![0; length];
        self.device.seek(SeekFrom::Start(offset)).ok()?;
        loop {
            match self.device.read_exact(&mut content) {
                Ok(()) => return Some(content),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// Up to `length` bytes, fewer at the end of the device; `None` if a part cannot be read.
    pub(in crate::guard) fn at(&mut self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let end = offset.saturating_add(length as u64).min(self.bytes);
        let mut content = Vec::with_capacity(length);
        let mut at = offset;
        while at < end {
            let skip = usize::try_from(at % BLOCK).ok()?;
            let want = usize::try_from(end - at).ok()?;
            let block = self.block(at / BLOCK)?.get(skip..)?;
            let part = block.get(..want.min(block.len()))?;
            if part.is_empty() {
                break;
            }
            content.extend_from_slice(part);
            at += part.len() as u64;
        }
        Some(content)
    }

    /// Whether these bytes are at `offset`.
    pub(in crate::guard) fn has(&mut self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()).is_some_and(|found| found == magic)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

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
